"""Loops and branches whose condition is an element of an array: on the GPU inside a captured graph, else on the host.

    with kb.capture() as graph:
        kb.capture_while(going_on, lambda: kb.launch(step, …))

The body writes the condition. In a graph it decides there, at each run; the host does not wait. Needs a driver for CUDA
12.4 or newer, and the project's bundle holds the small kernel that tells the driver (`primitives`, see docs/graphs.md).
"""

from __future__ import annotations

from ctypes import Structure, addressof, c_int, c_longlong, c_uint, c_uint64, c_void_p

from . import abi, context, current, driver, graphs, providers, uses
from .errors import DriverError, LaunchError, describe
from .streams import Stream, stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .array_class import array

__all__ = ("capture_if", "capture_while")

NEEDED = (12, 4)  # version of the driver
_CONDITIONAL = 13  # CUgraphNodeType
_IF, _WHILE = 0, 1  # CUgraphConditionalNodeType


class NodeParams(Structure):
    """The driver's CUgraphNodeParams, of a conditional node."""

    _fields_ = (
        ("type", c_int),
        ("reserved", c_int * 3),
        ("condition", c_uint64),
        ("kind", c_int),
        ("count", c_uint),
        ("bodies", c_uint64),  # the driver puts the address of their graphs here
        ("context", c_uint64),
        ("rest", c_longlong * 26),
    )


def capture_while(condition: Any, body: Any, stream: Any = None, **arguments: Any) -> None:
    """Does `body` again and again while the first element of `condition`, an array of int32, is not zero.

    `body` is a function, called with `arguments`, or a Graph. While a graph is being captured, on `stream` or the one
    that is meant on the array's device, the loop becomes a part of it: the function is called once, and what it
    launches and copies is the body. Otherwise, and on the host, the condition is read before each call. Raises
    TypeError, LaunchError, DriverError.
    """
    place, on = _check("capture_while", condition, stream)
    call = _callable("capture_while", body, arguments, stream if on is None else None)
    if on is None:
        if place.kind == "cuda" and _is_recording():
            call()  # no kernel runs, so nothing would end the loop
            return
        while _is_true(condition, stream):
            call()
        return
    _check_driver("capture_while", place)
    handle = _new_handle(place, on)
    _tell(condition, handle, on)
    graph = _add_node(place, on, handle, _WHILE)
    _fill(place, on, graph, call, (condition, handle))


def capture_if(condition: Any, on_true: Any = None, on_false: Any = None, stream: Any = None, **arguments: Any) -> None:
    """Does `on_true` where the first element of `condition`, an array of int32, is not zero, else `on_false`.

    Both are functions, Graphs or None; see `capture_while`. Raises TypeError, LaunchError, DriverError.
    """
    place, on = _check("capture_if", condition, stream)
    bodies = [(body, is_inverted) for body, is_inverted in ((on_true, False), (on_false, True)) if body is not None]
    elsewhere = stream if on is None else None
    calls = [(_callable("capture_if", body, arguments, elsewhere), is_inverted) for body, is_inverted in bodies]
    if on is None:
        is_true = _is_true(condition, stream) if calls else False
        for call, is_inverted in calls:
            if is_true != is_inverted:
                call()
        return
    _check_driver("capture_if", place)
    # Two nodes with a body each, not one with two: drivers before 12.8 lack that, and some have it wrong. Both are told
    # before the first runs, which may change the condition.
    handles = [_new_handle(place, on) for _ in calls]
    for handle, (_, is_inverted) in zip(handles, calls):
        _tell(condition, handle, on, is_inverted)
    for handle, (call, _) in zip(handles, calls):
        _fill(place, on, _add_node(place, on, handle, _IF), call)


def _check(name: str, condition: Any, stream: Any) -> tuple[Any, Stream | None]:
    """The condition's device, and the stream that is being captured there, if it is."""
    type_ = getattr(condition, "_type", None)
    if not hasattr(condition, "_kb_array_") or not isinstance(type_, abi.Array) or type_.element != abi.INT32:
        raise TypeError("kb.%s: the condition is an array of int32, not %s" % (name, describe(condition)))
    if condition.ndim != 1 or condition.size < 1:
        raise TypeError("kb.%s: the condition has one element, not the shape %r" % (name, condition.shape))
    place = condition.device
    if place.kind != "cuda":
        return place, None
    on = current.get_stream(place) if stream is None else stream_of(stream, place)
    return place, on if graphs.State(place, on.handle).status else None


def _callable(name: str, body: Any, arguments: dict[str, Any], stream: Any) -> Any:
    if isinstance(body, graphs.Graph):
        return lambda: body.launch(stream)
    if not callable(body):
        raise TypeError("kb.%s: a body is a function or a graph, not %s" % (name, describe(body)))
    return lambda: body(**arguments)


# On the host


def _is_true(condition: array, stream: Any) -> bool:
    """Whether the condition is not zero once a stream has come as far as it is now."""
    if stream is None or condition.device.kind != "cuda":
        return bool(condition[0] != 0)
    with current.ScopedStream(stream, sync_enter=False, device=condition.device):
        return bool(condition[0] != 0)


def _is_recording() -> bool:
    from . import standin, types

    return types.on_launch is not None or isinstance(driver.get().library, standin.Library)


# In a graph


def _check_driver(name: str, place: context.Device) -> None:
    if driver.get().version < NEEDED:
        raise LaunchError(
            "kb.%s in a graph needs a driver for CUDA %d.%d or newer, and this one is for %d.%d\n  help: update it, or "
            "capture what is before, inside and after, and decide on the host" % (name, *NEEDED, *driver.get().version)
        )
    _kernel().prepare(place)


def _kernel() -> Any:
    """The module with the kernel that tells the driver."""
    return providers.find(providers.GRAPH_CONDITION)


def _new_handle(place: context.Device, on: Stream) -> int:
    graph = graphs.State(place, on.handle).graph
    if not graph:
        raise LaunchError("the capture on %r has been spoiled by an earlier call" % on)
    with place.current():
        return driver.get().query("cuGraphConditionalHandleCreate", graph, place.context, 0, 0, about=repr(on))


def _tell(condition: array, handle: int, on: Stream, is_inverted: bool = False) -> None:
    """At this point of the stream the condition is looked at, and the driver told."""
    _kernel().launch(condition, handle, is_inverted, on)


def _add_node(place: context.Device, on: Stream, handle: int, kind: int) -> int:
    """Puts a node at this point of the stream; the graph of its body."""
    state = graphs.State(place, on.handle)
    nodes = (c_uint64 * max(state.count, 1))(*state.nodes)
    wanted = NodeParams(type=_CONDITIONAL, condition=handle, kind=kind, count=1, context=place.context)
    node, call = c_uint64(), driver.get().call
    with place.current():
        before = (c_void_p(addressof(nodes)), state.count)
        call("cuGraphAddNode", node, state.graph, *before, c_void_p(addressof(wanted)), about=repr(on))
        after = (c_void_p(addressof(node)), 1, graphs.SET)
        call("cuStreamUpdateCaptureDependencies", on.handle, *after, about=repr(on))
    return c_uint64.from_address(wanted.bodies).value


def _fill(place: context.Device, on: Stream, graph: int, call: Any, loop: tuple[array, int] | None = None) -> None:
    """Captures a body into its graph, on a stream of its own, that of a loop with the condition at its end."""
    inner = Stream(place)
    captured = [one for one in list(uses.captures) if one.has(on.handle)]
    before = graphs.State(place, on.handle).nodes
    made = c_uint64()
    try:
        with place.current():
            arguments = (inner.handle, graph, None, None, 0, graphs.THREAD_LOCAL)
            driver.get().call("cuStreamBeginCaptureToGraph", *arguments, about=repr(inner))
        for one in captured:
            one.include(inner.handle)
        with current.ScopedStream(inner, sync_enter=False):
            call()
        if loop is not None:
            _tell(*loop, inner)
        if graphs.State(place, on.handle).nodes != before:
            raise LaunchError(
                "the body of a loop or branch in a graph used %r by its name, which is the outer stream\n"
                "  help: leave the stream out inside: the one that is meant there is the body's own" % on
            )
        with place.current():
            driver.get().call("cuStreamEndCapture", inner.handle, made, about="a body inside the capture on %r" % on)
    except BaseException as error:
        for one in captured:
            one.broken = repr(error)  # half a body would run, should the program go on
        _abandon(place, inner, made)
        raise


def _abandon(place: context.Device, inner: Stream, made: c_uint64) -> None:
    """Ends a body's capture that has failed; its graph belongs to the node."""
    for _ in range(2):
        try:
            if inner.is_capturing:
                with place.current():
                    driver.get().ask("cuStreamEndCapture", inner.handle, made)
        except DriverError:
            continue
