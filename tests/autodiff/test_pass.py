"""What the pass decides: what it saves and where, what it runs again, what it says of arrays, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.autodiff import Adjoint, Undifferentiable, adjoint
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.printer import print_kernel
from kbuild.ir.traverse import walk
from kbuild.ir.verify import verify
from tests.helpers import golden, kernels

HEAD = "x: kb.array(dtype=float), y: kb.array(dtype=float), n: int"
HERE = Path(__file__).parent


def made(folder: Path, body: str, head: str = HEAD, option: str = "", before: str = "") -> Adjoint:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    (kernel,) = kernels.lower_text(folder, f"{before}\n@kb.kernel{option}\ndef k({head}):\n    i = kb.tid()\n{lines}\n")
    found = adjoint(kernel)
    verify(found.kernel, has_effects)
    return found


def loops(found: Adjoint) -> int:
    return sum(isinstance(node, (nodes.For, nodes.While)) for node in walk(found.kernel.function.body))


def names(found: Adjoint) -> list[str]:
    return [parameter.name for parameter in found.kernel.function.parameters]


PRODUCT = """
s = 1.0
for j in range({}):
    s *= x[j]
y[i] = s
"""


def test_a_number_of_words_that_only_a_run_can_tell(tmp_path: Path) -> None:
    found = made(tmp_path, PRODUCT.format("n"))
    assert found.saved == {"float32": None}
    assert names(found) == ["x", "y", "n", "adj_x", "adj_y", "saved_float32", "saved_words", "counting"]
    assert found.kernel.name.endswith(":k:adjoint")


def test_a_few_words_stay_in_the_thread(tmp_path: Path) -> None:
    found = made(tmp_path, PRODUCT.format("64"))
    assert (found.saved, names(found)) == ({}, ["x", "y", "n", "adj_x", "adj_y"])


def test_many_words_that_are_known_go_to_memory(tmp_path: Path) -> None:
    assert made(tmp_path, PRODUCT.format("65")).saved == {"float32": 65}


def test_a_promise_is_checked(tmp_path: Path) -> None:
    """However few words it makes, they do not go where nobody checks."""
    found = made(tmp_path, PRODUCT.format("n"), option="(max_iterations=3)")
    assert found.saved == {"float32": 3}
    assert "saved_float32" in names(found)
    nested = "s = 1.0\nfor j in range(n):\n    for l in range(5):\n        s *= x[j]\ny[i] = s"
    assert made(tmp_path, nested, option="(max_iterations=3)").saved == {"float32": 15}


def test_stacks_by_type(tmp_path: Path) -> None:
    body = """
k = i
m = kb.int64(1)
b = True
v = kb.vec3(1.0, 1.0, 1.0)
d = kb.float64(1.0)
for j in range(n):
    v = v * x[k % 7]
    d = d * kb.float64(v[0]) + d * kb.float64(float(m))
    b = not b
    if b:
        d = d * d
    k = k * 3 % 11
    m = m * kb.int64(5) % kb.int64(7)
y[i] = float(d) + v[1]
"""
    found = made(tmp_path, body)
    assert list(found.saved) == ["float32", "float64", "int32", "int64"]
    assert set(found.saved.values()) == {None}


def test_sums_are_not_run_again(tmp_path: Path) -> None:
    found = made(tmp_path, "s = 0.0\nfor j in range(n):\n    s += kb.sin(x[j]) * x[j]\ny[i] = s")
    assert (found.saved, loops(found), found.before) == ({}, 1, ("x",))


def test_stores_that_nobody_sees_are_not_made_again(tmp_path: Path) -> None:
    found = made(tmp_path, "y[i] *= x[i]")
    assert (found.before, found.scratch, found.owned) == (("x", "y"), (), ("x", "y"))


def test_stores_that_a_load_sees_are_made_in_a_copy(tmp_path: Path) -> None:
    found = made(tmp_path, "y[i] = x[i] * 2.0\ny[i] = y[i] * y[i]")
    assert (found.before, found.scratch) == (("x", "y"), ("y",))


def test_what_a_kernel_does_to_its_arrays(tmp_path: Path) -> None:
    head = "a: kb.array(dtype=float), b: kb.array(dtype=float), c: kb.array(dtype=float), d: kb.array(dtype=int)"
    found = made(tmp_path, "b[i] = a[d[i]]\nkb.atomic_add(c, 0, a[i])", head)
    assert (found.read, found.written, found.accumulated) == (("a", "d"), ("b", "c"), ("c",))
    assert (found.before, found.after, found.owned) == (("d",), (), ("b",))


def test_the_winner_is_looked_up_after_the_launch(tmp_path: Path) -> None:
    found = made(tmp_path, "kb.atomic_max(y, 0, x[i] * x[i])")
    assert (found.before, found.after) == (("x",), ("y",))


def test_one_coordinate_of_two_is_not_enough(tmp_path: Path) -> None:
    head = "x: kb.array2d(dtype=float), y: kb.array2d(dtype=float), z: kb.array(dtype=float)"
    body = "a, b = kb.tid()\nz[a] = x[b, a]\ny[a, b] = x[b, a] * z[b]"
    (kernel,) = kernels.lower_text(tmp_path, f"@kb.kernel\ndef k({head}):\n    " + body.replace("\n", "\n    ") + "\n")
    assert adjoint(kernel).owned == ("x", "y")


def test_asserts_and_prints_happen_once(tmp_path: Path) -> None:
    found = made(tmp_path, "assert x[i] > 0.0\nprint(x[i])\ny[i] = 2.0 * x[i]", option="(asserts=True)")
    assert found.before == ()
    assert not any(isinstance(node, (nodes.Print, nodes.Assert)) for node in walk(found.kernel.function.body))


REFUSED = {
    "shared": ("t = kb.shared_array(32, float)\nt[i % 32] = x[i]\nkb.syncthreads()\ny[i] = t[0]",
               "'t' is in shared memory", 6),
    "barrier": ("kb.syncthreads()\ny[i] = x[i]", "threads wait for one another", 6),
    "float result": ("y[i] = kb.atomic_add(x, 0, 1.0)", "depends on the order of the threads", 6),
    "slot": ("k = kb.atomic_add(c, 0, 1)\ny[k] = x[i] * x[i]", "gives back is needed by the adjoint", 6),
    "exchange": ("kb.atomic_exch(y, 0, x[i])", "atomic_exch on floating-point numbers", 6),
    "two kinds": ("kb.atomic_max(y, 0, x[i])\nkb.atomic_add(y, 1, x[i])", "another access to it", 7),
    "load": ("kb.atomic_min(y, 0, x[i])\nx[i] = y[1]", "another access to it", 7),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_adjoint_says_where(tmp_path: Path, what: str) -> None:
    body, words, line = REFUSED[what]
    with pytest.raises(Undifferentiable, match=words) as caught:
        made(tmp_path, body, f"{HEAD}, c: kb.array(dtype=int)")
    assert caught.value.help
    assert caught.value.span is not None
    assert caught.value.span.line == line


def test_a_slot_that_no_gradient_needs_is_no_matter(tmp_path: Path) -> None:
    found = made(tmp_path, "kb.atomic_add(c, 0, 1)\ny[i] = x[i] * x[i]", f"{HEAD}, c: kb.array(dtype=int)")
    assert (found.written, found.before) == (("c", "y"), ("x",))


def test_the_adjoint_in_words(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """Overwritten variables, a loop that is left, a function with two ends, an update in place."""
    before = """
@kb.func
def bounce(v: float, wall: float):
    if v > wall:
        return wall - 0.5 * (v - wall)
    return v
"""
    body = """
v = y[i]
for j in range(n):
    if x[j] == 0.0:
        continue
    v = bounce(v * x[j], 2.0)
    if v < 0.0:
        break
y[i] = v * y[i]
"""
    text = print_kernel(made(tmp_path, body, before=before).kernel)
    golden.check(HERE / "adjoint.txt", text.replace(text.split()[1].partition(":")[0], "module"), pytestconfig)
