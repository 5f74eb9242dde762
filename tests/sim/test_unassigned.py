"""Arrays that nobody has assigned to."""

from __future__ import annotations

import numpy as np
import pytest

import kbuild as kb


@kb.kernel
def scale(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = 2.0 * x[i]


@kb.kernel
def norms(x: kb.array(dtype=kb.vec3d), out: kb.array(dtype=kb.float64)):
    i = kb.tid()
    out[i] = kb.dot(x[i], x[i])


@kb.kernel
def count(cells: kb.array(dtype=int)):
    kb.atomic_add(cells, kb.tid() % 2, 1)


def test_an_empty_array_is_not_read() -> None:
    x, out = kb.empty(8, device="sim"), kb.empty(8, device="sim")
    x[:5] = 1.0
    with pytest.raises(kb.sim.Unassigned, match=r"x\[5\] is read before anything is assigned to it") as caught:
        kb.launch(scale, 8, [x, out], device="sim")
    assert (caught.value.thread, caught.value.span.line) == ((5,), 14)


def test_what_host_or_kernel_have_assigned_is_read() -> None:
    x, out = kb.empty(8, device="sim"), kb.empty(8, device="sim")
    x.numpy()[:] = 3.0
    kb.launch(scale, 8, [x, out], device="sim")
    kb.launch(scale, 8, [out, x], device="sim")
    assert x.numpy().tolist() == [12.0] * 8
    for made in (kb.zeros(4, device="sim"), kb.ones(4, device="sim"), kb.full(4, 2.0, device="sim")):
        kb.launch(scale, 4, [made, kb.empty(4, device="sim")], device="sim")
    assert kb.zeros(5, device="sim").numpy().tolist() == [0.0] * 5


def test_vectors_of_doubles_and_atomics() -> None:
    x, out = kb.empty(2, dtype=kb.vec3d, device="sim"), kb.empty(2, dtype=kb.float64, device="sim")
    x.numpy()[0] = 1.0
    x.numpy()[1, :2] = 1.0
    with pytest.raises(kb.sim.Unassigned, match=r"x\[1\] is read"):
        kb.launch(norms, 2, [x, out], device="sim")
    with pytest.raises(kb.sim.Unassigned, match=r"cells\[0\] is read"):
        kb.launch(count, 4, [kb.empty(2, dtype=int, device="sim")], device="sim")


def test_it_can_be_left_out() -> None:
    out = kb.empty(8, device="sim")
    kb.sim.run(scale, 8, [kb.empty(8, device="sim"), out], unassigned=False)
    assert np.isnan(out.numpy()).all()


@kb.struct
class Part:
    data: kb.array(dtype=float)


@kb.kernel
def gather(parts: kb.array(dtype=Part), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = parts[i].data[0]


def test_structs_with_arrays_that_nobody_has_assigned_to() -> None:
    """What lies there is no address, and is not followed."""
    with pytest.raises(kb.sim.Unassigned, match=r"parts\[0\] is read before"):
        kb.launch(gather, 2, [kb.empty(2, dtype=Part, device="sim"), kb.zeros(2, device="sim")], device="sim")


def test_every_second_struct_of_an_array() -> None:
    inner = [kb.full(1, float(i), device="sim") for i in range(4)]
    parts = kb.array([Part(data=one) for one in inner], dtype=Part, device="sim")
    out = kb.zeros(2, device="sim")
    kb.launch(gather, 2, [parts[::2], out], device="sim")
    assert out.numpy().tolist() == [0.0, 2.0]
