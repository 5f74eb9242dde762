"""`kb.devices()`: where kernels run on this machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kbuild as kb
from kbuild.loader import available, context, driver, hosts, providers
from kbuild.loader.errors import DriverError


@pytest.fixture
def gpus(monkeypatch):
    """The names of GPUs that there are; a list to change."""
    names: list[str] = []
    monkeypatch.setattr(hosts, "get_devices", lambda: list(names))
    return names


@pytest.fixture
def has_numpy(monkeypatch, gpus):
    monkeypatch.setattr(available, "_is_there", lambda module: True)
    monkeypatch.setattr(sys, "version_info", (3, 11, 0))


def test_the_simulator_then_gpus(has_numpy, gpus):
    assert kb.devices() == ["sim"]
    gpus += ["cuda:0", "cuda:1"]
    assert kb.devices() == ["sim", "cuda:0", "cuda:1"]


def test_python_3_8_has_no_simulator(has_numpy, gpus, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 8, 20))
    gpus += ["cuda:0"]
    assert kb.devices() == ["cuda:0"]


@pytest.mark.parametrize("missing", ["numpy", "kbuild.simulate.launches"])
def test_without_what_it_needs_there_is_none(gpus, monkeypatch, missing):
    monkeypatch.setattr(sys, "version_info", (3, 11, 0))
    monkeypatch.setitem(sys.modules, missing, None)
    assert kb.devices() == []


def test_a_loader_that_knows_no_simulator(has_numpy, monkeypatch):
    monkeypatch.delitem(providers.registry, "sim")
    assert kb.devices() == []


def test_no_driver_is_no_error_and_a_driver_that_fails_is(monkeypatch):
    def fail(error):
        def devices():
            raise error

        monkeypatch.setattr(context, "devices", devices)

    fail(DriverError("no driver", name=driver.NO_DRIVER))
    assert not [name for name in kb.devices() if name.startswith("cuda")]
    fail(DriverError("broken", "cuInit", code=999))
    with pytest.raises(DriverError, match="broken"):
        kb.devices()


def test_nothing_is_imported_for_it():
    code = (
        "import sys, kbuild as kb; kb.devices(); "
        "print([m for m in sys.modules if m.split('.')[0] == 'numpy' or m.startswith(('kbuild.sim', 'kbuild.scan'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
