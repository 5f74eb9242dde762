"""CUDA graphs: what is launched and copied once, to be done again with a single call.

    with kb.capture() as graph:
        kb.launch(…)
        step()                # a bound launch
    for _ in range(1000):
        graph.launch()
    step.set(dt=0.5 * dt)
    graph.update(step)        # from now on with the new argument

A graph keeps the memory of all arrays that it uses; an array made while it is captured belongs to it as well.
"""

from __future__ import annotations

import os
import sys
from _thread import get_ident
from ctypes import addressof, c_int, c_size_t, c_uint64, c_void_p, create_string_buffer

from . import checks, context, current, driver, failures, ordering, recent, uses
from .errors import DriverError, LaunchError
from .streams import LEGACY, Stream, stream_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bound import BoundLaunch

__all__ = ("Graph", "capture")

_SHOWN = 4  # names of a graph's kernels
THREAD_LOCAL = 1  # CUstreamCaptureMode
ACTIVE = 1  # CUstreamCaptureStatus
SET = 1  # CUstreamUpdateCaptureDependencies_flags
_VERBOSE = 1  # CUgraphDebugDot_flags


class State:
    """How a stream is captured: `id` of the capture, its `graph`, and the `nodes` that what comes next depends on."""

    __slots__ = ("_nodes", "count", "graph", "id", "status")

    def __init__(self, place: Any, handle: int) -> None:
        status, found, graph, nodes, count = c_int(), c_uint64(), c_uint64(), c_uint64(), c_size_t()
        cuda = driver.get()
        with place.current():
            error = cuda.ask("cuStreamGetCaptureInfo_v2", handle, status, found, graph, nodes, count)
        if error and error != ordering.IMPLICIT:  # the default stream, where others are captured
            raise cuda.error("cuStreamGetCaptureInfo_v2", error, "stream 0x%x" % handle)
        self.status = 0 if error else status.value
        self.id, self.graph = (found.value, graph.value) if self.status == ACTIVE else (0, 0)
        self.count = count.value if self.status == ACTIVE else 0
        self._nodes = nodes.value

    @property
    def nodes(self) -> tuple[int, ...]:
        """Good until the stream goes on."""
        return tuple((c_uint64 * self.count).from_address(self._nodes)) if self.count else ()


class Graph:
    """Captured work. `launch()`, or a call, does it again; of one graph the runs follow one another."""

    __slots__ = (
        "__weakref__",
        "_calls",
        "_exec",
        "_graph",
        "_is_single",
        "_kept",
        "_noted",
        "_streams",
        "device",
        "title",
    )

    device: context.Device

    def __init__(self, device: context.Device) -> None:
        self._graph, self._exec = c_uint64(), c_uint64()  # the driver writes them here
        self.device = device
        self._kept: dict[int, Any] = {}  # what is used, by identity
        self._calls: dict[int, tuple[BoundLaunch, list[list[int]], list[Any]]] = {}
        self._streams: dict[int, Any] = {}  # on which it has been launched, by handle
        self._noted: set[int] = set()  # of these, where the present memory is known to be used
        self.title = "a graph"  # for messages about what has been launched
        self._is_single = len(context.devices()) == 1

    def __repr__(self) -> str:
        state = "" if self.is_captured else ", not captured"
        return "<kb.Graph on %s%s>" % (self.device, state)

    @property
    def is_captured(self) -> bool:
        """Whether the capture has ended well, so that the graph can be launched."""
        return self._exec.value != 0

    def launch(self, stream: Any = None) -> None:
        """Does the captured work, on a stream or the one that is meant where none is named. Does not wait for it.

        On a stream that is itself being captured the graph becomes a part of the other one.
        """
        handle = current.handle(self.device) if stream is None else ordering.stream_handle(stream)
        if handle > LEGACY and self._is_captured(handle):
            self._into(handle)
            return
        if handle not in self._noted:
            self._note(handle, stream)
        cuda = driver.get()
        # The default stream is that of the current context; the handle of another one says which context it is of.
        status = cuda.ask("cuGraphLaunch", self._ready(), handle) if handle > LEGACY or self._is_single else 201
        if status in driver.WRONG_CONTEXT:
            with self.device.current():
                status = cuda.ask("cuGraphLaunch", self._ready(), handle)
        if status:
            raise cuda.error("cuGraphLaunch", status, repr(self))
        recent.log(self.device.ordinal).append((self.title, None, stream))
        if checks.VARIABLE in os.environ and checks.after_launches():
            checks.wait(self.title, self.device, handle, "as captured", [])

    __call__ = launch

    def _is_captured(self, handle: int) -> bool:
        """Whether a stream is being captured; asked in whatever context is current, which mostly will do."""
        status = c_int()
        if driver.get().ask("cuStreamIsCapturing", handle, status):
            with self.device.current():
                return ordering.is_capturing(handle)
        return status.value != 0

    def _into(self, handle: int) -> None:
        """Makes the graph a node of the one that is being captured on a stream, which keeps it."""
        # Not by launching it there: inside the body of a loop the driver (580) crashes on that.
        self._ready()
        state, node = State(self.device, handle), c_uint64()
        uses.keep(handle, (self,))
        nodes = (c_uint64 * max(state.count, 1))(*state.nodes)
        call, about = driver.get().call, repr(self)
        with self.device.current():
            before = (c_void_p(addressof(nodes)), state.count)
            call("cuGraphAddChildGraphNode", node, state.graph, *before, self._graph, about=about)
            call("cuStreamUpdateCaptureDependencies", handle, c_void_p(addressof(node)), 1, SET, about=about)

    def upload(self, stream: Any = None) -> None:
        """Brings to the GPU what the first launch would bring there."""
        handle = current.handle(self.device) if stream is None else ordering.stream_handle(stream)
        with self.device.current():
            driver.get().call("cuGraphUpload", self._ready(), handle, about=repr(self))

    def update(self, step: BoundLaunch) -> None:
        """Lets the launches that `step` made into this graph have its present arguments and dim, from the next run on.

        Raises LaunchError where it made none, or takes another number of grids now; DriverError.
        """
        self._ready()
        known = self._calls.get(id(step))
        if known is None:
            raise LaunchError(
                "%r made no launch of this graph\n  help: call it inside `with kb.capture()`, and keep it for updates"
                % (step,)
            )
        _, calls, before = known
        wanted = step.node_parameters()
        for nodes in calls:
            if len(nodes) != len(wanted):
                raise LaunchError(
                    "%r is %d grids now, and was %d when it was captured: a graph cannot change that\n"
                    "  help: capture it anew" % (step, len(wanted), len(nodes))
                )
        owners = list(step.owners)
        self._calls[id(step)] = (step, calls, [*before, *owners])
        for handle, stream in list(self._streams.items()):
            uses.note(handle, stream, owners)
        with self.device.current():
            for nodes in calls:
                for node, parameters in zip(nodes, wanted):
                    place = create_string_buffer(parameters, len(parameters))
                    arguments = (self._exec, node, c_void_p(addressof(place)))
                    driver.get().call("cuGraphExecKernelNodeSetParams", *arguments, about=step.kernel.name)
        self._calls[id(step)] = (step, calls, owners)

    def debug_dot(self, path: Any, verbose: bool = False) -> None:
        """Writes the nodes and their order into a file, as text for Graphviz."""
        self._ready()
        name, about = os.fsencode(path), "%r into %s" % (self, os.fspath(path))
        driver.get().call("cuGraphDebugDotPrint", self._graph, name, _VERBOSE if verbose else 0, about=about)

    def _ready(self) -> c_uint64:
        if not self._exec.value:
            raise LaunchError("the graph holds nothing yet: its capture has not ended, or has failed")
        driver.get()  # refuses in a forked child
        return self._exec

    def _note(self, handle: int, stream: Any) -> None:
        """The memory is about to be used on a stream."""
        self._ready()
        owners = list(self._kept.values())
        for _, _, more in list(self._calls.values()):
            owners += more
        stream = current.stream(self.device.ordinal) if stream is None else stream
        uses.note(handle, stream, owners)
        self._streams[handle] = stream
        self._noted.add(handle)

    def _instantiate(self) -> None:
        with self.device.current():
            driver.get().call("cuGraphInstantiateWithFlags", self._exec, self._graph, 0, about=str(self.device))

    def _destroy(self) -> None:
        """Gives the driver's objects back; what is running of them is finished first."""
        if not self._exec.value and not self._graph.value:
            return
        for _ in range(2):  # what comes before the handles are given back is worth a second try
            try:
                with ordering.Relaxed():  # a finalizer may come while another graph is captured
                    for held, call in ((self._exec, "cuGraphExecDestroy"), (self._graph, "cuGraphDestroy")):
                        handle, held.value = held.value, 0
                        if handle:
                            driver.get().ask(call, handle)
                return
            except DriverError:
                continue

    def __del__(self) -> None:
        # At the interpreter's exit the driver may be gone already, in a forked child it never was.
        if hasattr(self, "_is_single") and not sys.is_finalizing() and driver.is_usable():
            self._destroy()


class capture:
    """`with kb.capture() as graph:` captures what this thread launches and copies, instead of doing it.

    On `stream`, or the one that is meant on the device, or a new one where that is the default stream; inside it is the
    one that is meant. Other streams take part from the moment on when they wait for it, and it has to wait for them in
    the end. `begin()` and `end()` do the same without a block; `graph` is the graph. Raises LaunchError, DriverError.
    """

    def __init__(self, device: Any = None, stream: Any = None) -> None:
        place = stream.device if device is None and isinstance(stream, Stream) else context.get_device(device)
        if not isinstance(place, context.Device):
            raise LaunchError("kb.capture: a graph is of a GPU, and %s is none: leave kb.capture out there" % place)
        self.device = place
        self._given = None if stream is None else stream_of(stream, device)
        self.graph: Graph | None = None
        self.stream: Stream | None = None
        self.broken = ""  # what has left a part of the graph unfinished
        self._scope: Any = None
        self._thread = 0
        self._ids: set[int] = set()  # the driver's names of this capture, and of those of bodies inside it
        self._handles: set[int] = set()  # of the streams of all these
        self._before: list[Any] = []  # launches that were known before

    def __enter__(self) -> Graph:
        return self.begin()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.end()
        else:
            self.drop()

    def begin(self) -> Graph:
        """Begins to capture. The graph can be launched after `end`."""
        if self._scope is not None:
            raise LaunchError("kb.capture: this capture has begun already")
        self._check_outer()
        stream = self._stream()
        graph = Graph(self.device)
        scope = current.ScopedStream(stream, sync_enter=False)
        failures.begin_capture()
        self.graph, self.stream, self._scope, self.broken = graph, stream, scope, ""
        self._thread, self._handles = get_ident(), {stream.handle}
        self._before = list(recent.log(self.device.ordinal))
        try:
            with self.device.current():
                driver.get().call("cuStreamBeginCapture_v2", stream.handle, THREAD_LOCAL, about=repr(stream))
            self._ids = {State(self.device, stream.handle).id}
            scope.__enter__()
            uses.captures.append(self)
        except BaseException:
            self.drop()
            raise
        return graph

    def end(self) -> Graph:
        """Ends the capture and makes the graph ready to be launched."""
        if self._scope is None or self.graph is None:
            raise LaunchError("kb.capture: there is nothing to end: begin() comes first")
        if self._thread != get_ident():
            raise LaunchError("kb.capture: the capture on %r was begun in another thread, and ends there" % self.stream)
        graph = self.graph
        try:
            self._leave()
            self._end_on_stream(graph)
            if self.broken:
                raise LaunchError("kb.capture: a body inside has failed: %s" % self.broken)
            graph._instantiate()
        except BaseException:
            self.drop()
            raise
        finally:
            self._scope = None
        return graph

    def drop(self) -> None:
        """Ends the capture without a graph. Errors have nobody to go to: there is one on its way."""
        graph, self.graph = self.graph, None
        self._leave()
        self._scope = None
        if graph is None or self.stream is None or not driver.is_usable():
            return
        for _ in range(2):  # a capture that stays open would spoil the stream for good
            try:
                if self.stream.is_capturing:
                    with self.device.current():
                        driver.get().ask("cuStreamEndCapture", self.stream.handle, graph._graph)
            except DriverError:
                continue
        graph._destroy()

    def keep(self, handle: int, owners: Any) -> None:
        """What is used on a stream is kept, if the stream takes part."""
        if self.graph is not None and self.has(handle):
            self.graph._kept.update((id(owner), owner) for owner in owners if owner is not None)

    def made(self, handle: int, step: BoundLaunch, nodes: list[int], owners: list[Any]) -> None:
        """A bound launch has made these nodes on a stream."""
        if self.graph is not None and self.has(handle):
            _, calls, before = self.graph._calls.setdefault(id(step), (step, [], []))
            calls.append(nodes)
            before.extend(owners)

    def has(self, handle: int) -> bool:
        """Whether a stream takes part in this capture."""
        return State(self.device, handle).id in self._ids

    def include(self, handle: int) -> None:
        """What is captured on a stream from now on, on its own, is a part of this graph."""
        self._ids.add(State(self.device, handle).id)
        self._handles.add(handle)

    def is_here(self, place: Any) -> bool:
        """Whether this is a capture of the present thread, on a device."""
        return self._thread == get_ident() and self.device is place

    def _check_outer(self) -> None:
        for other in list(uses.captures):
            if other.is_here(self.device):
                raise LaunchError(
                    "kb.capture: this thread is capturing on %s already (%r), and captures do not nest\n"
                    "  help: launch an earlier graph inside the capture, or let the outer one capture it all"
                    % (self.device, other.stream)
                )

    def _stream(self) -> Stream:
        if self._given is None:
            meant = current.stream(self.device.ordinal)
            return Stream(self.device) if meant is None or meant.handle <= LEGACY else meant
        if self._given.device is not self.device:
            raise LaunchError("kb.capture: %r is not of %s" % (self._given, self.device))
        if self._given.handle <= LEGACY:
            raise LaunchError(
                "kb.capture: the default stream cannot be captured\n  help: leave `stream` out for a new one, or make "
                "one: kb.Stream()"
            )
        if self._given.is_capturing:
            raise LaunchError("kb.capture: %r is being captured already" % self._given)
        return self._given

    def _leave(self) -> None:
        """The stream is no longer the one that is meant."""
        if self in uses.captures:
            uses.captures.remove(self)
            self._scope.__exit__()
            names = _forget(self.device.ordinal, self._handles, self._before)
            if self.graph is not None and names:
                self.graph.title = "a graph of %s" % ", ".join(names[:_SHOWN]) + (", …" if names[_SHOWN:] else "")
            self._before = []

    def _end_on_stream(self, graph: Graph) -> None:
        assert self.stream is not None
        cuda = driver.get()
        with self.device.current():
            status = cuda.ask("cuStreamEndCapture", self.stream.handle, graph._graph)
        if status:
            raise _explained(cuda.error("cuStreamEndCapture", status, "kb.capture on %r" % self.stream))


def _explained(error: DriverError) -> DriverError:
    if error.code != driver.INVALIDATED or "spoiled by:" in str(error):
        return error
    text = "%s\n  it was spoiled by a call that kbuild has not made, or whose error was passed over" % error
    return DriverError(text, error.call, error.code, error.name)


def captured_here(place: Any) -> int:
    """The stream that this thread is capturing on a device, and that is meant there now; 0 where there is none."""
    if any(one.is_here(place) for one in list(uses.captures)):
        return current.handle(place)
    return 0


def last_node(place: Any, handle: int) -> int:
    """The node that was captured last on a stream; 0 where it is not being captured."""
    nodes = State(place, handle).nodes
    return nodes[-1] if nodes else 0


def _forget(ordinal: int, handles: set[int], before: list[Any]) -> list[str]:
    """Forgets the launches on these streams that were not there before, since none has run; the kernels' names."""
    known, seen = recent.log(ordinal), set(map(id, before))
    launches = list(known)
    taken = [launch for launch in launches if id(launch) not in seen and ordering.stream_handle(launch[2]) in handles]
    gone = set(map(id, taken))
    known.clear()
    known.extend([launch for launch in launches if id(launch) not in gone])
    return list(dict.fromkeys([launch[0] for launch in taken]))
