"""What the reference says of each function is what the compiler does with it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from kbuild import targets
from kbuild.errors import CompileError
from kbuild.intrinsics import catalogue, described
from kbuild.intrinsics.catalogue import entry
from kbuild.intrinsics.described import Described, parse
from kbuild.intrinsics.table import ROWS, SPECIAL_FORMS
from kbuild.ir import nodes
from kbuild.loader.builtins import TABLE
from kbuild.nvrtc import Cache, Compiled, Job, choose, compile_jobs, discover, text_key
from tests.helpers import kernels
from tools.signatures import concrete

# Their arguments are not plain values: each has a kernel of its own below.
APART = {
    "expect_eq": "a: kb.array(dtype=int), v: kb.vec2|kb.expect_eq(a[0], a[1]); kb.expect_eq(v, v)",
    "expect_near": "a: kb.array(dtype=float), v: kb.vec2d|"
    "kb.expect_near(a[0], a[1]); kb.expect_near(v, v, 1e-9); kb.expect_near(a[0], a[1], tolerance=0.1)",
    "expect_neq": "a: kb.array(dtype=int), v: kb.vec2|kb.expect_neq(a[0], a[1]); kb.expect_neq(v, v)",
    "block_dim": "a: kb.array(dtype=int)|a[0] = kb.block_dim() + kb.block_dim().x",
    "block_idx": "a: kb.array(dtype=int)|a[0] = kb.block_idx() + kb.block_idx().y",
    "grid_dim": "a: kb.array(dtype=int)|a[0] = kb.grid_dim() + kb.grid_dim().z",
    "lane_id": "a: kb.array(dtype=int)|a[0] = kb.lane_id()",
    "shared_array": "a: kb.array(dtype=int)|s = kb.shared_array((4, 5), kb.vec2); a[0] = s.shape[1]",
    "syncthreads": "a: kb.array(dtype=int)|a[0] = 1; kb.syncthreads()",
    "syncwarp": "a: kb.array(dtype=int)|a[0] = 1; kb.syncwarp(); kb.syncwarp(0xff)",
    "cluster_array": "a: kb.array(dtype=float)|s = kb.shared_array(4, float); a[0] = kb.cluster_array(s, 1)[0]",
    "cluster_dim": "a: kb.array(dtype=int)|a[0] = kb.cluster_dim()",
    "cluster_rank": "a: kb.array(dtype=int)|a[0] = kb.cluster_rank()",
    "cluster_sync": "a: kb.array(dtype=int)|a[0] = 1; kb.cluster_sync()",
    "warp_id": "a: kb.array(dtype=int)|a[0] = kb.warp_id()",
    "grid_range": "a: kb.array(dtype=kb.int64), n: kb.int64|for i in kb.grid_range(n): a[i] = i + kb.int64(len(a))",
    **{
        name: f"a: kb.array(dtype=float)|a[0] = kb.{name}(a[1], 2); a[1] = kb.{name}(a[1], 3, width=8)"
        for name in nodes.SHUFFLES
    },
    "assume": "a: kb.array(dtype=int)|kb.assume(a[0] > 3); a[0] = 1",
    "load_readonly": "a: kb.array2d(dtype=kb.vec3), b: kb.array(dtype=kb.vec3)|b[0] = kb.load_readonly(a, 0, 1)",
    "load_streaming": "a: kb.indexedarray(dtype=kb.mat22h)|a[0] = kb.load_streaming(a, 1)",
    "store_streaming": "a: kb.array2d(dtype=kb.uint8)|kb.store_streaming(a, 1, 2, 3)",
    "thread_idx": "a: kb.array(dtype=int)|a[0] = kb.thread_idx() + kb.thread_idx().x",
    "identity": "m: kb.array(dtype=kb.mat33d)|m[0] = kb.identity(3, kb.float64)",
    "matrix": "m: kb.array(dtype=kb.mat22d), x: kb.float64|"
    "m[0] = kb.matrix(x, x, x, x, shape=(2, 2)); m[1] = kb.matrix(shape=(2, 2), dtype=kb.float64)",
    "matrix_from_cols": "m: kb.array(dtype=kb.mat22), v: kb.vec2|m[0] = kb.matrix_from_cols(v, v)",
    "matrix_from_rows": "m: kb.array(dtype=kb.mat22), v: kb.vec2|m[0] = kb.matrix_from_rows(v, v)",
    "quat_identity": "q: kb.array(dtype=kb.quatd)|q[0] = kb.quat_identity(kb.float64)",
    "quaternion": "q: kb.array(dtype=kb.quatd), v: kb.vec3d, x: kb.float64|"
    "q[0] = kb.quaternion(x, x, x, x); q[1] = kb.quaternion(v, x); q[2] = kb.quaternion(dtype=kb.float64)",
    "print": "a: kb.array(dtype=float), v: kb.vec2|kb.print(a[0], v, sep=', ', end=''); print()",
    "printf": "a: kb.array(dtype=float)|kb.printf('%d %f', 1, a[0])",
    "static": "a: kb.array(dtype=float)|a[0] = kb.static(3.0 * 2)",
    "tid": "a: kb.array2d(dtype=float)|i, j = kb.tid(); a[i, j] = 1.0",
    "transform_identity": "t: kb.array(dtype=kb.transformd)|t[0] = kb.transform_identity(kb.float64)",
    "transformation": "t: kb.array(dtype=kb.transform), p: kb.vec3, q: kb.quat, x: float|"
    "t[0] = kb.transformation(p, q); t[1] = kb.transformation(x, x, x, x, x, x, x)",
    "vector": "v: kb.array(dtype=kb.vec2d), x: kb.float64|"
    "v[0] = kb.vector(x, x); v[1] = kb.vector(length=2, dtype=kb.float64); v[2] = kb.vector(v[0])",
    **{
        name: f"a: kb.array2d(dtype=int), out: kb.array(dtype=int)|out[0] = kb.{name}(a, 0, 1, {values}); "
        f"kb.{name}(a, 0, 1, {values}, order='acq_rel', scope='system')"
        for name in ROWS
        if ROWS[name].is_atomic
        for values in ["2, 3" if name == "atomic_cas" else "2"]
    },
}


def test_every_function_is_described() -> None:
    assert {*described.LINES, *ROWS} == set(TABLE)
    assert {name for name in TABLE if not entry(name).row and not entry(name).is_library} == SPECIAL_FORMS


@pytest.mark.parametrize("name", TABLE)
def test_an_entry_is_whole(name: str) -> None:
    one = entry(name)
    assert one.derivative in ("yes", "no", "parts")
    assert bool(one.subgradient) == (one.derivative == "parts")
    assert one.uses
    for use in one.uses:
        assert use.doc.endswith((".", "]", "`.")), use.doc
    if one.row is not None:
        assert one.row.ptx
        assert one.row.derivative == one.derivative


@pytest.mark.parametrize("name", [n for n in TABLE if entry(n).is_library])
def test_parameters_are_those_of_the_function(name: str) -> None:
    """By name, default and, where the function says one, shape."""
    functions = catalogue.functions_of(name)
    uses = [use.signature for use in entry(name).uses]
    functions += functions[-1:] * (len(uses) - len(functions))
    for signature, function in zip(uses, functions, strict=True):
        found = inspect.signature(function.function).parameters
        assert [p.name for p in signature.parameters] == list(found)
        defaults = ["" if p.default is inspect.Parameter.empty else str(p.default) for p in found.values()]
        assert [p.default for p in signature.parameters] == defaults
        for described_one, parameter in zip(signature.parameters, found.values(), strict=True):
            word = described_one.word.split("[")[0]
            assert parameter.annotation in ("Any", "Rotation", "int", word, word.lower()) or "[" in described_one.word


@pytest.mark.parametrize("name", [n for n in TABLE if n not in APART])
def test_every_signature_is_true(name: str, tmp_path: Path) -> None:
    """At every element type: the call lowers, and its results are stored at exactly the types that are named."""
    text = []
    for use in entry(name).uses:
        for i, one in enumerate(concrete(use.signature)):
            kernel = one.kernel(f"k{len(text)}_{i}", name, is_stateful=entry(name).is_stateful)
            if name == "fma" and "kb.float16" in kernel:
                continue
            text.append(kernel)
    assert len(kernels.lower_text(tmp_path, "\n".join(text))) == len(text) > 0


@pytest.mark.parametrize("name", sorted(APART))
def test_what_stands_apart_lowers(name: str, tmp_path: Path) -> None:
    parameters, body = APART[name].split("|")
    options = "(cluster_dim=2)" if name.startswith("cluster_") else ""
    kernels.lower_text(tmp_path, f"@kb.kernel{options}\ndef one({parameters}):\n    {body}\n")


def test_a_wrong_signature_does_not_lower(tmp_path: Path) -> None:
    for text in ("(a: Vec[Float], b: Vec[Float]) -> Vec[Float]", "(a: Vec[Float], b: Float) -> Float"):
        one = next(concrete(parse(text)))
        with pytest.raises(CompileError):
            kernels.lower_text(tmp_path, one.kernel("wrong", "dot"))


def test_signatures_print_as_they_are_written() -> None:
    for text in ("() -> Int32", "(a: Vec[Float], t: Float = 1.0) -> (Float, Vec3[Float])", "(*, dtype: Type = …) -> T"):
        assert str(parse(text)) == text
    assert isinstance(parse("(shape: (int, int), n: int) -> T"), Described)
    assert len(parse("(shape: (int, int), n: int) -> T").parameters) == 2


@pytest.mark.nvrtc
def test_the_named_instructions_are_in_the_ptx(tmp_path: Path) -> None:
    toolchains, part = discover(), targets.parse("compute_90").parts()[0]
    jobs = {}
    for name, row in ROWS.items():
        if name in APART:
            text = f"@kb.kernel\ndef one({APART[name].split('|')[0]}):\n    {APART[name].split('|')[1]}\n"
        else:
            first = row.signature.parameters[0][1]
            wanted = {"Integer": "kb.int32", "Bool": "bool"}.get(first, "kb.float32")
            signature = parse(row.signature.text)
            text = next(c for c in concrete(signature) if wanted in c.parameters.values()).kernel("one", name)
        source = kernels.emit_kernels(kernels.lower_text(tmp_path, text)).source
        jobs[name] = Job(name, source, part.arch, choose(part, toolchains), key_parts=text_key(source))
    missing = []
    for name, outcome in zip(jobs, compile_jobs(list(jobs.values()), cache=Cache(tmp_path / "cache")), strict=True):
        assert isinstance(outcome, Compiled)
        ptx = outcome.data.decode().replace("atom.global.", "atom.")
        missing += [(name, op) for op in ROWS[name].ptx.split() if not re.search(rf"\t{re.escape(op)}\.", ptx)]
    assert missing == []
