"""Stops, and what can be seen while a run stands still: any variable of any lane."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pytest

import kbuild as kb
from kbuild.sim.looking.stack import Stack
from tests.sim import looking_kernels as kernels


def arrays(n: int) -> list[np.ndarray]:
    return [np.arange(n, dtype=np.float32), np.zeros(n, np.float32)]


def at(text: str) -> str:
    return f"{kernels.SOURCE}:{kernels.line(text)}"


class TestStops:
    def test_at_a_line(self) -> None:
        seen = []

        def look(state: kb.sim.State) -> None:
            seen.append((state.where, state.lanes[:, 0].tolist(), state.values("i").tolist()))
            assert state.variables(5)["s"] == 0.0
            assert state.kernel == kernels.parts.name
            assert state.line == kernels.line("odd")

        x, y = arrays(6)
        kb.sim.run(kernels.parts, 6, [x, y], stop=kb.sim.Stop(line=kernels.line("odd")), on_stop=look)
        assert seen == [(at("odd"), [1, 3, 5], [1, 3, 5])]
        assert y.tolist() == [0, 0, 5, 2, 8, 5], "the run went on"

    def test_other_lanes_show_their_last_values_and_where_they_are(self) -> None:
        """While the odd lanes stand in their branch, the even ones have run theirs and wait behind it."""
        state = kb.sim.run(kernels.twins, 4, arrays(4), stop=kb.sim.Stop(line=kernels.line("otherwise"))).stopped
        assert state.where == at("otherwise")
        assert state.lanes.tolist() == [[1], [3]]
        even, odd = state.thread(2), state.thread((3,))
        assert (odd.is_here, even.is_here) == (True, False)
        assert dict(even.variables)["a"] == 2.0
        assert "b" not in even.variables
        assert (even.where, odd.where) == (at("then"), at("otherwise"))
        assert state.values("b").tolist() == [1.0, 3.0]
        with pytest.raises(LookupError, match=r"no variable 'a' at .*: there are b, i, x, y"):
            state.values("a")

    def test_in_a_function_the_callers_are_there_too(self) -> None:
        state = kb.sim.run(
            kernels.parts, 6, arrays(6), stop=kb.sim.Stop(line=kernels.line("in twice"), thread=4)
        ).stopped
        assert state.stack == [f"twice at {at('in twice')}", f"parts at {at('even')}"]
        assert dict(state.variables()) == {"v": 4.0}
        assert state.thread(4).outer(1)["i"] == 4
        assert state.thread(3).variables["i"] == 3, "a lane that did not call is in the kernel"
        assert len(state.thread(3).stack) == 1

    def test_lanes_that_left_a_loop(self) -> None:
        stop = kb.sim.Stop(line=kernels.line("in the loop"), when=lambda v: v["j"] == 1)
        state = kb.sim.run(kernels.parts, 6, arrays(6), stop=stop).stopped
        assert state.lanes[:, 0].tolist() == [2, 5]
        assert [state.thread(n).variables["s"] for n in range(6)] == [0.0, 0.0, 4.0, 2.0, 8.0, 4.0]

    def test_lanes_that_have_returned_and_lanes_that_are_not_at_hand(self) -> None:
        stop = kb.sim.Stop(line=kernels.line("late"), thread=140_000)
        state = kb.sim.run(kernels.leaves, 280_000, [np.zeros(280_000, np.float32)], stop=stop).stopped
        assert [state.thread(n).has_ended for n in (140_001, 140_000, 3, 279_999)] == [True, False, True, False]
        assert state.thread(140_001).variables["i"] == 140_001
        assert state.thread(140_001).where == f"{kernels.SOURCE}:{kernels.line('early') - 1}"
        with pytest.raises(LookupError, match=r"thread \(3,\) has ended: it runs with others than thread \(140000,\)"):
            state.variables(3)
        with pytest.raises(LookupError, match=r"thread \(279999,\) has not begun"):
            state.variables(279_999)

    def test_a_condition_stops_when_it_begins_to_hold(self) -> None:
        seen = []
        stop = kb.sim.Stop(thread=8, when=lambda v: v["s"] > 4)
        look = lambda state: seen.append((state.where, state.variables()["s"]))  # noqa: E731
        kb.sim.run(kernels.parts, 12, arrays(12), stop=stop, on_stop=look)
        assert seen == [(f"{kernels.SOURCE}:{kernels.line('in the loop') - 1}", 16.0)]

    def test_a_line_that_became_several_statements_stops_once(self) -> None:
        seen = []
        stop = kb.sim.Stop(line=kernels.line("two at once"))
        kb.sim.run(kernels.plane, (2, 3), [np.zeros((2, 3, 2), np.float32)], stop=stop, on_stop=seen.append)
        assert len(seen) == 1
        with pytest.raises(RuntimeError, match="the run has gone on: take what you need"):
            seen[0].variables(0)

    def test_a_run_can_be_abandoned(self) -> None:
        x, y = arrays(4)
        stop = kb.sim.Stop(line=kernels.line("store"))
        kb.sim.run(kernels.parts, 4, [x, y], stop=stop, on_stop=lambda state: state.abandon())
        assert not y.any()

    def test_shared_memory_is_shown(self) -> None:
        x, y = arrays(128)
        stop = kb.sim.Stop(line=kernels.line("barrier"))
        state = kb.sim.run(kernels.blocks, 128, [x, y], stop=stop, races=False).stopped
        assert state.variables(70)["tile"].tolist() == list(range(64, 128))
        assert state.variables(3)["tile"].tolist() == list(range(64))
        with pytest.raises(ValueError, match="read-only"):
            state.variables(3)["x"][0] = 1.0
        with pytest.raises(TypeError, match="look at one thread's variables"):
            state.values("x")

    def test_vectors_have_an_axis(self) -> None:
        out = np.zeros((2, 3, 2), np.float32)
        state = kb.sim.run(kernels.plane, (2, 3), [out], stop=kb.sim.Stop(line=kernels.line("plane store"))).stopped
        assert state.values("v").shape == (6, 2)
        assert state.variables((1, 2))["v"] == [1.0, 4.0]
        assert state.lanes[-1].tolist() == [1, 2]

    @pytest.mark.parametrize(
        ("stop", "message"),
        [
            ({"line": 1}, "parts has no statement in line 1 of its files: the nearest with one is"),
            ({"line": 1, "path": "nowhere.py"}, "has no statement in line 1 of nowhere.py: its files are"),
            ({"thread": (1, 2)}, r"\(1, 2\) is no thread of a launch over \(4,\)"),
            ({"when": lambda v: v["si"] > 0}, "parts has no variable 'si'"),
        ],
    )
    def test_a_stop_that_nothing_can_meet(self, stop, message: str) -> None:
        with pytest.raises(LookupError, match=message):
            kb.sim.run(kernels.parts, 4, arrays(4), stop=kb.sim.Stop(**stop))

    def test_a_stop_says_where(self) -> None:
        with pytest.raises(TypeError, match="Stop wants a line, a thread or a condition"):
            kb.sim.Stop()

    def test_every_lane_is_found_at_every_statement(self) -> None:
        """Property: whatever way lanes took, each is in exactly one frame, with its own coordinate in it."""

        class Looks(Stack):
            asked = 0

            def arrives(self, stmt, frame):
                for number in range(24):
                    *_, spot = self.find(number)
                    assert int(spot.frame.lanes.dense[spot.position]) == number
                    here = int(number in frame.lanes.dense)
                    assert (self.find(number)[0].frame is frame) == here
                    self.asked += 1

        looks = Looks()
        kb.sim.run(kernels.parts, 24, arrays(24), watchers=[looks])
        assert looks.asked > 24 * 8

    def test_what_the_compiler_has_made_is_no_variable(self) -> None:
        stop = kb.sim.Stop(line=kernels.line("behind them"))
        assert set(kb.sim.run(kernels.calls, 4, arrays(4)[:1], stop=stop).stopped.variables(2)) == {"i", "x"}


class TestSession:
    def test_a_session(self) -> None:
        x, y = arrays(6)
        with kb.sim.debug(kernels.parts, 6, [x, y]) as session:
            session.break_at(line=kernels.line("in twice"), thread=4)
            assert session.run().where == at("in twice")
            assert session.thread(4).variables["v"] == 4.0
            assert session.step().variables()["w"] == 8.0
            state = session.step()
            assert (state.line, state.variables()["s"]) == (kernels.line("in the loop") - 1, 8.0)
            assert session.step(thread=2).line == kernels.line("in the loop")
            assert session.resume() is None
            assert session.result.printed == ""
        assert y.tolist() == [0, 0, 5, 2, 8, 5]

    def test_grids_and_blocks_as_a_launch_takes_them(self) -> None:
        x, y = arrays(6)
        assert kb.sim.run(kernels.parts, None, [x, y], grid=2, block=3, profile=True).profile.blocks == 2
        with kb.sim.debug(kernels.parts, None, [x, y], grid=2, block=3) as session:
            session.break_at(line=kernels.line("store"), thread=5)
            assert session.run().variables(5)["i"] == 5
        with pytest.raises(kb.LaunchError, match="grid"):
            kb.sim.run(kernels.parts, 6, [x, y], grid=2)

    def test_leaving_ends_the_run(self) -> None:
        before = threading.active_count()
        x, y = arrays(6)
        with kb.sim.debug(kernels.parts, 6, [x, y]) as session:
            session.break_at(line=kernels.line("store"))
            session.run()
            assert threading.active_count() == before + 1
        assert threading.active_count() == before
        assert not y.any()
        with pytest.raises(RuntimeError, match="the run is over: begin another session"):
            session.resume()

    def test_an_error_in_the_block_ends_the_run_too(self) -> None:
        before = threading.active_count()
        session = kb.sim.debug(kernels.parts, 6, arrays(6))
        with contextlib.suppress(ZeroDivisionError), session:
            session.step()
            raise ZeroDivisionError
        assert threading.active_count() == before

    def test_a_session_that_never_ran(self) -> None:
        with kb.sim.debug(kernels.parts, 6, arrays(6)) as session, pytest.raises(RuntimeError, match="begin with run"):
            session.thread(3)

    def test_a_fault_comes_across_and_its_place_can_be_seen(self) -> None:
        with kb.sim.debug(kernels.beyond, 4, [np.zeros(4, np.float32), 3]) as session:
            with pytest.raises(kb.sim.OutOfBounds):
                session.run()
            assert session.state.where == at("beyond")
            assert session.thread(1).variables["i"] == 1
            with pytest.raises(RuntimeError, match="over"):
                session.resume()

    def test_stops_can_be_set_and_cleared_on_the_way(self) -> None:
        with kb.sim.debug(kernels.parts, 6, arrays(6)) as session:
            stop = session.break_at(line=kernels.line("in the loop"))
            session.run()
            session.clear(stop)
            session.break_at(when=lambda v: v["s"] > 7.5)
            assert session.resume().variables()["i"] == 4
            session.clear()
            assert session.resume() is None
            with pytest.raises(LookupError, match="no statement in line 1"):
                session.break_at(line=1)

    def test_what_debug_does_not_take(self) -> None:
        with pytest.raises(TypeError, match=r"session.break_at"):
            kb.sim.debug(kernels.parts, 6, arrays(6), stop=kb.sim.Stop(line=1))
        with pytest.raises(kb.LaunchError, match="no threads"):
            kb.sim.debug(kernels.parts, 0, arrays(6))
