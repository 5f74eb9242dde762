"""The sample, installed from its wheel, on a GPU: results right, nothing compiled."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.gpu

# No JIT in the driver, and no cache of it: what runs is the machine code in the wheel.
NO_JIT = {**os.environ, "CUDA_DISABLE_PTX_JIT": "1", "CUDA_CACHE_DISABLE": "1"}


def test_every_result_is_right():
    done = subprocess.run([sys.executable, "-m", "robosim"], env=NO_JIT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" ok\n") == 10


def test_a_gpu_is_there():
    """Without one, robosim only explains: the test above must not pass for that reason alone."""
    look = "import kbuild as kb; print(kb.get_devices()[0].target)"
    done = subprocess.run([sys.executable, "-c", look], env=NO_JIT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("sm_")


def test_what_learns():
    """Few iterations and steps; forward and backward are captured in a graph after the first."""
    command = [sys.executable, "-m", "robosim.learn", "--iterations", "10", "--steps", "50"]
    done = subprocess.run(command, env=NO_JIT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "both losses fall" in done.stdout
