"""The plugin for pytest, as kbuild's wheel brings it: which devices tests run on, and how faults are shown."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import projects

Pytest = Callable[..., "subprocess.CompletedProcess[str]"]

KERNELS = """
import kbuild as kb

@kb.kernel
def shift(data: kb.array(dtype=float), out: kb.array(dtype=float)):
    i = kb.tid()
    x = data[i] * 2.0
    out[i + 1] = x

@kb.kernel
def into_one(data: kb.array(dtype=int)):
    i = kb.tid()
    data[0] = i
"""
TESTS = """
import kbuild as kb
import numpy as np
import pytest
from kernels import into_one, shift

def launch(n):
    kb.launch(shift, dim=4, inputs=[np.ones(4, np.float32), np.zeros(n, np.float32)], device="sim")

def test_right():
    launch(5)

def test_beyond():
    launch(4)

@pytest.fixture
def launched():
    launch(4)

def test_with_a_fixture(launched):
    pass

def test_race():
    kb.sim.run(into_one, 2, [np.zeros(1, np.int32)])

def test_it_is_an_exception_like_any():
    with pytest.raises(kb.sim.OutOfBounds, match="index 4 on axis 0"):
        launch(4)
"""
DEVICES = """
import pytest
import kbuild as kb

def test_fixture(kbuild_device):
    print("ran on", kbuild_device)

@pytest.fixture(scope="module")
def array(kbuild_device):
    return kb.zeros(3, device=kbuild_device)

def test_through_a_fixture(array, kbuild_device):
    assert str(array.device) == kbuild_device

@pytest.mark.parametrize("device", kb.devices())
def test_by_hand(device):
    pass

@pytest.mark.parametrize("device", ["cpu", "tpu", 3, None, "cuda:7"])
def test_of_another_kind(device):
    pass

@pytest.mark.parametrize("kbuild_device", ["sim"])
def test_that_names_its_own(kbuild_device):
    assert kbuild_device == "sim"
"""


@pytest.fixture
def run_pytest(python, tmp_path: Path) -> Pytest:
    """Runs pytest in a folder with these files, without what this run's pytest has besides."""

    def run(files: dict[str, str], *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        projects.write(
            tmp_path, {"pytest.ini": "[pytest]\nfilterwarnings = error\naddopts = --strict-config\n", **files}
        )
        plain = ("-p", "no:cacheprovider", "-p", "no:xdist")
        return python("-m", "pytest", *plain, *arguments, cwd=tmp_path, check=False, **options)

    return run


def passed(done: subprocess.CompletedProcess[str]) -> list[str]:
    return sorted(line.split("::")[1].split()[0] for line in done.stdout.splitlines() if " PASSED" in line)


def test_a_test_runs_on_every_device(run_pytest: Pytest) -> None:
    done = run_pytest({"test_devices.py": DEVICES}, "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {"test_fixture[sim]", "test_through_a_fixture[sim]", "test_by_hand[sim]"} <= set(passed(done))
    assert {"test_of_another_kind[cpu]", "test_of_another_kind[tpu]"} <= set(passed(done))


@pytest.mark.parametrize("how", ["option", "setting"])
def test_devices_that_are_asked_for(run_pytest: Pytest, how: str) -> None:
    """What was parametrized by hand for another device is deselected; parameters that are none of ours stay."""
    files = {"test_devices.py": DEVICES}
    if how == "setting":
        files["pytest.ini"] = "[pytest]\nkbuild_devices = sim\n"
    done = run_pytest(files, "-v", *(["--kbuild-device", "sim"] if how == "option" else []))
    others = ["test_of_another_kind[3]", "test_of_another_kind[None]", "test_of_another_kind[tpu]"]
    ours = ["test_by_hand[sim]", "test_fixture[sim]", "test_that_names_its_own[sim]", "test_through_a_fixture[sim]"]
    assert passed(done) == sorted(ours + others), done.stdout
    assert "2 deselected" in done.stdout  # cpu and cuda:7


def test_all_is_every_device_whatever_the_setting_says(run_pytest: Pytest) -> None:
    files = {"pytest.ini": "[pytest]\nkbuild_devices = sim\n", "test_devices.py": DEVICES}
    done = run_pytest(files, "-v", "--kbuild-device=all")
    assert "deselected" not in done.stdout
    assert "test_of_another_kind[cpu]" in passed(done)


def test_a_device_that_is_not_there_is_an_error_of_usage(run_pytest: Pytest) -> None:
    done = run_pytest({"test_devices.py": DEVICES}, "--kbuild-device=sim", "--kbuild-device=cuda:99")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--kbuild-device: no kernels run on 'cuda:99' here; there is: sim" in done.stderr
    assert "all" in done.stderr
    done = run_pytest({"pytest.ini": "[pytest]\nkbuild_devices = smi\n"})
    assert "kbuild_devices: no kernels run on 'smi' here" in done.stderr


def test_without_any_device_tests_are_skipped_with_the_reason(run_pytest: Pytest) -> None:
    conftest = "import kbuild.loader.available as here\nhere.devices = list\n"
    test = "def test_one(kbuild_device):\n    assert False\n"
    done = run_pytest({"conftest.py": conftest, "test_one.py": test}, "-rs")
    assert done.returncode == 0, done.stdout
    assert "there is neither NumPy nor a GPU" in done.stdout


def test_a_fault_is_shown_as_the_test_s_line_and_the_kernel_s(run_pytest: Pytest, tmp_path: Path) -> None:
    done = run_pytest({"kernels.py": KERNELS, "test_faults.py": TESTS})
    text = done.stdout
    assert "2 failed, 2 passed, 1 error" in text
    assert "/kbuild/" not in text
    assert "\n>       launch(4)\n" in text
    assert "\n>       kb.launch(shift, " in text
    assert "kernels.py:8:5: index 4 on axis 0 of an array of shape (4,), thread (3,) of kernels:shift" in text
    assert "\nE           i = 3\n" in text
    assert "- kernels:shift, thread (3,) -" in text
    assert "\n>     out[i + 1] = x\n" in text
    assert f"\n{tmp_path}/kernels.py:8\n" in text
    assert text.count("- kernels:shift, thread (3,) -") == 2  # in the test, and in the fixture
    assert "thread (1,) writes data[0] (line 13), and thread (0,) writes it (line 13)" in text
    assert "- first: thread (1,) -" in text
    assert "- kernels:into_one, thread (0,) -" in text
    kernel = "  @kb.kernel\n  def into_one(data: kb.array(dtype=int)):\n      i = kb.tid()\n>     data[0] = i\n"
    assert f"-\n{kernel}" in text


def test_all_of_a_traceback_is_shown_where_it_is_asked_for(run_pytest: Pytest) -> None:
    done = run_pytest({"kernels.py": KERNELS, "test_faults.py": TESTS}, "--full-trace", "-k", "beyond")
    assert "simulate/launches.py" in done.stdout


@pytest.mark.parametrize("style", ["short", "line", "native", "no"])
def test_other_styles(run_pytest: Pytest, style: str) -> None:
    done = run_pytest({"kernels.py": KERNELS, "test_faults.py": TESTS}, f"--tb={style}")
    assert "2 failed, 2 passed, 1 error" in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr
    assert "/simulate/" not in done.stdout


def test_it_costs_nothing_where_nobody_asks(run_pytest: Pytest) -> None:
    """In projects without a kernel: nothing of kbuild is imported, and the asserts of their tests are as they were."""
    test = """
import sys

def test_one(pytestconfig):
    assert pytestconfig.pluginmanager.has_plugin("kbuild")
    ours = sorted(name for name in sys.modules if name.split(".")[0].startswith("kbuild"))
    assert ours == ["kbuild_hooks", "kbuild_hooks.pytest_plugin"]
    assert "numpy" not in sys.modules
"""
    done = run_pytest({"test_plain.py": test, "pyproject.toml": "[project]\nname = 'plain'\n"})
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    done = run_pytest({"test_plain.py": "def test_one():\n    assert [1] == [2]\n"})
    assert "At index 0 diff: 1 != 2" in done.stdout


def test_kbuild_s_own_modules_are_not_compiled_anew(run_pytest: Pytest) -> None:
    test = """
import kbuild.loader.pack

def test_one():
    assert "rewrite" not in type(kbuild.loader.pack.__loader__).__module__
"""
    done = run_pytest({"test_one.py": test})
    assert "1 passed" in done.stdout, done.stdout


def test_it_is_switched_off_as_any_plugin(run_pytest: Pytest) -> None:
    done = run_pytest({"test_one.py": "def test_one():\n    pass\n"}, "-p", "no:kbuild")
    assert "1 passed" in done.stdout
    done = run_pytest({}, "-p", "no:kbuild", "--kbuild-device=sim")
    assert "unrecognized arguments: --kbuild-device=sim" in done.stderr


def test_a_program_that_has_imported_kbuild_may_run_pytest(python, tmp_path: Path) -> None:
    projects.write(tmp_path, {"test_one.py": "def test_one():\n    pass\n"})
    code = "import kbuild.loader.pack, pytest, sys; sys.exit(pytest.main(['-W', 'error', '-p', 'no:xdist']))"
    done = python("-c", code, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_devices_in_parallel_runs(run_pytest: Pytest, python, tmp_path: Path) -> None:
    projects.write(tmp_path, {"test_devices.py": DEVICES, "pytest.ini": "[pytest]\n"})
    done = python("-m", "pytest", "-n", "1", "--kbuild-device", "sim", cwd=tmp_path, check=False)
    assert "7 passed" in done.stdout, done.stdout + done.stderr


def test_what_the_page_shows(run_pytest: Pytest) -> None:
    page = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```python\n(# test_smoothing\.py\n.*?)```", page, re.DOTALL)
    done = run_pytest({"test_smoothing.py": text}, "-v", "--kbuild-device=sim")
    assert passed(done) == ["test_by_hand[sim]", "test_double[sim]"], done.stdout + done.stderr


def test_machines_with_several_gpus(run_pytest: Pytest) -> None:
    """`cuda` is the first of them."""
    conftest = "import kbuild.loader.available as here\nhere.devices = lambda: ['sim', 'cuda:0', 'cuda:1']\n"
    test = """
import pytest

def test_fixture(kbuild_device):
    pass

@pytest.mark.parametrize("device", ["sim", "cuda", "cuda:1"])
def test_by_hand(device):
    pass
"""
    files = {"conftest.py": conftest, "test_devices.py": test}
    done = run_pytest(files, "-v")
    fixture = ["test_fixture[cuda:0]", "test_fixture[cuda:1]", "test_fixture[sim]"]
    assert passed(done) == ["test_by_hand[cuda:1]", "test_by_hand[cuda]", "test_by_hand[sim]", *fixture], done.stdout
    done = run_pytest(files, "-v", "--kbuild-device", "cuda", "--kbuild-device", "sim")
    assert passed(done) == ["test_by_hand[cuda]", "test_by_hand[sim]", "test_fixture[cuda:0]", "test_fixture[sim]"]
    done = run_pytest(files, "-v", "--kbuild-device", "cuda:1")
    assert passed(done) == ["test_by_hand[cuda:1]", "test_fixture[cuda:1]"]
