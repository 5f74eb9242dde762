"""What decides in a graph: a kernel that tells the driver whether a part of it is to run (`kb.capture_while`)."""

from kbuild.loader import builtins as kb
from kbuild.loader import select
from kbuild.loader.array import array
from kbuild.loader.errors import LaunchError
from kbuild.primitives.finding import Carried, find
from kbuild.primitives.kernels import PROTOCOL, kernel

# mypy: disable-error-code="no-untyped-call,no-any-return,untyped-decorator,no-untyped-def,valid-type,attr-defined"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OLDEST = [12, 4]  # of the toolchain: an older one does not know the driver's function
NEWEST = (12, 9)  # whose code drivers of 12.4 and newer take; on a Jetson not newer than the driver

_tell_graph = kb.Builtin("atomic_graph_condition")


@kernel
def set_condition(condition: array(dtype=int), low: int, high: int, inverted: int):
    """The part of the graph with this handle is to run if the condition is not zero; inverted: if it is."""
    _ = kb.static(PROTOCOL)
    i = kb.tid()
    _tell_graph(condition, i, low, high, inverted)


class Setter:
    """What `loader.conditional` asks for."""

    @staticmethod
    def prepare(device: "Any") -> None:
        """Looks for the kernel's code. Raises LoaderError where no bundle has it, or only one that is too old."""
        target = set_condition.target
        if isinstance(target, Carried):
            target = set_condition.target = find(set_condition)
        if not hasattr(target, "bundle"):
            return  # compiled here, by what is installed
        bundle = target.bundle
        rows = bundle.rows_of(target.index)
        order = select.order(device, rows, bundle.allow_ptx)
        if order and rows[order[0]]["cuda"] < OLDEST:
            row = rows[order[0]]
            raise LaunchError(
                "kb.capture_while and kb.capture_if in a graph: %s has code for %s that CUDA %s compiled, which knows "
                'no such graphs\n  help: build it with 12.4 or newer: [tool.kbuild] targets = ["%s@%d.%d"]'
                % (bundle, row["target"], row["toolchain"], row["arch"], *min(device.driver, NEWEST))
            )

    @staticmethod
    def launch(condition: "Any", handle: int, inverted: bool, stream: "Any") -> None:
        """Launches the kernel; `handle` is the driver's name of the condition."""
        low, high = [half - (half >> 31 << 32) for half in (handle & 0xFFFFFFFF, handle >> 32)]
        set_condition.target.launch(1, (condition, low, high, int(inverted)), stream, condition.device, None)


SETTER = Setter()
