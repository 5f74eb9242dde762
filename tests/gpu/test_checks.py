"""What is said when a kernel reads or writes outside its arrays: at the launch, or at the next synchronisation."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.gpu

PROGRAM = """
import kbuild as kb
from gpukernels import launching

out = kb.zeros(100)
kb.launch(launching.fill, dim=100, inputs=[out, 1.0])
kb.synchronize()
kb.launch(launching.fill, dim=100, inputs=[out, 2.0])
errors = []
for step in (
    lambda: kb.launch(launching.out_of_range, dim=1, inputs=[out, 1 << 29]),
    lambda: kb.synchronize(),
    lambda: kb.zeros(3),
    lambda: out.tolist(),
):
    try:
        step()
        print("fine")
    except kb.DriverError as error:
        print(type(error).__name__, str(error).replace("\\n", " | "))
print(launching.out_of_range.error is not None)
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_at_the_next_synchronisation():
    launch, wait, later, read, error = run()
    assert launch == "fine"
    for word in ("cuCtxSynchronize failed", "(700)", "launching:out_of_range, dim=1", "launching:fill, dim=100"):
        assert word in wait, wait
    assert "KBUILD_CHECK=launch" in wait
    assert wait.index("out_of_range") < wait.index(":fill")  # newest first
    assert wait.count(":fill") == 1  # that before the last good synchronisation is not there
    for line in (later, read):
        assert "was lost earlier" in line, line
        assert "process must restart" in line
    assert error == "False"


def test_at_the_launch():
    launch, wait, _, read, error = run(KBUILD_CHECK="launch")
    for word in ("gpukernels.launching:out_of_range on cuda:0", "(700)", "<string>:11", "far = int 536870912"):
        assert word in launch, launch
    assert "out = <kb.array float32 of shape (100,) on cuda:0> at 0x" in launch
    assert "was lost earlier" in wait
    assert "was lost earlier" in read
    assert error == "True"
