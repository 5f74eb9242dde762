"""How an instance list makes the kernels that stand in functions of a package.

`make(package)` looks up every kernel definition that stands inside a function, and calls that function or method with
arguments of the right kind: both values of a bool, every member of an enum, numbers by the parameter's name, what the
list says for a function, and a stand-in for objects. While it runs, launches do nothing and arrays are stand-ins,
so that functions which define a kernel, allocate and launch it go through. A kernel that captured a stand-in is not
counted: nothing real would ask for it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import dis
import enum
import importlib
import inspect
import itertools
import signal
import sys
import time
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import kbuild.warp as wp
from kbuild.loader import generic, overloading
from kbuild.loader import types as runtime
from kbuild.loader.layout import ArrayAnnotation
from kbuild.scan.locating import definitions, locate
from kbuild.warp import arrays

SECONDS = 5
SLOW = 2.0
MOST = 24  # calls of one function


class Anything:
    """Stands for an object of the host: every attribute, call, item and sum is one again, but for attributes that were
    given. Truth is as `truth` says.
    """

    truth = False

    def __init__(self, *_: Any, **known: Any) -> None:
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("shape", "strides"):
            return (1, 1, 1, 1)
        return Anything()

    def __call__(self, *_: Any, **__: Any) -> Any:
        return Anything()

    def __getitem__(self, _: Any) -> Any:
        return Anything()

    def __setitem__(self, _: Any, __: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        """As many as the caller unpacks, else one."""
        frame = sys._getframe(1)
        opcode, count = frame.f_code.co_code[frame.f_lasti : frame.f_lasti + 2]
        return iter([Anything() for _ in range(count if opcode == dis.opmap["UNPACK_SEQUENCE"] else 1)])

    def __array__(self, *_: Any, **__: Any) -> Any:
        import numpy

        return numpy.zeros((1, 1))

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __bool__(self) -> bool:
        return Anything.truth

    def __len__(self) -> int:
        return 1

    def __int__(self) -> int:
        return 1

    __index__ = __int__

    def __float__(self) -> float:
        return 1.0

    def __hash__(self) -> int:
        return 1

    def __eq__(self, _: object) -> bool:
        return Anything.truth

    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__  # type: ignore[assignment]

    def _again(self, *_: Any) -> Any:
        return Anything()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _again
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __neg__ = __and__ = __rand__ = __or__ = _again
    __matmul__ = __lshift__ = __rshift__ = __abs__ = __invert__ = _again


def filled(kind: Any) -> Any:
    """An instance of a dataclass with a small value in every field that has a simple type, and stand-ins elsewhere."""
    made = object.__new__(kind)
    for field in dataclasses.fields(kind):
        object.__setattr__(made, field.name, _small(field.type))
    return made


def _small(kind: Any) -> Any:
    if dataclasses.is_dataclass(kind):
        return filled(kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return next(iter(kind))
    simple = {"int": 1, "float": 0.5, "bool": False, "str": "name", int: 1, float: 0.5, bool: False, str: "name"}
    if isinstance(kind, (str, type)) and kind in simple:
        return simple[kind]
    return kind() if hasattr(kind, "_kb_type_") else Anything()


# Functions of Warp's that allocate, launch or ask a GPU.
_HOST = """
array_cast capture_begin capture_end capture_launch clone copy empty empty_like from_numpy from_torch full full_like
get_cuda_device get_device get_stream launch launch_tiled ones ones_like set_device synchronize synchronize_device
synchronize_stream wait_stream zeros zeros_like Bvh Event Graph HashGrid Mesh ScopedCapture ScopedDevice ScopedStream
ScopedTimer Stream Tape Volume get_suggested_block_size is_cuda_available is_conditional_graph_supported
"""


@contextlib.contextmanager
def stubbed(seen: list[runtime.Kernel]) -> Iterator[None]:
    """Launches and arrays do nothing; kernels with stand-ins in them are not noticed."""
    before = {name: getattr(wp, name, None) for name in _HOST.split()}
    declare, made = runtime.on_declare, arrays._array

    def noticed(kernel: runtime.Kernel) -> None:
        if declare is not None and not _holds_anything(kernel):
            declare(kernel)
            seen.append(kernel)

    runtime.on_declare = noticed
    for name in _HOST.split():
        setattr(wp, name, Anything())
    wp.is_cuda_available = wp.is_conditional_graph_supported = lambda: False
    arrays._array = Anything
    try:
        yield
    finally:
        arrays._array = made
        runtime.on_declare = declare
        for name, value in before.items():
            setattr(wp, name, value)


def _holds_anything(function: runtime.Function, depth: int = 0) -> bool:
    for cell in function.function.__closure__ or ():
        with contextlib.suppress(ValueError):
            value = cell.cell_contents
            if isinstance(value, Anything):
                return True
            is_inner = isinstance(value, runtime.Function) and value is not function and depth < 8
            if is_inner and _holds_anything(value, depth + 1):
                return True
    return False


def _float_for(annotation: Any) -> Any:
    """float32, or an array of it, for what an annotation leaves open."""
    if isinstance(annotation, ArrayAnnotation):
        return wp.array(dtype=_float_for(annotation.dtype), ndim=annotation.ndim)
    if isinstance(annotation, generic.OpenType):
        sizes = [size if isinstance(size, int) else 3 for size in annotation.sizes]
        return wp.types.vector(sizes[0], wp.float32) if len(sizes) == 1 else wp.types.matrix(tuple(sizes), wp.float32)
    return wp.float32


class Maker:
    """Calls functions. `values`: what a parameter takes by its name; `calls`: all arguments of a function by its."""

    def __init__(
        self,
        values: dict[str, Sequence[Any]],
        calls: dict[str, Sequence[dict[str, Any]]],
        open_types: Callable[[runtime.Kernel], dict[str, Any]] = lambda _: {},
    ) -> None:
        self.values, self.calls, self.open_types = values, calls, open_types
        self.failed: list[str] = []

    def make(self, *words: str, skip: Sequence[str] = ()) -> None:
        """Every kernel that stands in a function of packages, files or folders."""
        for module in locate(words):
            if module.name not in sys.modules or any(module.name.startswith(one) for one in skip):
                continue
            outer = dict.fromkeys(
                one.qualname.partition(".<locals>")[0]
                for one in definitions([module.path])
                if "<locals>" in one.qualname
            )
            for qualname in outer:
                self.one(module.name, qualname)

    def overloads(self, word: str, types: dict[str, dict[str, Any]]) -> None:
        """An overload of each generic kernel of a package's modules: with the types given by its name, or float32."""
        for module in locate([word]):
            for value in list(vars(sys.modules.get(module.name, wp)).values()):
                if isinstance(value, runtime.Kernel) and value.module == module.name:
                    self._overload(value, types.get(value.qualname))

    def _overload(self, kernel: runtime.Kernel, given: dict[str, Any] | None) -> None:
        """An overload of a generic kernel."""
        wanted = generic.open_parameters(kernel.function)
        if not wanted or kernel.bound or any(one.generic is kernel for one in overloading._instances.values()):
            return
        try:
            if given is None:
                found = self.open_types(kernel)
                given = {
                    name: found.get(name) or _float_for(generic.annotation_of(kernel.function, name)) for name in wanted
                }
            wp.overload(kernel, given)
        except Exception as error:
            self.failed.append(f"{kernel.name}: {type(error).__name__}: {error}"[:160])

    def one(self, module: str, qualname: str) -> None:
        """One function, or method."""
        name = f"{module}:{qualname}"
        try:
            owner: Any = importlib.import_module(module)
            for part in qualname.split("."):
                # A parametrised test has left its name for several.
                found = part if hasattr(owner, part) else next((n for n in dir(owner) if n.startswith(part)), part)
                owner = getattr(owner, found)
        except AttributeError:
            self.failed.append(f"{name}: cannot be found")
            return
        function = inspect.unwrap(owner)
        for arguments in itertools.islice(self._arguments(name, function), MOST):
            for truth in (False, True):
                Anything.truth = truth
                self._call(name, function, arguments)

    def _arguments(self, name: str, function: Any) -> Iterator[dict[str, Any]]:
        for key, calls in self.calls.items():
            if name.endswith(key):
                yield from calls
                return
        parameters = inspect.signature(function).parameters.values()
        wanted = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        hints: dict[str, Any] = {}
        with contextlib.suppress(Exception):
            hints = typing.get_type_hints(function)
        choices = [self._choices(p, hints.get(p.name, p.annotation)) for p in wanted]
        for chosen in itertools.product(*choices):
            yield dict(zip((p.name for p in wanted), chosen, strict=True))

    def _choices(self, parameter: inspect.Parameter, annotation: Any) -> Sequence[Any]:
        if annotation is bool or annotation == "bool" or isinstance(parameter.default, bool):
            return (False, True)
        if parameter.name in self.values:
            return self.values[parameter.name]
        if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
            return list(annotation)
        if parameter.default is not parameter.empty and parameter.default is not None:
            return (parameter.default,)
        if annotation is int or annotation == "int":
            return (4,)
        if annotation is float or annotation == "float":
            return (0.5,)
        if annotation is str or annotation == "str":
            return ("name",)
        return (None,) if parameter.default is None else (Anything(),)

    def _call(self, name: str, function: Any, arguments: dict[str, Any]) -> None:
        def stop(*_: Any) -> None:
            raise TimeoutError

        started, seen = time.monotonic(), []
        before = signal.signal(signal.SIGALRM, stop)
        signal.alarm(SECONDS)
        try:
            with stubbed(seen):
                result = function(**arguments)
                if callable(result) and not isinstance(result, (runtime.Function, Anything)):
                    with contextlib.suppress(Exception):
                        result(*(Anything() for _ in inspect.signature(result).parameters))
        except BaseException as error:
            self.failed.append(f"{name}: {type(error).__name__}: {error}"[:160])
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
            if time.monotonic() - started > SLOW:
                print(f"instances: {name} took {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        for kernel in seen:
            self._overload(kernel, None)

    def report(self) -> None:
        """What failed, to stderr."""
        for line in dict.fromkeys(self.failed):
            print("instances:", line, file=sys.stderr)
