"""Tests on all devices: `pytest --kbuild-device sim`, the fixture `kbuild_device`, and faults as their kernels' lines.

pytest loads this in every environment that has kbuild, for projects that never heard of it too: kbuild is imported only
where a test asks for its devices, or the command line does.
"""

from __future__ import annotations

import re
import sys

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generator

OPTION = "--kbuild-device"
SETTING = "kbuild_devices"
FIXTURE = "kbuild_device"
ALL = "all"
_DEVICE = re.compile(r"(sim|cpu|cuda(:\d+)?)$")


def pytest_addoption(parser: Any, pluginmanager: Any) -> None:
    """Declares the option and the setting."""
    group = parser.getgroup("kbuild")
    group.addoption(
        OPTION,
        action="append",
        default=[],
        metavar="NAME",
        help="runs tests of GPU kernels on this device only: sim, cuda:0, … or all (may be given several times)",
    )
    parser.addini(SETTING, "devices for tests of GPU kernels where %s names none: all, or names" % OPTION, type="args")
    _leave_as_written(pluginmanager)


def _leave_as_written(pluginmanager: Any) -> None:
    """pytest would compile the asserts of all of kbuild anew, as of every package that brings a plugin."""
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("kbuild")


def pytest_configure(config: Any) -> None:
    """Refuses devices that are not there before anything runs."""
    _asked(config)


@pytest.fixture(scope="session")
def kbuild_device(request: Any) -> str:
    """A device that kernels run on, "sim" or "cuda:0": a test that takes it runs once for each."""
    return str(request.param)


def pytest_generate_tests(metafunc: Any) -> None:
    """Parametrizes what takes the fixture."""
    if FIXTURE in metafunc.fixturenames and not _is_parametrized(metafunc.definition):
        asked = _asked(metafunc.config)
        names: list[Any] = list(_devices() if asked is None else asked)
        if not names:
            skipped = pytest.mark.skip(reason="no device runs kernels here: there is neither NumPy nor a GPU")
            names = [pytest.param("none", marks=skipped)]
        metafunc.parametrize(FIXTURE, names, indirect=True)


def _is_parametrized(definition: Any) -> bool:
    """A test that names its devices itself."""
    for mark in definition.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        if FIXTURE in ([one.strip() for one in names.split(",")] if isinstance(names, str) else names):
            return True
    return False


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leaves out tests that are parametrized by hand over a `device` that was not asked for."""
    asked = _asked(config)
    if asked is None:
        return
    kept: list[Any] = []
    others: list[Any] = []
    for item in items:
        (kept if _is_asked_for(item, asked) else others).append(item)
    if others:
        items[:] = kept
        config.hook.pytest_deselected(items=others)


def _is_asked_for(item: Any, asked: list[str]) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return all(
        _name(parameters[name]) in (None, *asked) for name in ("device", FIXTURE) if parameters.get(name) is not None
    )


def _name(device: Any) -> str | None:
    """The name of a device that kbuild may know; None for anything else that a parameter holds."""
    kind = type(device)
    name = device if isinstance(device, str) else str(device) if kind.__module__.startswith("kbuild.") else ""
    if not _DEVICE.match(name):
        return None
    return "cuda:0" if name == "cuda" else name


def _asked(config: Any) -> list[str] | None:
    """The devices that the command line, or else the project, names; None for all. Raises UsageError."""
    for where, names in ((OPTION, config.getoption(OPTION)), (SETTING, config.getini(SETTING))):
        if names:
            return None if ALL in names else _known(names, where)
    return None


def _known(names: list[str], where: str) -> list[str]:
    present = _devices()
    wanted = ["cuda:0" if name == "cuda" else name for name in names]
    for name in wanted:
        if name not in present:
            known = "there is: %s (or all)" % ", ".join(present) if present else "nor anywhere else"
            raise pytest.UsageError("%s: no kernels run on %r here; %s" % (where, name, known))
    return [name for name in present if name in wanted]


def _devices() -> list[str]:
    from kbuild.loader.available import devices

    return devices()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Shows what a kernel did at the kernel's line, and nothing of what ran it."""
    faults = sys.modules.get("kbuild.sim.values")  # else no kernel has run on the simulator
    fault = None if faults is None or call.excinfo is None else call.excinfo.value
    if faults is None or not isinstance(fault, faults.Fault):
        yield
        return
    from . import pytest_faults

    if not item.config.getoption("fulltrace", False):
        pytest_faults.leave_out_our_frames(fault)
        call.excinfo = pytest.ExceptionInfo.from_exc_info((type(fault), fault, fault.__traceback__))
    outcome = yield
    pytest_faults.add_kernel(outcome.get_result(), fault)
