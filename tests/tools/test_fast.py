"""benchmarks/fast.py as far as it goes without a GPU: results against NumPy, arguments against machine code, a page."""

from __future__ import annotations

import ctypes
import functools
import importlib
import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import kbuild as kb
from kbuild import targets
from kbuild.loader import cubin
from kbuild.nvrtc import choose, discover
from kbuild.nvrtc.adapters import compile_program, open_nvrtc
from kbuild.nvrtc.toolchain import PROGRAM_NAME, command_line
from tests.helpers.fake_cuda import FakeCuda, compile_library
from tests.helpers.handwritten import HandWritten

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PATHS = (BENCHMARKS, BENCHMARKS / "project" / "src")
NAMES = ("cases", "fast_cases", "fast_page", "fast_ways")
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


@pytest.fixture(scope="module")
def on_the_host(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Hand-written kernels by unit, compiled once."""
    folder = tmp_path_factory.mktemp("handwritten")
    return functools.cache(lambda unit: HandWritten(BENCHMARKS / "handwritten" / f"{unit}.cu", folder))


@pytest.mark.parametrize("title", TITLES)
def test_what_is_written_by_hand_computes_what_numpy_does(support: Any, on_the_host: Any, title: str) -> None:
    case = support.fast_cases.make(title, support.fast_cases.SMALL)
    wanted = case.wanted({name: data for name, (data, _) in case.arrays.items()})
    memory = {name: np.ascontiguousarray(data).copy() for name, (data, _) in case.arrays.items()}
    addresses = {name: data.ctypes.data for name, data in memory.items()}
    for one in case.by_hand:
        pointers, _keep = support.cases.pointed(support.fast_ways.arguments(one, addresses))
        on_the_host(one.unit).launch(one.entry, one.grid, one.block, pointers)
    assert support.fast_ways.apart(tuple(memory[name] for name in case.results), wanted) <= max(case.near, 1e-6)


class Fakes:
    """A kit with the code of one hand-written kernel, for the fake driver, and a case that launches it."""

    ARGUMENTS = (7, 0.5, (1.0, 2.0, 3.0))

    def __init__(self, support: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (folder / "cubins").mkdir()
        (folder / "cubins" / "unit.cubin").write_bytes(b"FAKE 0\nentry 4 0 8 8 4 12 4 16 12\n")
        monkeypatch.setenv("KBUILD_KIT", str(folder))
        self.cases, self.library = support.fast_cases, compile_library(folder)

    def case(self, *entries: str) -> Any:
        arguments = (self.cases.Name("x"), *self.ARGUMENTS)
        by_hand = tuple(self.cases.ByHand("unit", entry, arguments, (3, 2), (32, 8)) for entry in entries)
        data = {"x": (np.ones(5, np.float32), "float32")}
        return self.cases.Case(data, (), by_hand, ("x",), lambda was: (was["x"],), bytes=20)


@pytest.fixture
def fakes(support: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fakes:
    return Fakes(support, tmp_path, monkeypatch)


def test_launches_by_hand_go_into_a_graph(support: Any, fakes: Fakes) -> None:
    ways = support.fast_ways
    with FakeCuda(fakes.library) as fake:
        program, stream = ways.Program(fakes.case("entry")), kb.Stream()
        written = ways.HandWritten(program, stream)
        (got,) = program.outcome(written.run)
        assert got.tolist() == [1.0] * 5
        way = program.graph(written.run, 4, stream)
        assert fake.launches == 1 + 4  # what is captured counts
        assert way() > 0.0
        assert fake.calls.count("cuGraphLaunch") == 1
        record = fake.records[-1]
        assert list(record.sizes) == [3, 2, 1, 32, 8, 1]
        assert bytes(record.bytes)[:28] == struct.pack("<Qif3f", program.arrays["x"].ptr, 7, 0.5, 1.0, 2.0, 3.0)
        del program, written, way, stream
        assert fake.breaches == []


def test_the_program_measures_and_records(
    support: Any, fakes: Fakes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fast, report = (importlib.import_module(name) for name in ("fast", "report"))
    made = {"good": fakes.case("entry"), "bad": fakes.case("entry", "missing")}
    monkeypatch.setattr(fast.fast_cases, "SIZES", dict.fromkeys(made, (5,)))
    monkeypatch.setattr(fast.fast_cases, "make", lambda title, _: made[title])
    monkeypatch.setattr(fast, "COPIED", 1 << 12)
    monkeypatch.setenv("KBUILD_SITE", str(ROOT))
    monkeypatch.setenv("KBUILD_BENCH_RESULTS", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["fast.py", "--rounds", "3"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "warp", None)
    with FakeCuda(fakes.library), pytest.raises(SystemExit, match="failed: bad: by hand"):
        fast.main()
    document = json.loads((tmp_path / "fast.json").read_text(encoding="utf-8"))
    good, bad = (document["values"]["cases"][title] for title in made)
    assert list(good["ways"]) == ["kbuild", "by hand"]
    assert good["apart"] == {"kbuild": 0.0, "by hand": 0.0}
    assert list(bad["ways"]) == ["kbuild"]
    without = document["values"]["without"]
    assert "warp" in without["Warp"]
    assert "cuModuleGetFunction" in without["bad: by hand"]
    assert "of a copy's bandwidth" in capsys.readouterr().out
    assert "| good |" in report.fast(document)


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
    assert "(kernels.svg)" in page


def test_the_picture(support: Any) -> None:
    plot = importlib.import_module("support.fast_plot")
    ways = {"kbuild": {"median": 2e-6}, "by hand": {"median": 1e-6}, "Warp": {"median": 4e-4}}
    cases = {"scan": {"ways": ways}, "alone": {"ways": {"kbuild": {"median": 1e-6}}}}
    texts = [one.text for one in ElementTree.fromstring(plot.svg({"cases": cases})).iter() if one.text]
    assert {"scan", "2.00", "400"} <= set(texts)
    assert "alone" not in texts
