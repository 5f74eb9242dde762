"""The binding: no driver, no GPU, old drivers, refusals, forks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import context, driver, failures, hosts
from kbuild.loader.errors import DriverError
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.situations import happens

ROOT = Path(__file__).parents[2]


def test_nothing_is_opened_at_import() -> None:
    code = (
        "import sys; sys.path.insert(0, %r)\n"
        "import kbuild.loader\n"
        "from kbuild.loader.types import kernel, struct, func, float32\n"
        "from kbuild.loader.array import array\n"
        "from kbuild.loader.values import vec3\n"
        "kernel(lambda: 0); array(dtype=vec3)\n"
        "heavy = {'ctypes', 'numpy', 'dataclasses', 'inspect', 'typing', 'enum', 're', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)), 'libcuda' in open('/proc/self/maps').read())"
    ) % str(ROOT)
    found = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split("\n")[0] == "[] False"


@happens(
    "Where the loader runs",
    "there is no driver, or no GPU",
    "`kb.get_devices()` is empty; what needs a GPU raises `DriverError` that names the library or the call, and the "
    "cure.",
)
def test_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "LIBRARIES", ("libno-such-driver.so.1",))
    monkeypatch.setattr(driver, "_driver", None)
    monkeypatch.setattr(context, "_devices", None)
    assert hosts.get_devices() == []
    for use in (lambda: arrays.zeros(3), lambda: make_bundle([("x", "float32")])["p.kernels:k"].launch(1, (1.0,))):
        with pytest.raises(DriverError) as caught:
            use()
        assert "no CUDA driver on this machine: libno-such-driver.so.1" in str(caught.value)
        assert "install the NVIDIA driver; in a container" in str(caught.value)


def test_no_gpu(fake_library: Path) -> None:
    with FakeCuda(fake_library, devices="") as cuda:
        assert hosts.get_devices() == []
        with pytest.raises(DriverError, match=r"cuInit failed: CUDA_ERROR_100 \(100\)") as caught:
            arrays.zeros(3)
        assert "CUDA_VISIBLE_DEVICES" in str(caught.value)
        assert "cuInit" in cuda.calls


def test_a_broken_driver_is_not_no_gpu(cuda: FakeCuda) -> None:
    cuda.fail("cuInit", 804)
    with pytest.raises(DriverError, match="remove the cuda-compat package"):
        hosts.get_devices()
    assert len(hosts.get_devices()) == 1  # asked again, and well now


@happens(
    "Where the loader runs",
    "the driver lacks functions that the loader needs",
    "`DriverError` that names the function and the oldest CUDA version that has all of them (11.4).",
)
def test_an_ancient_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "old.c"
    source.write_text("int cuInit(unsigned f) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-o", tmp_path / "old.so", source], check=True)
    monkeypatch.setattr(driver, "LIBRARIES", (str(tmp_path / "old.so"),))
    monkeypatch.setattr(driver, "_driver", None)
    with pytest.raises(DriverError, match=r"the CUDA driver has no cu.*: it is too old, 11.4 is needed"):
        driver.get()


@pytest.mark.parametrize("code", sorted(failures._REMEDIES))
def test_every_known_code_has_a_remedy(cuda: FakeCuda, code: int) -> None:
    error = driver.get().error("cuCall", code, "kernel on cuda:0")
    assert str(error).startswith("kernel on cuda:0: cuCall failed: CUDA_ERROR_")
    assert f"({code})" in str(error)
    assert "\n  help: " in str(error)


def test_an_unknown_code(cuda: FakeCuda) -> None:
    assert str(driver.get().error("cuCall", 12345)) == "cuCall failed: CUDA_ERROR_12345 (12345)"


def test_devices(two_gpus: FakeCuda) -> None:
    first, second = hosts.get_devices()
    assert (str(second), second.name, second.target, second.driver) == ("cuda:1", "Fake GPU 1", "sm_90", (13, 0))
    for spec, device in ((None, first), ("cuda", first), (1, second), ("cuda:1", second), (second, second)):
        assert context.get_device(spec) is device
    with pytest.raises(
        DriverError, match=r"there is no device 'cuda:2': this machine has <kb.Device cuda:0: Fake GPU 0"
    ):
        context.get_device("cuda:2")
    for wrong in ("gpu", True, 1.5, "cuda:one"):
        with pytest.raises(DriverError, match=r"a device is 'cuda:0', a number, 'cpu', 'sim' or a kb.Device"):
            context.get_device(wrong)


def test_synchronize(two_gpus: FakeCuda) -> None:
    context.synchronize("cuda:1")
    two_gpus.fail("cuCtxSynchronize", 700)
    with pytest.raises(
        DriverError, match=r"cuda:0: cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS \(700\)"
    ) as caught:
        context.synchronize()
    assert "compute-sanitizer" in str(caught.value)


def test_contexts_are_retained_once(two_gpus: FakeCuda) -> None:
    for _ in range(3):
        arrays.zeros(3, device=1).tolist()
    assert two_gpus.calls.count("cuDevicePrimaryCtxRetain") == 1


FORKED = """
import os, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from kbuild.loader import array as arrays
from kbuild.loader.errors import DriverError
with FakeCuda(Path({library!r})):
    kernel = make_bundle([("a", "array1[float32]"), ("x", "float32")])["p.kernels:k"]
    held = arrays.zeros(3)
    kernel.launch(1, (held, 1.0))
    kernel.launch(1, (held, 1.0))
    pid = os.fork()
    if not pid:
        told = 0
        for use in (lambda: kernel.launch(1, (held, 1.0)), lambda: arrays.zeros(3), held.tolist):
            try:
                use()
            except DriverError as error:
                told += "forked" in str(error) and "spawn" in str(error)
        del held
        os._exit(told)
    _, status = os.waitpid(pid, 0)
    kernel.launch(1, (held, 1.0))
    print(os.WEXITSTATUS(status))
"""


def test_a_forked_child_is_told_so(fake_library: Path) -> None:
    code = FORKED.format(root=str(ROOT), library=str(fake_library))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (found.stdout, found.stderr) == ("3\n", "")


EXITING = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.helpers.fake_cuda import FakeCuda
from kbuild.loader import array as arrays
fake = FakeCuda(Path({library!r}))
fake.__enter__()
class Cycle: pass
cycle = Cycle()
cycle.self, cycle.held = cycle, arrays.zeros(3)
held = arrays.zeros(3)
"""


def test_the_interpreter_ends_quietly_with_arrays_alive(fake_library: Path) -> None:
    code = EXITING.format(root=str(ROOT), library=str(fake_library))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (found.returncode, found.stderr) == (0, "")


def test_the_wsl_driver_is_looked_for() -> None:
    assert driver.LIBRARIES == ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")
    assert "CUDA" not in os.environ


def test_a_call_that_fails_while_loading(cuda: FakeCuda) -> None:
    bundle: Any = make_bundle([("x", "float32")])
    cuda.fail("cuModuleLoadData", 2)
    with pytest.raises(DriverError, match=r"p.kernels for sm_90 on cuda:0 \(Fake GPU 0\): cuModuleLoadData failed"):
        bundle["p.kernels:k"].launch(1, (1.0,))
    bundle["p.kernels:k"].launch(1, (1.0,))
