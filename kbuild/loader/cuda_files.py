"""Kernels that a project has written in CUDA C++, in files of its own: `@cuda_kernel("saxpy.cu")` above a signature.

    @kb.cuda_kernel("kernels/saxpy.cu")
    def saxpy(n: int, a: float, x: kb.array(dtype=float), y: kb.array(dtype=float)): ...

The decorated function says what the parameters are, in the order of the C++ ones. A launch finds the machine code in
the bundle as it does for kernels in Python; the file is read where a build asks.
"""

from __future__ import annotations

from .errors import LaunchError, did_you_mean
from .types import Kernel, declare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ("CudaKernel", "cuda_kernel")

POINTERS, VIEWS = "pointers", "views"
_DEFAULT_BLOCK = 256


class CudaSource:
    """Where a kernel's code is: `file`, relative to the folder of the module that declares it; `name`, what the kernel
    is called there (`saxpy`, `image::blur`, `reduce<float, 256>`); how it takes arrays; the bytes of shared memory that
    each block gets where a launch says nothing.
    """

    __slots__ = ("arrays", "file", "name", "shared_memory")

    def __init__(self, file: str, name: str, arrays: str, shared_memory: int) -> None:
        self.file, self.name, self.arrays, self.shared_memory = file, name, arrays, shared_memory


class CudaKernel(Kernel):
    """A kernel in CUDA C++. The body of the declaring function, unless it is `...`, is what the simulator runs."""

    def __init__(self, function: Callable[..., Any], cuda: CudaSource, block_dim: int) -> None:
        super().__init__(function, {"block_dim": block_dim, "enable_backward": False})
        self.cuda = cuda

    def __call__(self, *args: object, **kwargs: object) -> Any:
        text = "%s is a kernel: write kb.launch(%s, grid=…, block=…, inputs=[…])"
        raise LaunchError(text % (self.name, self.__name__))


def cuda_kernel(
    file: str,
    name: str | None = None,
    *,
    block_dim: int = _DEFAULT_BLOCK,
    shared_memory: int = 0,
    arrays: str = POINTERS,
) -> Callable[[Callable[..., Any]], CudaKernel]:
    """Declares a kernel of a CUDA C++ file: `@cuda_kernel("reduce.cu", "reduce<float, 256>")` above a function whose
    annotated parameters are those of the kernel, and whose body is `...`.

    `file` is relative to the module's own. `name` is the kernel's name there, as an expression of C++: qualified, an
    instance of a template; by default the function's own name. `block_dim` is the number of threads of a block and
    `shared_memory` the bytes of shared memory that each gets beside what the file declares, unless a launch says
    otherwise. An array is a pointer to its first element, and must have no gaps; with `arrays="views"` it is a
    `kb::array` of `<kbuild/array.cuh>`, which knows its extents and strides. Raises TypeError.
    """
    for what, value, kind in (("file", file, str), ("name", name or "", str), ("block_dim", block_dim, int)):
        if type(value) is not kind:
            raise TypeError("@cuda_kernel: %s wants %s, not %r" % (what, kind.__name__, value))
    if not file or (name is not None and not name.strip()):
        raise TypeError("@cuda_kernel: %s is empty" % ("name" if file else "file"))
    if "\n" in (name or "") or "\0" in file:
        raise TypeError("@cuda_kernel: %r is no %s" % ((file, "file") if "\0" in file else (name, "name of a kernel")))
    if not 1 <= block_dim <= 1024:
        raise TypeError("@cuda_kernel: block_dim is 1 to 1024 threads, not %r" % block_dim)
    if type(shared_memory) is not int or not 0 <= shared_memory < 1 << 31:
        raise TypeError("@cuda_kernel: shared_memory is a number of bytes, 0 or more, not %r" % (shared_memory,))
    if arrays not in (POINTERS, VIEWS):
        near = did_you_mean(str(arrays), (POINTERS, VIEWS))
        raise TypeError("@cuda_kernel: arrays is %r or %r, not %r%s" % (POINTERS, VIEWS, arrays, near))

    def declared(function: Callable[..., Any]) -> CudaKernel:
        if not hasattr(function, "__code__"):
            raise TypeError("@cuda_kernel wants a function, not %r" % (function,))
        own = function.__name__ if name is None else name.strip()
        made = CudaKernel(function, CudaSource(file, own, arrays, shared_memory), block_dim)
        declare(made)
        return made

    return declared
