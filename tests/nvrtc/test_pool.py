"""Worker processes: when they start, what they share, and how a crash or Ctrl-C ends them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from kbuild.nvrtc import Cache, Compiled, Outcome, Rejected, compile_jobs, pool
from tests.helpers import nvrtc_cases as cases

pytestmark = pytest.mark.nvrtc

REPOSITORY = Path(__file__).parents[2]


def _variant(number: int) -> str:
    return cases.SAXPY.replace("a * x[i]", f"{number}.0f * a * x[i]")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The versions of the workers that were started."""
    versions: list[tuple[int, int]] = []
    real = pool.Worker.__init__
    by_library = {toolchain.library: version for version, toolchain in cases.installed().items()}

    def counting(self: pool.Worker, library: Path, builtins: Path | None) -> None:
        versions.append(by_library[library])
        real(self, library, builtins)

    monkeypatch.setattr(pool.Worker, "__init__", counting)
    return versions


def test_no_worker_for_what_the_cache_holds(tmp_path: Path, started: list[tuple[int, int]]) -> None:
    jobs = [cases.job("sm_90", (12, 9), _variant(n)) for n in range(3)]
    fresh = compile_jobs(jobs, cache=Cache(tmp_path), workers=2)
    assert started == [(12, 9), (12, 9)]
    started.clear()
    again = compile_jobs(jobs, cache=Cache(tmp_path), workers=2)
    assert started == []
    for before, after in zip(map(cases.compiled, fresh), map(cases.compiled, again), strict=True):
        assert (after.data, after.spills, after.cached, after.seconds) == (before.data, before.spills, True, 0.0)
    assert compile_jobs([], cache=Cache(tmp_path)) == []


def test_a_damaged_result_is_compiled_again(tmp_path: Path) -> None:
    job = cases.job("sm_90", (12, 9))
    first = cases.compiled(cases.compile_one(job, tmp_path))
    path = Cache(tmp_path).path("cubin", job.key)
    path.write_bytes(path.read_bytes()[:-1])
    second = cases.compiled(cases.compile_one(job, tmp_path))
    assert (second.cached, second.data) == (False, first.data)
    assert cases.compiled(cases.compile_one(job, tmp_path)).cached


def test_a_worker_serves_one_toolchain_and_keeps_its_jobs(tmp_path: Path, started: list[tuple[int, int]]) -> None:
    jobs = [cases.job("sm_87", v, _variant(n)) for n in range(3) for v in cases.VERSIONS]
    outcomes = compile_jobs(jobs, cache=Cache(tmp_path), workers=2)
    assert all(isinstance(o, Compiled) for o in outcomes)
    assert 3 <= len(started) <= 4
    started.clear()
    compile_jobs(
        [cases.job("sm_86", v, _variant(n)) for n in range(3) for v in cases.VERSIONS], cache=Cache(tmp_path), workers=1
    )
    assert Counter(started) == dict.fromkeys(cases.VERSIONS, 1)


def test_what_depends_on_the_history_of_a_process_gets_one_of_its_own(
    tmp_path: Path, started: list[tuple[int, int]]
) -> None:
    """NVRTC before 12.9 numbers the calls in PTX by a counter of the process; line information holds that PTX."""
    jobs = [
        cases.job(arch, (11, 8), cases.KERNELS, lineinfo=arch == "sm_87", key_parts=f"{arch} {n}")
        for arch in ("compute_87", "sm_87")
        for n in range(2)
    ]
    outcomes = [cases.compiled(o).data for o in compile_jobs(jobs, cache=Cache(tmp_path), workers=2)]
    assert (outcomes[0], outcomes[2]) == (outcomes[1], outcomes[3])
    assert len(started) == 4


def test_results_are_in_the_order_of_the_jobs(tmp_path: Path) -> None:
    jobs = [cases.job(arch, v, _variant(n)) for n in range(2) for v in cases.VERSIONS for arch in ("sm_80", "sm_89")]
    forward = compile_jobs(jobs, cache=Cache(tmp_path / "1"), workers=3)
    backward = compile_jobs(jobs[::-1], cache=Cache(tmp_path / "2"), workers=1)
    assert [cases.compiled(o).data for o in forward] == [cases.compiled(o).data for o in backward[::-1]]


def test_equal_jobs_are_compiled_once(tmp_path: Path, started: list[tuple[int, int]]) -> None:
    seen: list[tuple[int, bool]] = []

    def on_done(index: int, outcome: Outcome) -> None:
        seen.append((index, cases.compiled(outcome).cached))

    jobs = [cases.job("sm_87", (11, 8), name=name) for name in ("jetson-orin-jp5", "jetson-orin-jp6")]
    compile_jobs(jobs, cache=Cache(tmp_path), workers=2, on_done=on_done)
    assert seen == [(0, False), (1, True)]
    assert started == [(11, 8)]


def test_a_rejected_text_is_not_cached_and_spoils_nothing_else(tmp_path: Path) -> None:
    jobs = [cases.job("sm_90", (12, 9), source) for source in ("bad", cases.SAXPY, "worse")]
    for _ in range(2):
        outcomes = compile_jobs(jobs, cache=Cache(tmp_path), workers=1)
        assert [type(o) for o in outcomes] == [Rejected, Compiled, Rejected]


# Workers that misbehave: a sitecustomize changes them from within

SABOTAGE = """
import os, signal
from kbuild.nvrtc import adapters
real = adapters.compile_program
def compile_program(nvrtc, source, *rest):
    os.write(1, b"a library prints on standard output\\n"); print("and Python too", flush=True)
    if b"SEGFAULT" in source: os.kill(os.getpid(), signal.SIGSEGV)
    if b"OOM" in source: os.kill(os.getpid(), signal.SIGKILL)
    if b"EXIT" in source: os.write(2, b"fatal: no more\\n"); os._exit(3)
    if b"RAISE" in source: raise MemoryError("too much")
    return real(nvrtc, source, *rest)
adapters.compile_program = compile_program
"""


@pytest.fixture
def sabotaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "sitecustomize.py").write_text(SABOTAGE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "path"))


@pytest.mark.usefixtures("sabotaged")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("SEGFAULT", "died: SIGSEGV"),
        ("OOM", r"died: killed \(SIGKILL\), perhaps because memory ran out"),
        ("EXIT", "died: exit status 3; it said: fatal: no more"),
        ("RAISE", "died: MemoryError: too much"),
    ],
)
def test_a_crash_is_the_error_of_one_job(how: str, said: str, tmp_path: Path) -> None:
    sources = [_variant(0), f"// {how}\n{_variant(1)}", _variant(2), _variant(3)]
    jobs = [cases.job("sm_90", (12, 9), source, name=f"unit{n}") for n, source in enumerate(sources)]
    outcomes = compile_jobs(jobs, cache=Cache(tmp_path / "cache"), workers=1)
    assert [type(o) for o in outcomes] == [Compiled, Rejected, Compiled, Compiled]
    bad = cases.rejected(outcomes[1])
    assert bad.died == bad.messages[0].text
    assert re.search(rf"the compiler process for unit1 \(sm_90, NVRTC 12.9.86 .*\) {said}", bad.died or "")


@pytest.mark.usefixtures("sabotaged")
def test_what_a_library_prints_does_not_mix_with_the_answers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert isinstance(cases.compile_one(cases.job("sm_90", (12, 9)), tmp_path / "cache"), Compiled)
    assert capfd.readouterr().out == ""


def test_a_library_that_is_gone(tmp_path: Path) -> None:
    job = cases.job("sm_90", (12, 9))
    gone = cases.toolchain((12, 9), library=tmp_path / "libnvrtc.so.12")
    outcome = cases.compile_one(type(job)("unit", job.source, "sm_90", gone, "key"), tmp_path)
    assert "libnvrtc.so.12 cannot be loaded" in (cases.rejected(outcome).died or "")


def test_a_folder_called_kbuild_in_the_current_directory_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kbuild").mkdir()
    (tmp_path / "kbuild" / "__init__.py").write_text("raise SystemExit('the wrong kbuild')")
    monkeypatch.chdir(tmp_path)
    assert isinstance(cases.compile_one(cases.job("sm_90", (12, 9)), tmp_path / "cache"), Compiled)


ENDLESS = """
import sys; from pathlib import Path
from kbuild.nvrtc import Cache, compile_jobs
from tests.helpers import nvrtc_cases as cases
cases.installed()
loop = "".join(f"for (int i{n} = 0; i{n} < 9; i{n}++) x[i{n}] += a[{n}] * x[i{n} + {n}];" for n in range(2500))
source = 'extern "C" __global__ void k(float* x, float* a) {' + "#pragma unroll\\n".join(["\\n", loop]) + "}"
print("begin", flush=True)
jobs = [cases.job("sm_90", (12, 9), source + f"// {n}") for n in range(2)]
compile_jobs(jobs, cache=Cache(Path(sys.argv[1])), workers=2)
print("end", flush=True)
"""


def _children(parent: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


@pytest.mark.parametrize("whole_group", [False, True])
def test_ctrl_c_ends_all_workers_at_once(whole_group: bool, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begin\n"
    while len(_children(process.pid)) < 2:
        time.sleep(0.01)
    time.sleep(0.5)
    workers = _children(process.pid)
    start = time.perf_counter()
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert time.perf_counter() - start < 5
    assert process.returncode != 0
    assert output == b""
    assert errors.decode().rstrip().endswith("KeyboardInterrupt")
    assert errors.count(b"KeyboardInterrupt") == 1
    assert len(workers) == 2
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_a_worker_goes_when_its_parent_does(tmp_path: Path) -> None:
    toolchain = cases.installed()[12, 9]
    worker = pool.Worker(toolchain.library, toolchain.builtins)
    try:
        assert worker.process.stdin is not None
        worker.process.stdin.close()
        assert worker.process.wait(timeout=20) == 0
    finally:
        worker.close()


def test_a_worker_leaves_ctrl_c_to_its_parent() -> None:
    toolchain = cases.installed()[12, 9]
    worker = pool.Worker(toolchain.library, toolchain.builtins)
    try:
        for _ in range(2):
            worker.send({"do": "probe", "options": []})
            assert worker.receive()[0]["version"] == [12, 9]
            worker.process.send_signal(signal.SIGINT)
    finally:
        worker.close()
