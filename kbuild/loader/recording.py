"""Noting which instances of kernels a program asks for, and making them again while building.

`python -m kbuild record` runs a program with `KBUILD_RECORD` naming a file. Each instance that is launched and that
importing its module alone does not make is written there once, as a line of JSON, when it is first asked for:

    {"factory": "robosim.kernels:make", "kernel": "make.<locals>.kernel", "args": [128], "kwargs": {}}
    {"kernel": "robosim.kernels:scale", "types": {"x": "array1[float32]", "s": "float32"}}

The arguments of a factory are those it had when it declared the kernel. `replay` calls the factories again.
"""

from __future__ import annotations

import json
import math
import os
import struct
import sys

from . import abi, generic, hosts, overloading, struct_table, types
from .errors import LoaderError
from .values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, Dict

    Entry = Dict[str, Any]

VARIABLE = "KBUILD_RECORD"
_VARARGS, _VARKEYWORDS = 4, 8  # code flags


class Unrecordable(ValueError):
    """A call that cannot be made again from a file; the message says why."""


# While the program runs


class _Recorder:
    """What has been written so far."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.written: set[str] = set()

    def write(self, entry: Entry) -> None:
        """Appends an entry that is not there yet. One write, so that processes may share the file."""
        text = json.dumps(entry, sort_keys=True)
        if text not in self.written:
            self.written.add(text)
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(file, text.encode() + b"\n")
            finally:
                os.close(file)


_recorder: _Recorder | None = None


def start(path: str) -> None:
    """Records into a file from here on; where there is no GPU, launches do nothing."""
    global _recorder
    _recorder = _Recorder(path)
    types.on_create = _note_factory
    types.on_launch = _launch
    from . import context, driver, standin

    try:
        has_gpu = bool(hosts.get_devices())
    except LoaderError:
        has_gpu = False
    if not has_gpu:
        driver._driver, context._devices = driver.Driver(standin.open()), None


def is_on() -> bool:
    """Whether this program is being recorded."""
    return _recorder is not None


def note_refused(reason: str) -> bool:
    """Notes something that kbuild does not have, which a recorded program passes over. False: nothing is recorded."""
    if _recorder is None:
        return False
    _recorder.write({"unrecordable": reason})
    return True


def _note_factory(made: types.Function) -> None:
    """Keeps with a function or kernel the call of the factory that makes it."""
    outer, is_made, _ = made.qualname.rpartition(".<locals>.")
    if not is_made:
        return
    try:
        made.factory = _call_of(made, outer)
    except Unrecordable as error:
        made.factory = {"unrecordable": str(error)}


def _call_of(made: types.Function, outer: str) -> Entry:
    if "." in outer:
        what = "a function inside a function" if "<locals>" in outer else "a method"
        raise Unrecordable("%s is made by %s: make it by a function of a module" % (made.name, what))
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == outer and frame.f_globals.get("__name__") == made.module:
            args, kwargs = _arguments(frame)
            kind = "kernel" if isinstance(made, types.Kernel) else "function"
            return {"factory": "%s:%s" % (made.module, outer), kind: made.qualname, "args": args, "kwargs": kwargs}
        frame = frame.f_back
    raise Unrecordable("%s: the call of %s is over" % (made.name, outer))


def _arguments(frame: FrameType) -> tuple[list[Any], dict[str, Any]]:
    code, values = frame.f_code, frame.f_locals
    names = code.co_varnames
    count = code.co_argcount + code.co_kwonlyargcount
    args = [encode(values[name]) for name in names[: code.co_argcount]]
    kwargs = {name: encode(values[name]) for name in names[code.co_argcount : count]}
    if code.co_flags & _VARARGS:
        args += [encode(value) for value in values[names[count]]]
        count += 1
    if code.co_flags & _VARKEYWORDS:
        kwargs.update({name: encode(value) for name, value in values[names[count]].items()})
    return args, kwargs


def _launch(kernel: types.Kernel, args: Any) -> bool:
    """Notes a launch. False: go on; True: there is nothing to launch on."""
    from . import driver, resolve, standin

    assert _recorder is not None
    entry = _entry(kernel, args)
    if entry is not None:
        _recorder.write(entry)
    if isinstance(driver.get().library, standin.Library):
        return True
    try:
        resolve.find(kernel)
    except LoaderError:  # it is not built yet, which is why the program is recorded
        return True
    return False


def _entry(kernel: types.Kernel, args: Any) -> Entry | None:
    """What makes a kernel again; None for what importing its module makes."""
    origin = kernel if kernel.generic is None else kernel.generic
    bound = kernel.bound or _types_of(origin, args)
    if origin.factory is None and not bound:
        return None
    if origin.module == "__main__":
        return {"unrecordable": "%s is defined in the program itself: move it into a package" % origin.name}
    made: Entry = dict(origin.factory or {"kernel": origin.name})
    if "unrecordable" not in made and bound:
        made["types"] = {name: type.spelling for name, type in bound.items()}
    return made


def _types_of(kernel: types.Kernel, args: Any) -> dict[str, abi.Type]:
    """The types that a launch asks of a generic kernel."""
    from . import dispatch

    names = generic.parameter_names(kernel.function)
    found = {}
    for name in generic.open_parameters(kernel.function):
        position = names.index(name)
        type = dispatch.type_of(args[position]) if position < len(args) else None
        if type is not None:
            found[name] = type
    return found


# Values as JSON


def encode(value: Any) -> Any:
    """A value as data for JSON, from which `decode` makes it again. Raises Unrecordable."""
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"float": struct.pack(">d", value).hex()}
    if kind in (tuple, list, set, frozenset):
        items = [encode(item) for item in value]
        return {kind.__name__: items if kind in (tuple, list) else sorted(items, key=repr)}
    if kind is dict:
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if isinstance(value, type):
        return _encode_type(value)
    if isinstance(value, types.Function):
        return _encode_function(value)
    if getattr(kind, "_kb_builtin_", False):
        return {"builtin": value.name}
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(value, enum.Enum):
        if kind.__members__.get(value.name) is not value:  # flags together, which have no name of their own
            return {"enum": _place(kind), "of": encode(value.value)}
        return {"enum": _place(kind), "name": value.name}
    if hasattr(kind, "_kb_type_"):
        return {"value": kind._kb_type_.spelling, "items": _plain(value)}
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return {"record": _place(kind), "fields": {name: encode(getattr(value, name)) for name in kind._fields}}
    if hasattr(kind, "__dataclass_fields__"):
        return {"record": _place(kind), "fields": {n: encode(getattr(value, n)) for n in kind.__dataclass_fields__}}
    if kind is type(encode):
        return {"python": _place(value)}
    raise Unrecordable("a value of type %s has no form in a file: %.60r" % (kind.__name__, value))


def _plain(value: Any) -> Any:
    """A number, vector or matrix as nested lists of numbers."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return encode(float(value)) if isinstance(value, float) else int(value)


def _encode_type(value: Any) -> Any:
    own = value.__dict__.get("_kb_type_")
    if own is not None and not isinstance(own, abi.Struct):
        return {"type": own.spelling}
    return {"class": _place(value)}


def _encode_function(value: types.Function) -> Any:
    if value.factory is None:
        return {"python": _place(value.function)}
    if "unrecordable" in value.factory:
        raise Unrecordable(value.factory["unrecordable"])
    return {"made": value.factory}


def _place(value: Any) -> str:
    """Where a class or function can be imported from."""
    if "<" in value.__qualname__:
        raise Unrecordable("%s.%s cannot be imported by its name" % (value.__module__, value.__qualname__))
    return "%s:%s" % (value.__module__, value.__qualname__)


# While building


def replay(entry: Entry) -> None:
    """Makes the instance of an entry again: its kernel is declared. Raises what importing and calling raise."""
    kernel = _made(entry) if "factory" in entry else _import(entry["kernel"])
    if "types" in entry:
        if not isinstance(kernel, types.Kernel):
            raise TypeError("%s is no kernel" % entry["kernel"])
        bound = {name: _parse(spelling) for name, spelling in entry["types"].items()}
        overloading.instance(kernel, bound)


_called: dict[str, list[types.Function]] = {}


def _made(entry: Entry) -> Any:
    """Calls a factory, once for the same arguments, and returns the function or kernel that the entry means."""
    key = json.dumps([entry["factory"], entry["args"], entry["kwargs"]], sort_keys=True)
    if key not in _called:
        args, kwargs = [decode(item) for item in entry["args"]], {n: decode(v) for n, v in entry["kwargs"].items()}
        made: list[types.Function] = []
        before, types.on_create = types.on_create, made.append
        try:
            result = _import(entry["factory"])(*args, **kwargs)
        finally:
            types.on_create = before
        _called[key] = [*made, result] if isinstance(result, types.Function) else made
    wanted = entry.get("kernel") or entry.get("function")
    for one in reversed(_called[key]):
        if one.qualname == wanted:
            return one
    if "types" in entry or "function" in entry:
        raise LookupError("%s did not make %s when it was called" % (entry["factory"], wanted))
    return None  # the factory remembers its kernels, and has declared this one before


def decode(data: Any) -> Any:
    """The value again. Raises ValueError, and what importing raises."""
    if not isinstance(data, dict):
        return data
    for tag, make in _DECODERS.items():
        if tag in data:
            return make(data)
    raise ValueError("unknown value %r" % (data,))


def _decode_record(data: Any) -> Any:
    return _import(data["record"])(**{name: decode(item) for name, item in data["fields"].items()})


def _decode_enum(kind: Any, data: Any) -> Any:
    return kind[data["name"]] if "name" in data else kind(decode(data["of"]))


def _decode_value(data: Any) -> Any:
    kind: Any = class_of(abi.parse(data["value"], {}))
    return kind(decode(data["items"]))


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "float": lambda data: struct.unpack(">d", bytes.fromhex(data["float"]))[0],
    "tuple": lambda data: tuple([decode(item) for item in data["tuple"]]),
    "list": lambda data: [decode(item) for item in data["list"]],
    "set": lambda data: {decode(item) for item in data["set"]},
    "frozenset": lambda data: frozenset(decode(item) for item in data["frozenset"]),
    "dict": lambda data: {decode(key): decode(item) for key, item in data["dict"]},
    "type": lambda data: class_of(abi.parse(data["type"], {})),
    "class": lambda data: _import(data["class"]),
    "enum": lambda data: _decode_enum(_import(data["enum"]), data),
    "builtin": lambda data: __import__("kbuild.loader.builtins", None, None, ["*"]).TABLE[data["builtin"]],
    "python": lambda data: _import(data["python"]),
    "record": _decode_record,
    "value": _decode_value,
    "made": lambda data: _made(data["made"]),
}


def _import(place: str) -> Any:
    """The object at `module:qualname`."""
    module, _, names = place.partition(":")
    value: Any = __import__(module, None, None, ["*"])
    for name in names.split("."):
        value = getattr(value, name)
    return value


def _parse(spelling: str) -> abi.Type:
    """A type; structs are those of their classes."""
    from .layout import abi_type

    structs = {}
    name = struct_table.name_in(spelling)
    if name is not None:
        found = abi_type(_import(name))
        assert isinstance(found, abi.Struct)
        structs[name] = found
    return abi.parse(spelling, structs)


if VARIABLE in os.environ:
    start(os.environ[VARIABLE])
