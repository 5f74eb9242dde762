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
