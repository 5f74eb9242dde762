"""What a program written for Warp does on the host: arrays, launches, devices.

Warp's names and arguments over kbuild's loader. Options that only make sense in Warp's own runtime (`requires_grad`,
`pinned`, `record_tape`) are accepted while they ask for nothing, and refused when they ask for something.
"""

from __future__ import annotations

import time

from kbuild.loader import array as arrays
from kbuild.loader import context, copying, indexed, resolve
from kbuild.loader.errors import LaunchError
from kbuild.loader.layout import ArrayAnnotation, IndexedAnnotation, abi_type
from kbuild.loader.values import class_of

from .absent import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Annotation(ArrayAnnotation):
    """`wp.array(dtype=T, ndim=n)` in a signature. Programs hang attributes of their own on it (`shape`)."""

    def __or__(self, _: object) -> Annotation:
        return self  # `wp.array[float] | None` annotates functions of the host

    __ror__ = __or__


_array: Any = arrays.array


class _ArrayType(type):
    """Every array of kbuild's is a `wp.array`, and so is the annotation, as in Warp."""

    _ndim: int | None

    def __instancecheck__(cls, value: object) -> bool:
        if not isinstance(value, (arrays.array, ArrayAnnotation)) or isinstance(value, IndexedAnnotation):
            return False
        return cls._ndim is None or value.ndim == cls._ndim

    def __call__(cls, data: Any = None, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
        """The annotation, or an array on the GPU. Raises TypeError, NotInKbuild."""
        _accept("array", options, requires_grad=False, pinned=False, copy=True, grad=None, capacity=None, deleter=None)
        ndim = options.pop("ndim", None) or cls._ndim
        if data is None and shape is None and options.get("ptr") is None:
            return Annotation(dtype, ndim or 1)
        return _array(data, dtype, shape, ndim=ndim, **options)

    def __getitem__(cls, dtype: Any) -> Annotation:
        return Annotation(*subscripted(dtype, cls._ndim))


def subscripted(dtype: Any, ndim: int | None) -> tuple[Any, int]:
    """Element type and number of dimensions of `wp.array[float]`, `wp.array[float, Literal[2]]`."""
    if isinstance(dtype, tuple) and len(dtype) == 2:
        return dtype[0], getattr(dtype[1], "__args__", dtype[1:])[0]
    return dtype, ndim or 1


class array(metaclass=_ArrayType):
    """`wp.array(dtype=T, ndim=n)` and `wp.array[T]` are annotations; with data or a shape it is an array on a GPU."""

    _kb_array_ = True
    _ndim: int | None = None


class array1d(array):
    """`array` with one dimension."""

    _ndim = 1


class array2d(array):
    """`array` with two dimensions."""

    _ndim = 2


class array3d(array):
    """`array` with three dimensions."""

    _ndim = 3


class array4d(array):
    """`array` with four dimensions."""

    _ndim = 4


def _accept(what: str, options: dict[str, Any], **neutral: Any) -> None:
    """Takes options away that ask for nothing; the others are refused."""
    for name, nothing in neutral.items():
        value = options.pop(name, nothing)
        if value is not None and value != nothing:
            raise refusal("%s(%s=%r)" % (what, name, value), "Warp's own runtime")


def empty(shape: Any = None, dtype: Any = float, device: Any = None, **options: Any) -> Any:
    """An array of undefined content."""
    _accept("empty", options, requires_grad=False, pinned=False)
    return arrays.empty(0 if shape is None else shape, dtype, _device(device), **options)


def zeros(shape: Any = None, dtype: Any = float, device: Any = None, **options: Any) -> Any:
    """An array of zeros."""
    _accept("zeros", options, requires_grad=False, pinned=False)
    return arrays.zeros(0 if shape is None else shape, dtype, _device(device), **options)


def ones(shape: Any = None, dtype: Any = float, device: Any = None, **options: Any) -> Any:
    """An array of ones."""
    _accept("ones", options, requires_grad=False, pinned=False)
    return arrays.ones(0 if shape is None else shape, dtype, _device(device), **options)


def full(shape: Any = None, value: Any = 0, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    """An array with `value` in every element."""
    _accept("full", options, requires_grad=False, pinned=False)
    return arrays.full(0 if shape is None else shape, value, dtype, _device(device), **options)


def empty_like(src: Any, device: Any = None, **options: Any) -> Any:
    """An array of the shape and type of another."""
    return empty(src.shape, src.dtype, src.device if device is None else device, **options)


def zeros_like(src: Any, device: Any = None, **options: Any) -> Any:
    """Zeros of the shape and type of another array."""
    return zeros(src.shape, src.dtype, src.device if device is None else device, **options)


def ones_like(src: Any, device: Any = None, **options: Any) -> Any:
    """Ones of the shape and type of another array."""
    return ones(src.shape, src.dtype, src.device if device is None else device, **options)


def full_like(src: Any, value: Any, device: Any = None, **options: Any) -> Any:
    """An array of the shape and type of another with `value` in every element."""
    return full(src.shape, value, src.dtype, src.device if device is None else device, **options)


def clone(src: Any, device: Any = None, **options: Any) -> Any:
    """A copy of an array."""
    made = empty_like(src, device, **options)
    copy(made, src)
    return made


def copy(dest: Any, src: Any, **options: Any) -> None:
    """Copies an array into another of the same shape."""
    _accept("copy", options, dest_offset=0, src_offset=0, count=0, stream=None)
    if options:
        raise TypeError("wp.copy has no argument %r" % min(options))
    src = src.contiguous() if isinstance(src, indexed.indexedarray) else src
    if isinstance(dest, indexed.indexedarray):
        dest.assign(src)
    else:
        copying.copy(dest, src)


def from_numpy(arr: Any, dtype: Any = None, shape: Any = None, device: Any = None, **options: Any) -> Any:
    """An array on the GPU with the content of a NumPy array."""
    _accept("from_numpy", options, requires_grad=False)
    return arrays.array(arr if shape is None else arr.reshape(shape), dtype, device=_device(device), **options)


def launch(
    kernel: Any,
    dim: Any,
    inputs: Any = (),
    outputs: Any = (),
    adj_inputs: Any = (),
    adj_outputs: Any = (),
    device: Any = None,
    stream: Any = None,
    adjoint: bool = False,
    record_tape: bool = True,
    record_cmd: bool = False,
    max_blocks: int = 0,
    block_dim: int | None = None,
    **options: Any,
) -> None:
    """Launches a kernel over `dim` threads. `record_tape` means nothing here; no `max_blocks` is one below 1, too."""
    if adjoint or adj_inputs or adj_outputs:
        raise refusal("launch(adjoint=…)", "gradients")
    if record_cmd:
        raise refusal("launch(record_cmd=True)", "recorded launches")
    if options:
        raise TypeError("wp.launch has no argument %r" % min(options))
    resolve.launch(kernel, dim, inputs, outputs, _device(device), stream, block_dim, max_blocks=max(0, max_blocks or 0))


# Devices


_scopes: list[Any] = []  # of ScopedDevice and set_device; the last one counts


def _device(device: Any) -> Any:
    return _scopes[-1] if device is None and _scopes else device


class NoDevice:
    """What `wp.get_device()` gives where there is no GPU, so that modules which ask at import go on. Runs nothing."""

    alias = "cpu"
    is_cuda = False
    is_cpu = True
    is_mempool_supported = is_mempool_enabled = is_uva = is_capturing = False
    arch = ordinal = sm_count = 0
    name = "no GPU"

    def __str__(self) -> str:
        return self.alias


def get_device(ident: Any = None) -> Any:
    """The GPU that a name stands for; without one that of `set_device` or `ScopedDevice`, else the first."""
    wanted = _device(ident)
    if wanted in (None, "cpu") and not context.get_devices():
        return NoDevice()
    return context.get_device(wanted)


def set_device(ident: Any) -> None:
    """Makes a GPU the one that is meant where none is named."""
    _scopes[:] = [*_scopes[:-1], context.get_device(ident)]


class ScopedDevice:
    """`with wp.ScopedDevice("cuda:1"):` makes a GPU the one that is meant where none is named."""

    def __init__(self, device: Any) -> None:
        self.device = get_device(device)

    def __enter__(self) -> Any:
        _scopes.append(self.device)
        return self.device

    def __exit__(self, *_: object) -> None:
        _scopes.pop()


def get_cuda_device(ordinal: Any = None) -> Any:
    """A GPU by its number."""
    return get_device(ordinal)


def get_cuda_device_count() -> int:
    """How many GPUs there are."""
    return len(context.get_devices())


def is_cuda_available() -> bool:
    """There is a GPU and its driver."""
    return bool(context.get_devices())


def get_cuda_driver_version() -> tuple[int, int]:
    """The newest CUDA that the driver takes."""
    version: tuple[int, int] = context.get_device().driver
    return version


def is_cubql_available() -> bool:
    """Part of Warp's own build."""
    return False


def is_cpu_available() -> bool:
    """kbuild runs kernels on GPUs."""
    return False


def is_device_available(device: Any) -> bool:
    """The device is one of this machine's GPUs."""
    return device in context.get_devices()


# How kernels fill a GPU


def get_suggested_block_size(kernel: Any, device: Any = None) -> tuple[int, int]:
    """(threads of a block, least number of blocks) that fill a GPU with this kernel: the largest block that does.

    (1, 1) for "cpu". Loads the kernel. Raises LaunchError for a generic kernel, of which an overload is wanted.
    """
    from kbuild.loader import occupancy, readiness  # few programs ask

    wanted = _device(device)
    if wanted == "cpu":
        return 1, 1
    compiled = readiness.one_kernel(kernel)
    gpu: Any = context.get_device(wanted)
    registers, shared, _ = readiness.properties(compiled, gpu)
    if gpu.number not in occupancy.LIMITS:
        raise LaunchError("%s: kbuild does not know yet how many blocks %s holds" % (compiled.name, gpu.arch))
    threads, blocks = occupancy.largest_block(gpu.number, registers, shared)
    return threads, blocks * gpu.sm_count


def get_cuda_kernel_properties(kernel: Any, device: Any = None, block_dim: int | None = None) -> dict[str, int]:
    """`register_count` of a thread and `local_memory_size` of a thread, in bytes. Loads the kernel.

    `block_dim` changes nothing: kbuild's code is the same for all blocks. Raises LaunchError for a generic kernel.
    """
    from kbuild.loader import readiness

    registers, _, local = readiness.properties(readiness.one_kernel(kernel), _device(device))
    return {"register_count": registers, "local_memory_size": local}


def nothing(*_: Any, **__: Any) -> None:
    """What needs no doing: code is compiled when the package is built."""


def get_module_options(*_: Any) -> dict[str, Any]:
    """A module's options, all of which belong to Warp's own building."""
    return {}


class Module:
    """A module of kernels by its name. kbuild finds kernels by Python's modules, so that is all it says."""

    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        self.name = name
        self.options: dict[str, Any] = {}

    def load(self, *_: Any, **__: Any) -> bool:
        """Code comes from the bundle at the first launch."""
        return True

    def unload(self) -> None:
        """Code stays as long as the program runs."""


def get_module(name: str) -> Module:
    """A module of kernels by its name."""
    return Module(name)


def is_mempool_enabled(*_: Any) -> bool:
    """kbuild's arrays come from no memory pool."""
    return False


# Times and numbers


class ScopedTimer:
    """Prints how long a block took on the host; with `synchronize`, until the GPU was done too."""

    def __init__(self, name: str, active: bool = True, print: bool = True, synchronize: bool = False, **_: Any) -> None:
        self.name, self.active, self.synchronize, self.prints = name, active, synchronize, print
        self.elapsed = 0.0  # milliseconds

    def __enter__(self) -> ScopedTimer:
        if self.active and self.synchronize:
            context.synchronize()
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        if not self.active:
            return
        if self.synchronize:
            context.synchronize()
        self.elapsed = (time.perf_counter() - self._start) * 1000.0
        if self.prints:
            print("%s took %.2f ms" % (self.name, self.elapsed))


class ScopedLogLevel:
    """Warp's log level for a block. kbuild tells the logger "kbuild" of Python's `logging`, whose level is its own."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> ScopedLogLevel:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def dtype_to_numpy(dtype: Any) -> Any:
    """The NumPy type of a scalar type's name. Imports NumPy."""
    import numpy  # type: ignore[import-not-found,unused-ignore]

    type = abi_type(dtype)
    return numpy.dtype(getattr(type, "element", type).spelling).type


def dtype_from_numpy(dtype: Any) -> Any:
    """The scalar type of a NumPy type."""
    import numpy

    from kbuild.loader import abi

    return class_of(abi.SCALARS[numpy.dtype(dtype).name])
