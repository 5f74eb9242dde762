"""The quick launch: a function written for one kernel's parameters and one device.

It unpacks the arguments, compares each array's key, packs everything with one `Struct` and calls the driver. Whatever
is not exactly as expected raises, and the thorough launch takes over and says why. `struct` itself refuses a float for
an integer, a number out of range and what is no number; the rest is compared here. What is written for
`integrate(pos: array1[vec3[float32]], gravity: vec3[float32], dt: float32)`:

    def launch(dim, args=(), stream=None, device=None, block_dim=None, max_blocks=0):
        try:
            if tapes or max_blocks is not zero: raise Unexpected
            if block_dim is None:
                try:
                    start = known[dim]
                except KeyError:
                    start = find(dim)
            else:
                start = find(dim, block_dim)
            if dim.__class__ is not int: check_dim(dim)
            if device is not None and (device not in devices or device.__class__ not in kinds): raise Unexpected
            if args.__class__ is not list and args.__class__ is not tuple: raise Unexpected
            a0, a1, a2, = args
            if a0._key is not key0: raise Unexpected
            if a1.__class__ not in sequences: raise Unexpected
            v0, v1, v2, = a1
            buffer, ready, _ = slot = pop()
            pack0(buffer, 0, start, a0._descriptor, v0, v1, v2, a2)
            if stream is None and scopes: stream = current_stream()
            if stream is not None:
                handle = stream_handle(stream)
                put_stream(buffer, 32, handle)
                note_use(handle, stream, (a0._owner,))
        except Exception:
            pass
        else:
            if not invoke(*ready):
                give(slot)
                log((name, dim, stream))
                return
        thorough(dim, args, stream, device, block_dim, max_blocks)
"""

from __future__ import annotations

import operator
import struct
from os import environ

from . import abi, driver, ordering, pack, recent, uses
from .context import VARIABLE, Device, devices, get_device, scopes
from .pack import SEQUENCES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .kernel import BundleKernel, Loaded

# What all quick launches have in common; `middle` sets the stream and packs.
_FRAME = """\
def launch(dim, args=(), stream=None, device=None, block_dim=None, max_blocks=0):
    try:
        if tapes or max_blocks is not zero: raise Unexpected
        if block_dim is None:
            try:
                start = known[dim]
            except KeyError:
                start = find(dim)
        else:
            start = find(dim, block_dim)
        if dim.__class__ is not int: {check_dim}
        if {is_elsewhere}: raise Unexpected
        if args.__class__ is not list and args.__class__ is not tuple: raise Unexpected
        {statements}
        {middle}
    except Exception:
        pass
    else:
        if not invoke(*ready):
            give(slot)
            log((name, dim, stream))
            return
    thorough(dim, args, stream, device, block_dim, max_blocks)
"""
_MIDDLE = """\
buffer, ready, _ = slot = pop()
{packing}
if stream is None and scopes: stream = current_stream()
if stream is not None:
    handle = stream_handle(stream)
    put_stream(buffer, {stream_offset}, handle)
    note_use(handle, stream, ({owners}))
"""
_MOST = 28  # with buffer and offset 30: of a call with more CPython makes one with a list, which takes 0.2 µs


class Unexpected(Exception):
    """Something the quick launch leaves to the thorough one."""


class Writer:
    """Collects the statements that take arguments apart, and the expressions of the numbers to pack."""

    def __init__(self, ordinal: int, optional: frozenset[str]) -> None:
        self.ordinal, self.optional = ordinal, optional
        self.statements: list[str] = []
        self.leaves: list[str] = []
        self.owners: list[str] = []  # expressions of what holds the arrays' memory
        self.keys: dict[str, Any] = {}  # what the statements compare with, or call
        self.is_placed = False  # an array that must be there says which device it is
        self._count = 0

    def add(self, type: abi.Type, value: str, path: str) -> None:
        """`value` is the expression of an argument, or of a field, `path` its name in `optional`."""
        if isinstance(type, abi.Scalar):
            self.leaves.append("truth[%s]" % value if type.kind == "bool" else value)
        elif isinstance(type, abi.Vector):
            self._unpack(value, [type.element] * type.length)
        elif not isinstance(type, abi.Array):
            from . import fastrecords  # no part of most starts

            fastrecords.add(self, type, value, path)
        else:
            key = "key%d" % len(self.keys)
            given = type.given if isinstance(type, abi.Flat) else type
            self.keys[key] = pack.array_key(given, devices()[self.ordinal])
            name = self.named(value)
            self.is_placed = self.is_placed or path not in self.optional
            self.add_array(name, key, type, path in self.optional)

    def add_array(self, name: str, key: str, type: Any, is_optional: bool) -> None:
        """The array that the variable `name` holds."""
        if is_optional:
            from . import fastrecords

            fastrecords.add_optional(self, name, key, type)
            return
        self.statements.append("if %s._key is not %s: raise Unexpected" % (name, key))
        self.leaves.append(self.bytes_of(name, type))
        self.owners.append("%s._owner" % name)

    def bytes_of(self, name: str, type: Any) -> str:
        """The expression of what an array in a variable is packed as."""
        if not isinstance(type, abi.Flat):
            return "%s._descriptor" % name
        from . import fastrecords

        self.keys["address"] = fastrecords.address
        return "address(%s)" % name

    def _unpack(self, value: str, types: list[Any]) -> None:
        value = self.named(value)  # a field is read once: it may be changed meanwhile
        names = [self.name() for _ in types]
        self.statements.append("if %s.__class__ not in sequences: raise Unexpected" % value)
        self.statements.append("%s, = %s" % (", ".join(names), value))
        for type, name in zip(types, names):
            self.add(type, name, "")

    def named(self, value: str) -> str:
        """A variable that holds a value: of an argument its own."""
        if value.isidentifier():
            return value
        name = self.name()
        self.statements.append("%s = %s" % (name, value))
        return name

    def name(self) -> str:
        """A new variable."""
        self._count += 1
        return "v%d" % self._count


def make(kernel: BundleKernel, loaded: Loaded, put_stream: Any, stream_offset: int, tapes: Any) -> Callable[..., None]:
    """The quick launch of a kernel on a device where it is loaded; it ends in `kernel.thorough` when in doubt.

    `put_stream(buffer, stream_offset, handle)` writes a stream into a launch buffer; `tapes`: as long as something is
    in there, each launch is in doubt.
    """
    writer = Writer(loaded.device.ordinal, kernel.optional)
    return build(kernel, loaded, put_stream, stream_offset, writer, _MIDDLE, {"tapes": tapes})


def build(
    kernel: BundleKernel,
    loaded: Loaded,
    put_stream: Any,
    stream_offset: int,
    writer: Writer,
    middle: str,
    more: dict[str, Any],
) -> Callable[..., None]:
    """The function of what a writer collects of the kernel's parameters; `more`: names that `middle` has besides."""
    arguments = ["a%d" % i for i in range(len(kernel.parameters))]
    writer.statements.append("%s = args" % (", ".join(arguments) + "," if arguments else "()"))
    for (name, type), argument in zip(kernel.parameters, arguments):
        writer.add(type, argument, name)
    if kernel.stated is not None:
        from . import stated

        middle += stated.quick(kernel, more)
    ordinal, packing = loaded.device.ordinal, []
    for number, (offset, pack_into, leaves) in enumerate(_parts(kernel.struct.format, ["start", *writer.leaves])):
        writer.keys["pack%d" % number] = pack_into
        packing.append("pack%d(buffer, %d, %s)" % (number, offset, ", ".join(leaves)))
    middle = middle.format(
        owners="".join(owner + ", " for owner in writer.owners),
        packing="\n".join(packing),
        stream_offset=stream_offset,
    )
    text = _FRAME.format(
        is_elsewhere=_ELSEWHERE[writer.is_placed],
        check_dim=_dim_check(kernel.ndim),
        statements="\n        ".join(writer.statements),
        middle="\n        ".join(middle.splitlines()),
    )
    names: dict[str, Any] = {
        "Unexpected": Unexpected,
        "check_dim": _check_dim,
        "current_stream": lambda: _current_stream(ordinal),
        "devices": _spellings(loaded.device),
        "find": loaded.prefixes.find,
        "give": loaded.pool.append,
        "invoke": driver.get().invoke,
        "kinds": (int, str, Device),  # since 0 == 0.0 == False
        "is_first": (get_device(environ[VARIABLE]) if VARIABLE in environ else devices()[0]) is loaded.device,
        "known": loaded.prefixes.known,
        "log": recent.log(ordinal).append,
        "name": kernel.name,
        "note_use": uses.note,
        "pop": loaded.pool.pop,
        "put_stream": put_stream,
        "scopes": scopes,
        "sequences": SEQUENCES,
        "stream_handle": ordering.stream_handle,
        "thorough": kernel.thorough,
        "truth": {False: False, True: True},
        "zero": 0,  # the one: another that is equal goes the thorough way
        **writer.keys,
        **more,
    }
    exec(compile(text, "<launch of %s>" % kernel.name, "exec"), names)
    return names["launch"]  # type: ignore[no-any-return]


def _parts(format: str, leaves: list[str]) -> Iterator[tuple[int, Any, list[str]]]:
    """(offset, pack_into, leaves) of the calls that together pack leaves by a format, `_MOST` in each."""
    offset, part, field = 0, "<", ""
    given: list[str] = []
    for letter in format[1:]:
        field += letter
        if letter.isdigit():
            continue
        if letter != "x":
            if len(given) == _MOST:
                yield offset, struct.Struct(part).pack_into, given
                offset, part, given = offset + struct.calcsize(part), "<", []
            given.append(leaves.pop(0))
        part, field = part + field, ""
    yield offset, struct.Struct(part).pack_into, given


# Without a device the arrays say which; without an array it is the one that is meant where none is named.
_ELSEWHERE = {
    True: "device is not None and (device not in devices or device.__class__ not in kinds)",
    False: "(scopes or not is_first) if device is None else (device not in devices or device.__class__ not in kinds)",
}


# A look-up finds 2 for 2.0, so types are compared besides. An int is seen at once; all others cost a call.
def _dim_check(ndim: int) -> str:
    if ndim == 1:
        return "check_dim(dim)"
    from . import fastrecords

    return fastrecords.axes_check(ndim)


def _check_dim(dim: Any) -> None:
    """TypeError for what is no integer, nor a tuple of integers, nor a grid."""
    if hasattr(dim.__class__, "_kb_dim_"):
        dim = dim._kb_dim_
    for n in dim if isinstance(dim, tuple) else (dim,):
        operator.index(n)


def _current_stream(ordinal: int) -> Any:
    from . import current  # for programs that choose a stream

    return current.stream(ordinal)


def _spellings(device: Device) -> frozenset[object]:
    """How a caller may name a device."""
    return frozenset((device, str(device), device.ordinal, *(["cuda"] if device.ordinal == 0 else [])))
