"""Warp's graphs, over `kb.capture`, `kb.capture_while` and `kb.capture_if`.

A program that is recorded runs the body of a loop once, and all bodies of a branch: no kernel runs that could decide.
"""

from __future__ import annotations

from _thread import get_ident

from kbuild.loader import conditional, context, driver, graphs, naming, recording
from kbuild.loader.errors import DriverError, LaunchError

from .absent import refusal
from .devices import get_device

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Graph = graphs.Graph


class CaptureMode:
    """What a capture forbids to others. kbuild's forbids nothing to other threads, whatever is asked for."""

    GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2


class _External:
    """A capture that another library has begun and will end: launches inside it need nothing of ours."""

    def __init__(self, place: context.Device) -> None:
        self.device = place

    def end(self) -> None:
        """Leaves it to the other library."""

    drop = end


_begun: dict[int, list[Any]] = {}  # captures that have not ended, by thread, innermost last


def capture_begin(
    device: Any = None,
    stream: Any = None,
    force_module_load: Any = None,
    external: bool = False,
    apic: bool = False,
    capture_mode: Any = CaptureMode.THREAD_LOCAL,
) -> None:
    """Begins to capture what this thread launches and copies. Code is loaded where it is missing, captured or not.

    `external`: another library is capturing already, and ends it; `capture_end` gives no graph then.
    """
    if apic:
        raise refusal("capture_begin(apic=True)", "graphs in files")
    place = get_device(device) if device is not None or stream is None else getattr(stream, "device", None)
    made: Any = _External(naming.gpu(place)) if external else graphs.capture(place, stream)
    if not external:
        made.begin()
    _begun.setdefault(get_ident(), []).append(made)


def capture_end(device: Any = None, stream: Any = None) -> Any:
    """Ends the capture that this thread has begun last (on a device, where one is named), and returns its graph."""
    begun = _begun.get(get_ident(), [])
    wanted = None if device is None else get_device(device)
    for made in begun[::-1]:
        if wanted is None or made.device is wanted:
            begun.remove(made)
            return made.end()
    raise LaunchError(
        "wp.capture_end: this thread has begun no capture%s" % ("" if wanted is None else " on %s" % wanted)
    )


def capture_launch(graph: Any, stream: Any = None) -> None:
    """Launches a graph."""
    graph.launch(stream)


def capture_debug_dot_print(graph: Any, path: str, verbose: bool = True) -> None:
    """Writes the nodes and their order into a file, as text for Graphviz."""
    graph.debug_dot(path, verbose)


class ScopedCapture:
    """`with wp.ScopedCapture() as capture:` captures the block; `capture.graph` is the graph afterwards."""

    def __init__(
        self,
        device: Any = None,
        stream: Any = None,
        force_module_load: Any = None,
        external: bool = False,
        apic: bool = False,
        capture_mode: Any = CaptureMode.THREAD_LOCAL,
    ) -> None:
        self.device, self.stream = device, stream
        self._options = (force_module_load, external, apic, capture_mode)
        self.active = False
        self.graph: Any = None

    def __enter__(self) -> ScopedCapture:
        capture_begin(self.device, self.stream, *self._options)
        self._made = _begun[get_ident()][-1]
        self.active = True
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.active = False
        _begun[get_ident()].remove(self._made)
        if kind is None:
            self.graph = self._made.end()
        else:
            self._made.drop()


def is_conditional_graph_supported() -> bool:
    """Whether graphs can decide and loop: with drivers of CUDA 12.4 and newer."""
    try:
        return driver.get().version >= conditional.NEEDED
    except DriverError:
        return False


def capture_while(condition: Any, while_body: Any, stream: Any = None, **arguments: Any) -> None:
    """Runs a body, or launches a graph, while the first element of an array is not zero. See `kb.capture_while`."""
    if recording.is_on():
        _run_once(while_body, arguments)
    else:
        conditional.capture_while(_first(condition), while_body, stream, **arguments)


def capture_if(condition: Any, on_true: Any = None, on_false: Any = None, stream: Any = None, **arguments: Any) -> None:
    """Runs one of two bodies, or launches one of two graphs, by the first element of an array. See `kb.capture_if`."""
    if recording.is_on():
        _run_once(on_true, arguments)
        _run_once(on_false, arguments)
    else:
        conditional.capture_if(_first(condition), on_true, on_false, stream, **arguments)


def _first(condition: Any) -> Any:
    return condition.flatten() if condition.ndim > 1 else condition


def _run_once(body: Any, arguments: dict[str, Any]) -> None:
    if body is not None and not isinstance(body, Graph):
        body(**arguments)
