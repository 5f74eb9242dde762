"""benchmarks/fast.py as far as it goes without a GPU: results against NumPy, arguments against machine code, a page."""

from __future__ import annotations

import ctypes
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kbuild import targets
from kbuild.loader import cubin
from kbuild.nvrtc import choose, discover
from kbuild.nvrtc.adapters import compile_program, open_nvrtc
from kbuild.nvrtc.toolchain import PROGRAM_NAME, command_line

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PATHS = (BENCHMARKS, BENCHMARKS / "project" / "src")
NAMES = ("fast_cases", "fast_page", "fast_ways")
TITLES = (
    "elementwise",
    "particle step",
    "mass-spring",
    "3x3 stencil",
    "transpose",
    "reduction",
    "scan",
    "histogram",
    "matrix product",
    "N-body",
    "NV12 to RGB",
    "sparse matrix-vector",
)


@pytest.fixture(scope="module")
def support() -> Iterator[SimpleNamespace]:
    """The modules in benchmarks/support, and benchkernels."""
    sys.path[:0] = [str(path) for path in PATHS]
    try:
        yield SimpleNamespace(**{name: importlib.import_module(f"support.{name}") for name in NAMES})
    finally:
        for path in PATHS:
            sys.path.remove(str(path))


@pytest.mark.parametrize("title", TITLES)
def test_kernels_compute_what_numpy_does(support: Any, title: str) -> None:
    case = support.fast_cases.make(title, support.fast_cases.SMALL)
    program = support.fast_ways.Program(case, "sim")
    wanted = case.wanted({name: data for name, (data, _) in case.arrays.items()})
    assert all(one.any() for one in wanted)
    for _ in range(2):  # from the same data each time
        assert support.fast_ways.apart(program.outcome(program.run), wanted) <= max(case.near, 1e-6)


def test_every_case_is_there(support: Any) -> None:
    cases = support.fast_cases
    assert list(cases.SIZES) == list(cases.SMALL) == list(TITLES)


def test_differences(support: Any) -> None:
    apart = support.fast_ways.apart
    ones = np.ones(3, np.float32)
    assert apart((ones, ones), (ones, ones)) == 0.0
    assert apart((ones, ones), (ones, 2.0 * ones)) == 0.5
    assert apart((np.array([1.0, np.nan, 1.0]),), (ones,)) == float("inf")
    with pytest.raises(ValueError, match="shape"):
        apart((np.ones((3, 1)),), (ones,))


@pytest.fixture(scope="module")
def machine_code() -> dict[str, cubin.Cubin]:
    """What is written by hand, as prepare.py compiles it."""
    toolchain = choose(targets.parse("sm_90"), discover())
    nvrtc = open_nvrtc(Path(toolchain.library), toolchain.builtins)
    options = [option.encode() for option in command_line(toolchain, "sm_90")]
    found = {}
    for path in sorted((BENCHMARKS / "handwritten").glob("*.cu")):
        answer = compile_program(nvrtc, path.read_bytes(), PROGRAM_NAME.encode(), options, "cubin")
        assert answer.data, answer.log
        found[path.stem] = cubin.read(answer.data)
    return found


@pytest.mark.parametrize("title", TITLES)
def test_arguments_by_hand_fit_the_machine_code(support: Any, machine_code: Any, title: str) -> None:
    case = support.fast_cases.make(title, support.fast_cases.SMALL)
    prepared = (BENCHMARKS / "prepare.py").read_text(encoding="utf-8")
    for one in case.by_hand:
        assert f'"{one.unit}"' in prepared
        kernel = machine_code[one.unit].kernels[one.entry]
        pairs = support.fast_ways.arguments(one, dict.fromkeys(case.arrays, 0))
        sizes = [ctypes.sizeof(value if kind is None else kind) for value, kind in pairs]
        assert sizes == [size for _, size in kernel.parameters], (one.unit, one.entry)
        assert kernel.local == 0  # no spills
        assert kernel.max_threads is None or one.block[0] * one.block[1] <= kernel.max_threads


def test_the_page_of_results(support: Any) -> None:
    report = importlib.import_module("report")
    case = {"bytes": 4_000_000, "ways": {"kbuild": {"median": 2e-6}, "by hand": {"median": 1e-6}}, "apart": {}}
    limited = {**case, "bytes": None, "ways": {**case["ways"], "Warp": {"median": 4e-6}}}
    values = {
        "cases": {"scan": case, "N-body": limited},
        "copy_bandwidth": 4e12,
        "without": {"scan: Warp": "failed: no"},
        "versions": {"Warp": "1.19.0"},
    }
    machine = {"gpu": "H200", "cores": 2, "cpu": "a CPU", "python": "3.12", "date": "today", "commit": "abc"}
    page = report.fast(json.loads(json.dumps({"values": values, "machine": machine})))
    assert "| scan | 2.0 | 1.0 |  | 2.00 |  | 2000 | 0.50 |" in page
    assert "| N-body | 2.0 | 1.0 | 4.0 | 2.00 | 0.50 |  |  |" in page
    assert "Not measured: scan: Warp (failed: no)." in page
    assert "fast" in report.NAMES
