"""Compiling: what comes out, that the same text gives the same bytes, and both adapters."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kbuild.loader import cubin
from kbuild.nvrtc import Cache, compile_jobs, job_key, text_key
from kbuild.nvrtc.toolchain import command_line
from tests.helpers import nvrtc_cases as cases

pytestmark = pytest.mark.nvrtc

ARCH = {(11, 8): "sm_87", (12, 9): "sm_90", (13, 0): "sm_110"}
EACH = pytest.mark.parametrize("version", cases.VERSIONS)


@EACH
def test_a_cubin_and_ptx(version: tuple[int, int], tmp_path: Path) -> None:
    arch = ARCH[version]
    jobs = [cases.job(arch, version), cases.job(arch.replace("sm", "compute"), version)]
    machine, ptx = (cases.compiled(o) for o in compile_jobs(jobs, cache=Cache(tmp_path), workers=1))
    assert list(cubin.read(machine.data).kernels) == ["saxpy"]
    assert ptx.data.decode().rstrip().endswith("}")
    assert f".target {arch}" in ptx.data.decode()
    assert machine.spills == {"saxpy": 0}
    assert ptx.spills == {}
    assert 0 < machine.seconds < 60
    assert not machine.cached


@EACH
def test_the_command_line_is_fixed(version: tuple[int, int]) -> None:
    toolchain = cases.installed()[version]
    optional = ("--no-source-include",) if version < (12, 0) else ("--no-source-include", "--no-cache")
    assert command_line(toolchain, "sm_90", lineinfo=True, options=("-w",)) == (
        "-w", "-arch=sm_90", "-std=c++17", "-fmad=false", *optional, "--ptxas-options=-v", "-lineinfo",
    )  # fmt: skip
    assert command_line(toolchain, "compute_90") == ("-arch=compute_90", "-std=c++17", "-fmad=false", *optional)


@EACH
def test_products_and_sums_are_not_fused(version: tuple[int, int], tmp_path: Path) -> None:
    ptx = cases.compile_one(cases.job(ARCH[version].replace("sm", "compute"), version), tmp_path)
    text = cases.compiled(ptx).data.decode()
    assert "mul.rn.f32" in text or "mul.f32" in text
    assert "fma" not in text


@EACH
def test_a_rejected_text_points_at_the_python_line(version: tuple[int, int], tmp_path: Path) -> None:
    source = cases.SAXPY.replace("y[i] = ", "z[i] = ")
    outcome = cases.rejected(cases.compile_one(cases.job(ARCH[version], version, source), tmp_path))
    (message,) = outcome.messages
    assert (message.path, message.line, message.severity) == ("/kbuild/pkg/kernels.py", 4, "error")
    assert message.text == 'identifier "z" is undefined'
    assert outcome.died is None
    assert "identifier" in outcome.log


@EACH
def test_too_much_shared_memory_is_said_although_ptxas_is_verbose(version: tuple[int, int], tmp_path: Path) -> None:
    source = 'extern "C" __global__ void k(int* o) { __shared__ char s[65536]; s[threadIdx.x] = o[0]; o[1] = s[o[2]]; }'
    outcome = cases.rejected(cases.compile_one(cases.job(ARCH[version], version, source), tmp_path))
    (message,) = [m for m in outcome.messages if m.severity == "error"]
    assert "uses too much shared data" in message.text
    assert message.kernel == "k"


def test_an_option_that_nvrtc_does_not_know(tmp_path: Path) -> None:
    outcome = cases.rejected(cases.compile_one(cases.job("sm_90", (12, 9), options=("--bogus",)), tmp_path))
    assert "unrecognized option --bogus" in outcome.messages[0].text


def test_warnings_come_with_a_result(tmp_path: Path) -> None:
    source = cases.SAXPY.replace("unsigned i", "int unused = 3; unsigned i").replace(
        "void saxpy", "void __launch_bounds__(1024, 9) saxpy"
    )
    job = cases.job("sm_90", (12, 9), source)
    fresh = cases.compiled(cases.compile_one(job, tmp_path))
    assert [(m.severity, m.line) for m in fresh.messages] == [("warning", 4 - 1), ("warning", None)]
    again = cases.compiled(cases.compile_one(job, tmp_path))
    assert [m for m in fresh.messages if m.line is None] == list(again.messages), "lines may have moved since"


# Same bytes

SCRIPT = """
import json, sys, hashlib
from pathlib import Path
from kbuild.nvrtc import Cache, compile_jobs
from tests.helpers import nvrtc_cases as cases
folder, lineinfo = Path(sys.argv[1]), sys.argv[2] == "1"
jobs = [cases.job(arch, tuple(version), cases.KERNELS, lineinfo=lineinfo) for arch, version in json.loads(sys.argv[3])]
outcomes = compile_jobs(jobs, cache=Cache(folder), workers=2)
print(json.dumps([hashlib.sha256(o.data).hexdigest() for o in outcomes]))
"""


def _digests(folder: Path, cwd: Path, jobs: list[tuple[str, tuple[int, int]]], lineinfo: bool, **env: str) -> list[str]:
    cwd.mkdir(parents=True, exist_ok=True)
    # A file where `#line` points: 12.9 would write its time into line information if paths were relative.
    (cwd / "kernels.py").write_text(str(cwd))
    command = [sys.executable, "-c", SCRIPT, str(folder), "1" if lineinfo else "0", json.dumps(jobs)]
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])])
    output = subprocess.run(
        command, cwd=cwd, env={**os.environ, **env, "PYTHONPATH": path}, capture_output=True, check=True
    )
    found: list[str] = json.loads(output.stdout)
    return found


@pytest.mark.parametrize("lineinfo", [False, True])
def test_the_same_bytes_elsewhere_later_and_in_another_order(lineinfo: bool, tmp_path: Path) -> None:
    jobs = [(ARCH[v], v) for v in cases.VERSIONS] + [("sm_75", v) for v in cases.VERSIONS]
    first = _digests(tmp_path / "c1", tmp_path / "here", jobs, lineinfo, PYTHONHASHSEED="1", TZ="UTC", LC_ALL="C")
    second = _digests(
        tmp_path / "c2",
        tmp_path / "somewhere/else",
        jobs[::-1],
        lineinfo,
        PYTHONHASHSEED="2",
        TZ="Asia/Tokyo",
        HOME="/nowhere",
    )
    assert first == second[::-1]
    assert len(set(first)) == len(first)


@EACH
def test_line_directives_reach_the_cubin_only_with_line_information(version: tuple[int, int], tmp_path: Path) -> None:
    moved = cases.KERNELS.replace('#line 1 "/kbuild/pkg/kernels.py"', '#line 41 "/kbuild/other/module.py"')
    without = cases.KERNELS.replace('#line 1 "/kbuild/pkg/kernels.py"\n', "")
    arch = ARCH[version]
    jobs = [cases.job(arch, version, s, key_parts=str(i)) for i, s in enumerate((cases.KERNELS, moved, without))]
    lined = [cases.job(arch, version, s, key_parts=str(i), lineinfo=True) for i, s in enumerate((cases.KERNELS, moved))]
    outcomes = [cases.compiled(o).data for o in compile_jobs([*jobs, *lined], cache=Cache(tmp_path), workers=2)]
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert len({outcomes[0], outcomes[3], outcomes[4]}) == 3


def test_the_key_leaves_line_directives_out_unless_they_matter() -> None:
    moved = cases.KERNELS.replace("#line 1 ", "#line 99 ")
    assert text_key(cases.KERNELS) == text_key(moved) != text_key(cases.KERNELS + " ")
    assert text_key(cases.KERNELS, lineinfo=True) != text_key(moved, lineinfo=True)
    assert text_key("int a; // #line 3\n") != text_key("int a;\n")


def test_everything_that_matters_is_in_the_key() -> None:
    toolchain = cases.installed()[12, 9]
    keys = [
        job_key("a", "sm_90", toolchain),
        job_key("b", "sm_90", toolchain),
        job_key("a", "sm_89", toolchain),
        job_key("a", "compute_90", toolchain),
        job_key("a", "sm_90", cases.installed()[13, 0]),
        job_key("a", "sm_90", toolchain, lineinfo=True),
        job_key("a", "sm_90", toolchain, options=("-w",)),
    ]
    assert len(set(keys)) == len(keys)
    assert keys[0] == job_key("a", "sm_90", toolchain)
    assert keys[0] == cases.job("sm_90", (12, 9), key_parts="a").key


# Both adapters

ADAPTERS = """
import hashlib, json, sys
from pathlib import Path
from kbuild.nvrtc import adapters
library, builtins, arch = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
source = sys.stdin.buffer.read()
best = adapters.open_nvrtc(library, builtins)
found = [type(best).__name__]
for nvrtc in (best, adapters.CtypesNvrtc(adapters.load(library, builtins), library)):
    for text, kind, prefix in ((source, "cubin", "sm_"), (source, "ptx", "compute_"), (b"bad", "cubin", "sm_")):
        options = [b"-std=c++17", ("-arch=" + prefix + arch).encode()]
        answer = adapters.compile_program(nvrtc, text, b"kbuild.cu", options, kind)
        found.append([answer.status, answer.status_text, answer.log, hashlib.sha256(answer.data).hexdigest()])
    found.append([nvrtc.version(), nvrtc.architectures()])
print(json.dumps(found))
"""


@EACH
def test_both_adapters_give_the_same(version: tuple[int, int]) -> None:
    toolchain = cases.installed()[version]
    command = [sys.executable, "-c", ADAPTERS, str(toolchain.library), str(toolchain.builtins), ARCH[version][3:]]
    output = subprocess.run(command, input=cases.SAXPY.encode(), capture_output=True, check=True).stdout
    name, *answers = json.loads(output)
    assert name == ("CtypesNvrtc" if version < (12, 0) else "BindingsNvrtc")
    half = len(answers) // 2
    assert answers[:half] == answers[half:]
    assert answers[0][0] == 0
    assert answers[2][:2] == [6, "NVRTC_ERROR_COMPILATION"]
    assert answers[2][3] == hashlib.sha256(b"").hexdigest()


def test_cuda_bindings_with_another_library_open_is_noticed() -> None:
    program = (
        "import sys; from pathlib import Path; from kbuild.nvrtc import adapters\n"
        "adapters.load(Path(sys.argv[1]), None)\n"
        "try: adapters.open_nvrtc(Path(sys.argv[2]), None)\n"
        "except adapters.AdapterError as error: print(error)\n"
    )
    first, second = (str(cases.installed()[v].library) for v in ((13, 0), (12, 9)))
    output = subprocess.run(
        [sys.executable, "-c", program, first, second], capture_output=True, check=True
    ).stdout.decode()
    assert f"cuda.bindings opened {Path(first).resolve()} instead of {second}" in output
