"""kbuild: GPU kernels written in Python, compiled while a wheel is built.

Made by `python -m tools.stubs` for type checkers and editors. The text of a kernel is checked by kbuild itself while
building; these types are a little wider: all numbers of one kind (`float16`, `float32`, `float64`) are one type here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import EllipsisType
from typing import Any, Generic, Literal, TypeAlias
from typing import overload as _overload

from typing_extensions import ParamSpec, Self, TypeVar

from kbuild import sim as sim
from kbuild._version import __version__ as __version__
from kbuild.derivatives.gradcheck import GradCheck as GradCheck
from kbuild.derivatives.gradcheck import GradientError as GradientError
from kbuild.derivatives.gradcheck import gradcheck as gradcheck
from kbuild.derivatives.jacobian import jacobian as jacobian
from kbuild.loader import factories as _factories
from kbuild.loader.available import devices as devices
from kbuild.loader.bound import BoundLaunch as BoundLaunch
from kbuild.loader.bound import bind as bind
from kbuild.loader.conditional import capture_if as capture_if
from kbuild.loader.conditional import capture_while as capture_while
from kbuild.loader.constants import Constant as Constant
from kbuild.loader.constants import constant as constant
from kbuild.loader.context import Device as Device
from kbuild.loader.context import synchronize as synchronize
from kbuild.loader.conversions import stream_from_torch as stream_from_torch
from kbuild.loader.conversions import stream_to_torch as stream_to_torch
from kbuild.loader.current import ScopedDevice as ScopedDevice
from kbuild.loader.current import ScopedStream as ScopedStream
from kbuild.loader.current import get_device as get_device
from kbuild.loader.current import get_stream as get_stream
from kbuild.loader.current import set_device as set_device
from kbuild.loader.current import set_stream as set_stream
from kbuild.loader.errors import BundleError as BundleError
from kbuild.loader.errors import DriverError as DriverError
from kbuild.loader.errors import LaunchError as LaunchError
from kbuild.loader.errors import StaleBundle as StaleBundle
from kbuild.loader.events import on_event as on_event
from kbuild.loader.graphs import Graph as Graph
from kbuild.loader.graphs import capture as capture
from kbuild.loader.hosts import HostDevice as HostDevice
from kbuild.loader.hosts import get_devices as get_devices
from kbuild.loader.memory.books import MemoryReport as MemoryReport
from kbuild.loader.memory.books import memory_report as memory_report
from kbuild.loader.memory.pools import set_pool_limit as set_pool_limit
from kbuild.loader.memory.pools import trim_memory as trim_memory
from kbuild.loader.peers import can_access as can_access
from kbuild.loader.peers import set_peer_access as set_peer_access
from kbuild.loader.providers import enable_jit as enable_jit
from kbuild.loader.readiness import get_grid as get_grid
from kbuild.loader.readiness import preload as preload
from kbuild.loader.resolve import launch as launch
from kbuild.loader.streams import Event as Event
from kbuild.loader.streams import Stream as Stream
from kbuild.loader.streams import elapsed_time as elapsed_time
from kbuild.loader.streams import stream_priorities as stream_priorities
from kbuild.loader.tape.pytorch import torch_function as torch_function
from kbuild.loader.tape.tape import Tape as Tape
from kbuild.loader.tape.watching import no_grad as no_grad
from kbuild.loader.timers import ScopedTimer as ScopedTimer
from kbuild.primitives.functions import array_cast as array_cast
from kbuild.primitives.functions import array_scan as array_scan
from kbuild.primitives.functions import radix_sort_pairs as radix_sort_pairs
from kbuild.primitives.functions import runlength_encode as runlength_encode
from kbuild.primitives.sums import array_inner as array_inner
from kbuild.primitives.sums import array_sum as array_sum

types = _factories

_Order: TypeAlias = Literal["relaxed", "acquire", "release", "acq_rel"]
_Scope: TypeAlias = Literal["device", "block", "system"]
_T = TypeVar("_T")
_U = TypeVar("_U")
_P = ParamSpec("_P")
_R = TypeVar("_R")
_N = TypeVar("_N", int, float)
_Row = TypeVar("_Row", bound=_Vec[Any])
_V = TypeVar("_V", bound=_Vec[Any])
_V3 = TypeVar("_V3", bound=_Vec3[Any])
_M = TypeVar("_M", bound=_Mat[Any, Any])
_C = TypeVar("_C", bound=_Vec[Any] | _Mat[Any, Any])

# What kernels are declared with

class Function(Generic[_P, _R]):
    """A function that kernels call. On the host it is an ordinary Python function."""

    function: Callable[_P, _R]
    module: str
    qualname: str
    name: str
    overloads: tuple[Function[..., Any], ...]
    __name__: str
    def __init__(self, function: Callable[_P, _R]) -> None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...

class Kernel(Function[..., None]):
    """A kernel: `kb.launch(kernel, dim, inputs=[…])`."""

    options: dict[str, object]
    bound: dict[str, Any]
    generic: Kernel | None
    target: Any
    def __init__(self, function: Callable[..., None], options: dict[str, object] | None = None) -> None: ...
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

class _Position(int):
    """A number over all axes, and along each."""

    x: int
    y: int
    z: int

@_overload
def kernel(function: Callable[..., None]) -> Kernel:
    """Declares a kernel: `@kernel` or `@kernel(fmad=False)`."""

@_overload
def kernel(
    *,
    fmad: bool = ...,
    asserts: bool = ...,
    enable_backward: bool = ...,
    block_dim: int = ...,
    cluster_dim: int = ...,
    max_iterations: int = ...,
    launch_bounds: int | tuple[int] | tuple[int, int] | Literal["auto"] = ...,
    launch_dim: int | str | tuple[int | str, ...] = ...,
    max_registers: int = ...,
    fast_math: bool = ...,
) -> Callable[[Callable[..., None]], Kernel]: ...
def cuda_kernel(
    file: str,
    name: str | None = None,
    *,
    block_dim: int = 256,
    shared_memory: int = 0,
    arrays: Literal["pointers", "views"] = "pointers",
) -> Callable[[Callable[..., None]], Kernel]:
    """Declares a kernel of a CUDA C++ file: `@cuda_kernel("reduce.cu", "reduce<float, 256>")` above its signature."""

@_overload
def func(function: Callable[_P, _R]) -> Function[_P, _R]:
    """Declares a function that kernels call. On the host it stays callable."""

@_overload
def func() -> Callable[[Callable[_P, _R]], Function[_P, _R]]: ...
@_overload
def overload(kernel: Kernel, types: Any) -> Kernel:
    """An instance of a generic kernel: `overload(scale, {"x": kb.array(dtype=float)})`, or a list of all types."""

@_overload
def overload(kernel: Callable[..., None]) -> Kernel: ...
def func_grad(function: Function[..., Any]) -> Callable[[Callable[_P, None]], Callable[_P, None]]:
    """Declares how a function is differentiated: `@func_grad(f)`, with `kb.adjoint[x] += …` for each parameter."""

def func_replay(function: Function[_P, _R]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Declares what stands in for a function where gradients run a kernel forward once more."""

def func_native(
    snippet: str, adj_snippet: str | None = None, replay_snippet: str | None = None
) -> Callable[[Callable[_P, _R]], Function[_P, _R]]:
    """Declares a function by its body in CUDA C++; the decorated function has its parameters, and what it returns."""

class _Adjoints:
    def __getitem__(self, parameter: _T) -> _T: ...
    def __setitem__(self, parameter: _T, value: _T) -> None: ...

adjoint: _Adjoints

def struct(cls: type[_T]) -> type[_T]:
    """Makes a class of annotated fields a record that kernels take; its fields are zero until set."""

# Arrays

_Memory: TypeAlias = Literal["pinned", "mapped", "managed"]
_S: TypeAlias = slice | EllipsisType
_I: TypeAlias = int | slice | EllipsisType
_Slices: TypeAlias = (  # at least one slice, or …
    _S
    | tuple[_S]
    | tuple[_S, _I]
    | tuple[_I, _S]
    | tuple[_S, _I, _I]
    | tuple[_I, _S, _I]
    | tuple[_I, _I, _S]
    | tuple[_S, _I, _I, _I]
    | tuple[_I, _S, _I, _I]
    | tuple[_I, _I, _S, _I]
    | tuple[_I, _I, _I, _S]
)

class array(Generic[_T]):
    """An array in the memory of a GPU or of the host; `array[float]` in a signature is one of one dimension."""

    ptr: int
    shape: tuple[int, ...]
    retain_grad: bool
    strides: tuple[int, ...]
    dtype: Any
    device: Device | HostDevice
    @_overload
    def __init__(
        self,
        data: Any = None,
        *,
        dtype: type[_T],
        shape: int | Sequence[int] | None = None,
        ptr: int | None = None,
        strides: Sequence[int] | None = None,
        device: Any = None,
        owner: Any = None,
        ndim: int | None = None,
        copy: bool = True,
        memory: _Memory | None = None,
        requires_grad: bool = False,
    ) -> None: ...
    @_overload
    def __init__(
        self: array[Any],
        data: Any,
        dtype: type[Any] | None = None,
        shape: int | Sequence[int] | None = None,
        ptr: int | None = None,
        strides: Sequence[int] | None = None,
        device: Any = None,
        owner: Any = None,
        ndim: int | None = None,
        copy: bool = True,
        memory: _Memory | None = None,
        requires_grad: bool = False,
    ) -> None: ...
    @property
    def requires_grad(self) -> bool:
        """Whether a `kb.Tape` carries gradients to this array."""
    @requires_grad.setter
    def requires_grad(self, value: bool) -> None: ...
    @property
    def grad(self) -> Self | None:
        """The array's gradient; None where it requires none."""
    @grad.setter
    def grad(self, value: array[_T] | None) -> None: ...
    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def capacity(self) -> int:
        """Bytes from the array's first element to the end of its last one."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements together."""

    @property
    def is_alive(self) -> bool:
        """False once `free` was called."""

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie side by side in row-major order."""

    @property
    def readonly(self) -> bool:
        """Whether the memory's owner has lent it for reading only."""

    @property
    def pinned(self) -> bool:
        """Whether this is memory of the host that GPUs copy from and to while the host goes on."""

    @property
    def host(self) -> array[_T]:
        """The same bytes as an array of the host, of one in mapped or managed memory."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    @_overload
    def __getitem__(self, index: int | tuple[int, ...]) -> _T:
        """An element; on the host this waits for the GPU."""

    @_overload
    def __getitem__(self, index: _Slices) -> array[_T]:
        """The same memory at these places, on the host."""

    @_overload
    def __setitem__(self, index: int | tuple[int, ...], value: _T) -> None:
        """Stores an element."""

    @_overload
    def __setitem__(self, index: _Slices, value: Any) -> None:
        """Copies an array or host data into these places, or one value into all of them, on the host."""

    def tolist(self) -> Any:
        """The elements as nested lists; vectors, matrices and structs as their host classes."""

    def list(self) -> Any:
        """All elements as one flat list."""

    def numpy(self) -> Any:
        """As a NumPy array; vectors and matrices add axes, structs are records. A copy, but of an array of the host."""

    def tobytes(self) -> bytearray:
        """A copy of the memory, in row-major order without gaps."""

    def assign(self, data: Any) -> None:
        """Copies host data or another array into this one."""

    def fill_(self, value: Any) -> None:
        """Writes one value into every element."""

    def zero_(self) -> None:
        """Makes every byte zero."""

    def to(self, device: Any) -> array[_T]:
        """This array where it is on the device already, else a copy there."""

    def view(self, dtype: type[_U]) -> array[_U]:
        """The same memory as elements of another type."""

    def reshape(self, *extents: int | Sequence[int], shape: int | Sequence[int] | None = None) -> array[_T]:
        """The same memory in another shape; one extent may be -1."""

    def flatten(self) -> array[_T]:
        """The same memory with one axis."""

    def transpose(self, axes: Sequence[int] | None = None) -> array[_T]:
        """The same memory with the axes in another order; reversed unless given."""

    def contiguous(self) -> array[_T]:
        """This array where it has no gaps, else a copy without."""

    def free(self) -> None:
        """Gives this array's hold on its memory back now."""

class array1d(array[_T]):
    """`array` with one dimension."""

class array2d(array[_T]):
    """`array` with two dimensions."""

    @_overload  # type: ignore[override]
    def __getitem__(self, index: int) -> array[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> _T: ...
    @_overload
    def __getitem__(self, index: _Slices) -> array[_T]: ...

class array3d(array[_T]):
    """`array` with three dimensions."""

    @_overload  # type: ignore[override]
    def __getitem__(self, index: int) -> array2d[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> array[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int, int]) -> _T: ...
    @_overload
    def __getitem__(self, index: _Slices) -> array[_T]: ...

class array4d(array[_T]):
    """`array` with four dimensions."""

    @_overload  # type: ignore[override]
    def __getitem__(self, index: int) -> array3d[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> array2d[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int, int]) -> array[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int, int, int]) -> _T: ...
    @_overload
    def __getitem__(self, index: _Slices) -> array[_T]: ...

class indexedarray(Generic[_T]):
    """An array seen through index arrays; `indexedarray[float]` in a signature is one of one dimension.

    Element (i, j) is `data[indices[0][i], indices[1][j]]`; an axis without an index array (None) is plain.
    """

    data: array[_T]
    indices: tuple[array[int] | None, ...]
    shape: tuple[int, ...]
    dtype: Any
    device: Device
    @_overload
    def __init__(self, *, dtype: type[_T], ndim: int | None = None) -> None: ...
    @_overload
    def __init__(
        self,
        data: array[_T],
        indices: array[int] | Sequence[array[int] | None] | None = None,
        dtype: type[_T] | None = None,
        ndim: int | None = None,
    ) -> None: ...
    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def size(self) -> int:
        """Number of elements that are seen."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements that are seen together."""

    @property
    def is_alive(self) -> bool:
        """False once `data` or an index array was freed."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int | tuple[int, ...]) -> _T:
        """An element, inside kernels."""

    def __setitem__(self, index: int | tuple[int, ...], value: _T) -> None:
        """Stores an element, inside kernels."""

    def tolist(self) -> Any:
        """The elements as nested lists; vectors, matrices and structs as their host classes."""

    def numpy(self) -> Any:
        """A copy as a NumPy array; vectors and matrices add axes, structs are records."""

    def tobytes(self) -> bytearray:
        """The elements' bytes, gathered in row-major order."""

    def contiguous(self) -> array[_T]:
        """The elements in an array of their own."""

    def assign(self, data: Any) -> None:
        """Copies host data or another array into the elements; where indices repeat, the last element stays."""

    def fill_(self, value: Any) -> None:
        """Sets every element."""

    def zero_(self) -> None:
        """Sets every byte of the elements to zero."""

class indexedarray1d(indexedarray[_T]):
    """`indexedarray` with one dimension."""

class indexedarray2d(indexedarray[_T]):
    """`indexedarray` with two dimensions."""

    @_overload  # type: ignore[override]
    def __getitem__(self, index: int) -> indexedarray[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> _T: ...

class indexedarray3d(indexedarray[_T]):
    """`indexedarray` with three dimensions."""

    @_overload  # type: ignore[override]
    def __getitem__(self, index: int) -> indexedarray2d[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> indexedarray[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int, int]) -> _T: ...

class indexedarray4d(indexedarray[_T]):
    """`indexedarray` with four dimensions."""

    @_overload  # type: ignore[override]
    def __getitem__(self, index: int) -> indexedarray3d[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> indexedarray2d[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int, int]) -> indexedarray[_T]: ...
    @_overload
    def __getitem__(self, index: tuple[int, int, int, int]) -> _T: ...

@_overload
def empty(
    shape: int | Sequence[int],
    dtype: type[_T],
    device: Any = None,
    memory: _Memory | None = None,
    requires_grad: bool = False,
) -> array[_T]:
    """An array of undefined content."""

@_overload
def empty(
    shape: int | Sequence[int], *, device: Any = None, memory: _Memory | None = None, requires_grad: bool = False
) -> array[float]: ...
@_overload
def zeros(
    shape: int | Sequence[int],
    dtype: type[_T],
    device: Any = None,
    memory: _Memory | None = None,
    requires_grad: bool = False,
) -> array[_T]:
    """An array of zeros (every byte zero)."""

@_overload
def zeros(
    shape: int | Sequence[int], *, device: Any = None, memory: _Memory | None = None, requires_grad: bool = False
) -> array[float]: ...
@_overload
def ones(
    shape: int | Sequence[int],
    dtype: type[_T],
    device: Any = None,
    memory: _Memory | None = None,
    requires_grad: bool = False,
) -> array[_T]:
    """An array of ones; vectors and matrices have ones in every component."""

@_overload
def ones(
    shape: int | Sequence[int], *, device: Any = None, memory: _Memory | None = None, requires_grad: bool = False
) -> array[float]: ...
@_overload
def full(
    shape: int | Sequence[int],
    value: Any,
    dtype: type[_T],
    device: Any = None,
    memory: _Memory | None = None,
    requires_grad: bool = False,
) -> array[_T]:
    """An array with `value` in every element; dtype as the value's, unless given."""

@_overload
def full(
    shape: int | Sequence[int],
    value: _T,
    *,
    device: Any = None,
    memory: _Memory | None = None,
    requires_grad: bool = False,
) -> array[_T]: ...
def empty_like(
    src: array[_T], device: Any = None, memory: _Memory | None = None, requires_grad: bool | None = None
) -> array[_T]:
    """An array of the shape, the type and the device of another, of undefined content."""

def zeros_like(
    src: array[_T], device: Any = None, memory: _Memory | None = None, requires_grad: bool | None = None
) -> array[_T]:
    """An array of the shape, the type and the device of another, of zeros."""

def ones_like(
    src: array[_T], device: Any = None, memory: _Memory | None = None, requires_grad: bool | None = None
) -> array[_T]:
    """An array of the shape, the type and the device of another, of ones."""

def full_like(
    src: array[_T], value: Any, device: Any = None, memory: _Memory | None = None, requires_grad: bool | None = None
) -> array[_T]:
    """An array of the shape, the type and the device of another with `value` in every element."""

def clone(
    src: array[_T],
    device: Any = None,
    memory: _Memory | None = None,
    stream: Any = None,
    requires_grad: bool | None = None,
) -> array[_T]:
    """A copy of an array, on its own device unless another is named, without gaps."""

@_overload
def asarray(data: Any, dtype: type[_T]) -> array[_T]:
    """An array over the memory of another library's array, kept alive, not copied."""

@_overload
def asarray(data: Any) -> array[Any]: ...
@_overload
def from_dlpack(data: Any, dtype: type[_T]) -> array[_T]:
    """An array over the memory of an object with `__dlpack__`, or of its capsule, kept alive, not copied."""

@_overload
def from_dlpack(data: Any) -> array[Any]: ...
@_overload
def from_torch(tensor: Any, dtype: type[_T], requires_grad: bool = False) -> array[_T]:
    """An array over the memory of a tensor of PyTorch's."""

@_overload
def from_torch(tensor: Any, *, requires_grad: bool = False) -> array[Any]: ...
@_overload
def from_cupy(data: Any, dtype: type[_T]) -> array[_T]:
    """An array over the memory of a CuPy array."""

@_overload
def from_cupy(data: Any) -> array[Any]: ...
@_overload
def from_jax(data: Any, dtype: type[_T]) -> array[_T]:
    """A read-only array over the memory of a JAX array."""

@_overload
def from_jax(data: Any) -> array[Any]: ...
def to_torch(whole: array[Any], requires_grad: bool = False) -> Any:
    """A tensor of PyTorch's over an array's memory."""

def to_cupy(whole: array[Any]) -> Any:
    """A CuPy array over the memory of an array on a GPU."""

def to_jax(whole: array[Any]) -> Any:
    """A JAX array over an array's memory, which may not be written to any more."""

def copy(
    dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int | None = None, stream: Any = None
) -> None:
    """Copies `src` (an array on any device, or host data) into the array `dest` of the same shape and type."""

def to_host(data: Any) -> Any:
    """Nested lists of an array of this or another library."""

# Vectors and matrices. Their elements can be assigned to, on the host too.

class _Vec(Generic[_N]):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[_N]: ...
    @_overload
    def __getitem__(self, index: int) -> _N: ...
    @_overload
    def __getitem__(self, index: slice) -> Any: ...
    def __setitem__(self, index: int | slice, value: Any) -> None: ...
    def __add__(self, other: Self) -> Self: ...
    def __sub__(self, other: Self) -> Self: ...
    @_overload
    def __mul__(self, other: _N) -> Self: ...
    @_overload
    def __mul__(self, other: _Mat[Any, _N]) -> Any: ...
    def __rmul__(self, other: _N) -> Self: ...
    def __matmul__(self, other: _Mat[Any, _N]) -> Any: ...
    def __truediv__(self, other: _N) -> Self: ...
    def __neg__(self) -> Self: ...
    def __pos__(self) -> Self: ...

class _Vec3(_Vec[_N]): ...

class _Quat(_Vec[float]):
    @_overload  # type: ignore[override]
    def __mul__(self, other: float) -> Self: ...
    @_overload
    def __mul__(self, other: Self) -> Self: ...

class _Transform(_Vec[float]):
    @_overload  # type: ignore[override]
    def __mul__(self, other: float) -> Self: ...
    @_overload
    def __mul__(self, other: Self) -> Self: ...

class _Mat(Generic[_Row, _N]):
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[_Row]: ...
    @_overload
    def __getitem__(self, index: int) -> _Row: ...
    @_overload
    def __getitem__(self, index: tuple[int, int]) -> _N: ...
    @_overload
    def __getitem__(self, index: slice | tuple[int | slice, int | slice]) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __add__(self, other: Self) -> Self: ...
    def __sub__(self, other: Self) -> Self: ...
    @_overload
    def __mul__(self, other: _N) -> Self: ...
    @_overload
    def __mul__(self, other: _Row) -> _Row: ...
    @_overload
    def __mul__(self, other: Self) -> Self: ...
    def __rmul__(self, other: _N) -> Self: ...
    @_overload
    def __matmul__(self, other: _Row) -> _Row: ...
    @_overload
    def __matmul__(self, other: Self) -> Self: ...
    def __truediv__(self, other: _N) -> Self: ...
    def __neg__(self) -> Self: ...
    def __pos__(self) -> Self: ...

# Types

bool_: TypeAlias = bool
int8: TypeAlias = int
int16: TypeAlias = int
int32: TypeAlias = int
int64: TypeAlias = int
uint8: TypeAlias = int
uint16: TypeAlias = int
uint32: TypeAlias = int
uint64: TypeAlias = int
float16: TypeAlias = float
float32: TypeAlias = float
float64: TypeAlias = float

class vec2(_Vec[float]):
    x: float
    y: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class vec2h(_Vec[float]):
    x: float
    y: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...

vec2f = vec2

class vec2d(_Vec[float]):
    x: float
    y: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class vec2b(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2ub(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2s(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2us(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2i(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2ui(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2l(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec2ul(_Vec[int]):
    x: int
    y: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3(_Vec3[float]):
    x: float
    y: float
    z: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class vec3h(_Vec3[float]):
    x: float
    y: float
    z: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...

vec3f = vec3

class vec3d(_Vec3[float]):
    x: float
    y: float
    z: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class vec3b(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3ub(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3s(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3us(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3i(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3ui(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3l(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec3ul(_Vec3[int]):
    x: int
    y: int
    z: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4(_Vec[float]):
    x: float
    y: float
    z: float
    w: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, w: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class vec4h(_Vec[float]):
    x: float
    y: float
    z: float
    w: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, w: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...

vec4f = vec4

class vec4d(_Vec[float]):
    x: float
    y: float
    z: float
    w: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: float, /) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, w: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class vec4b(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4ub(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4s(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4us(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4i(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4ui(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4l(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class vec4ul(_Vec[int]):
    x: int
    y: int
    z: int
    w: int
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, value: int, /) -> None: ...
    @_overload
    def __init__(self, x: int, y: int, z: int, w: int, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[int], /) -> None: ...


class mat22(_Mat[vec2, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec2) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class mat22h(_Mat[vec2h, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec2h) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...

mat22f = mat22

class mat22d(_Mat[vec2d, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec2d) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class mat33(_Mat[vec3, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec3) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class mat33h(_Mat[vec3h, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec3h) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...

mat33f = mat33

class mat33d(_Mat[vec3d, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec3d) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class mat44(_Mat[vec4, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec4) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class mat44h(_Mat[vec4h, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec4h) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...

mat44f = mat44

class mat44d(_Mat[vec4d, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: vec4d) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class quat(_Quat):
    x: float
    y: float
    z: float
    w: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, w: float, /) -> None: ...
    @_overload
    def __init__(self, axis: vec3, w: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class quath(_Quat):
    x: float
    y: float
    z: float
    w: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, w: float, /) -> None: ...
    @_overload
    def __init__(self, axis: vec3h, w: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...

quatf = quat

class quatd(_Quat):
    x: float
    y: float
    z: float
    w: float
    @_overload
    def __init__(self) -> None: ...
    @_overload
    def __init__(self, x: float, y: float, z: float, w: float, /) -> None: ...
    @_overload
    def __init__(self, axis: vec3d, w: float, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class transform(_Transform):
    p: vec3
    q: quat
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, p: vec3 = ..., q: quat = ...) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class transformh(_Transform):
    p: vec3h
    q: quath
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, p: vec3h = ..., q: quath = ...) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...

transformf = transform

class transformd(_Transform):
    p: vec3d
    q: quatd
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, p: vec3d = ..., q: quatd = ...) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class spatial_vector(_Vec[float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, top: vec3, bottom: vec3, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class spatial_vectorh(_Vec[float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, top: vec3h, bottom: vec3h, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...

spatial_vectorf = spatial_vector

class spatial_vectord(_Vec[float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, top: vec3d, bottom: vec3d, /) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float], /) -> None: ...


class spatial_matrix(_Mat[spatial_vector, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: spatial_vector) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


class spatial_matrixh(_Mat[spatial_vectorh, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: spatial_vectorh) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...

spatial_matrixf = spatial_matrix

class spatial_matrixd(_Mat[spatial_vectord, float]):
    @_overload
    def __init__(self, *values: float) -> None: ...
    @_overload
    def __init__(self, *rows: spatial_vectord) -> None: ...
    @_overload
    def __init__(self, values: Iterable[float] | Iterable[Any], /) -> None: ...


# Functions of the kernel language

@_overload
def tid() -> Any:
    """The thread's position: `i = kb.tid()`, or as many numbers as `dim` has: `i, j = kb.tid()`. One: `kb.tid(0, 2)`."""

@_overload
def tid(axis: int, ndim: int, /) -> int: ...
def block_dim() -> _Position:
    """How many threads a block has; `.x`, `.y`, `.z` along one axis."""

def block_idx() -> _Position:
    """The block's number in the grid; `.x`, `.y`, `.z` along one axis."""

def cluster_array(array: Any, rank: int) -> Any:
    """An array in shared memory as another block of the cluster has it: `there = kb.cluster_array(tile, rank)`."""

def cluster_dim() -> int:
    """How many blocks a cluster has, as `@kb.kernel(cluster_dim=…)` says."""

def cluster_rank() -> int:
    """The block's number in its cluster."""

def cluster_sync() -> None:
    """Waits until every thread of the cluster is here."""

def grid_dim() -> _Position:
    """How many blocks the grid has; `.x`, `.y`, `.z` along one axis."""

@_overload
def grid_range(stop: int, /) -> Any:
    """The range shared out among the threads of the grid: `for i in kb.grid_range(n)`."""

@_overload
def grid_range(start: int, stop: int, /) -> Any: ...
@_overload
def grid_range(start: int, stop: int, step: int, /) -> Any: ...
def lane_id() -> int:
    """The thread's number in its warp, 0 to 31."""

def shared_array(shape: Any, dtype: Any) -> Any:
    """An array in the memory of the block, declared once: `tile = kb.shared_array((16, 17), float)`."""

def syncthreads() -> None:
    """Waits until every thread of the block is here."""

def syncwarp(mask: int = 4294967295) -> None:
    """Waits until every thread of the warp that the mask names is here."""

def thread_idx() -> _Position:
    """The thread's number in its block; `kb.thread_idx().x` along one axis."""

def warp_id() -> int:
    """The warp's number in its block: that of the thread, over 32."""

def all(condition: int) -> bool:
    """Whether the condition holds in every lane of the warp."""

def any(condition: int) -> bool:
    """Whether the condition holds in some lane of the warp."""

def ballot(condition: int) -> int:
    """A bit for each lane whose condition holds."""

def match_any(value: int) -> int:
    """A bit for each lane of equal value."""

def shfl(value: _T, lane: int, width: int = 32) -> _T:
    """The value of lane `lane` mod `width` of the group of `width` lanes."""

def shfl_down(value: _T, delta: int, width: int = 32) -> _T:
    """The value of the lane `delta` above in the group, else the own one."""

def shfl_up(value: _T, delta: int, width: int = 32) -> _T:
    """The value of the lane `delta` below in the group, else the own one."""

def shfl_xor(value: _T, mask: int, width: int = 32) -> _T:
    """The value of the lane whose number is the own one ^ `mask`."""

@_overload
def block_max(value: _N, /) -> _N:
    """The largest value of the threads of the block, in each of them, as `max` has it; element by element."""

@_overload
def block_max(value: _C, /) -> _C: ...
@_overload
def block_min(value: _N, /) -> _N:
    """The smallest value of the threads of the block, in each of them, as `min` has it; element by element."""

@_overload
def block_min(value: _C, /) -> _C: ...
@_overload
def block_scan_exclusive(value: _N, /) -> _N:
    """The sum over the threads of the block below this one, by their numbers; zero in thread 0."""

@_overload
def block_scan_exclusive(value: _C, /) -> _C: ...
@_overload
def block_scan_inclusive(value: _N, /) -> _N:
    """The sum over the threads of the block up to this one, by their numbers: the warps before, then the own one."""

@_overload
def block_scan_inclusive(value: _C, /) -> _C: ...
@_overload
def block_sum(value: _N, /) -> _N:
    """The sum over the threads of the block, in each of them."""

@_overload
def block_sum(value: _C, /) -> _C: ...
@_overload
def warp_max(value: _N, /) -> _N:
    """The largest value of the lanes of the warp, in each of them, as `max` has it; element by element."""

@_overload
def warp_max(value: _C, /) -> _C: ...
@_overload
def warp_min(value: _N, /) -> _N:
    """The smallest value of the lanes of the warp, in each of them, as `min` has it; element by element."""

@_overload
def warp_min(value: _C, /) -> _C: ...
@_overload
def warp_scan_exclusive(value: _N, /) -> _N:
    """The sum over the lanes below this one; zero in lane 0."""

@_overload
def warp_scan_exclusive(value: _C, /) -> _C: ...
@_overload
def warp_scan_inclusive(value: _N, /) -> _N:
    """The sum over the lanes up to this one."""

@_overload
def warp_scan_inclusive(value: _C, /) -> _C: ...
@_overload
def warp_sum(value: _N, /) -> _N:
    """The sum over the lanes of the warp, in each of them."""

@_overload
def warp_sum(value: _C, /) -> _C: ...
def assume(condition: int) -> None:
    """Tells the compiler that the condition holds here; launches, where they can, and the simulator are held against it."""

def load_readonly(array: array[_T] | indexedarray[_T], /, *indices: int) -> _T:
    """An element of an array that nobody stores to while the kernel runs, through the cache for such data."""

def load_streaming(array: array[_T] | indexedarray[_T], /, *indices: int) -> _T:
    """An element that is needed once: caches let go of it first."""

def store_streaming(array: array[_T] | indexedarray[_T], /, *indices_and_value: Any) -> None:
    """`array[indices] = value`, of what is not read again soon: caches let go of it first."""

def static(expression: _T) -> _T:
    """The value of a Python expression, computed while building; as a condition it removes a branch before typing."""

def expect_eq(a: _T, b: _T) -> None:
    """Prints both where they differ."""

@_overload
def expect_near(a: float, b: float, tolerance: float = 1e-06) -> None:
    """Prints both where an element differs by more, or is no number."""

@_overload
def expect_near(a: _C, b: _C, tolerance: float = 1e-06) -> None: ...
def expect_neq(a: _T, b: _T) -> None:
    """Prints the value where both are equal."""

def print(*values: Any, sep: str = ' ', end: str = '\n') -> None:
    """Prints values of every type, also structs, tuples and constant texts. Python's own `print` means this."""

def printf(format: str, *values: Any) -> None:
    """Prints by a constant format, which is checked against the types."""

@_overload
def add(a: _N, b: _N, /) -> _N:
    """a + b."""

@_overload
def add(a: _C, b: _C, /) -> _C: ...
def bit_and(a: int, b: int) -> int:
    """a & b."""

def bit_or(a: int, b: int) -> int:
    """a | b."""

def bit_xor(a: int, b: int) -> int:
    """a ^ b."""

@_overload
def div(a: _N, b: _N, /) -> _N:
    """a / b; of integers towards zero, and zero where b is zero."""

@_overload
def div(a: _C, b: float, /) -> _C: ...
def floordiv(a: _N, b: _N) -> _N:
    """a // b: of floats the largest whole number not above the quotient; of integers as `div`."""

@_overload
def fma(a: float, b: float, c: float, /) -> float:
    """a * b + c, rounded once, element by element (float32 and float64)."""

@_overload
def fma(a: _C, b: _C, c: _C, /) -> _C: ...
@_overload
def fma(a: _C, b: float, c: _C, /) -> _C: ...
def invert(x: int) -> int:
    """~x."""

def lshift(a: int, b: int) -> int:
    """a << b; zero where b is not below the width."""

def mod(a: _N, b: _N) -> _N:
    """a % b with the sign of a, as in C; of integers a where b is zero."""

@_overload
def mul(a: _N, b: _N, /) -> _N:
    """a * b; of a matrix with a matrix or vector the matrix product."""

@_overload
def mul(a: _C, b: float, /) -> _C: ...
@_overload
def mul(a: float, b: _C, /) -> _C: ...
@_overload
def mul(m: _Mat[Any, Any], v: _V, /) -> _V: ...
@_overload
def mul(a: _M, b: _M, /) -> _M: ...
@_overload
def mul(a: quat, b: quat, /) -> quat: ...
@_overload
def mul(a: quath, b: quath, /) -> quath: ...
@_overload
def mul(a: quatd, b: quatd, /) -> quatd: ...
@_overload
def mul(a: transform, b: transform, /) -> transform: ...
@_overload
def mul(a: transformh, b: transformh, /) -> transformh: ...
@_overload
def mul(a: transformd, b: transformd, /) -> transformd: ...
@_overload
def neg(x: _N, /) -> _N:
    """-x."""

@_overload
def neg(x: _C, /) -> _C: ...
@_overload
def pos(x: _N, /) -> _N:
    """x."""

@_overload
def pos(x: _C, /) -> _C: ...
def rshift(a: int, b: int) -> int:
    """a >> b; zero, or the sign, where b is not below the width."""

def select(condition: int, otherwise: _T, then: _T) -> _T:
    """`where` with its values turned round."""

@_overload
def sub(a: _N, b: _N, /) -> _N:
    """a - b."""

@_overload
def sub(a: _C, b: _C, /) -> _C: ...
def unot(x: int) -> bool:
    """not x."""

def where(condition: int, then: _T, otherwise: _T) -> _T:
    """One of two values; only the one that is taken is computed."""

@_overload
def abs(x: _N, /) -> _N:
    """Absolute value; the smallest integer stays itself."""

@_overload
def abs(x: _C, /) -> _C:
    """`abs` of every element."""

def acos(x: float, /) -> float:
    """Arc cosine [rad]; x below -1 counts as -1, above 1 as 1."""

def asin(x: float, /) -> float:
    """Arc sine [rad]; x below -1 counts as -1, above 1 as 1."""

def atan(x: float, /) -> float:
    """Arc tangent [rad]."""

def atan2(y: float, x: float, /) -> float:
    """Angle of the point (x, y) [rad]."""

def bit_count(x: int, /) -> int:
    """How many bits of x are 1, in its own width (two's complement)."""

def cbrt(x: float, /) -> float:
    """Cube root."""

def ceil(x: float, /) -> float:
    """Smallest whole number not below x."""

def clamp(x: _N, low: _N, high: _N) -> _N:
    """x, but not below low nor above high; high wins where they cross."""

def copysign(x: float, y: float, /) -> float:
    """The magnitude of x with the sign of y."""

def cos(x: float, /) -> float:
    """Cosine of x [rad]."""

def cosh(x: float, /) -> float:
    """Hyperbolic cosine."""

def degrees(x: float) -> float:
    """Radians as degrees."""

def erf(x: float, /) -> float:
    """Error function."""

def erfc(x: float, /) -> float:
    """1 - erf(x), without cancellation."""

def erfcinv(x: float, /) -> float:
    """The x whose erfc is given; infinite at 0 and 2, NaN beyond."""

def erfinv(x: float, /) -> float:
    """The x whose error function is given; infinite at -1 and 1, NaN beyond."""

def exp(x: float, /) -> float:
    """e to the power x."""

def exp2(x: float, /) -> float:
    """2 to the power x."""

def floor(x: float, /) -> float:
    """Largest whole number not above x."""

def frac(x: float) -> float:
    """What is left of x without its whole part."""

@_overload
def isfinite(x: float, /) -> bool:
    """x is neither an infinity nor NaN."""

@_overload
def isfinite(x: _Vec[float] | _Mat[Any, float], /) -> bool:
    """Every element is neither an infinity nor NaN."""

@_overload
def isinf(x: float, /) -> bool:
    """x is an infinity."""

@_overload
def isinf(x: _Vec[float] | _Mat[Any, float], /) -> bool:
    """Some element is an infinity."""

@_overload
def isnan(x: float, /) -> bool:
    """x is not a number."""

@_overload
def isnan(x: _Vec[float] | _Mat[Any, float], /) -> bool:
    """Some element is not a number."""

@_overload
def lerp(a: float, b: float, t: float, /) -> float:
    """a at t = 0, b at t = 1, a straight line between and beyond."""

@_overload
def lerp(a: _C, b: _C, t: float, /) -> _C: ...
def log(x: float, /) -> float:
    """Natural logarithm."""

def log10(x: float, /) -> float:
    """Logarithm to base 10."""

def log2(x: float, /) -> float:
    """Logarithm to base 2."""

@_overload
def max(a: _N, b: _N, /, *more: _N) -> _N:
    """The larger; a NaN loses."""

@_overload
def max(a: _C, b: _C, /, *more: _C) -> _C:
    """`max` of every pair of elements."""

@_overload
def max(v: _Vec[_N], /) -> _N:
    """The largest element; a NaN loses."""

@_overload
def min(a: _N, b: _N, /, *more: _N) -> _N:
    """The smaller; a NaN loses."""

@_overload
def min(a: _C, b: _C, /, *more: _C) -> _C:
    """`min` of every pair of elements."""

@_overload
def min(v: _Vec[_N], /) -> _N:
    """The smallest element; a NaN loses."""

def nonzero(x: _N) -> _N:
    """0 for zero, else 1."""

def pow(x: float, y: float, /) -> float:
    """x to the power y."""

def radians(x: float) -> float:
    """Degrees as radians."""

def rint(x: float, /) -> float:
    """Nearest whole number, halves to even."""

def round(x: float, /) -> float:
    """Nearest whole number, halves away from zero."""

def rsqrt(x: float, /) -> float:
    """One over the square root."""

@_overload
def sign(x: _N, /) -> _N:
    """-1 below zero, else 1."""

@_overload
def sign(v: _C, /) -> _C:
    """-1 for every element below zero, 1 for the others."""

def sin(x: float, /) -> float:
    """Sine of x [rad]."""

def sinh(x: float, /) -> float:
    """Hyperbolic sine."""

def smoothstep(a: float, b: float, x: float) -> float:
    """0 up to a, 1 from b on, and Hermite's cubic between them."""

def sqrt(x: float, /) -> float:
    """Square root, correctly rounded."""

def step(x: _N) -> _N:
    """1 below zero, else 0."""

def tan(x: float, /) -> float:
    """Tangent of x [rad]."""

def tanh(x: float, /) -> float:
    """Hyperbolic tangent."""

def trunc(x: float, /) -> float:
    """The whole part of x."""

def identity(n: int, dtype: Any) -> Any:
    """The n × n matrix with ones on its diagonal."""

def matrix(*values: float, shape: tuple[int, int], dtype: Any = ...) -> Any:
    """A matrix of these numbers, row by row, or of zeros or equal numbers."""

def matrix_from_cols(*columns: _Vec[Any]) -> Any:
    """The matrix of these columns, vectors of one type."""

def matrix_from_rows(*rows: _Vec[Any]) -> Any:
    """The matrix of these rows, vectors of one type."""

def quat_identity(dtype: Any = ...) -> Any:
    """No rotation."""

@_overload
def quaternion(x: float, y: float, z: float, w: float, *, dtype: Any = ...) -> Any:
    """A quaternion of its four numbers, of the first three as a vector and the last, or of zeros."""

@_overload
def quaternion(axis: vec3, w: float, *, dtype: Any = ...) -> quat: ...
@_overload
def quaternion(axis: vec3h, w: float, *, dtype: Any = ...) -> quath: ...
@_overload
def quaternion(axis: vec3d, w: float, *, dtype: Any = ...) -> quatd: ...
@_overload
def quaternion(*, dtype: Any = ...) -> Any: ...
def transform_identity(dtype: Any = ...) -> Any:
    """No motion."""

@_overload
def transformation(p: vec3, q: quat, *, dtype: Any = ...) -> transform:
    """A rigid motion of a position and a rotation, or of its seven numbers."""

@_overload
def transformation(p: vec3h, q: quath, *, dtype: Any = ...) -> transformh: ...
@_overload
def transformation(p: vec3d, q: quatd, *, dtype: Any = ...) -> transformd: ...
@_overload
def transformation(*values: float, dtype: Any = ...) -> Any: ...
@_overload
def vector(*values: float, length: int = ..., dtype: Any = ...) -> Any:
    """A vector of these numbers, or of `length` zeros or equal numbers."""

@_overload
def vector(v: _V, /) -> _V: ...
def argmax(v: _Vec[Any]) -> int:
    """Position of the largest element, the first of equal ones; a NaN is never larger."""

def argmin(v: _Vec[Any]) -> int:
    """Position of the smallest element, the first of equal ones; a NaN is never smaller."""

def closest_point_edge_edge(p1: vec3, q1: vec3, p2: vec3, q2: vec3, epsilon: float) -> vec3:
    """(s, t, distance): how far along p1 → q1 and p2 → q2 [0 … 1] their closest points lie, and their distance."""

def cross(a: _V3, b: _V3) -> _V3:
    """Vector product of two vectors of length three."""

def cw_div(a: _C, b: _C) -> _C:
    """The quotients, element by element."""

def cw_mul(a: _C, b: _C) -> _C:
    """The products, element by element."""

def ddot(a: _Mat[Any, _N], b: _Mat[Any, _N]) -> _N:
    """Sum of the products of the elements of two matrices."""

@_overload
def determinant(m: mat22, /) -> float:
    """Determinant of a 2 × 2 matrix."""

@_overload
def determinant(m: mat22h, /) -> float: ...
@_overload
def determinant(m: mat22d, /) -> float: ...
@_overload
def determinant(m: mat33, /) -> float:
    """Determinant of a 3 × 3 matrix: the volume that its rows span."""

@_overload
def determinant(m: mat33h, /) -> float: ...
@_overload
def determinant(m: mat33d, /) -> float: ...
@_overload
def determinant(m: mat44, /) -> float:
    """Determinant of a 4 × 4 matrix: Laplace's expansion along its first two rows."""

@_overload
def determinant(m: mat44h, /) -> float: ...
@_overload
def determinant(m: mat44d, /) -> float: ...
def diag(v: _Vec[Any]) -> Any:
    """The square matrix with the vector on its diagonal and zeros elsewhere."""

def dot(a: _Vec[_N], b: _Vec[_N]) -> _N:
    """Sum of the products of the elements, from the first to the last."""

def get_diag(m: _Mat[Any, Any]) -> Any:
    """The diagonal of a square matrix as a vector."""

@_overload
def inverse(m: mat22, /) -> mat22:
    """Inverse of a 2 × 2 matrix; zeros where its determinant is zero."""

@_overload
def inverse(m: mat22h, /) -> mat22h: ...
@_overload
def inverse(m: mat22d, /) -> mat22d: ...
@_overload
def inverse(m: mat33, /) -> mat33:
    """Inverse of a 3 × 3 matrix by its adjugate; zeros where its determinant is zero."""

@_overload
def inverse(m: mat33h, /) -> mat33h: ...
@_overload
def inverse(m: mat33d, /) -> mat33d: ...
@_overload
def inverse(m: mat44, /) -> mat44:
    """Inverse of a 4 × 4 matrix by Laplace's expansion; zeros where its determinant is zero."""

@_overload
def inverse(m: mat44h, /) -> mat44h: ...
@_overload
def inverse(m: mat44d, /) -> mat44d: ...
def length(v: _Vec[float]) -> float:
    """Euclidean length."""

def length_sq(v: _Vec[_N]) -> _N:
    """Square of the Euclidean length."""

def norm_huber(v: _Vec[float], delta: float = 1.0) -> float:
    """Half the squared length up to a length of delta, and growing in proportion to the length beyond."""

def norm_l1(v: _Vec[_N]) -> _N:
    """Sum of the magnitudes of the elements."""

def norm_l2(v: _Vec[float]) -> float:
    """Euclidean length."""

def norm_pseudo_huber(v: _Vec[float], delta: float = 1.0) -> float:
    """delta · √(1 + |v|² / delta²): smooth, delta at zero, and near the length far from it."""

def normalize(v: _V) -> _V:
    """The vector at length one; zero stays zero."""

def outer(a: _V, b: _V) -> Any:
    """The matrix of every element of a times every element of b."""

@_overload
def skew(v: vec3) -> mat33:
    """The matrix that multiplies like `cross(v, …)`."""

@_overload
def skew(v: vec3h) -> mat33h: ...
@_overload
def skew(v: vec3d) -> mat33d: ...
def smooth_normalize(v: _V, delta: float = 1.0) -> _V:
    """The vector over its pseudo-Huber norm: smooth at zero as well."""

def trace(m: _Mat[Any, _N]) -> _N:
    """Sum of the diagonal of a square matrix."""

def transpose(m: _M) -> _M:
    """The matrix with rows and columns exchanged."""

@_overload
def eig3(A: mat33) -> tuple[mat33, vec3]:
    """(Q, d) with A = Q · diag(d) · Qᵀ for a symmetric 3 × 3 matrix: Q a rotation, eigenvalues in no promised order."""

@_overload
def eig3(A: mat33h) -> tuple[mat33h, vec3h]: ...
@_overload
def eig3(A: mat33d) -> tuple[mat33d, vec3d]: ...
@_overload
def qr3(A: mat33) -> tuple[mat33, mat33]:
    """(Q, R) with A = Q · R for a 3 × 3 matrix: Q a rotation, R upper triangular, by Givens' rotations."""

@_overload
def qr3(A: mat33h) -> tuple[mat33h, mat33h]: ...
@_overload
def qr3(A: mat33d) -> tuple[mat33d, mat33d]: ...
@_overload
def svd2(A: mat22) -> tuple[mat22, vec2, mat22]:
    """(U, sigma, V) with A = U · diag(sigma) · Vᵀ for a 2 × 2 matrix."""

@_overload
def svd2(A: mat22h) -> tuple[mat22h, vec2h, mat22h]: ...
@_overload
def svd2(A: mat22d) -> tuple[mat22d, vec2d, mat22d]: ...
@_overload
def svd3(A: mat33) -> tuple[mat33, vec3, mat33]:
    """(U, sigma, V) with A = U · diag(sigma) · Vᵀ for a 3 × 3 matrix."""

@_overload
def svd3(A: mat33h) -> tuple[mat33h, vec3h, mat33h]: ...
@_overload
def svd3(A: mat33d) -> tuple[mat33d, vec3d, mat33d]: ...
@_overload
def quat_between_vectors(a: vec3, b: vec3) -> quat:
    """The shortest rotation that takes the direction of a to that of b; of opposite ones, half a turn across a."""

@_overload
def quat_between_vectors(a: vec3h, b: vec3h) -> quath: ...
@_overload
def quat_between_vectors(a: vec3d, b: vec3d) -> quatd: ...
@_overload
def quat_from_axis_angle(axis: vec3, angle: float) -> quat:
    """The rotation by `angle` [rad] about an axis of any length."""

@_overload
def quat_from_axis_angle(axis: vec3h, angle: float) -> quath: ...
@_overload
def quat_from_axis_angle(axis: vec3d, angle: float) -> quatd: ...
@_overload
def quat_from_euler(e: vec3, i: int, j: int, k: int) -> quat:
    """The rotation by `e[i]` about axis i, then `e[j]` about j, then `e[k]` about k [rad]."""

@_overload
def quat_from_euler(e: vec3h, i: int, j: int, k: int) -> quath: ...
@_overload
def quat_from_euler(e: vec3d, i: int, j: int, k: int) -> quatd: ...
@_overload
def quat_from_matrix(m: mat33, /) -> quat:
    """The rotation of a matrix (the upper left 3 × 3 of a larger one), at length one."""

@_overload
def quat_from_matrix(m: mat33h, /) -> quath: ...
@_overload
def quat_from_matrix(m: mat33d, /) -> quatd: ...
@_overload
def quat_from_matrix(m: mat44, /) -> quat: ...
@_overload
def quat_from_matrix(m: mat44h, /) -> quath: ...
@_overload
def quat_from_matrix(m: mat44d, /) -> quatd: ...
@_overload
def quat_inverse(q: quat) -> quat:
    """The conjugate: the inverse rotation where q has length one."""

@_overload
def quat_inverse(q: quath) -> quath: ...
@_overload
def quat_inverse(q: quatd) -> quatd: ...
@_overload
def quat_rotate(q: quat, v: vec3) -> vec3:
    """v turned by q: (2 w² - 1) v + 2 (u · v) u + 2 w (u × v), u being the first three of q."""

@_overload
def quat_rotate(q: quath, v: vec3h) -> vec3h: ...
@_overload
def quat_rotate(q: quatd, v: vec3d) -> vec3d: ...
@_overload
def quat_rotate_inv(q: quat, v: vec3) -> vec3:
    """v turned back by q."""

@_overload
def quat_rotate_inv(q: quath, v: vec3h) -> vec3h: ...
@_overload
def quat_rotate_inv(q: quatd, v: vec3d) -> vec3d: ...
def quat_rpy(roll: float, pitch: float, yaw: float) -> Any:
    """The rotation by roll about x, then pitch about y, then yaw about z [rad], axes fixed in space."""

@_overload
def quat_slerp(a: quat, b: quat, t: float) -> quat:
    """a at t = 0, b at t = 1, and between them at constant speed on the shorter way."""

@_overload
def quat_slerp(a: quath, b: quath, t: float) -> quath: ...
@_overload
def quat_slerp(a: quatd, b: quatd, t: float) -> quatd: ...
@_overload
def quat_to_axis_angle(q: quat) -> tuple[vec3, float]:
    """Axis of length one and angle [rad] from 0 to pi: `axis, angle = quat_to_axis_angle(q)`."""

@_overload
def quat_to_axis_angle(q: quath) -> tuple[vec3h, float]: ...
@_overload
def quat_to_axis_angle(q: quatd) -> tuple[vec3d, float]: ...
@_overload
def quat_to_euler(q: quat, i: int, j: int, k: int) -> vec3:
    """The angles [rad] from which `quat_from_euler` makes q again, the one about j within ± pi/2."""

@_overload
def quat_to_euler(q: quath, i: int, j: int, k: int) -> vec3h: ...
@_overload
def quat_to_euler(q: quatd, i: int, j: int, k: int) -> vec3d: ...
@_overload
def quat_to_matrix(q: quat) -> mat33:
    """The matrix that turns as q does: its columns are the turned axes."""

@_overload
def quat_to_matrix(q: quath) -> mat33h: ...
@_overload
def quat_to_matrix(q: quatd) -> mat33d: ...
@_overload
def quat_to_rpy(q: quat) -> vec3:
    """Roll, pitch, yaw [rad] as `quat_rpy` takes them."""

@_overload
def quat_to_rpy(q: quath) -> vec3h: ...
@_overload
def quat_to_rpy(q: quatd) -> vec3d: ...
@_overload
def quat_twist(axis: vec3, q: quat) -> quat:
    """The part of q that turns about an axis of length one."""

@_overload
def quat_twist(axis: vec3h, q: quath) -> quath: ...
@_overload
def quat_twist(axis: vec3d, q: quatd) -> quatd: ...
@_overload
def quat_twist_angle(axis: vec3, q: quat) -> float:
    """How far q turns about an axis of length one [rad], 0 to 2 pi, without the direction."""

@_overload
def quat_twist_angle(axis: vec3h, q: quath) -> float: ...
@_overload
def quat_twist_angle(axis: vec3d, q: quatd) -> float: ...
@_overload
def quat_twist_angle_signed(axis: vec3, q: quat) -> float:
    """How far q turns about an axis of length one [rad], - 2 pi to 2 pi."""

@_overload
def quat_twist_angle_signed(axis: vec3h, q: quath) -> float: ...
@_overload
def quat_twist_angle_signed(axis: vec3d, q: quatd) -> float: ...
@_overload
def transform_compose(position: vec3, rotation: quat, scale: vec3) -> mat44:
    """The 4 × 4 matrix that scales along the axes, then turns, then moves."""

@_overload
def transform_compose(position: vec3h, rotation: quath, scale: vec3h) -> mat44h: ...
@_overload
def transform_compose(position: vec3d, rotation: quatd, scale: vec3d) -> mat44d: ...
@_overload
def transform_decompose(m: mat44) -> tuple[vec3, quat, vec3]:
    """Position, rotation and scale of a 4 × 4 matrix; a scale is the length of a column, so never negative."""

@_overload
def transform_decompose(m: mat44h) -> tuple[vec3h, quath, vec3h]: ...
@_overload
def transform_decompose(m: mat44d) -> tuple[vec3d, quatd, vec3d]: ...
@_overload
def transform_from_matrix(m: mat44) -> transform:
    """The rigid motion of a 4 × 4 matrix without scale."""

@_overload
def transform_from_matrix(m: mat44h) -> transformh: ...
@_overload
def transform_from_matrix(m: mat44d) -> transformd: ...
@_overload
def transform_get_rotation(t: transform) -> quat:
    """The rotation: `t.q`."""

@_overload
def transform_get_rotation(t: transformh) -> quath: ...
@_overload
def transform_get_rotation(t: transformd) -> quatd: ...
@_overload
def transform_get_translation(t: transform) -> vec3:
    """The position: `t.p`."""

@_overload
def transform_get_translation(t: transformh) -> vec3h: ...
@_overload
def transform_get_translation(t: transformd) -> vec3d: ...
@_overload
def transform_inverse(t: transform) -> transform:
    """The motion back."""

@_overload
def transform_inverse(t: transformh) -> transformh: ...
@_overload
def transform_inverse(t: transformd) -> transformd: ...
@_overload
def transform_multiply(a: transform, b: transform) -> transform:
    """The motion by b, then by a: `a * b`."""

@_overload
def transform_multiply(a: transformh, b: transformh) -> transformh: ...
@_overload
def transform_multiply(a: transformd, b: transformd) -> transformd: ...
@_overload
def transform_point(t: transform, x: vec3, /) -> vec3:
    """A point, turned and moved."""

@_overload
def transform_point(t: transformh, x: vec3h, /) -> vec3h: ...
@_overload
def transform_point(t: transformd, x: vec3d, /) -> vec3d: ...
@_overload
def transform_point(m: mat44, x: vec3, /) -> vec3:
    """A point moved by a 4 × 4 matrix."""

@_overload
def transform_point(m: mat44h, x: vec3h, /) -> vec3h: ...
@_overload
def transform_point(m: mat44d, x: vec3d, /) -> vec3d: ...
@_overload
def transform_to_matrix(t: transform) -> mat44:
    """The 4 × 4 matrix of a rigid motion."""

@_overload
def transform_to_matrix(t: transformh) -> mat44h: ...
@_overload
def transform_to_matrix(t: transformd) -> mat44d: ...
@_overload
def transform_vector(t: transform, v: vec3, /) -> vec3:
    """A direction, turned."""

@_overload
def transform_vector(t: transformh, v: vec3h, /) -> vec3h: ...
@_overload
def transform_vector(t: transformd, v: vec3d, /) -> vec3d: ...
@_overload
def transform_vector(m: mat44, v: vec3, /) -> vec3:
    """A direction turned and scaled by a 4 × 4 matrix."""

@_overload
def transform_vector(m: mat44h, v: vec3h, /) -> vec3h: ...
@_overload
def transform_vector(m: mat44d, v: vec3d, /) -> vec3d: ...
@_overload
def spatial_adjoint(r: mat33, s: mat33) -> spatial_matrix:
    """The 6 × 6 matrix [[r, 0], [s, r]]."""

@_overload
def spatial_adjoint(r: mat33h, s: mat33h) -> spatial_matrixh: ...
@_overload
def spatial_adjoint(r: mat33d, s: mat33d) -> spatial_matrixd: ...
@_overload
def spatial_bottom(s: spatial_vector) -> vec3:
    """The last three: linear velocity or force."""

@_overload
def spatial_bottom(s: spatial_vectorh) -> vec3h: ...
@_overload
def spatial_bottom(s: spatial_vectord) -> vec3d: ...
@_overload
def spatial_cross(a: spatial_vector, b: spatial_vector) -> spatial_vector:
    """How a twist a changes a twist b that moves with it."""

@_overload
def spatial_cross(a: spatial_vectorh, b: spatial_vectorh) -> spatial_vectorh: ...
@_overload
def spatial_cross(a: spatial_vectord, b: spatial_vectord) -> spatial_vectord: ...
@_overload
def spatial_cross_dual(a: spatial_vector, b: spatial_vector) -> spatial_vector:
    """How a twist a changes a wrench b that moves with it."""

@_overload
def spatial_cross_dual(a: spatial_vectorh, b: spatial_vectorh) -> spatial_vectorh: ...
@_overload
def spatial_cross_dual(a: spatial_vectord, b: spatial_vectord) -> spatial_vectord: ...
@_overload
def spatial_dot(a: spatial_vector, b: spatial_vector) -> float:
    """Sum of the products of the elements: the power of a wrench and a twist."""

@_overload
def spatial_dot(a: spatial_vectorh, b: spatial_vectorh) -> float: ...
@_overload
def spatial_dot(a: spatial_vectord, b: spatial_vectord) -> float: ...
@_overload
def spatial_top(s: spatial_vector) -> vec3:
    """The first three: angular velocity or torque."""

@_overload
def spatial_top(s: spatial_vectorh) -> vec3h: ...
@_overload
def spatial_top(s: spatial_vectord) -> vec3d: ...
@_overload
def transform_twist(t: transform, x: spatial_vector) -> spatial_vector:
    """A twist seen from the frame that t leads to: w' = q w, v' = q v + p × w'."""

@_overload
def transform_twist(t: transformh, x: spatial_vectorh) -> spatial_vectorh: ...
@_overload
def transform_twist(t: transformd, x: spatial_vectord) -> spatial_vectord: ...
@_overload
def transform_wrench(t: transform, x: spatial_vector) -> spatial_vector:
    """A wrench seen from the frame that t leads to: f' = q f, torque' = q torque + p × f'."""

@_overload
def transform_wrench(t: transformh, x: spatial_vectorh) -> spatial_vectorh: ...
@_overload
def transform_wrench(t: transformd, x: spatial_vectord) -> spatial_vectord: ...
@_overload
def velocity_at_point(twist: spatial_vector, r: vec3) -> vec3:
    """Linear velocity of the point r of a body: v + w × r."""

@_overload
def velocity_at_point(twist: spatial_vectorh, r: vec3h) -> vec3h: ...
@_overload
def velocity_at_point(twist: spatial_vectord, r: vec3d) -> vec3d: ...
def poisson(state: int, lam: float, /) -> int:
    """A count of the Poisson distribution with this rate; a rate of zero gives zero and draws nothing."""

@_overload
def rand_init(seed: int, /) -> int:
    """A state from a seed."""

@_overload
def rand_init(seed: int, offset: int, /) -> int:
    """A state from a seed and, for instance, the number of a thread: streams that have nothing in common."""

@_overload
def randf(state: int, /) -> float:
    """A uniform float32 in [0, 1), a multiple of 2**-24."""

@_overload
def randf(state: int, low: float, high: float, /) -> float:
    """A uniform float32 between low and high."""

@_overload
def randi(state: int, /) -> int:
    """A uniform int32."""

@_overload
def randi(state: int, low: int, high: int, /) -> int:
    """A uniform int32 in low … high - 1, by remainder: slightly uneven for very large ranges."""

def randn(state: int, /) -> float:
    """A number of the standard normal distribution, from two draws: Box and Muller, "A Note on the Generation of Random Normal Deviates", Annals of Mathematical Statistics 29(2), 1958."""

@_overload
def randu(state: int, /) -> int:
    """A uniform uint32."""

@_overload
def randu(state: int, low: int, high: int, /) -> int:
    """A uniform uint32 in low … high - 1, by remainder: slightly uneven for very large ranges."""

def sample_cdf(state: int, cdf: array[float], /) -> int:
    """The first position whose entry is not below a uniform number: `cdf` rises to 1.0 at its end."""

def sample_triangle(state: int, /) -> vec2:
    """A uniform point of a triangle as the first two barycentric coordinates."""

def sample_unit_cube(state: int, /) -> vec3:
    """A uniform point of [-0.5, 0.5)³."""

def sample_unit_disk(state: int, /) -> vec2:
    """A uniform point inside the unit circle."""

def sample_unit_hemisphere(state: int, /) -> vec3:
    """A uniform point inside the unit sphere with z at or above zero."""

def sample_unit_hemisphere_surface(state: int, /) -> vec3:
    """A uniform point of the unit sphere with z at or above zero."""

def sample_unit_ring(state: int, /) -> vec2:
    """A uniform point of the unit circle."""

def sample_unit_sphere(state: int, /) -> vec3:
    """A uniform point inside the unit sphere."""

def sample_unit_sphere_surface(state: int, /) -> vec3:
    """A uniform point of the unit sphere."""

def sample_unit_square(state: int, /) -> vec2:
    """A uniform point of [-0.5, 0.5)²."""

@_overload
def curlnoise(state: int, xy: vec2, octaves: int = 1, lacunarity: float = 2.0, gain: float = 0.5, /) -> vec2:
    """A field in the plane without divergence: the gradient of a sum of noises, turned by a right angle."""

@_overload
def curlnoise(state: int, xyz: vec3, octaves: int = 1, lacunarity: float = 2.0, gain: float = 0.5, /) -> vec3:
    """A field in space without divergence: the curl of three sums of noises; octaves as in the plane."""

@_overload
def curlnoise(state: int, xyzt: vec4, octaves: int = 1, lacunarity: float = 2.0, gain: float = 0.5, /) -> vec3:
    """A field in space without divergence that moves with time, the fourth coordinate; octaves as in the plane."""

@_overload
def noise(state: int, x: float, /) -> float:
    """Noise along a line."""

@_overload
def noise(state: int, xy: vec2, /) -> float:
    """Noise in the plane."""

@_overload
def noise(state: int, xyz: vec3, /) -> float:
    """Noise in space."""

@_overload
def noise(state: int, xyzt: vec4, /) -> float:
    """Noise in space and time."""

@_overload
def pnoise(state: int, x: float, px: int, /) -> float:
    """Noise along a line that repeats after px units."""

@_overload
def pnoise(state: int, xy: vec2, px: int, py: int, /) -> float:
    """Noise in the plane that repeats after whole periods, also where coordinates are negative."""

@_overload
def pnoise(state: int, xyz: vec3, px: int, py: int, pz: int, /) -> float:
    """Noise in space that repeats after whole periods, also where coordinates are negative."""

@_overload
def pnoise(state: int, xyzt: vec4, px: int, py: int, pz: int, pt: int, /) -> float:
    """Noise in space and time that repeats after whole periods, also where coordinates are negative."""

@_overload
def atomic_add(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Adds to the element."""

@_overload
def atomic_add(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_and(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Keeps the bits that the value has too."""

@_overload
def atomic_and(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_cas(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Replaces the element where it equals `compare`, bit by bit."""

@_overload
def atomic_cas(place: _T, compare: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_exch(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Replaces the element."""

@_overload
def atomic_exch(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_max(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Keeps the larger; a NaN loses."""

@_overload
def atomic_max(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_min(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Keeps the smaller; a NaN loses."""

@_overload
def atomic_min(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_or(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Sets the bits of the value."""

@_overload
def atomic_or(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_sub(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Subtracts from the element."""

@_overload
def atomic_sub(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def atomic_xor(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, order: _Order = ..., scope: _Scope = ...) -> _T:
    """Turns the bits of the value round."""

@_overload
def atomic_xor(place: _T, value: _T, /, *, order: _Order = ..., scope: _Scope = ...) -> _T: ...
@_overload
def lower_bound(arr: array[Any], value: float, /) -> int:
    """The first position whose element is not below the value, else the length of the array; elements never fall."""

@_overload
def lower_bound(arr: array[Any], arr_begin: int, arr_end: int, value: float, /) -> int:
    """The first position in arr_begin … arr_end - 1 whose element is not below the value, else arr_end."""

