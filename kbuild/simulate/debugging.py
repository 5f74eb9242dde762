"""A run that is stopped and looked at from outside: `with kb.sim.debug(kernel, dim, inputs) as session:`.

The run is in a thread of its own, and only one of the two threads works at any time: the caller's waits while the run
goes on, and the run waits while the caller looks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from kbuild.sim.lockstep.tracked import Tracked
from kbuild.sim.looking import threads
from kbuild.sim.looking.state import State, ThreadState
from kbuild.sim.looking.stops import Abandoned, Stop, Stopper, require


class Session:
    """Stops of a run, and what can be seen there.

    `run`, `step` and `resume` return the `State` at the next stop, or None when the launch is over; they raise what
    the run raises (`kb.sim.Fault`), and `state` shows the place then, too. `result` is what `kb.sim.run` returns, when
    it is over. Leaving the session ends the run where it stands.
    """

    def __init__(self, begin: Callable[[Stopper], Any], kernel: Any, dim: tuple[int, ...]) -> None:
        self._begin, self._kernel, self._dim = begin, kernel, dim
        self._stopper = Stopper([], self._stopped)
        self._to_run, self._to_caller = threading.Semaphore(0), threading.Semaphore(0)
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._is_over = False
        self.state: State | None = None
        self.result: Any = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def break_at(
        self, line: int | None = None, thread: Any = None, when: Callable[[Any], Any] | None = None, path: str = ""
    ) -> Stop:
        """Stops there from now on; see `kb.sim.Stop`. Raises LookupError for a line or a thread that is none."""
        stop = Stop(line, thread, when, path)
        require(stop, self._kernel, self._dim)
        self._stopper.stops.append(stop)
        return stop

    def clear(self, stop: Stop | None = None) -> None:
        """Forgets one stop, or all."""
        self._stopper.stops[:] = [one for one in self._stopper.stops if stop is not None and one is not stop]

    def run(self) -> State | None:
        """Begins, and goes on to the next stop."""
        if self._thread is not None:
            raise RuntimeError("the run has begun: go on with step() or resume()")
        return self._go()

    def resume(self) -> State | None:
        """Goes on to the next stop."""
        self._require_stop()
        return self._go()

    def step(self, thread: Any = None) -> State | None:
        """Goes on to the next line of a thread, by itself of the one that the run stopped for; from the beginning to
        the first line of all.
        """
        stopper = self._stopper
        number = None if thread is None else threads.number(thread, self._dim)
        if self._thread is not None:
            state = self._require_stop()
            number = state._first_number if number is None else number
        stopper.step_thread = number
        if number is None:
            stopper.wants_step = lambda frame: True
        else:
            stopper.wants_step = lambda frame: _has(frame, number)
        return self._go()

    def thread(self, thread: Any) -> ThreadState:
        """A thread, by coordinates or number, where the run stands."""
        return self._require_stop().thread(thread)

    def close(self) -> None:
        """Ends the run where it stands."""
        if self._thread is not None and self._thread.is_alive():
            if self.state is not None:
                self.state.abandon()
            self._to_run.release()
            self._thread.join()
        self._is_over = True

    def _require_stop(self) -> State:
        if self.state is None:
            raise RuntimeError("the run is over" if self._thread is not None else "begin with run() or step()")
        return self.state

    def _go(self) -> State | None:
        if self._is_over:
            raise RuntimeError("the run is over: begin another session")
        self.state = None
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="kb.sim.debug", daemon=True)
            self._thread.start()
        else:
            self._to_run.release()
        self._wait()
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        return None if self._is_over else self.state

    def _wait(self) -> None:
        """For the run to stop or end. An interrupt leaves it paused at its next line."""
        try:
            self._to_caller.acquire()
        except KeyboardInterrupt:
            self._stopper.wants_step = lambda frame: True
            self._to_caller.acquire()
            raise

    # In the thread of the run

    def _work(self) -> None:
        try:
            self.result = self._begin(self._stopper)
        except Abandoned:
            pass
        except BaseException as error:
            self._error = error
            thread = _thread_of(error, self._dim)
            frame = self._stopper.last(thread)
            self.state = None if frame is None else State(self._stopper, frame, thread, type(error).__name__)
        self._is_over = True
        self._to_caller.release()

    def _stopped(self, state: State) -> None:
        self.state = state
        self._to_caller.release()
        self._to_run.acquire()


def _has(frame: Tracked, number: int) -> bool:
    return threads.position(frame.lanes, number) is not None


def _thread_of(error: BaseException, dim: tuple[int, ...]) -> int | None:
    try:
        return threads.number(getattr(error, "thread", None), dim)
    except LookupError:
        return None
