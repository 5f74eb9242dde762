"""Builds that are killed, interrupted, or lose a compiler. KBUILD_KILLS=1000 kills more of them than the usual 60."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbuild.errors import ExitCode
from kbuild.loader import format
from kbuild.nvrtc import cache as caches
from tests.helpers import building, projects
from tests.helpers.building import Kbuild
from tests.helpers.situations import happens

SECTION = "Interrupted builds"
KILLS = int(os.environ.get("KBUILD_KILLS", "60"))
GROUPS = 4
INTERRUPTED = 130


class Running:
    """A build in a process group of its own, whose every process is known by a mark in its environment."""

    def __init__(self, kbuild: Kbuild, *arguments: str | Path) -> None:
        self.mark = f"KBUILD_TEST_MARK={secrets.token_hex(8)}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            kbuild.command(*arguments),
            env={**kbuild.environment, name: value},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def others(self) -> dict[int, str]:
        """Its other processes that are alive, with their command lines."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().decode()
        found.pop(self.process.pid, None)
        return found

    def wait_for(self, is_so: Callable[[], object]) -> None:
        """Waits until something is so, while the build is alive."""
        end = time.monotonic() + 60
        while not is_so():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, "it never came to that"
            time.sleep(0.005)

    def expect_nobody(self) -> None:
        """No process of the build is left, or will be in a moment."""
        end = time.monotonic() + 10
        while self.others():
            assert time.monotonic() < end, self.others()
            time.sleep(0.01)


@contextlib.contextmanager
def running(kbuild: Kbuild, *arguments: str | Path) -> Iterator[Running]:
    run = Running(kbuild, *arguments)
    try:
        yield run
    finally:
        for pid in [run.process.pid, *run.others()]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        run.process.communicate()


def kernels(number: int) -> str:
    """Kernels that no cache knows."""
    return projects.KERNELS.replace("* factor", f"* factor + {number}.0")


# kill -9


@happens(
    SECTION,
    "a build is killed (`kill -9`) at any moment",
    "No half bundle, no half entry in the cache, no lock, no process stays. The next build goes on with what is there.",
)
@pytest.mark.parametrize("group", range(GROUPS))
def test_killed_at_any_moment(
    warm_cache: Path, tmp_path: Path, group: int, record_property: Callable[[str, object], None]
) -> None:
    """Sometimes the process alone, sometimes its whole group; sometimes with nothing cached at all."""
    chance = random.Random(group)
    project = building.project(tmp_path / "project", kernels(0), targets=["sm_90", "jetson-orin-jp5"])
    cache = tmp_path / "cache"
    shutil.copytree(warm_cache, cache)
    started = time.monotonic()
    Kbuild(cache).run("build", project)
    whole = time.monotonic() - started
    killed = number = 0
    while killed < KILLS // GROUPS:
        number += 1
        assert number < KILLS, "they end before they are killed"
        if number % 7 == 0:
            shutil.rmtree(cache, ignore_errors=True)
        (project / "thing" / "kernels.py").write_text(kernels(number))
        with running(Kbuild(cache), "build", project) as run:
            started = time.monotonic()
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.process.wait(chance.uniform(0, whole))
                whole = min(whole, time.monotonic() - started)  # the machine has less to do than it had
            killed += run.process.poll() is None
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if chance.random() < 0.5 else os.kill)(run.process.pid, signal.SIGKILL)
            run.process.wait()
            run.expect_nobody()
        expect_nothing_broken(project, cache)
    record_property("figure: builds killed", killed)
    Kbuild(cache).run("build", project)
    last = (project / building.BUNDLE).read_bytes()
    assert not list(project.rglob("*.tmp"))
    Kbuild(tmp_path / "empty").run("build", project)
    assert (project / building.BUNDLE).read_bytes() == last


def expect_nothing_broken(project: Path, cache: Path) -> None:
    bundle = project / building.BUNDLE
    if bundle.exists():
        format.parse(bundle.read_bytes())
    entries = [path for path in cache.rglob("*") if path.is_file() and path.parent.name != "tmp"]
    assert all(caches._unpacked(path.read_bytes()) is not None for path in entries)
    assert not [path for path in cache.rglob("*") if "lock" in path.name]


# Ctrl-C

SLOW_COMPILER = """
import os, sys
if "kbuild.nvrtc.worker" in " ".join(sys.orig_argv):
    import time
    from kbuild.nvrtc import adapters
    known = adapters.compile_program
    def compile_program(nvrtc, source, *rest):
        if b"kernels.py" in source:
            open(os.environ["KBUILD_TEST_COMPILING"], "w").close()
            time.sleep(300)
        return known(nvrtc, source, *rest)
    adapters.compile_program = compile_program
"""


@pytest.fixture
def slow(kbuild: Kbuild, tmp_path: Path) -> Kbuild:
    """Compilers that take minutes, and tell when they have begun."""
    begun = Kbuild(kbuild.cache, {"KBUILD_TEST_COMPILING": str(tmp_path / "compiling")})
    return begun.with_site(tmp_path / "site", SLOW_COMPILER)


def waiting_module(tmp_path: Path) -> str:
    return f"import time\nopen({str(tmp_path / 'importing')!r}, 'w').close()\ntime.sleep(300)\n"


@happens(
    SECTION,
    "Ctrl-C",
    "The build ends at once with status 130 and one line, `interrupted`; no process of it stays, nothing is written.",
)
@pytest.mark.parametrize("whole_group", [True, False], ids=["group", "process"])
@pytest.mark.parametrize("moment", ["importing", "compiling"])
def test_ctrl_c(slow: Kbuild, tmp_path: Path, moment: str, whole_group: bool) -> None:
    text = kernels(-1) + (waiting_module(tmp_path) if moment == "importing" else "")
    project = building.project(tmp_path / "project", text, targets=["sm_90", "jetson-orin-jp5"])
    with running(slow, "build", project, "-j", "2") as run:
        run.wait_for((tmp_path / moment).exists)
        started = time.monotonic()
        (os.killpg if whole_group else os.kill)(run.process.pid, signal.SIGINT)
        output, errors = run.process.communicate(timeout=30)
        assert time.monotonic() - started < 2
        assert run.others() == {}
    assert run.process.returncode == INTERRUPTED
    assert output == ""
    assert errors.splitlines()[-1:] == ["interrupted"]
    assert "Traceback" not in errors
    assert "KeyboardInterrupt" not in errors
    assert not list(project.rglob("*.kbundle*"))


def test_ctrl_c_gives_the_terminal_back(slow: Kbuild, tmp_path: Path) -> None:
    """A progress bar hides the cursor; it is there again afterwards."""
    pytest.importorskip("rich")
    project = building.project(tmp_path / "project", kernels(-6))
    main, terminal = os.openpty()
    environment = {**slow.environment, "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(
        slow.command("build", project), env=environment, stdout=terminal, stderr=terminal, start_new_session=True
    )
    try:
        os.close(terminal)
        while not (tmp_path / "compiling").exists():
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(10) == INTERRUPTED
    finally:
        process.kill()
        process.wait()
    shown = b""
    with contextlib.suppress(OSError):  # EIO: nobody has the other side open any more
        while piece := os.read(main, 65536):
            shown += piece
    os.close(main)
    hide, show = b"\x1b[?25l", b"\x1b[?25h"
    assert 0 <= shown.rfind(hide) < shown.rfind(show)
    assert shown.rstrip().endswith(b"interrupted")


def test_ctrl_c_at_any_moment(warm_cache: Path, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    """From the first child process on: before, Python itself starts, and shows what it wants."""
    chance = random.Random(5)
    project = building.project(tmp_path / "project", kernels(0))
    shutil.copytree(warm_cache, tmp_path / "cache")
    for number in range(12):
        (project / "thing" / "kernels.py").write_text(kernels(100 + number))
        record_property("figure: builds interrupted with Ctrl-C", 1)
        with running(Kbuild(tmp_path / "cache"), "build", project) as run:
            run.wait_for(run.others)
            time.sleep(chance.uniform(0, 0.5))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.process.pid, signal.SIGINT)
            _, errors = run.process.communicate(timeout=30)
            run.expect_nobody()
        # By the signal itself while Python takes itself down, when all is done.
        assert run.process.returncode in (INTERRUPTED, 0, -signal.SIGINT), errors
        assert "Traceback" not in errors
        assert "KeyboardInterrupt" not in errors
        expect_nothing_broken(project, tmp_path / "cache")


@happens(SECTION, "the build's own process is ended (SIGTERM, SIGKILL, a closed terminal)", "Its children go with it.")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
@pytest.mark.parametrize("moment", ["importing", "compiling"])
def test_children_go_with_their_parent(slow: Kbuild, tmp_path: Path, moment: str, how: signal.Signals) -> None:
    """Though one of them sleeps for minutes, and asks nobody."""
    text = kernels(-2) + (waiting_module(tmp_path) if moment == "importing" else "")
    with running(slow, "build", building.project(tmp_path / "project", text)) as run:
        run.wait_for((tmp_path / moment).exists)
        assert run.others()
        os.kill(run.process.pid, how)
        assert run.process.wait(10) == -how
        run.expect_nobody()


# Compilers that die


@happens(
    SECTION,
    "a compiler process crashes or is killed for want of memory",
    "An error [KB504] that names the unit, the target, the compiler and how it ended, with the cure (`-j 1`); status "
    "3. What other processes compiled stays in the cache.",
)
def test_a_compiler_is_killed(slow: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path / "project", kernels(-3), table="backward = false\n")
    with running(slow, "build", project) as run:
        run.wait_for((tmp_path / "compiling").exists)
        (worker,) = [pid for pid, command in run.others().items() if "nvrtc.worker" in command]
        os.kill(worker, signal.SIGKILL)
        _, errors = run.process.communicate(timeout=30)
    assert run.process.returncode == ExitCode.MACHINE
    assert "the compiler process for thing.kernels (sm_90, NVRTC 12.9.86" in errors
    assert "killed (SIGKILL), perhaps because memory ran out [KB504]" in errors
    assert "`-j 1`" in errors
    assert "Traceback" not in errors


CRASH = """
import os, sys
if "kbuild.nvrtc.worker" in " ".join(sys.orig_argv) and "cu11" not in " ".join(sys.orig_argv):
    from kbuild.nvrtc import adapters
    known = adapters.compile_program
    def compile_program(nvrtc, source, *rest):
        if b"kernels.py" in source and nvrtc.version() >= (12, 0):
            os.write(2, b"malloc(): corrupted top size\\n"); os.abort()
        return known(nvrtc, source, *rest)
    adapters.compile_program = compile_program
"""


def test_a_compiler_crashes_and_the_others_work_is_kept(kbuild: Kbuild, tmp_path: Path) -> None:
    shutil.copytree(kbuild.cache, tmp_path / "cache")
    project = building.project(
        tmp_path / "project", kernels(-4), targets=["sm_90", "jetson-orin-jp5"], table="backward = false\n"
    )
    broken = Kbuild(tmp_path / "cache").with_site(tmp_path / "site", CRASH)
    done = broken.run("build", project, "-j", "2", status=ExitCode.MACHINE)
    assert "SIGABRT; it said: malloc(): corrupted top size [KB504]" in done.stderr
    assert "(sm_90, NVRTC 12.9.86" in done.stderr
    again = Kbuild(tmp_path / "cache").run("build", project)
    assert "1 unit compiled, 1 from the cache" in again.stdout


def test_a_scan_is_killed(kbuild: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path / "project", kernels(-5) + waiting_module(tmp_path))
    with running(kbuild, "build", project) as run:
        run.wait_for((tmp_path / "importing").exists)
        (child,) = run.others()
        os.kill(child, signal.SIGKILL)
        _, errors = run.process.communicate(timeout=30)
    assert run.process.returncode == ExitCode.KERNELS
    assert "ended while importing thing.kernels: SIGKILL [KB202]" in errors
    assert "for want of memory" in errors
