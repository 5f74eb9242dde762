"""Functions in CUDA C++: what is emitted computes what the snippets say, their gradients too; the simulator runs the
Python bodies; what a snippet cannot say is refused at its line.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.autodiff import Undifferentiable
from kbuild.autodiff.touched import changed
from kbuild.ir.blocks import dynamic_row, in_whole_blocks
from kbuild.ir.native import by_their_bodies
from kbuild.ir.nodes import Kernel
from kbuild.ir.printer import print_kernel
from kbuild.ir.traverse import callees
from kbuild.lang.reach import reach
from kbuild.loader.grids import Grid, Sized
from kbuild.nvrtc import Compiled, Rejected
from kbuild.scan.adjoints import adjoint_of
from kbuild.sim.threads import run
from kbuild.sim.values import Fault, Memory
from tests.helpers import kernels
from tests.helpers import nvrtc_cases as cases
from tests.helpers.both_ways import BothWays
from tests.helpers.host_gpu import HostModule, device

SQUARE = """
@kb.func_native("return x * x;", "adj_x += 2.0f * x * adj_ret;")
def square(x: float) -> float: ...

@kb.kernel
def squares(a: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = square(a[i]) + 1.0
"""
# As Warp's manual has it, but for the atomic addition, which `+=` is here.
SAXPY = '''
snippet = """
    out[tid] = a * x[tid] + y[tid];
    """
adj_snippet = """
    adj_a += x[tid] * adj_out[tid];
    adj_x[tid] += a * adj_out[tid];
    adj_y[tid] += adj_out[tid];
    """

@kb.func_native(snippet, adj_snippet)
def saxpy(
    a: float,
    x: kb.array(dtype=float),
    y: kb.array(dtype=float),
    out: kb.array(dtype=float),
    tid: int,
): ...

@kb.kernel
def native(a: kb.array(dtype=float), x: kb.array(dtype=float), y: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    saxpy(a[0], x, y, out, i)
'''
COMPOSITES = '''
@kb.struct
class Spring:
    stiffness: float
    rest: kb.vec3
    count: int

@kb.func_native("""
    float longest = 0.0f;
    for (int i = 0; i < 3; ++i) {
        float d = x(k, i).c[0] - s.rest.c[i];  // by the row of the array
        longest = fmaxf(longest, d * m.r[i].c[i]);
    }
    if (n) return vec3f{longest * s.stiffness, (float)x.shape[1], (float)(x.data != 0)};
    return s.rest;
""", """
    adj_s.stiffness += adj_ret.c[0];
    adj_x(k, 0) += adj_ret;
    adj_x(k, 1) -= adj_ret;
    adj_m.r[1].c[1] += adj_ret.c[1];
    if (!adj_x) adj_s.rest.c[2] += 1.0f;
    return;
""")
def stretched(s: Spring, x: kb.array2d(dtype=kb.vec3), m: kb.mat33, k: int, n: bool) -> kb.vec3: ...

@kb.kernel
def springs(s: Spring, x: kb.array2d(dtype=kb.vec3), m: kb.array(dtype=kb.mat33), out: kb.array(dtype=kb.vec3)):
    k = kb.tid()
    out[k] = stretched(s, x, m[0], k, k != 1)
'''
TWIN = """
@kb.func_native("return x > 0.0f ? x * x * x : 0.0f;", replay_snippet="return x * x * x;")
def cube(x: float) -> float:
    if x > 0.0:
        return x * x * x
    return 0.0

@kb.kernel
def cubes(a: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = cube(a[i])
"""
TOGETHER = '''
@kb.func_native("""
    __shared__ int sums[64];
    sums[threadIdx.x] = x;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
""")
def block_sum(x: int) -> int: ...

@kb.kernel(enable_backward=False)
def sums(a: kb.array(dtype=int), out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = block_sum(a[i])
'''
# As in Warp's manual: a counter, whose slots the gradient must find again.
COUNTER = """
@kb.func_native(
    "int next = atomicAdd(counts.data, 1); slots[tid] = next; return next;", replay_snippet="return slots[tid];"
)
def slot(counts: kb.array(dtype=int), slots: kb.array(dtype=int), tid: int) -> int: ...

@kb.kernel
def counted(
    x: kb.array(dtype=float), counts: kb.array(dtype=int), slots: kb.array(dtype=int), out: kb.array(dtype=float)
):
    i = kb.tid()
    if x[i] > 1.0:
        k = slot(counts, slots, i)
        out[k] = x[i] * x[i]
"""
# A text in a kernel whose threads cooperate; it stands for what the body says, assumption included.
COOPERATING = """
@kb.func_native("float half = x / 2.0f; return half + __shfl_xor_sync(0xffffffffu, half, 1);")
def pair(x: float) -> float:
    kb.assume(x >= 0.0)
    half = x / 2.0
    return half + kb.shfl_xor(half, 1)

@kb.kernel(enable_backward=False)
def pairs(a: kb.array(dtype=float), out: kb.array(dtype=float)):
    tile = kb.shared_array(None, float)
    for i in kb.grid_range(len(a)):
        kb.assume(len(a) > 0)
        tile[kb.thread_idx()] = kb.load_readonly(a, i)
        kb.syncthreads()
        out[i] = pair(tile[kb.block_dim() - 1 - kb.thread_idx()]) + kb.warp_max(0.0)
        kb.syncthreads()
"""
# Arrays of the block, of both kinds, are arrays to a text.
TILES = """
@kb.func_native("tile(t, 1) += 100.0f * tile.shape[0] + tile.strides[0] + fixed.shape[0] + fixed[t] + tile.data[0];")
def add_extents(tile: kb.array2d(dtype=float), fixed: kb.array(dtype=kb.int16), t: int):
    tile[t, 1] = tile[t, 1] + 100.0 * float(tile.shape[0]) + 8.0 + float(fixed.shape[0]) + float(fixed[t]) + tile[0, 0]

@kb.kernel(enable_backward=False)
def tiles(a: kb.array(dtype=float)):
    tile = kb.shared_array((None, 2), float)
    fixed = kb.shared_array(40, kb.int16)
    t = kb.thread_idx()
    tile[t, 0] = 0.5
    tile[t, 1] = a[kb.tid()]
    fixed[t] = kb.int16(-t)
    kb.syncthreads()
    add_extents(tile, fixed, t)
    a[kb.tid()] = tile[t, 1]
"""
# So are tables.
TABLES = """
WEIGHTS = kb.constant([[0.5, 2.0], [3.0, 4.0], [5.0, 6.0]])
STEPS = kb.constant([kb.vec3(1.0, 2.0, 3.0), kb.vec3(4.0, 5.0, 6.0)])

@kb.func_native("return weights(k, 1) * x + weights.shape[0] + 0.5f * weights.strides[0] + row[0] + steps[1].c[2];")
def weighted(x: float, weights: kb.array2d(dtype=float), row: kb.array(dtype=float), steps: kb.array(dtype=kb.vec3),
             k: int) -> float:
    return weights[k, 1] * x + float(weights.shape[0]) + 4.0 + row[0] + steps[1][2]

@kb.kernel
def tables(x: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = weighted(x[i], WEIGHTS, WEIGHTS[i % 3], STEPS, i % 3)
"""
# And in what runs once more for a gradient.
COUNTED_TABLE = """
PLACES = kb.constant([2, 0, 1])

@kb.func_native("atomicAdd(counts.data, 1); return places[k];", replay_snippet="return places[k];")
def place(places: kb.array(dtype=int), counts: kb.array(dtype=int), k: int) -> int: ...

@kb.kernel
def gathers(x: kb.array(dtype=float), counts: kb.array(dtype=int), out: kb.array(dtype=float)):
    i = kb.tid()
    k = place(PLACES, counts, i)
    out[i] = x[k] * x[k]
"""
WARP = """
@kb.func_native("return __shfl_down_sync(0xffffffffu, x, 1);")
def below(x: int) -> int: ...

@kb.kernel(enable_backward=False)
def shifted(a: kb.array(dtype=int)):
    i = kb.tid()
    a[i] = below(a[i])
"""
ALL = {
    "counter": COUNTER,
    "square": SQUARE,
    "saxpy": SAXPY,
    "composites": COMPOSITES,
    "twin": TWIN,
    "together": TOGETHER,
    "cooperating": COOPERATING,
    "tiles": TILES,
    "tables": TABLES,
    "counted table": COUNTED_TABLE,
    "warp": WARP,
}


def one(folder: Path, text: str) -> Kernel:
    (kernel,) = kernels.lower_text(folder, text)
    return kernel


def adjoint(kernel: Kernel) -> Kernel:
    return adjoint_of(kernel, kernel.name).kernel


def with_gradient(kernel: Kernel, folder: Path) -> tuple[HostModule, str]:
    made = adjoint(kernel)
    return HostModule([kernel, made], folder), made.name


def test_values(tmp_path: Path) -> None:
    kernel = one(tmp_path, SQUARE)
    module, backward = with_gradient(kernel, tmp_path)
    a, out = np.float32([1, -2, 3]), np.zeros(3, np.float32)
    module.launch(kernel.name, 3, [device(a), device(out)])
    assert out.tolist() == [2, 5, 10]
    adj_a, adj_out = np.zeros(3, np.float32), np.float32([1, 10, 100])
    module.launch(backward, 3, [device(a), device(out), device(adj_a), device(adj_out)])
    assert adj_a.tolist() == [2, -40, 600]


def test_arrays_as_in_warps_manual(tmp_path: Path) -> None:
    kernel = one(tmp_path, SAXPY)
    module, backward = with_gradient(kernel, tmp_path)
    a, x, y, out = np.float32([2]), np.float32([1, 2, 3]), np.float32([4, 5, 6]), np.zeros(3, np.float32)
    module.launch(kernel.name, 3, [device(one) for one in (a, x, y, out)])
    assert out.tolist() == [6, 9, 12]
    adjoints = [np.zeros(1, np.float32), np.zeros(3, np.float32), np.zeros(3, np.float32), np.float32([1, 1, 2])]
    module.launch(backward, 3, [device(one) for one in (a, x, y, out, *adjoints)])
    assert [g.tolist() for g in adjoints[:3]] == [[1 + 2 + 6], [2, 2, 4], [1, 1, 2]]
    alone = np.zeros(1, np.float32)
    module.rows[backward]["optional"] = ["adj_a", "adj_x", "adj_y"]  # as a build says of every adjoint
    given = [device(a), device(x), device(y), device(out), device(alone), None, None, device(np.float32([1, 1, 2]))]
    module.launch(backward, 3, given)  # where an array has no gradient, nothing is added
    assert alone.tolist() == [9]


def test_structs_vectors_and_matrices(tmp_path: Path) -> None:
    kernel = one(tmp_path, COMPOSITES)
    module, backward = with_gradient(kernel, tmp_path)
    spring = {"stiffness": 2.0, "rest": (0.5, 0.0, 7.0), "count": 3}
    x = np.arange(18, dtype=np.float32).reshape(2, 3, 3)
    m, out = np.float32([np.diag([1, 10, 1])]), np.zeros((2, 3), np.float32)
    module.launch(kernel.name, 2, [spring, device(x), device(m), device(out)])
    assert out.tolist() == [[60, 3, 1], [0.5, 0, 7]]
    names = [p.name for p in adjoint(kernel).function.parameters]
    assert names[4:] == ["adj_x", "adj_m", "adj_out"]
    adj_x, adj_m, adj_out = np.zeros_like(x), np.zeros_like(m), np.float32([[1, 2, 3], [4, 5, 6]])
    arrays = [device(one) for one in (x, m, out, adj_x, adj_m, adj_out)]
    module.launch(backward, 2, [spring, *arrays])
    assert adj_x[0].tolist() == [[1, 2, 3], [-1, -2, -3], [0, 0, 0]]
    assert adj_m[0].tolist() == [[0, 0, 0], [0, 7, 0], [0, 0, 0]]


def test_a_counter_does_not_count_again(tmp_path: Path) -> None:
    kernel = one(tmp_path, COUNTER)
    module, backward = with_gradient(kernel, tmp_path)
    x, counts, slots, out = np.float32([3, 0, 2]), np.zeros(1, np.int32), np.zeros(3, np.int32), np.zeros(3, np.float32)
    module.launch(kernel.name, 3, [device(a) for a in (x, counts, slots, out)])
    assert (counts.tolist(), out.tolist()) == ([2], [9, 4, 0])
    adj_x, adj_out = np.zeros(3, np.float32), np.float32([1, 10, 100])
    module.launch(backward, 3, [device(a) for a in (x, counts, slots, out, adj_x, adj_out)])
    assert (counts.tolist(), adj_x.tolist()) == ([2], [6, 0, 40])
    text = COUNTER.replace(', replay_snippet="return slots[tid];"', "")
    with pytest.raises(Undifferentiable, match="slot is CUDA C"):
        adjoint(one(tmp_path, text))


def test_threads_together(tmp_path: Path) -> None:
    kernel = one(tmp_path, TOGETHER)
    assert in_whole_blocks(kernel)
    assert not in_whole_blocks(one(tmp_path, SQUARE.replace("return x", "/* threadIdx */ return x")))


def test_lanes_of_a_warp(tmp_path: Path) -> None:
    assert in_whole_blocks(one(tmp_path, WARP))


def test_bodies_among_threads_that_cooperate(tmp_path: Path) -> None:
    """The text in machine code and the body in both simulators compute the same, among what threads do together."""
    both = BothWays(tmp_path, COOPERATING)
    assert dynamic_row(both.kernel.function) == 4
    a, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    both(Sized(Grid(2, 32), 128), a, out)
    turned = a.reshape(4, 32)[:, ::-1].ravel()
    assert out.tolist() == [(turned[i] + turned[i ^ 1]) / 2 for i in range(128)]


def test_arrays_in_shared_memory(tmp_path: Path) -> None:
    a = np.arange(64, dtype=np.float32)
    BothWays(tmp_path, TILES)(Sized(Grid(2, 32), 8 * 33 + 4), a)
    assert a.tolist() == [i + 3300 + 8 + 40 - i % 32 + 0.5 for i in range(64)]


def test_tables(tmp_path: Path) -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(6, np.float32)
    both = BothWays(tmp_path, TABLES)
    both(6, x, out)
    weights = [[0.5, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert out.tolist() == [weights[i % 3][1] * i + 3 + 4 + weights[i % 3][0] + 6 for i in range(6)]


def test_the_gradient_passes_a_table_by(tmp_path: Path) -> None:
    kernel = one(tmp_path, TABLES)
    module, backward = with_gradient(kernel, tmp_path)
    x, adj_x = np.ones(3, np.float32), np.zeros(3, np.float32)
    module.launch(backward, 3, [device(x), device(x), device(adj_x), device(np.ones(3, np.float32))])
    assert adj_x.tolist() == [2, 4, 6]


def test_a_replay_reads_a_table(tmp_path: Path) -> None:
    kernel = one(tmp_path, COUNTED_TABLE)
    (place,) = callees(kernel.function)
    assert changed(place) & {0, 1} == {1}  # nobody changes a table
    module, backward = with_gradient(kernel, tmp_path)
    x, counts, out = np.float32([1, 2, 3]), np.zeros(1, np.int32), np.zeros(3, np.float32)
    module.launch(kernel.name, 3, [device(x), device(counts), device(out)])
    assert out.tolist() == [9, 1, 4]
    adj_x, adj_out = np.zeros(3, np.float32), np.float32([1, 10, 100])
    module.launch(backward, 3, [device(one) for one in (x, counts, out, adj_x, adj_out)])
    assert (adj_x.tolist(), counts.tolist()) == ([20, 400, 6], [3])


def test_no_table_beside_a_gradient_in_cuda(tmp_path: Path) -> None:
    text = TABLES.replace('[1].c[2];")', '[1].c[2];", "adj_x += adj_ret;")')
    _, declared = kernels.load(kernels.write(tmp_path, text))
    _, (found,) = kernels.diagnose(declared)
    assert found.code == "KB196"
    assert "would add to the adjoint of the table 'weights'" in found.message


def test_the_simulator_runs_the_body(tmp_path: Path) -> None:
    kernel = one(tmp_path, TWIN)
    for made in (kernel, by_their_bodies(kernel)):
        a, out = (Memory(kb_float(), (3,), data) for data in ([2.0, -3.0, 1.0], [0.0] * 3))
        run(made, (3,), [a, out])
        assert out.data == [8.0, 0.0, 1.0]


def kb_float() -> Any:
    from kbuild.ir.types import FLOAT32

    return FLOAT32


def test_the_body_is_differentiated(tmp_path: Path) -> None:
    kernel = one(tmp_path, TWIN)
    module, backward = with_gradient(kernel, tmp_path)
    a, adj_a = np.float32([2, -3, 1]), np.zeros(3, np.float32)
    module.launch(backward, 3, [device(a), device(a), device(adj_a), device(np.ones(3, np.float32))])
    assert adj_a.tolist() == [12, 0, 3]


def test_through_the_simulator(tmp_path: Path) -> None:
    module, _ = kernels.load(kernels.write(tmp_path, TWIN + SQUARE))
    a, out = (
        kb.array([2.0, -3.0], dtype=float, device="sim", requires_grad=True),
        kb.zeros(2, dtype=float, device="sim"),
    )
    out.requires_grad = True
    with kb.Tape() as tape:
        kb.launch(module.cubes, dim=2, inputs=[a], outputs=[out])
    tape.backward(grads={out: kb.ones(2, dtype=float, device="sim")})
    assert (out.tolist(), a.grad.tolist()) == ([8.0, 0.0], [12.0, 0.0])
    tape.reset()
    del tape
    with pytest.raises(
        Fault, match=r"square is CUDA C\+\+, which the simulator cannot run .in place of `...`"
    ) as fault:
        kb.launch(module.squares, dim=2, inputs=[a, out], device="sim")
    assert fault.value.span is not None
    assert "def square" in Path(fault.value.span.path).read_text().splitlines()[fault.value.span.line - 1]


def test_the_oracle_refuses_too(tmp_path: Path) -> None:
    a, out = (Memory(kb_float(), (1,), [1.0]) for _ in range(2))
    with pytest.raises(Fault, match="square is CUDA C\\+\\+"):
        run(one(tmp_path, SQUARE), (1,), [a, out])


def test_without_a_gradient(tmp_path: Path) -> None:
    text = SQUARE.replace(', "adj_x += 2.0f * x * adj_ret;"', "")
    with pytest.raises(Undifferentiable, match="square is CUDA C\\+\\+, and nothing says its gradient") as refused:
        adjoint(one(tmp_path, text))
    assert "adj_snippet" in refused.value.help
    whole_numbers = text.replace("float", "int").replace("+ 1.0", "+ 1")
    adjoint(one(tmp_path, whole_numbers))  # has none to have


def test_on_the_host(tmp_path: Path) -> None:
    module, _ = kernels.load(kernels.write(tmp_path, TWIN + SQUARE))
    assert module.cube(2.0) == 8.0
    with pytest.raises(TypeError, match="square is CUDA C\\+\\+, which the host cannot run"):
        module.square(2.0)


def test_what_is_printed(tmp_path: Path) -> None:
    text = print_kernel(one(tmp_path, TWIN))
    assert "    cuda(x) -> float32 {\n        return x > 0.0f ? x * x * x : 0.0f;\n    }\n    in Python:\n" in text
    assert "cuda(x, adj_ret; adds to adj_x) -> void {" in print_kernel(adjoint(one(tmp_path, SQUARE)))


@pytest.mark.nvrtc
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("arch", "version"), [("sm_87", (11, 8)), ("sm_90", (12, 9)), ("sm_120", (13, 0))])
def test_it_compiles(tmp_path: Path, name: str, arch: str, version: tuple[int, int]) -> None:
    kernel = one(tmp_path, ALL[name])
    made = [kernel] if name in ("together", "cooperating", "tiles", "warp") else [kernel, adjoint(kernel)]
    found = cases.compile_one(cases.job(arch, version, kernels.emit_kernels(made).source), tmp_path / "cache")
    assert isinstance(found, Compiled), found


@pytest.mark.nvrtc
@pytest.mark.parametrize(
    ("text", "wrong", "line", "said"),
    [
        (SQUARE, ("return x * x", "return x * z"), '@kb.func_native("return x', '"z" is undefined'),
        (SAXPY, ("a * x[tid] +", "a * w[tid] +"), "    out[tid] = a * w", '"w" is undefined'),
        (COMPOSITES, ("adj_m.r[1]", "adj_m.q[1]"), "adj_m.q", 'no member "q"'),
        (SQUARE, ("2.0f * x", "2.0f * y"), "adj_x", '"y" is undefined'),
        (TABLES, ("return weights(k, 1)", "return weights(k, 1) = 1.0f"), "weights(k, 1) = ", "must be a modifiable"),
    ],
)
def test_errors_stand_at_the_line_of_the_snippet(
    tmp_path: Path, text: str, wrong: tuple[str, str], line: str, said: str
) -> None:
    assert wrong[0] in text
    kernel = one(tmp_path, text.replace(*wrong))
    unit = kernels.emit_kernels([kernel, adjoint(kernel)])
    found = cases.compile_one(cases.job("sm_90", (12, 9), unit.source), tmp_path / "cache")
    assert isinstance(found, Rejected)
    first = next(message for message in found.messages if message.severity == "error")
    assert said in first.text
    assert first.path is not None
    assert first.line is not None
    assert line in Path(unit.files[first.path]).read_text().splitlines()[first.line - 1]


REFUSED = {
    "Warp's names": (
        "return x * x",
        "wp::vec3 v; return x * x",
        "KB189",
        "`wp::vec3`, which is Warp's",
        "kb.func_native",
    ),
    "an include": ("return x * x", "\\n#include <cuda_fp16.h>\\nreturn x * x", "KB189", "has an #include", ".cu file"),
    "no annotation that is one": (
        "-> float",
        "-> list",
        "KB189",
        "what .* returns cannot be told",
        "annotate the result",
    ),
    "an array comes out": ("-> float", "-> kb.array(dtype=float)", "KB189", "returns an array", ""),
    "a word of C++": (
        "(x: float)",
        "(x: float, new: float = 0.0)",
        "KB189",
        "'new' of .* is a word of C\\+\\+",
        "rename",
    ),
    "another result in Python": (" ...", " return 3", "KB150", "returns .* in Python, and its annotation says", ""),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tmp_path: Path, name: str) -> None:
    before, after, code, said, cure = REFUSED[name]
    assert before in SQUARE
    _, declared = kernels.load(kernels.write(tmp_path, SQUARE.replace(before, after, 1)))
    _, (found,) = kernels.diagnose(declared)
    assert found.code == code
    assert re.search(said, found.message), found.message
    assert cure in (found.help or "") or cure == "kb.func_native"
    assert found.span is not None


def test_a_refusal_points_into_the_text(tmp_path: Path) -> None:
    _, declared = kernels.load(
        kernels.write(tmp_path, SAXPY.replace("    out[tid] = a", "    wp::vec3 v; out[tid] = a"))
    )
    _, (found,) = kernels.diagnose(declared)
    assert found.span is not None
    assert "wp::vec3" in Path(found.span.path).read_text().splitlines()[found.span.line - 1]


def test_every_text_is_in_the_key(tmp_path: Path) -> None:
    def key(text: str) -> str:
        _, (kernel,) = kernels.load(kernels.write(tmp_path, text).rename(tmp_path / f"same_{len(keys)}.py"), "same")
        return reach(kernel).key()

    keys: list[str] = []
    for before, after in (
        ("", ""),
        ("x * x * x :", "x * x :"),
        ('return x * x * x;")', 'return 0;")'),
        ("> 0.0:", ">= 0.0:"),
    ):
        keys.append(key(TWIN.replace(before, after) if before else TWIN))
    assert len(set(keys)) == len(keys)


def test_warps_spelling(tmp_path: Path) -> None:
    text = (SAXPY + SQUARE).replace("kb.", "wp.").replace("wp.array(", "wp.array(")
    path = tmp_path / "native_of_warp.py"
    path.write_text("import kbuild.warp as wp\n" + text)
    module, declared = kernels.load(path)
    assert module.square.dialect == "warp"
    lowered, found = kernels.diagnose(declared)
    assert found == []
    host = HostModule(lowered, tmp_path)
    a, out = np.float32([3]), np.zeros(1, np.float32)
    host.launch("native_of_warp:squares", 1, [device(a), device(out)])
    assert out.tolist() == [10]
    assert wp.func_native is not kb.func_native


@pytest.mark.parametrize("given", [(3,), (lambda x: x,), ("", 3), ("", None, b"")])
def test_wrong_declarations(given: Any) -> None:
    with pytest.raises(TypeError, match=r"@func_native: .* wants a text in CUDA C"):
        kb.func_native(*given)
