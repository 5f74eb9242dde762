"""What a tape and its kin refuse: the message names thing, place and cure."""

from __future__ import annotations

import pytest

import kbuild as kb
from kbuild.loader.errors import LaunchError
from tests.helpers import fake_torch
from tests.helpers.hand_adjoints import ADJOINTS, Body, double, power, times


def floats(*values: float, **options: object) -> kb.array:
    return kb.array(list(values), dtype=float, device="sim", **options)


@kb.struct
class Pair:
    a: float
    b: float


def test_a_limit_that_is_none():
    with pytest.raises(TypeError, match="workspace_limit wants a number of bytes, not"):
        kb.Tape(workspace_limit="much")


def test_a_backward_function_that_is_none():
    with kb.Tape() as tape, pytest.raises(LaunchError, match=r"tape\.record_func wants a function, not int 3"):
        tape.record_func(3, [])


def test_a_part_with_a_gradient_of_its_own():
    whole = kb.zeros(4, device="sim")
    part = whole[:2]
    part.grad = floats(0, 0)
    with kb.Tape() as tape:
        kb.launch(double, dim=2, inputs=[part], outputs=[whole[2:]])
    tape.backward()
    assert part.grad.tolist() == [2, 2]
    with kb.Tape():
        kb.launch(double, dim=2, inputs=[part], outputs=[floats(1, 2)])
        with pytest.raises(LaunchError, match="reaches beyond an array that requires a gradient") as error:
            kb.launch(double, dim=4, inputs=[whole], outputs=[floats(1, 2, 3, 4)])
    assert "help: set requires_grad on the array that both are views of" in str(error.value)


def test_copies_of_structs():
    one, two = (kb.zeros(2, dtype=Pair, device="sim", requires_grad=True) for _ in range(2))
    with kb.Tape() as tape:
        kb.copy(two, one)
    tape.zero()
    with pytest.raises(LaunchError, match="copies of structs pass no gradients on") as error:
        tape.backward(grads={two: [Pair(a=1.0, b=0.0), Pair()]})
    assert "help: copy their fields in a kernel" in str(error.value)


def test_a_bound_that_was_too_small(monkeypatch):
    x, y = floats(2, 3, requires_grad=True), kb.zeros(2, device="sim")
    n = kb.array([3, 5], dtype=int, device="sim")
    monkeypatch.setitem(ADJOINTS, "power", (ADJOINTS["power"][0], {**ADJOINTS["power"][1], "saved": {"float32": 4}}))
    with kb.Tape() as tape:
        kb.launch(power, dim=2, inputs=[x, n], outputs=[y])
    with pytest.raises(LaunchError, match=r"power: its adjoint had room for 4 words a thread and needed 5") as error:
        tape.backward()
    assert "help: declare a larger bound" in str(error.value)


def test_retaining_nothing():
    with pytest.raises(ValueError, match="requires no gradient that could be retained: set requires_grad"):
        kb.zeros(1, device="sim").retain_grad = True


def test_a_stream_that_is_none():
    x, y = floats(1, requires_grad=True), kb.zeros(1, device="sim")
    with pytest.raises(LaunchError, match="stream wants None, a handle"):
        kb.launch(double, dim=1, inputs=[x], outputs=[y], adjoint=True, stream="main")


@pytest.mark.parametrize(("asked", "text"), [
    ((double, None), r'outputs wants \{"parameter": "input that it is like"\}, or a function that makes it, not None'),
    ((double, {"z": "x"}), "has no parameter 'z'"),
    ((double, {"y": "xx"}), "has no parameter 'xx'; did you mean 'x'"),
    (("double", {"y": "x"}), "kb.torch_function wants a function decorated with @kernel, not str"),
])  # fmt: skip
def test_functions_for_pytorch(asked, text):
    with pytest.raises(LaunchError, match=text):
        kb.torch_function(*asked)


def test_calls_of_functions_for_pytorch(monkeypatch):
    fake_torch.install(monkeypatch)
    made = kb.torch_function(double, outputs={"y": "x"})
    x = floats(1)
    for wrong in (lambda: made(), lambda: made(x, x, dim=1), lambda: made(x, y=x, dim=1)):
        with pytest.raises(LaunchError, match="double takes x"):
            wrong()
    with pytest.raises(LaunchError, match="say dim=…, here or where the function was made"):
        made(x)
    with kb.Tape(), pytest.raises(LaunchError, match="and PyTorch records this launch\n  help: call it outside"):
        made(x, dim=1)


def test_tensors_in_pytorchs_graph(monkeypatch):
    torch = fake_torch.install(monkeypatch)
    torch.is_grad_enabled = lambda: True
    tensor = torch.over(floats(1, 2), requires_grad=True)
    tensor._version = 0
    x = floats(1, 2, requires_grad=True)
    with kb.Tape(), pytest.raises(LaunchError, match="parameter f: PyTorch's own graph records this tensor") as error:
        kb.launch(times, dim=2, inputs=[x, tensor])
    assert r"help: hand over tensor.detach()" in str(error.value)


def test_tensors_that_pytorch_writes_to(monkeypatch):
    torch = fake_torch.install(monkeypatch)
    tensor = torch.over(floats(3, 4))
    tensor._version = 7
    x = floats(1, 2, requires_grad=True)
    with kb.Tape() as tape:
        kb.launch(times, dim=2, inputs=[x, tensor])
    tape.backward()
    assert x.grad.tolist() == [3, 4]
    tensor._version = 8
    with pytest.raises(LaunchError, match=r"times, parameter f needs what a tensor of PyTorch's held .* written to it"):
        tape.backward()


def test_a_struct_as_a_tuple():
    """Its fields are found by the parameter's type."""
    from tests.helpers.hand_adjoints import push

    mass, y = floats(1, 2, requires_grad=True), kb.zeros(2, device="sim")
    with kb.Tape() as tape:
        kb.launch(push, dim=2, inputs=[(mass, floats(3, 4), 1, kb.vec3()), y, 10.0])
    tape.backward()
    assert mass.grad.tolist() == [30, 40]
    assert Body is not None
