"""Kernels in CUDA C++ files: what is built again after which change, what is in the bundle, and everything that can be
wrong with a declaration or a file.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kbuild import config as configuration
from kbuild.bundle.verification import verify
from kbuild.cli.main import main
from kbuild.config import BuildConfig
from kbuild.errors import CompileError, Diagnostic
from kbuild.loader import format
from kbuild.pipeline import BuildResult, build, check, emit, sources
from tests.helpers.cuda_project import BASIC, DECLARATIONS, FILES, KERNELS, UNITS, project
from tests.helpers.situations import happens

pytestmark = pytest.mark.nvrtc
TARGETS = 2


def config_of(root: Path) -> BuildConfig:
    found = configuration.load(root)
    assert found is not None
    return replace(found, jobs=2)


def built(root: Path) -> BuildResult:
    return build(config_of(root))


def manifest_of(root: Path) -> format.Parsed:
    return format.parse((root / "src/thing/_kbuild.kbundle").read_bytes())


def edit(root: Path, name: str, before: str, after: str) -> None:
    path = root / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def faults(root: Path) -> list[Diagnostic]:
    with pytest.raises(CompileError) as raised:
        built(root)
    return [d for d in raised.value.diagnostics if d.severity == "error"]


def test_everything_once_then_nothing(tmp_path: Path) -> None:
    root = project(tmp_path)
    first = built(root)
    assert first.kernels == tuple(f"thing.kernels:{name}" for name in KERNELS)
    assert (first.compiled, first.lowered, first.diagnostics) == (len(UNITS) * TARGETS, len(UNITS), ())
    parsed = manifest_of(root)
    assert verify(parsed) == []
    again = built(root)
    assert (again.compiled, again.cached, again.lowered) == (0, len(UNITS) * TARGETS, 0)
    assert again.bundles == first.bundles


def test_what_the_bundle_says(tmp_path: Path) -> None:
    built(project(tmp_path))
    manifest = manifest_of(tmp_path).manifest
    rows = {row["name"].partition(":")[2]: row for row in manifest["kernels"]}
    assert set(rows) == set(KERNELS)
    assert rows["saxpy"]["entry"] == "saxpy"
    assert rows["fill"]["entry"] == "_ZN5image4fillEPhhPKi"
    assert rows["sum_of_floats"]["entry"] == "_Z3sumIfLi256EEviPKT_PS0_"
    assert [(p["type"], p["offset"], p["size"]) for p in rows["fill"]["parameters"]] == [
        ("flat2[uint8]", 0, 8),
        ("uint8", 8, 1),
        ("flat1[int32]", 16, 8),
    ]
    assert rows["fill"]["optional"] == ["mask"]
    assert [p["type"] for p in rows["transposed"]["parameters"]] == ["array2[float32]", "array2[float32]"]
    assert (rows["reversed_blocks"]["shared_memory"], rows["sum_of_doubles"]["block_dim"]) == (1024, 128)
    assert all(row["plain"] and "CUDA C++" in row["backward"]["refused"] for row in rows.values())
    assert {row["unit"] for row in manifest["cubins"]} == UNITS


CHANGES = {
    "kernel": ("src/thing/cuda/basic.cu", "a * x[i]", "a / x[i]", {"basic"}),
    "header beside it": (
        "src/thing/cuda/cell.cuh",
        "int count; ",
        "int count; __device__ float more() const; ",
        {"basic"},
    ),
    "header of a header": ("include/twice.cuh", "x + x", "2 * x", {"sums"}),
    "comment in a header": ("include/twice.cuh", "x + x", "x + x /* twice */", {"sums"}),
    "signature": ("src/thing/kernels.py", "mask: kb.array(dtype=int) = None", "mask: kb.array(dtype=int)", {"basic"}),
    "dynamic shared memory": ("src/thing/kernels.py", "shared_memory=1024", "shared_memory=2048", {"sums"}),
    "threads of a block": ("src/thing/kernels.py", ", block_dim=128", "", set()),
    "body for the simulator": ("src/thing/kernels.py", "2.0 * x[i]", "x[i] + x[i]", set()),
    "lines": ("src/thing/kernels.py", "import kbuild as kb\n", "import kbuild as kb\n\n# more\n", set()),
    "macro": ("pyproject.toml", "OFFSET = 3", "OFFSET = 4", {"basic", "sums", "views"}),
    "option": ("pyproject.toml", "OFFSET = 3 }", "OFFSET = 3 }\nfmad = false", {"basic", "sums", "views"}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_exactly_what_a_change_reaches(tmp_path: Path, name: str) -> None:
    file, before, after, units = CHANGES[name]
    root = project(tmp_path)
    built(root)
    edit(root, file, before, after)
    again = built(root)
    assert (again.compiled, again.lowered) == (len(units) * TARGETS, len(units))


def test_a_header_that_comes_to_stand_before_another(tmp_path: Path) -> None:
    root = project(tmp_path)
    first = built(root)
    (root / "src/thing/cuda/cell.cuh").rename(root / "include/cell.cuh")
    moved = built(root)
    assert moved.compiled == TARGETS  # its virtual name is part of the text
    (root / "src/thing/cuda/cell.cuh").write_text(
        "struct Cell { int count; double weight; __device__ double twice() const; };\n"
    )
    assert built(root).compiled == TARGETS
    assert first.bundles[0].digest != ""


def test_the_same_bytes_wherever_it_lies(tmp_path: Path) -> None:
    digests = {built(project(tmp_path / name)).bundles[0].digest for name in ("here", "some/where/else")}
    assert len(digests) == 1


def test_check_and_emit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = project(tmp_path)
    found = check(config_of(root))
    assert (found.found, found.complete, found.diagnostics) == (len(KERNELS), len(KERNELS), ())
    texts = dict(emit(config_of(root), "cuda"))
    assert "/kbuild/src/thing/cuda/block.cuh" in texts
    assert '#include "/kbuild/include/twice.cuh"' in str(texts["/kbuild/src/thing/cuda/block.cuh"])
    assert "thing.kernels#cuda/sums.cu" in texts
    assert list(emit(config_of(root), "ir")) == []
    ptx = dict(emit(config_of(root), "ptx", kernel="saxpy"))
    assert all(".entry saxpy" in str(text) for text in ptx.values())
    assert main(["check", str(root), "--emit=ir", "--kernel", "saxpy"]) == 2
    assert "is written in CUDA C++, and has no ir" in capsys.readouterr().err
    built(root)
    assert main(["inspect", str(root / "src/thing/_kbuild.kbundle")]) == 0
    assert (
        "thing.kernels:reversed_blocks: CUDA C++, 256 threads a block, shared memory at launch (1024 bytes"
        in capsys.readouterr().out
    )
    assert main(["inspect", str(root / "src/thing/_kbuild.kbundle"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernels"]


def test_the_files_travel(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "notes").mkdir()
    (root / "notes/extra.cuh").write_text("")
    edit(root, "pyproject.toml", "defines", 'files = ["notes/*.cuh"]\ndefines')
    names = {path.relative_to(root).as_posix() for path in sources(config_of(root))}
    assert names == {*FILES, "notes/extra.cuh"} - {"src/thing/__init__.py"}


def test_an_editable_build_knows_its_headers(tmp_path: Path) -> None:
    root = project(tmp_path)
    build(config_of(root), editable=True)
    sources_of_build = manifest_of(root).manifest["sources"]
    assert {Path(row["path"]).name for row in sources_of_build} == {
        Path(name).name for name in FILES if not name.endswith("__init__.py")
    }


# What can be wrong: the file it is in, before, after; the code; the file, and a text of the line, that it points at;
# what the message says, and what the help.
WRONG = {
    "no such file": (
        ("kernels.py", '"cuda/views.cu"', '"cuda/view.cu"'),
        ("KB303", "kernels.py", "def transposed", "there is no file", "relative to"),
    ),
    "no such kernel": (
        ("kernels.py", '"image::fill"', '"image::filled"'),
        ("KB304", "kernels.py", "def fill", "means nothing in its file", "name it as C++ does"),
    ),
    "no such instance": (
        ("kernels.py", '"sum<float, 256>"', '"sum<float>"'),
        ("KB304", "kernels.py", "def sum_of_floats", "cannot determine which instance", ""),
    ),
    "fewer parameters": (
        ("kernels.py", "a: float, x: kb", "x: kb"),
        ("KB304", "kernels.py", "def saxpy", "saxpy has another number of parameters than the 3 declared here", ""),
    ),
    "another number": (
        ("kernels.py", "n: int, a: float", "n: int, a: kb.float64"),
        ("KB304", "kernels.py", "def saxpy", "parameter 2 of saxpy is no 'double', which 'a' is declared as", ""),
    ),
    "as large, and of another kind": (
        ("kernels.py", "n: int, a: float", "n: float, a: float"),
        ("KB304", "kernels.py", "def saxpy", "parameter 1 of saxpy is no 'float', which 'n'", ""),
    ),
    "another element": (
        ("kernels.py", "mask: kb.array(dtype=int)", "mask: kb.array(dtype=float)"),
        ("KB304", "kernels.py", "    mask:", "parameter 3 of image::fill is no 'float *', which 'mask'", ""),
    ),
    "a number for a pointer": (
        ("kernels.py", "out: kb.array(dtype=Cell)", "out: kb.int64"),
        ("KB304", "kernels.py", "def cells", "parameter 1 of cells is no 'long long'", ""),
    ),
    "a struct of another size": (
        ("kernels.py", "    weight: kb.float64", "    weight: kb.float64\n    more: int"),
        ("KB304", "kernels.py", "def cells", "pointer to 24 bytes", ""),
    ),
    "aligned otherwise": (
        ("basic.cu", "Cell one, float3 direction", "float4 direction, Cell one"),
        ("KB304", "kernels.py", "def cells", "parameter 2 of cells is no value of 16 bytes|of 12 bytes", ""),
    ),
    "a type that kernels do not have": (
        ("kernels.py", "n: int, a: float", "n: list, a: float"),
        ("KB102", "kernels.py", "def saxpy", "the type of 'n' cannot be used", ""),
    ),
    "a default": (
        ("kernels.py", "n: int, a: float, x: kb.array(dtype=float), y: kb.array(dtype=float)", "n: int = 3"),
        ("KB106", "kernels.py", "def saxpy", "has a default, which a launch would not take", "with every launch"),
    ),
    "wrong C++": (
        ("basic.cu", "one.weight", "one.wait"),
        ("KB301", "basic.cu", "out[threadIdx.x]", 'has no member "wait"', ""),
    ),
    "wrong C++ in a header": (
        ("twice.cuh", "x + x", "x + y"),
        ("KB301", "twice.cuh", "twice(T x)", '"y" is undefined', ""),
    ),
    "no such header": (
        ("block.cuh", "<twice.cuh>", "<thrice.cuh>"),
        ("KB305", "block.cuh", "thrice.cuh", "could not open source file|cannot open", "include-dirs"),
    ),
    "a header that is no package's here": (
        ("basic.cu", '#include "cell.cuh"', '#include "cell.cuh"\n#include <cub/cub.cuh>'),
        ("KB305", "basic.cu", "cub/cub.cuh", "open source file", "nvidia-cuda-cccl-cu1"),
    ),
    "a header of the host": (
        ("basic.cu", '#include "cell.cuh"', '#include "cell.cuh"\n#include <stdint.h>'),
        ("KB305", "basic.cu", "<stdint.h>", "open source file", "<cuda/std/cstdint>"),
    ),
    "an include that a macro names": (
        ("block.cuh", "#include <twice.cuh>", "#define WHICH <twice.cuh>\n  #include WHICH"),
        ("KB303", "block.cuh", "  #include WHICH", "this include names no file", "write the name out"),
    ),
    "fewer threads than a block has": (
        ("basic.cu", "__global__ void cells(", "__global__ void __launch_bounds__(128) cells("),
        ("KB304", "kernels.py", "def cells", "a block has 256 threads, and cells allows 128", "block_dim=128"),
    ),
    "declared twice": (
        (
            "kernels.py",
            '@kb.cuda_kernel("cuda/basic.cu")\ndef cells',
            '@kb.cuda_kernel("cuda/basic.cu", " saxpy")\n'
            "def saxpy_again(n: int, a: float, x: kb.array(dtype=float), y: kb.array(dtype=float)): ...\n\n\n"
            '@kb.cuda_kernel("cuda/basic.cu")\ndef cells',
        ),
        ("KB304", "kernels.py", "def saxpy_again", "are the same kernel, saxpy", "declare it once"),
    ),
    "too much shared memory": (
        ("block.cuh", "__shared__ T parts[N];", "__shared__ T parts[100 * N];"),
        ("KB301", None, None, "uses too much shared data", ""),
    ),
}


@happens(
    "Sources",
    "a declaration does not fit its kernel in a `.cu` file, in number, order or type of the parameters",
    "An error [KB304] at the line of the parameter in the Python file; nothing is written.",
)
@happens(
    "Sources",
    "a `.cu` file includes a header that is not there",
    "An error [KB305] at the line of the include, with the wheel that has it, if it is one of CUDA's.",
)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(tmp_path: Path, name: str) -> None:
    (file, before, after), (code, place, line, said, cure) = WRONG[name]
    root = project(tmp_path)
    (path,) = [one for one in FILES if one.endswith(f"/{file}")]
    edit(root, path, before, after)
    found = faults(root)
    first = found[0]
    assert first.code == code, found
    assert any(text in first.message for text in said.split("|")), first.message
    assert cure in (first.help or "")
    if place is not None:
        assert first.span is not None
        assert first.span.path.endswith(place)
        assert line in Path(first.span.path).read_text().splitlines()[first.span.line - 1], first.render()


def test_launch_bounds_are_those_of_the_file(tmp_path: Path) -> None:
    root = project(
        tmp_path, basic=BASIC.replace("__global__ void cells(", "__global__ void __launch_bounds__(512, 2) cells(")
    )
    built(root)
    parsed = manifest_of(root)
    bounds = {row["name"]: row["launch_bounds"] for row in parsed.manifest["kernels"] if "launch_bounds" in row}
    assert bounds == {"thing.kernels:cells": [512, 0]}
    assert verify(parsed) == []
    assert built(root).compiled == 0
    assert manifest_of(root).manifest == parsed.manifest


def test_the_fewest_threads_of_all_targets(tmp_path: Path) -> None:
    text = "#if __CUDA_ARCH__ >= 900\n#define MOST 512\n#else\n#define MOST 384\n#endif\n" + BASIC
    root = project(
        tmp_path, basic=text.replace("__global__ void cells(", "__global__ void __launch_bounds__(MOST) cells(")
    )
    built(root)
    parsed = manifest_of(root)
    assert next(row for row in parsed.manifest["kernels"] if "launch_bounds" in row)["launch_bounds"] == [384, 0]
    assert verify(parsed) == []


def test_options_of_kernels_in_python_are_not_for_files(tmp_path: Path) -> None:
    root = project(tmp_path)
    built(root)
    edit(
        root, "pyproject.toml", "[tool.kbuild]\n", "[tool.kbuild]\nfast-math = true\nmax-registers = 32\nfmad = false\n"
    )
    assert built(root).compiled == 0


def test_two_kernels_of_one_name(tmp_path: Path) -> None:
    twice = DECLARATIONS + '\n\n@kb.cuda_kernel("cuda/basic.cu", "cells")\ndef saxpy(n: int): ...\n'
    assert [d.code for d in faults(project(tmp_path, kernels=twice))] == ["KB205"]


def test_a_table_that_the_signature_does_not_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the compiler was told nothing of the declaration, the machine code still is."""
    from kbuild.nvrtc import jobs

    root = project(tmp_path, basic=BASIC.replace("Cell one, float3 direction", "float3 direction, Cell one"))
    original = jobs.Job.__init__

    def without_tail(self: jobs.Job, name: str, source: str, *rest: object, **named: object) -> None:
        original(self, name, source.partition('\n#line 1 "/kbuild/signature.cuh"')[0], *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(jobs.Job, "__init__", without_tail)
    (fault,) = faults(root)
    assert fault.code == "KB304"
    assert "parameter 'one' is declared at offset 8 with 16 bytes" in fault.message
    assert "the kernel has it at 8 with 12" in fault.message
