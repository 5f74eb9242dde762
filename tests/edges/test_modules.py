"""Kernel modules that do odd things while they are imported: the build stands it, or says which one and why."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kbuild.errors import ExitCode
from kbuild.loader import format
from tests.helpers import building, projects
from tests.helpers.building import Kbuild
from tests.helpers.situations import happens

SECTION = "Importing the project"

# What a module does before its kernels; the build is as if it did not.
HARMLESS = {
    "prints": "print('{\"importing\": 1}'); print('x' * 100_000)",
    "writes to descriptor 1": "import os; os.write(1, b'{}\\n' * 10_000)",
    "floods stderr": "import sys; sys.stderr.write('noise\\n' * 200_000)",
    "starts a thread": "import threading, time; threading.Timer(0, time.sleep, (1e6,)).start()",
    "starts a daemon thread": "import threading as t, time; t.Thread(None, time.sleep, None, [1e6], daemon=1).start()",
    "registers an exit function": "import atexit, time; atexit.register(time.sleep, 1e6)",
    "changes the directory": "import os; os.chdir('/')",
    "removes its own directory from the path": "import sys; del sys.path[:]",
    "reads stdin": "import sys; assert sys.stdin.read() == ''",
    "sets a signal handler": "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.alarm(0)",
    "replaces sys.stdout": "import sys, io; sys.stdout = sys.__stdout__ = io.StringIO()",
    "takes sys.stderr away": "import sys; sys.stderr = None",
    "closes the standard streams": "import sys; sys.stdout.close(); sys.stdin.close()",
    "replaces json's functions": "import json; f = json.dumps; json.dumps = lambda v, **o: f(v, **{**o, 'indent': 1})",
    "sets a locale": "import locale; locale.setlocale(locale.LC_ALL, 'C')",
    "leaves warnings as errors": "import warnings; warnings.simplefilter('error')",
    "sets hooks": "import sys; sys.excepthook = sys.displayhook = print; sys.settrace(lambda *a: None)",
    "collects no garbage": "import gc; gc.disable(); gc.freeze()",
    "changes the umask": "import os; os.umask(0o777)",
    "installs an import hook that refuses everything": """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None): raise ImportError(f"{name}: nothing is imported any more")
sys.meta_path.insert(0, Refuse())
""",
    "replaces builtins.__import__": """
import builtins
known = builtins.__import__
builtins.__import__ = lambda name, *rest: known(name, *rest)
""",
}


@pytest.fixture(scope="module")
def plain(warm_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The digest of the small project's bundle."""
    return built(Kbuild(warm_cache), building.project(tmp_path_factory.mktemp("plain"), projects.KERNELS))


def built(kbuild: Kbuild, project: Path) -> str:
    kbuild.run("build", project)
    return format.parse((project / building.BUNDLE).read_bytes()).digest


@happens(
    SECTION,
    "a kernel module prints, reads stdin, starts threads, changes directory, replaces `sys.stdout` or `json.dumps`, "
    "sets signal handlers or import hooks",
    "The build goes on as if it had not; what it prints appears on stderr.",
)
@pytest.mark.parametrize("what", HARMLESS)
def test_does_no_harm(kbuild: Kbuild, tmp_path: Path, plain: str, what: str) -> None:
    kernels = projects.KERNELS + "\n" + HARMLESS[what] + "\n"
    before = time.monotonic()
    assert built(kbuild, building.project(tmp_path, kernels)) == plain
    assert time.monotonic() - before < 60


def test_what_a_module_prints_is_seen_and_is_no_result(kbuild: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path, projects.KERNELS + "print('hello from the module')\n")
    done = kbuild.run("build", project, "--json")
    assert "hello from the module" in done.stderr
    assert "hello" not in done.stdout


RAISES = [
    ("raise RuntimeError('no\\nGPU here')", "GPU here", "must import on a machine without a GPU"),
    (
        "import nowhere_at_all",
        "ModuleNotFoundError: No module named 'nowhere_at_all'",
        'mock-imports = ["nowhere_at_all"]',
    ),
    ("import nowhere.at.all", "No module named 'nowhere'", 'mock-imports = ["nowhere"]'),
    ("import sys; sys.exit('usage: kernels FILE')", "SystemExit: usage: kernels FILE", 'if __name__ == "__main__":'),
    ("raise SystemExit", "SystemExit", 'if __name__ == "__main__":'),
    ("raise KeyboardInterrupt", "KeyboardInterrupt", "must import on a machine"),
    ("class Odd(BaseException): pass\nraise Odd", "thing.kernels.Odd", "must import on a machine"),
    ("def f(): f()\nf()", "RecursionError", "must import on a machine"),
    ("from . import missing", "cannot import name 'missing'", "must import on a machine"),
    ("exit()", "SystemExit", 'if __name__ == "__main__":'),
]


@happens(
    SECTION,
    "a kernel module raises, calls `sys.exit`, or needs a package that is not there",
    "An error [KB201] at the module's line with the exception's last line; for a missing package the two cures "
    "(`requires`, `mock-imports`). Exit status 1, nothing is written.",
)
@pytest.mark.parametrize(("line", "message", "cure"), RAISES, ids=[line[:24] for line, _, _ in RAISES])
def test_raises(kbuild: Kbuild, tmp_path: Path, line: str, message: str, cure: str) -> None:
    project = building.project(tmp_path, "\n\n" + line + "\n" + projects.KERNELS)
    done = kbuild.run("build", project, status=ExitCode.KERNELS)
    first = next(text for text in done.stderr.splitlines() if "[KB201]" in text)
    assert first.startswith(f"{project}/thing/kernels.py:"), first
    assert "module thing.kernels cannot be imported: " in first
    assert message in first
    assert cure in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(project.rglob("*.kbundle*"))


ENDS = [
    ("import os; os._exit(0)", "exit status 0"),
    ("import os; os._exit(1)", "exit status 1"),
    ("import os; os._exit(77)", "exit status 77"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    ("import os; os.abort()", "SIGABRT"),
    ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ("import signal; signal.raise_signal(signal.SIGINT)", "SIGINT"),
]


@happens(
    SECTION,
    "a kernel module ends Python (`os._exit`), crashes it, or is killed",
    "An error [KB202] that names the module and how the process ended. Exit status 1.",
)
@pytest.mark.parametrize(("line", "how"), ENDS, ids=[line[-30:] for line, _ in ENDS])
def test_ends_python(kbuild: Kbuild, tmp_path: Path, line: str, how: str) -> None:
    project = building.project(tmp_path, f"{line}\n{projects.KERNELS}")
    done = kbuild.run("build", project, status=ExitCode.KERNELS)
    assert f"ended while importing thing.kernels: {how} [KB202]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "import os, threading, time\nthreading.Thread(target=lambda: (time.sleep(0.2), os._exit(5))).start()",
        "import os\nos.closerange(3, 256)",
    ],
)
def test_ends_python_later(kbuild: Kbuild, tmp_path: Path, line: str) -> None:
    """A thread that ends the process while kernels are lowered; a module that closes what it does not own."""
    slow = "import time\ntime.sleep(0.5)\n"
    project = building.project(tmp_path, f"{line}\n{slow}{projects.KERNELS}")
    assert "[KB202]" in kbuild.run("build", project, status=ExitCode.KERNELS).stderr


def test_a_forgotten_child_process_does_not_hold_the_build(kbuild: Kbuild, tmp_path: Path) -> None:
    """A server that a module has started still holds descriptors when the module ends Python."""
    server = "if os.fork() == 0:\n    os.close(1)\n    os.close(2)\n    time.sleep(15)\n    os._exit(0)\n"
    lines = f"import os, time\n{server}os._exit(3)\n"
    project = building.project(tmp_path, lines)
    before = time.monotonic()
    assert "exit status 3 [KB202]" in kbuild.run("build", project, status=ExitCode.KERNELS).stderr
    assert time.monotonic() - before < 12


def test_the_path_of_a_careful_python(kbuild: Kbuild, tmp_path: Path, plain: str) -> None:
    """With PYTHONSAFEPATH the first entry of the path is not the current directory but something that is needed."""
    careful = Kbuild(kbuild.cache, {"PYTHONSAFEPATH": "1"})
    assert built(careful, building.project(tmp_path, projects.KERNELS)) == plain


def test_a_projects_own_module_of_a_known_name(kbuild: Kbuild, tmp_path: Path, plain: str) -> None:
    """`json.py` and others beside the packages are the project's business, and not kbuild's."""
    odd = dict.fromkeys(["json", "signal", "traceback", "difflib", "linecache", "fractions"], "dumps = None\n")
    assert built(kbuild, building.project(tmp_path, projects.KERNELS, **odd)) == plain
