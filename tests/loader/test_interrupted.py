"""Ctrl-C and a lack of memory at any line of the loader: nothing is left behind, and the next call works.

A trace function raises at the first, second, … line that a call executes inside the loader: each place at which an
interrupt can come, one after another. A place is a line and how the call has come there; of a loop the first two rounds
are tried, with `KBUILD_DEEP=50` a hundred.
"""

from __future__ import annotations

import linecache
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest import mock

import pytest

from kbuild.loader import ahead
from kbuild.loader import array as arrays
from kbuild.loader import kernel as kernels
from tests.helpers.driver_failures import Run
from tests.helpers.fake_cuda import FOREIGN_CONTEXT, FakeCuda, make_bundle
from tests.helpers.situations import happens

LOADER = str(Path(kernels.__file__).parent)
WAITING = ("stream", "written", "another GPU", "second GPU")  # a stream is made to wait for another
ROUNDS = 2 * int(os.environ.get("KBUILD_DEEP", "1"))
SCENES = [
    "zeros", "assign with gaps", "copy from another GPU", "asarray of what is being written", "tolist",
    "launch", "launch on the second GPU", "launch after another stream", "launch in pieces", "kb launch",
]  # fmt: skip


class Interrupter:
    """Raises `error` at the `number`-th line inside the loader; `fired` and `where` say whether it came that far.

    With number 0 it raises nowhere: `places` is then every line that was come to, with the calls that led there.
    """

    def __init__(self, number: int, error: type[BaseException]) -> None:
        self.left, self.error, self.fired, self.where = number, error, False, ""
        self.is_counting = number == 0
        self.places: list[tuple[object, ...]] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        return self.line if not self.fired and is_ours(frame) else None

    def line(self, frame: FrameType, event: str, argument: object) -> Any:
        if self.fired:
            return None
        if event == "line" and not is_between_blocks(frame.f_code, frame.f_lineno):
            if self.is_counting:
                self.places.append(place_of(frame))
                return self.line
            self.left -= 1
            if self.left == 0:
                self.fired = True
                self.where = "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
                raise self.error
        return self.line


def is_ours(frame: FrameType) -> bool:
    if not is_of_loader(frame.f_code):
        return False
    caller: FrameType | None = frame
    while caller is not None:  # what is raised in a finalizer, Python itself swallows
        if caller.f_code.co_name in ("__del__", "sweep"):  # the latter is called by garbage collection
            return False
        caller = caller.f_back
    return True


@cache
def is_of_loader(code: CodeType) -> bool:
    return code.co_filename.startswith((LOADER, "<launch of"))


def place_of(frame: FrameType) -> tuple[object, ...]:
    """The line, and the lines of the loader's from which it was called."""
    place: list[object] = []
    caller: FrameType | None = frame
    while caller is not None:
        if is_of_loader(caller.f_code):
            place += [caller.f_code.co_filename, caller.f_lineno]
        caller = caller.f_back
    return tuple(place)


@cache
def is_between_blocks(code: CodeType, number: int) -> bool:
    """The line of a `try` or a `with`, which is entered or left there, and the first of an `__exit__`.

    No block holds at these places, so Python has no way to take care of what is raised there. At the first two only
    trace functions raise: CPython looks for signals after calls, at jumps back and where functions begin.
    """
    if code.co_name == "__exit__" and number == code.co_firstlineno + 1:
        return True
    line = linecache.getline(code.co_filename, number).strip()
    return line == "try:" or line.startswith("with ")


def places(run: Run) -> Iterator[int]:
    """The numbers of the lines to interrupt: of a place that is come to often, the first two times."""
    act, counter = run.prepare(), Interrupter(0, KeyboardInterrupt)
    sys.settrace(counter)
    try:
        act()
    finally:
        sys.settrace(None)
    times: Counter[tuple[object, ...]] = Counter()
    for number, place in enumerate(counter.places, 1):
        times[place] += 1
        if times[place] <= ROUNDS:
            yield number


def interrupt(run: Run, number: int, error: type[BaseException]) -> None:
    """One call, interrupted at a line."""
    act = run.prepare()
    interrupter = Interrupter(number, error)
    sys.settrace(interrupter)
    try:
        act()
    except error:
        pass
    finally:
        sys.settrace(None)
    try:
        assert interrupter.fired, "the call has fewer lines than before"
        run.check_books(act, lost=int(any(word in run.name for word in WAITING)))  # an event, at worst
        assert act() == run.result, "the same call does not work again"
        assert run.read_books() == run.books, "modules or contexts are held twice"
    except AssertionError as failure:
        raise AssertionError(f"{error.__name__} at {interrupter.where}: {failure}") from failure


def interrupt_everywhere(library: Path, name: str, warm: bool) -> int:
    """Every place of a scene; returns how many there were."""
    tried = 0
    # Whatever is got ready ahead, in a thread, would be a line more or less here.
    with mock.patch.object(ahead, "_prepare"), FakeCuda(library, devices="9.0,9.0") as cuda:
        for error, elsewhere in ((KeyboardInterrupt, True), (MemoryError, False)):
            run = Run(cuda, name, warm, elsewhere)
            for number in places(run):
                interrupt(run, number, error)
                tried += 1
        cuda.library.fake_unload()
    return tried


@happens(
    "On the GPU",
    "Ctrl-C or a `MemoryError` comes in the middle of a launch or a copy",
    "The exception goes on to the program; memory, contexts and launch buffers are as before, and the next call works.",
)
@pytest.mark.parametrize("warm", [False, True], ids=["first", "later"])
@pytest.mark.parametrize("name", SCENES)
def test_at_every_line(
    fake_library: Path, name: str, warm: bool, record_property: Callable[[str, object], None]
) -> None:
    # In a thread: raising between blocks leaves Python's own note of the exception behind, which is one a thread.
    with ThreadPoolExecutor(1) as worker:
        tried = worker.submit(interrupt_everywhere, fake_library, name, warm).result()
    assert tried > 3
    record_property("figure: interrupts, each at another line of the loader", tried)


def test_signals_in_a_loop_of_launches(cuda: FakeCuda) -> None:
    """Real signals, at random moments, while another context is current and the launch has to change it."""
    kernel = make_bundle([("a", "array1[float32]"), ("x", "float32")])["p.kernels:k"]
    held = arrays.zeros(3)
    for _ in range(3):
        kernel.launch(3, (held, 1.0))
    cuda.set_current(FOREIGN_CONTEXT)

    def ring(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    interrupts, lost = 0, 0
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0002)
            for _ in range(1000):
                kernel.launch(3, (held, 1.0))
        except KeyboardInterrupt:
            interrupts += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        if cuda.library.fake_current() != FOREIGN_CONTEXT:
            lost += 1  # an interrupt at the very entry of __exit__; see Interrupter
            cuda.set_current(FOREIGN_CONTEXT)
    signal.signal(signal.SIGALRM, before)
    assert interrupts > 20
    assert lost <= interrupts / 10
    assert cuda.library.fake_pushes() == 0
    assert [len(loaded.pool) <= 1 for loaded in kernel._loaded.values()] == [True]
    kernel.launch(3, (held, 1.0))


def test_launch_buffers_are_as_many_as_launches_at_a_time(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")])["p.kernels:k"]
    before = len(kernels._pools)
    for _ in range(5):
        cuda.fail("cuModuleLoadData", 2)
        with pytest.raises(Exception, match="cuModuleLoadData"):
            kernel.launch(1, (1.0,))
    assert len(kernels._pools) == before
    cuda.library.fake_delay(200)
    workers = [threading.Thread(target=lambda: [kernel.launch(1, (1.0,)) for _ in range(20)]) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for code in (701, 2, 719):
        cuda.fail("cuLaunchKernelEx", code, times=2)
        with pytest.raises(Exception, match="cuLaunchKernelEx"):
            kernel.launch(1, (1.0,))
    assert len(kernels._pools) == before + 1
    assert 1 <= len(kernel._loaded[0].pool) <= 8
