"""What is held against a kernel while it is compiled makes no code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kbuild.cuda.signature import Declaration, Parameter, spelled, text
from kbuild.loader import abi
from tests.helpers import nvrtc_cases as cases

SOURCE = """\
struct Pair { float a, b; };
template <class T, int N>
__global__ void mixed(int n, long m, T s, const T *x, Pair *p, Pair q, void *r) { p[n].a = x[n]; }
extern "C" __global__ void nothing() {}
"""
VEC2 = abi.Vector(2, abi.FLOAT32)
TYPES = (abi.INT32, abi.INT64, abi.FLOAT32, abi.Flat(abi.FLOAT32, 2), abi.Flat(VEC2, 1), VEC2, abi.Flat(abi.INT8, 1))
NAMES = ("mixed<float, 3>", "nothing")
PARAMETERS = tuple(Parameter(f"p{i}", type, 5 + i) for i, type in enumerate(TYPES))
DECLARED = (Declaration(NAMES[0], PARAMETERS, "/kbuild/k.py", 4), Declaration(NAMES[1], (), "/kbuild/k.py", 20))


@pytest.mark.nvrtc
@pytest.mark.parametrize(("arch", "version"), [("sm_87", (11, 8)), ("sm_90", (12, 9)), ("sm_90", (13, 0))])
def test_the_same_machine_code(tmp_path: Path, arch: str, version: tuple[int, int]) -> None:
    plain = replace(cases.job(arch, version, SOURCE), expressions=NAMES)
    checked = replace(plain, source=SOURCE + text(DECLARED), key_parts="checked")
    first, second = (cases.compiled(cases.compile_one(job, tmp_path / "cache")) for job in (plain, checked))
    assert first.data == second.data
    assert first.names == second.names == {NAMES[0]: "_Z5mixedIfLi3EEvilT_PKS0_P4PairS3_Pv", NAMES[1]: "nothing"}


@pytest.mark.nvrtc
@pytest.mark.parametrize("position", range(len(TYPES)))
def test_each_parameter_is_looked_at(tmp_path: Path, position: int) -> None:
    """One that is declared as another type stands at its own line, and nothing else is wrong."""
    wrong = replace(PARAMETERS[position], type=abi.Vector(5, abi.FLOAT32))
    parameters = (*PARAMETERS[:position], wrong, *PARAMETERS[position + 1 :])
    source = SOURCE + text([replace(DECLARED[0], parameters=parameters)])
    outcome = cases.rejected(cases.compile_one(cases.job("sm_90", (12, 9), source), tmp_path / "cache"))
    (message,) = outcome.messages
    assert (message.path, message.line) == ("/kbuild/k.py", 5 + position)
    assert (
        f"parameter {position + 1} of mixed<float, 3> is no {spelled(wrong.type)}, which 'p{position}'" in message.text
    )
