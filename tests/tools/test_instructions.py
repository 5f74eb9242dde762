"""benchmarks/instructions.py: what it reads from nvdisasm's text, which loop it takes, and the page."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
NAMES = ("sass", "instructions_page")
# A loop over shared memory inside one that loads 4 bytes, then one that loads 64, then the padding.
LISTING = """
.text.one:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E.U8 R2, desc[UR4][R2.64] ;
.L_x_2:
        /*0020*/                   LDS R3, [R4] ;
        /*0030*/              @!P0 BRA `(.L_x_2) ;
        /*0040*/                   SHFL.BFLY PT, R7, R2, 0x10, 0x1f ;
        /*0050*/               @P1 BRA `(.L_x_1) ;
.L_x_3:
        /*0060*/                   IMAD.WIDE R4, R6, 0x4, R2 ;
        /*0070*/         @P0 LDG.E.128 R8, desc[UR4][R4.64] ;
        /*0080*/                   STG.E.64 desc[UR4][R4.64], R8 ;
        /*0090*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*00a0*/               @P0 BRA `(.L_x_3) ;
        /*00b0*/                   EXIT ;
.L_x_4:
        /*00c0*/                   BRA `(.L_x_4);
        /*00d0*/                   NOP;
.text.two:
        /*0000*/                   EXIT ;
"""


@pytest.fixture(scope="module")
def support() -> Iterator[SimpleNamespace]:
    """The modules in benchmarks/support, and the programs beside it."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield SimpleNamespace(**{name: importlib.import_module(f"support.{name}") for name in NAMES})
    finally:
        sys.path.remove(str(BENCHMARKS))


def test_the_hottest_loop_and_what_is_in_it(support: Any) -> None:
    sass = support.sass
    found = sass.parse(LISTING)
    assert {name: len(code) for name, code in found.items()} == {"one": 12, "two": 1}
    assert sass.loops(found["one"]) == [(2, 3), (1, 5), (6, 10)]
    loop = sass.hottest(found["one"])
    assert [one.name for one in loop] == ["IMAD", "LDG", "STG", "BAR", "BRA"]
    assert sass.moved(loop) == 24
    assert sass.counts(loop) == {
        "instructions": 5,
        "loads": {"128": 1},
        "stores": {"64": 1},
        "wide": 1,
        "shuffles": 0,
        "barriers": 1,
    }
    assert sass.counts(found["one"])["loads"] == {"8": 1, "128": 1}
    assert sass.counts(found["one"])["shuffles"] == 1
    assert not sass.hottest(found["two"])


def test_a_missing_disassembler_is_named_with_its_package(support: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(support.sass.metadata, "files", none)
    with pytest.raises(support.sass.Missing, match="pip install nvidia-cuda-nvdisasm"):
        support.sass.find_nvdisasm()


def test_the_page(support: Any) -> None:
    report = importlib.import_module("report")
    loop = {"instructions": 28, "loads": {"128": 4}, "stores": {}, "wide": 4, "shuffles": 0, "barriers": 0, "bytes": 64}
    whole = {"instructions": 100, "loads": {"32": 2}, "stores": {"32": 1}, "wide": 2, "shuffles": 0, "barriers": 0}
    kernels = [
        {
            "case": "sum",
            "kernel": "m:k",
            "kbuild": {"whole": whole, "loop": loop},
            "by hand": {"whole": whole, "loop": loop},
        },
        {
            "case": "axpy",
            "kernel": "m:a",
            "kbuild": {"whole": whole, "loop": None},
            "by hand": {"whole": whole, "loop": None},
        },
    ]
    values = {"targets": {"sm_90": {"toolchain": "12.9.86", "kernels": kernels}}}
    machine = {"gpu": None, "cores": 2, "cpu": "a CPU", "python": "3.12", "date": "today", "commit": "abc"}
    page = report.instructions({"values": values, "machine": machine})
    assert "| sum: `k` | 7.0 | 7.0 | 1.00 | 4 × 128 | 4 × 128 | 4 | 4 | 100 | 100 |" in page
    assert "| axpy: `a` | 100.0 | 100.0 | 1.00 | 2 × 32 | 2 × 32 | 2 | 2 | 100 | 100 |" in page
    assert "instructions" in report.NAMES


def test_a_program_without_one_says_so(tmp_path: Path) -> None:
    """The whole program where there is neither the tool nor its package."""
    code = (
        "import sys; sys.argv = ['instructions.py']; sys.path[:0] = [%r, %r]\n"
        "from support import sass\n"
        "sass.shutil.which = lambda name: None\n"
        "sass.metadata.files = lambda name: None\n"
        "import instructions; instructions.main()"
    ) % (str(BENCHMARKS), str(BENCHMARKS.parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == "there is no nvdisasm; install it: pip install nvidia-cuda-nvdisasm"
