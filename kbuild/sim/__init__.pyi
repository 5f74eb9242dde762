"""What `kb.sim` has. Made by `python -m tools.stubs` for type checkers and editors."""

from kbuild.sim.threads import AssertFailed as AssertFailed
from kbuild.sim.looking.changes import Change as Change
from kbuild.sim.looking.changes import Changes as Changes
from kbuild.sim.lockstep.statements import Deadlock as Deadlock
from kbuild.simulate.limits import DeviceLimits as DeviceLimits
from kbuild.sim.blocks import Divergence as Divergence
from kbuild.sim.lockstep.watching import DividedByZero as DividedByZero
from kbuild.sim.values import Fault as Fault
from kbuild.sim.lockstep.floats import FloatException as FloatException
from kbuild.sim.lockstep.floats import NotANumber as NotANumber
from kbuild.sim.values import OutOfBounds as OutOfBounds
from kbuild.sim.profile.report import Profile as Profile
from kbuild.sim.lockstep.races import Race as Race
from kbuild.simulate.face import Result as Result
from kbuild.simulate.debugging import Session as Session
from kbuild.simulate.settings import Settings as Settings
from kbuild.sim.looking.state import State as State
from kbuild.sim.looking.stops import Stop as Stop
from kbuild.sim.looking.lines import TraceError as TraceError
from kbuild.sim.values import Unassigned as Unassigned
from kbuild.sim.lockstep.watching import Watcher as Watcher
from kbuild.simulate.settings import configure as configure
from kbuild.simulate.face import debug as debug
from kbuild.sim.looking.lines import filter_trace as filter_trace
from kbuild.simulate.limits import list_devices as list_devices
from kbuild.simulate.face import run as run
