"""What a kernel module says: `@kernel`, `@func`, `@struct`, and the types in its signatures.

A decorator only remembers the function. Its source is read where a build asks; a launch finds its machine code in the
bundle by module and qualified name.
"""

from __future__ import annotations

import os
import sys

from . import abi, placing
from .errors import LaunchError, did_you_mean
from .geometry import MAX_CLUSTER
from .layout import ArrayAnnotation, abi_type, struct
from .values import (
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = (
    "ArrayAnnotation",
    "Function",
    "Kernel",
    "abi_type",
    "bool_",
    "float16",
    "float32",
    "float64",
    "func",
    "int8",
    "int16",
    "int32",
    "int64",
    "kernel",
    "overload",
    "struct",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType
    from typing import Any

on_declare: Callable[[Kernel], None] | None = None  # a build sets it, to see the kernels of the modules it imports

on_create: Callable[[Function], None] | None = None  # told of every function and kernel, where something records
on_launch: Callable[[Kernel, Any], bool] | None = None  # told of launches; True: it has taken care of this one

declared: set[str] = set()  # modules that have declared kernels

_KERNEL_OPTIONS = {
    "fmad": bool,
    "asserts": bool,
    "enable_backward": bool,
    "block_dim": int,
    "cluster_dim": int,
    "max_iterations": int,
    "launch_bounds": object,
    "launch_dim": object,
    "max_registers": int,
    "fast_math": bool,
}


class Function:
    """A function that kernels call. On the host it is an ordinary Python function."""

    _kb_function_ = True

    def __init__(self, function: Callable[..., Any]) -> None:
        if not hasattr(function, "__code__"):
            raise TypeError("@%s wants a function, not %r" % (type(self).__name__.lower(), function))
        self.function: FunctionType = function  # type: ignore[assignment]
        self.module: str = function.__module__
        self.qualname: str = function.__qualname__
        self.name = "%s:%s" % (self.module, self.qualname)
        self.overloads: tuple[Function, ...] = (self,)  # functions of this name, told apart by their parameters' types
        # "warp": an index below zero counts from the end, and a struct parameter is a copy that may be changed.
        self.dialect = ""
        # How it is differentiated, where the program says so: see `own_gradients`.
        self.gradient: Function | None = None
        self.replay: Function | None = None
        self.__name__, self.__doc__, self.__wrapped__ = function.__name__, function.__doc__, function
        self.factory: dict[str, Any] | None = None  # the call that makes it, where something records
        if on_create is not None:
            on_create(self)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if len(self.overloads) > 1:
            from . import overloading  # few functions have a second meaning

            return overloading.choose(self, args, kwargs).function(*args, **kwargs)
        if self.dialect:
            from . import overloading

            overloading.check(self, args)
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return "<kb.%s %s>" % (type(self).__name__.lower().replace("function", "func"), self.name)


class Kernel(Function):
    """A kernel: `kb.launch(kernel, dim, inputs=[…])`. `options` holds what was given to the decorator."""

    def __init__(self, function: Callable[..., Any], options: dict[str, object] | None = None) -> None:
        super().__init__(function)
        self.options = options or {}
        # Types of the parameters that the annotations leave open: set for an overload of a generic kernel.
        self.bound: dict[str, abi.Type] = {}
        self.generic: Kernel | None = None  # the kernel that this is an overload of
        self.target: Any = _Unresolved(self)  # what launches it; `_Unresolved` puts the bundle's kernel here
        self.error: Exception | None = None  # what the last launch that failed has raised

    def __call__(self, *args: object, **kwargs: object) -> Any:
        raise LaunchError("%s is a kernel: write kb.launch(%s, dim=…, inputs=[…])" % (self.name, self.__name__))

    def launch(
        self,
        dim: Any,
        args: Any = (),
        stream: Any = None,
        device: Any = None,
        block_dim: int | None = None,
        max_blocks: int = 0,
    ) -> None:
        """Launches over `dim` threads; `args` in the order of the parameters. See `kb.launch`."""
        self.target.launch(dim, args, stream, device, block_dim, max_blocks)


class _Unresolved:
    """Stands in a kernel until its first launch, and finds its machine code then."""

    is_unresolved = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def launch(self, dim: Any, args: Any, stream: Any, device: Any, block_dim: int | None, max_blocks: int) -> None:
        if on_launch is not None and on_launch(self.kernel, args):
            return
        kind = placing.kind_of(device, args)
        if kind != "cuda":
            from . import providers

            providers.launch_on(kind, self.kernel, dim, args, stream, device, block_dim, max_blocks)
            return
        from . import resolve  # reading bundles and the driver is the business of a first launch

        target = resolve.find(self.kernel)
        if hasattr(target, "source"):
            target.source = self.kernel
        if on_launch is None:  # else every launch passes here
            self.kernel.target = target
        target.launch(dim, args, stream, device, block_dim, max_blocks)


def kernel(function: Any = None, **options: object) -> Any:
    """Declares a kernel: `@kernel` or `@kernel(fmad=False)`.

    Options: `fmad` (whether `a * b + c` may be fused) and `asserts` (whether `assert` is compiled), by default as the
    project says, `fast_math` (approximate division, roots and functions) and `max_registers` (of a thread; what does
    not fit is spilled) alike; `enable_backward`, `block_dim` (threads a block unless the launch says otherwise; by
    default as many as suit the code and the GPU), `cluster_dim` (blocks of a cluster, which run together and reach one
    another's shared memory, on GPUs of compute capability 9.0 and later), `launch_bounds` (most threads of a block, or
    that and how many blocks a multiprocessor is to hold at least, or "auto"), `launch_dim` (over how many threads it is
    launched, exactly: for each axis the name of a stated size or of an int parameter, or a number; other launches are
    refused), `max_iterations` (how many trips a loop takes at most, each time it is entered, whose number of trips is
    not known before: gradients then need no run that counts them; one that takes more is an error of the launch that
    goes backward). An unknown one raises TypeError.
    """
    for name, value in options.items():
        _check_option(name, value)
    if "launch_bounds" in options:
        from . import launch_bounds  # few kernels state any

        launch_bounds.check(options)
    if "launch_dim" in options:
        from . import launch_dim

        launch_dim.check(options)
    if function is None:
        return lambda decorated: kernel(decorated, **options)
    made = Kernel(function, options)
    declare(made)
    return made


def declare(made: Kernel) -> None:
    """Notes that a module has a kernel, and tells whoever imports it."""
    declared.add(made.module)
    if on_declare is not None:
        on_declare(made)


def _check_option(name: str, value: object) -> None:
    wanted = _KERNEL_OPTIONS.get(name)
    if wanted is None:
        raise TypeError("@kernel has no option %r%s" % (name, did_you_mean(name, _KERNEL_OPTIONS)))
    if wanted is not object and type(value) is not wanted:
        raise TypeError("@kernel: %s wants %s, not %r" % (name, wanted.__name__, value))
    if name == "block_dim" and not 1 <= value <= 1024:  # type: ignore[operator]
        raise TypeError("@kernel: block_dim is 1 to 1024 threads, not %r" % value)
    if name == "cluster_dim" and not 1 <= value <= MAX_CLUSTER:  # type: ignore[operator]
        raise TypeError("@kernel: cluster_dim is 1 to %d blocks of a cluster, not %r" % (MAX_CLUSTER, value))
    if name == "max_registers" and not 16 <= value <= 255:  # type: ignore[operator]
        raise TypeError("@kernel: max_registers is 16 to 255 registers of a thread, not %r" % value)
    if name == "max_iterations" and not 1 <= value < 1 << 31:  # type: ignore[operator]
        raise TypeError("@kernel: max_iterations is 1 to 2147483647 trips of a loop, not %r" % value)


def func(function: Any = None) -> Any:
    """Declares a function that kernels call: `@func`. On the host it stays callable.

    Another one of the same name in the same place is an overload, if its parameters have other types: a call takes the
    one that fits its arguments.
    """
    return func if function is None else func_beside(function, sys._getframe(1).f_locals)


def func_beside(function: Any, names: Any) -> Any:
    """A function that kernels call, declared where these names are known."""
    made = Function(function)
    earlier = names.get(made.__name__)
    if isinstance(earlier, Function) and not isinstance(earlier, Kernel) and earlier.name == made.name:
        from . import overloading

        overloading.join(earlier, made)
    return made


def overload(kernel: Any, types: Any = None) -> Any:
    """An instance of a generic kernel: `overload(scale, {"x": kb.array(dtype=float)})`, or a list of all types.

    The same types give the same kernel. As a decorator of a function without a body it declares the instance of the
    generic kernel of that name that its annotations ask for, and returns the generic kernel. Raises TypeError.
    """
    from . import overloading

    if not isinstance(kernel, Kernel):
        place = sys._getframe(1)
        return overloading.declared(kernel, {**place.f_globals, **place.f_locals})
    return overloading.instance(kernel, types)


def _record() -> None:
    """Recording starts when its module is imported."""
    from . import recording as recording


if "KBUILD_RECORD" in os.environ:
    _record()
