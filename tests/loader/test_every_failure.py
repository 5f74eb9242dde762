"""Every public call of the loader, through every failure of every driver call that it makes.

A first run without failures records the calls. Then each of them fails once with each of several codes: the error names
it, the books of the driver balance, the program's context is as it was, and the same public call works again. Which
codes is another third for each public call; `KBUILD_DEEP=2` tries every code at every call.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.helpers.driver_cases import SCENES
from tests.helpers.driver_failures import CODES, STATES, try_all
from tests.helpers.fake_cuda import FakeCuda
from tests.helpers.situations import happens

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """What hangs ends in an error."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("a call of the loader hangs")

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@happens(
    "On the GPU",
    "a call of the driver fails, any one, with any code",
    "`DriverError` with the call, the code, its name and a remedy; no memory, event or context is left behind, the "
    "program's own context is current again, and the same call works once the cause is gone.",
)
@pytest.mark.parametrize("warm", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("name", SCENES)
def test_every_failure(
    fake_library: Path, name: str, warm: bool, record_property: Callable[[str, object], None]
) -> None:
    with FakeCuda(fake_library, devices="9.0,9.0") as cuda:
        states = [state for state in STATES if state[0] == warm]
        if DEEP > 1:
            tried = try_all(cuda, name, states=states, few_codes=CODES)
        else:
            tried = try_all(cuda, name, CODES[list(SCENES).index(name) % 3 :: 3], states)
    assert tried or warm  # what has been asked once may need no driver later
    record_property("figure: failures of driver calls, each in a public call of the loader", tried)
