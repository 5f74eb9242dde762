"""Processes that end, fork or start while the GPU works: real ones, on the oldest and the newest Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.helpers.pythons import need_python
from tests.helpers.situations import happens

ROOT = Path(__file__).parents[2]
SECTION = "On the GPU"
VERSIONS = ["3.8", "3.13"]
START = """
import os, signal, sys, threading, time
sys.path.insert(0, {root!r})
signal.alarm(30)  # what hangs is killed
from pathlib import Path
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from kbuild.loader import array as arrays, context, driver, hosts
from kbuild.loader.errors import DriverError
fake = FakeCuda(Path({library!r}), devices="9.0,9.0")
fake.__enter__()
kernel = make_bundle([("a", "array1[float32]"), ("x", "float32")])["p.kernels:k"]
"""


def run(version: str, library: Path, program: str) -> subprocess.CompletedProcess[str]:
    code = START.format(root=str(ROOT), library=str(library)) + program
    command = [str(need_python(version)), "-X", "dev", "-W", "ignore::DeprecationWarning", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@happens(
    SECTION,
    "the interpreter ends while other threads launch and arrays are alive",
    "It ends at once and quietly; the driver takes the memory back with the process.",
)
@pytest.mark.parametrize("version", VERSIONS)
def test_exit_with_work_in_flight(fake_library: Path, version: str) -> None:
    program = """
held = arrays.zeros(3)
fake.library.fake_delay(2000)
def work():
    mine = [arrays.zeros(3)]
    while True:
        kernel.launch(3, (mine[0], 1.0))
        mine[0] = arrays.zeros(3)
        context.synchronize()
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
while len(fake.records) < 20:
    time.sleep(0.01)
print("ends")
"""
    done = run(version, fake_library, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


@happens(
    SECTION,
    "a process forks after it has used the GPU",
    "In the child every call that needs the GPU raises `DriverError` at once, which says why and names 'spawn'; "
    "the parent goes on. A child of a parent that has not used the GPU uses it as ever.",
)
@pytest.mark.parametrize("version", VERSIONS)
def test_fork_while_other_threads_hold_every_lock(fake_library: Path, version: str) -> None:
    program = """
held = arrays.zeros(3)
for _ in range(3):
    kernel.launch(3, (held, 1.0))
fresh = make_bundle([("a", "array1[float32]"), ("x", "float32")])["p.kernels:k"]
ready = threading.Barrier(4)
def hold(lock):
    with lock:
        ready.wait()
        time.sleep(1)
for lock in (driver._lock, context._lock, fresh.bundle._lock):
    threading.Thread(target=hold, args=(lock,), daemon=True).start()
ready.wait()
pid = os.fork()
if not pid:
    told = 0
    uses = [lambda: kernel.launch(3, (held, 1.0)), lambda: fresh.launch(3, (held, 1.0)), lambda: arrays.zeros(3),
            held.tolist, context.synchronize, lambda: hosts.get_devices()[1].current()]
    context._devices = None
    uses += [hosts.get_devices, lambda: kernel.launch(3, (held, 1.0), device=0)]
    for use in uses:
        try:
            use()
        except DriverError as error:
            told += "forked" in str(error) and "spawn" in str(error)
    del held
    os._exit(told)
_, status = os.waitpid(pid, 0)
kernel.launch(3, (held, 1.0))
print(os.WEXITSTATUS(status), len(fake.records))
"""
    done = run(version, fake_library, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "8 4\n", "")


@pytest.mark.parametrize("version", VERSIONS)
def test_fork_while_the_driver_starts(fake_library: Path, version: str) -> None:
    """A thread is in the middle of cuInit: the child is no place for CUDA any more, and must not wait for it."""
    program = """
def load():
    ready.set()
    time.sleep(1)
    return load.before()
load.before, driver._load = driver._load, load
ready = threading.Event()
thread = threading.Thread(target=arrays.zeros, args=(3,))
thread.start()
ready.wait()
pid = os.fork()
if not pid:
    driver._load = load.before
    try:
        arrays.zeros(3)
    except DriverError as error:
        os._exit(7 if "forked" in str(error) else 1)
    os._exit(2)
_, status = os.waitpid(pid, 0)
thread.join()
print(os.WEXITSTATUS(status), arrays.zeros(1).tolist())
"""
    done = run(version, fake_library, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "7 [0.0]\n", "")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_child_of_a_parent_without_CUDA(fake_library: Path, version: str) -> None:
    program = """
threading.Thread(target=driver._lock.acquire).start()  # never given back
time.sleep(0.1)
pid = os.fork()
if not pid:
    held = arrays.zeros(3)
    kernel.launch(3, (held, 1.0))
    os._exit(len(fake.records))
_, status = os.waitpid(pid, 0)
print(os.WEXITSTATUS(status))
"""
    done = run(version, fake_library, program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
