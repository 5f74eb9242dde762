"""One public call of the loader through one failure of one driver call, with everything that must hold afterwards.

Python 3.8, without pytest: it runs in `tests/loader/any_python.py` too.
"""

from __future__ import annotations

import contextlib
import gc
import signal
from typing import TYPE_CHECKING, Any

from kbuild.loader import ahead
from kbuild.loader.driver import NO_BINARY, WRONG_CONTEXT
from kbuild.loader.errors import BundleError, DriverError, LaunchError, LoaderError
from tests.helpers.driver_cases import SCENES
from tests.helpers.fake_cuda import FOREIGN_CONTEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.helpers.fake_cuda import FakeCuda

CODES = (
    1, 2, 3, 4, 34, 35, 100, 101, 200, 201, 209, 218, 222, 304, 400, 500, 700, 701, 702, 710, 719, 802, 803, 804,
    900, 999,
)  # fmt: skip
FEW_CODES = (1, 2, 201, 400, 719)  # one of each kind that the loader tells apart anywhere
STICKY = 719
STATES = [(warm, elsewhere) for warm in (False, True) for elsewhere in (False, True)]
SECONDS = 10
GIVEN_BACK = (
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuEventDestroy_v2",
    "cuStreamDestroy_v2",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
)
QUICK = (  # scenes that launch the quick way once they are warm
    "launch",
    "launch without arrays",
    "launch on the second GPU",
    "launch in blocks of any size",
    "launch of two kernels",
    "launch of the second best code",
    "launch of a tensor",
    "launch of indexed",
    "kb launch",
)


class Run:
    """One scene in one state: the driver never used or used already, the program's own context current or none."""

    def __init__(self, cuda: FakeCuda, name: str, warm: bool, elsewhere: bool) -> None:
        self.cuda, self.name, self.warm = cuda, name, warm
        self.context = FOREIGN_CONTEXT if elsewhere else 0
        with uncollected():
            act = self.prepare()
            before = len(cuda.calls)
            self.result = act()
            self.calls = cuda.calls[before:]
            self.check_books(act)
            self.books = self.read_books()

    def prepare(self) -> Callable[[], Any]:
        cuda = self.cuda
        cuda.forget()
        cuda.library.fake_unload()
        act = SCENES[self.name](cuda)
        if self.warm:  # from the third time on a launch is a quick one
            act()
            act()
        cuda.set_current(self.context)
        self.live = self.count_live()
        return act

    def count_live(self) -> int:
        """How many allocations, events, streams and graphs there are; pools are a device's for good."""
        live = self.cuda.live
        return sum(live.get(kind, 0) for kind in ("allocations", "events", "streams", "graphs"))

    def read_books(self) -> tuple[int, ...]:
        books = self.cuda.library
        return (books.fake_live_modules(), books.fake_retained(0), books.fake_retained(1))

    def check_books(self, act: object, lost: int = 0) -> None:
        """Nothing is left of a call; `lost` is 1 where the driver itself refused to take something back."""
        books = self.cuda.library
        assert self.cuda.breaches == [], self.cuda.breaches
        assert books.fake_pushes() == 0, "a context stays pushed"
        assert books.fake_depth() <= 1, "a context stays on the stack"
        is_finalizer = self.name.startswith(("free", "last reference"))
        if self.context or is_finalizer:  # else the thread has the GPU's own context by now
            assert books.fake_current() == self.context, "the program's context is gone"
        if not is_finalizer:
            left = self.count_live() - self.live
            assert 0 <= left <= lost, "%d are left: %s" % (left, self.cuda.live)

    def fail(self, number: int, code: int) -> None:
        """The call that comes `number`-th fails once."""
        act, call = self.prepare(), self.calls[number - 1]
        self.cuda.fail_nth(number, code)
        result, error = attempt(act)
        if error is not None:
            assert self.is_named(error, call, code), error
        else:
            as_ever = result == self.result and self.is_absorbed(number, code)
            assert as_ever or self.is_said(result, call, code), f"{call} fails with {code}, and nobody says so"
        del error  # and with it the frames that hold arrays
        self.cuda.fail_nth(0, 0)
        lost = int(call in GIVEN_BACK)
        self.check_books(act, lost)
        assert act() == self.result, "the same call does not work again"
        self.check_books(act, lost)
        assert self.read_books() == self.books, "modules or contexts are held twice"

    @staticmethod
    def is_named(error: LoaderError, call: str, code: int) -> bool:
        """Whether an error says which call failed, and how."""
        if isinstance(error, DriverError):
            return (error.call, error.code) == (call, code) and f"{call} failed: " in str(error)
        if isinstance(error, BundleError):
            return call == "cuModuleLoadData" and code in NO_BINARY and "CUDA_ERROR" in str(error)
        # a foreign array's address that the driver does not know is a wrong argument
        return (
            isinstance(error, LaunchError)
            and (call, code) == ("cuPointerGetAttribute", 1)
            and "parameter a" in str(error)
        )

    def is_said(self, result: Any, call: str, code: int) -> bool:
        """Whether the result is the report of a failure: of doctor, or that there is no GPU."""
        if self.name.startswith(("doctor", "coverage")):
            return result[0] == 3 and f"{call} failed: " in result[1]
        return self.name == "get devices" and result == [] and code == 100 and call in ("cuInit", "cuDeviceGetCount")

    def is_absorbed(self, number: int, code: int) -> bool:
        """Whether the loader overcomes this failure, by design."""
        before, (call, *after) = self.calls[: number - 1], self.calls[number - 1 :]
        on_the_way = ("cuCtx", "cuThreadExchangeStreamCaptureMode")
        work = next((c for c in (call, *after) if not c.startswith(on_the_way)), None)
        if call == "cuThreadExchangeStreamCaptureMode" and before[-1:] and before[-1] in GIVEN_BACK:
            return True  # as below
        asked = ("cuStreamIsCapturing", "cuStreamGetCaptureInfo_v2")
        if self.warm and self.name.startswith("capture") and work in (*asked, "cuLaunchKernelEx"):
            # Of a quick launch, which the thorough one repeats.
            return call != "cuLaunchKernelEx" or before[-2:] != ["cuCtxGetCurrent", "cuCtxSetCurrent"]
        if call == "cuStreamIsCapturing" and self.name == "launch of a graph on a stream":
            return True  # asked again in the GPU's own context
        if call in ("cuMemAllocFromPoolAsync", "cuMemAlloc_v2") and code == 2:
            return True  # tried again, when what waits and what the pool keeps has gone back
        freeing = next((c for c in (call, *after) if not c.startswith((*on_the_way, "cuStreamIsCapturing"))), None)
        if freeing in ("cuMemFree_v2", "cuMemFreeAsync", "cuStreamDestroy_v2", "cuGraphExecDestroy", "cuGraphDestroy"):
            return True  # nobody could be told: what comes before the free is tried again, a refused free is final
        if call == "cuCtxSetCurrent" and before[-1:] != ["cuCtxGetCurrent"]:
            return True  # the program's context is put back at a second try
        if call == "cuLaunchKernelEx":  # the thorough launch tries again after the quick one, and in the right context
            is_quick = self.warm and self.name in QUICK and before[-2:] != ["cuCtxGetCurrent", "cuCtxSetCurrent"]
            return code in WRONG_CONTEXT or is_quick
        if call == "cuGraphLaunch" and before[-2:] != ["cuCtxGetCurrent", "cuCtxSetCurrent"]:
            return code in WRONG_CONTEXT
        # Other code may do, and in one scene there is some.
        return call == "cuModuleLoadData" and code in NO_BINARY and self.name == "launch of the second best code"

    def fail_for_good(self, number: int, code: int) -> None:
        """The call that comes `number`-th fails, and so do all that follow: the context is lost."""
        act = self.prepare()
        self.cuda.fail_nth(number, code, sticky=True)
        _, error = attempt(act)
        if isinstance(error, DriverError):
            assert (error.code, f"{error.call} failed: " in str(error)) == (code, True)
        del error
        self.cuda.fail_nth(0, 0)
        assert self.cuda.breaches == []
        assert self.cuda.library.fake_pushes() == 0


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """No collection begins inside: finalizers call the driver too, and which call is the n-th would be up to chance."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def attempt(act: Callable[[], Any]) -> tuple[Any, LoaderError | None]:
    """What a call returns, or how it fails; at most for SECONDS."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return act(), None
    except LoaderError as error:
        return None, error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)  # what comes next may take its time


def try_all(
    cuda: FakeCuda,
    name: str,
    codes: Sequence[int] = CODES,
    states: Sequence[tuple[bool, bool]] = STATES,
    few_codes: Sequence[int] = FEW_CODES,
) -> int:
    """Every call of a scene in every state, through failures; returns how many were tried.

    With all codes each call fails where its function is called for the first time, and again where a warm launch goes a
    way of its own. Wherever else it is called it fails with two of `few_codes` (or of `codes`, where those are fewer),
    with other ones each time: `few_codes=CODES` means with all.
    """
    tried, start = 0, ahead.start
    ahead.start = lambda: None  # all of it has been imported
    gc.collect()  # what others have left is not of this scene
    try:
        for warm, elsewhere in states:
            run = Run(cuda, name, warm, elsewhere)
            has_own_way = not elsewhere and (not warm or name in QUICK or name.startswith("capture"))
            seen: set[str] = set()
            for number, call in enumerate(run.calls, 1):
                is_known = call in seen or not has_own_way
                some = codes
                if is_known and len(codes) > len(few_codes):
                    some = [few_codes[(number + step) % len(few_codes)] for step in (0, 2)]
                seen.add(call)
                _try(run, number, some)
                tried += len(some) + 1
    finally:
        ahead.start = start
    cuda.library.fake_unload()
    return tried


def _try(run: Run, number: int, codes: Sequence[int]) -> None:
    """One call through some codes, and through one for good."""
    for code in codes:
        try:
            with uncollected():
                run.fail(number, code)
        except AssertionError as error:
            state = "warm: %s, elsewhere: %s" % (run.warm, run.context != 0)
            place = "call %d, %s" % (number, run.calls[number - 1])
            raise AssertionError("%s (%s), %s, fails with %d: %s" % (run.name, state, place, code, error)) from error
    with uncollected():
        run.fail_for_good(number, STICKY)
