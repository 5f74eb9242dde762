"""Functions with a gradient or replay of their own: what they are lowered to, what it computes, and the key."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.ir.nodes import Function
from kbuild.ir.printer import print_kernel
from kbuild.ir.traverse import callees, reached
from kbuild.lang.reach import reach
from kbuild.lang.source import _definitions, source_file
from kbuild.loader import host
from kbuild.loader.identity import identity
from tests.helpers import kernels
from tests.helpers.calling import call, function_of

ROOT = """
FLOOR = 0.0

@kb.func
def safe_sqrt(x: float):
    return kb.sqrt(x)

@kb.func_grad(safe_sqrt)
def adj_safe_sqrt(x: float, adj_ret: float):
    if x <= FLOOR:
        return
    kb.adjoint[x] += adj_ret / (2.0 * safe_sqrt(x))

@kb.kernel
def one(a: kb.array(dtype=float)):
    i = kb.tid()
    a[i] = safe_sqrt(a[i]) * 2.0 + 1.0
"""


def test_a_gradient_returns_what_each_parameter_gets(tmp_path: Path) -> None:
    root = function_of(tmp_path, ROOT, "safe_sqrt")
    (found,) = call(root.gradient, [4.0, 0.0, -1.0, 0.25], [1.0, 1.0, 1.0, 3.0])
    assert found.tolist() == [0.25, 0.0, 0.0, 3.0]


def test_what_a_gradient_calls_has_none(tmp_path: Path) -> None:
    root = function_of(tmp_path, ROOT, "safe_sqrt")
    assert root.gradient is not None
    (inner,) = callees(root.gradient)
    assert (inner.name, inner.gradient) == ("safe_sqrt", None)
    assert inner is not root
    assert callees(root) == []


def test_the_ir_is_shown_with_gradients(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, ROOT)
    text = print_kernel(kernel)
    assert "safe_sqrt(x: float32) -> float32, gradient adj_safe_sqrt\n" in text
    assert "adj_safe_sqrt(x: float32, adj_ret: float32) -> tuple[float32]\n" in text
    assert [one.name for one in reached(kernel.function)] == ["safe_sqrt", "adj_safe_sqrt", "safe_sqrt"]
    assert "adj_safe_sqrt" not in kernels.emit_kernels([kernel]).source


PARTS = """
from typing import Any

@kb.struct
class Body:
    mass: float
    place: kb.vec3
    name: int

@kb.func
def mixed(b: Body, xs: kb.array(dtype=float), i: int, m: Any, t: kb.transform, ys: kb.array2d(dtype=kb.vec3)):
    ys[i, 0] = b.place * xs[i]
    return m[0, 0] * t.p, b.mass

@kb.func_grad(mixed)
def adj_mixed(
    b: Body, xs: kb.array(dtype=float), i: int, m: Any, t: kb.transform, ys: kb.array2d(dtype=kb.vec3),
    adj_point: kb.vec3, adj_mass: float
):
    kb.adjoint[b.mass] += adj_mass
    kb.adjoint[b.place][1] -= 2.0
    kb.adjoint[b].place.z = 5.0
    row = kb.adjoint[ys][i]
    kb.adjoint[xs][i] += kb.dot(b.place, row[0])
    kb.atomic_add(kb.adjoint[xs], 0, 10.0)
    kb.adjoint[ys[i, 0]] = kb.vec3()
    kb.adjoint[ys][i, 0].x -= 1.0
    kb.adjoint[ys][i, 0] += kb.vec3(0.0, 1.0, 2.0)
    kb.adjoint[xs][i] *= 2.0
    kb.adjoint[m][0, 0] += kb.dot(adj_point, t.p)
    kb.adjoint[t.p] += m[0, 0] * adj_point
    kb.adjoint[t].q[3] += kb.adjoint[xs][1]

@kb.kernel
def one(b: Body, xs: kb.array(dtype=float), m: kb.mat22, t: kb.transform, ys: kb.array2d(dtype=kb.vec3)):
    i = kb.tid()
    p, mass = mixed(b, xs, i, m, t, ys)
    xs[i] = p[0] + mass
"""


def test_parts_of_parameters_and_arrays(tmp_path: Path) -> None:
    mixed = function_of(tmp_path, PARTS, "mixed")
    assert mixed.gradient is not None
    assert [p.name for p in mixed.gradient.parameters] == [
        *("b", "xs", "i", "m", "t", "ys", "adj_xs", "adj_ys", "adj_point", "adj_mass")
    ]
    assert str(mixed.gradient.result).endswith("Body, mat2x2[float32], transform[float32]]")


@pytest.mark.parametrize("has_arrays", [True, False])
def test_what_a_gradient_of_many_parts_computes(tmp_path: Path, has_arrays: bool) -> None:
    mixed = function_of(tmp_path, PARTS, "mixed")
    assert mixed.gradient is not None
    kinds = {p.name: np.dtype(host.numpy_dtype(p.type)) for p in mixed.gradient.parameters if p.name in "bm"}
    body = np.zeros(1, kinds["b"])
    body["mass"], body["place"], body["name"] = 3.0, (1.0, 2.0, 4.0), 7
    t = np.array([[0.5, 0.25, 2.0, 0.0, 0.0, 0.0, 1.0]])
    xs, ys = np.ones(2, np.float32), np.ones((2, 1, 3), np.float32)
    adj_xs = np.array([1.0, 2.0], np.float32) if has_arrays else None
    adj_ys = np.full((2, 1, 3), 3.0, np.float32) if has_arrays else None
    matrix = [[[2.0, 0.0], [0.0, 0.0]]]
    adj_b, adj_m, adj_t = call(
        mixed.gradient, body, xs, [1], matrix, t, ys, adj_xs, adj_ys, [[1.0, 10.0, 100.0]], [0.5]
    )
    assert adj_b["mass"].tolist() == [0.5]
    assert adj_b["place"].tolist() == [[0.0, -2.0, 5.0]]
    assert adj_b["name"].tolist() == [0]
    assert adj_m.tolist() == [[[203.0, 0.0], [0.0, 0.0]]]
    # The adjoint of xs[1] was 2, got (1, 2, 4) · (3, 3, 3), and was doubled.
    assert adj_t.tolist() == [[2.0, 20.0, 200.0, 0.0, 0.0, 0.0, 46.0 if has_arrays else 0.0]]
    if adj_xs is not None and adj_ys is not None:
        assert adj_xs.tolist() == [11.0, 46.0]
        assert adj_ys[1].tolist() == [[-1.0, 1.0, 2.0]]
        assert adj_ys[0].tolist() == [[3.0, 3.0, 3.0]]


OVERLOADED = """
from typing import Any

@kb.func
def twice(x: float):
    return x * 2.0

@kb.func
def twice(v: kb.vec3):
    return v * 2.0

@kb.func_grad(twice)
def adj_twice(v: kb.vec3, adj_ret: kb.vec3):
    kb.adjoint[v] += 2.0 * adj_ret

@kb.func
def scaled(x: Any, by: Any):
    return x * by

@kb.func_grad(scaled)
def adj_scaled(x: Any, by: Any, adj_ret: Any):
    kb.adjoint[x] += adj_ret * by
    kb.adjoint[by] += 1.0

@kb.func
def applied(f: kb.Function, pair: tuple[float, float]):
    return f(pair[0]) * pair[1]

@kb.func_grad(applied)
def adj_applied(f: kb.Function, pair: tuple[float, float], adj_ret: float):
    kb.adjoint[pair[1]] += f(pair[0]) * adj_ret

@kb.kernel
def one(a: kb.array(dtype=float), v: kb.array(dtype=kb.vec3d)):
    i = kb.tid()
    a[i] = twice(a[i]) + twice(kb.vec3(a[i]))[0] + scaled(a[i], 3.0) + applied(kb.sin, (a[i], 2.0))
    v[i] = scaled(v[i], kb.float64(a[i]))
"""


def test_overloads_and_open_types(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, OVERLOADED)
    found = {(one.name, str(one.parameters[0].type)): one for one in callees(kernel.function)}
    assert found["twice", "float32"].gradient is None
    (doubled,) = call(found["twice", "vec3[float32]"].gradient, [[1.0, 2.0, 3.0]], [[1.0, 0.0, 2.0]])
    assert doubled.tolist() == [[2.0, 0.0, 4.0]]
    for type in ("float32", "vec3[float64]"):
        gradient = found["scaled", type].gradient
        assert gradient is not None
        assert str(gradient.result) == f"tuple[{type}, {'float32' if type == 'float32' else 'float64'}]"
    first, second = call(found["applied", "float32"].gradient, [np.pi / 2], [5.0], [3.0])
    assert (first.tolist(), second.tolist()) == ([0.0], [3.0])


REPLAYED = """
@kb.func
def slot(counter: kb.array(dtype=int), slots: kb.array(dtype=int), i: int):
    slots[i] = kb.atomic_add(counter, 0, 1)
    return slots[i]

@kb.func_replay(slot)
def known_slot(counter: kb.array(dtype=int), slots: kb.array(dtype=int), i: int):
    return slots[i]

@kb.kernel
def one(counter: kb.array(dtype=int), slots: kb.array(dtype=int), a: kb.array(dtype=float)):
    i = kb.tid()
    a[slot(counter, slots, i)] = 1.0
"""


def test_a_replay_has_the_form_of_its_function(tmp_path: Path) -> None:
    slot: Function = function_of(tmp_path, REPLAYED, "slot")
    assert slot.gradient is None
    assert slot.replay is not None
    counter = np.zeros(1, np.int32)
    (found,) = call(slot.replay, counter, np.array([4, 5], np.int32), [1, 0])
    assert found.tolist() == [5, 4]
    assert counter[0] == 0


def test_a_kernel_without_a_backward_pass_has_no_gradients(tmp_path: Path) -> None:
    text = ROOT.replace("@kb.kernel", "@kb.kernel(enable_backward=False)")
    assert function_of(tmp_path, text, "safe_sqrt").gradient is None


# Declaring


def test_a_gradient_is_for_a_function() -> None:
    def mine(x: float, adj_ret: float) -> None: ...

    for wrong in (mine, 3, kb.sin):
        with pytest.raises(TypeError, match="@func_grad wants a function made with @func"):
            kb.func_grad(wrong)(mine)
    with pytest.raises(TypeError, match=r"@func_replay wants a function made with @func, not <kb\.kernel"):
        kb.func_replay(kb.kernel(mine))(mine)


def test_no_overload_fits(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"@func_grad: no overload of .*:twice has the parameters of .*:adj_twice"):
        kernels.lower_text(tmp_path, OVERLOADED.replace("adj_twice(v: kb.vec3,", "adj_twice(v: kb.vec2,"))


def test_the_host_calls_the_function_itself() -> None:
    @kb.func
    def half(x: float):
        return x / 2.0

    @kb.func_grad(half)
    def adj_half(x: float, adj_ret: float):
        kb.adjoint[x] += adj_ret / 2.0

    assert half(3.0) == 1.5
    with pytest.raises(TypeError, match=r"kb\.adjoint works inside functions made with kb\.func_grad only"):
        adj_half(1.0, 1.0)
    assert (repr(kb.adjoint), wp.adjoint) == ("kb.adjoint", kb.adjoint)


def test_in_warps_dialect(tmp_path: Path) -> None:
    text = ROOT.replace("kb.", "wp.").replace("FLOOR = 0.0", "import kbuild.warp as wp\nFLOOR = 0.0")
    root = function_of(tmp_path, text, "safe_sqrt")
    (found,) = call(root.gradient, [4.0], [1.0])
    assert found.tolist() == [0.25]
    assert root.gradient is not None
    assert root.gradient.wraps


# The key


def loaded(folder: Path, text: str) -> tuple[ModuleType, str]:
    """A module and the key of its kernel."""
    inner = folder / str(len(list(folder.iterdir())))  # one place has old bytecode of the same size
    inner.mkdir()
    path = inner / "keyed.py"
    path.write_text("import kbuild as kb\n" + text, encoding="utf-8")
    source_file.cache_clear()
    _definitions.cache_clear()
    module, (kernel,) = kernels.load(path)
    found = reach(kernel)
    assert identity(kernel.function, found.plan) == found.identity()
    return module, found.key()


def test_the_key_is_of_the_gradient_too(tmp_path: Path) -> None:
    module, key = loaded(tmp_path, ROOT)
    found = reach(module.one)
    assert "global:safe_sqrt#gradient/global:FLOOR" in found.plan
    assert loaded(tmp_path, ROOT.replace("2.0 * safe", "3.0 * safe"))[1] != key
    assert loaded(tmp_path, ROOT.replace("FLOOR = 0.0", "FLOOR = 0.5"))[1] != key
    assert loaded(tmp_path, ROOT)[1] == key


def test_paths_lead_into_gradients_of_overloads(tmp_path: Path) -> None:
    text = OVERLOADED.replace("2.0 * adj_ret", "FACTOR * adj_ret") + "\nFACTOR = 2.0\n"
    module, _ = loaded(tmp_path, text)
    found = reach(module.one)
    path = "global:twice#1gradient/global:FACTOR"
    assert found.values[found.plan.index(path)] == 2.0


def test_the_bound_of_loops_is_an_option_of_the_kernel(tmp_path: Path) -> None:
    _, key = loaded(tmp_path, ROOT)
    module, other = loaded(tmp_path, ROOT.replace("@kb.kernel", "@kb.kernel(max_iterations=9)"))
    assert other != key
    (lowered,), _ = kernels.diagnose([module.one])
    assert lowered.max_iterations == 9
    assert "ndim=1 max_iterations=9(" in print_kernel(lowered)
    for wrong, text in ((0, "1 to 2147483647"), (-1, "1 to"), (2**31, "1 to"), (2.0, "wants int"), (True, "wants int")):
        with pytest.raises(TypeError, match=f"@kernel: max_iterations {text}|max_iterations is {text}"):
            kb.kernel(max_iterations=wrong)
