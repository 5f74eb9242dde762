"""Arrays, types, devices and streams of PyTorch and JAX, and DLPack, by Warp's names and arguments."""

from __future__ import annotations

from kbuild.loader import conversions, dlpack
from kbuild.loader.array import array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def from_torch(
    t: Any, dtype: Any = None, requires_grad: bool | None = None, grad: Any = None, return_ctype: bool = False
) -> Any:
    """An array over a tensor's memory, whose gradient is the tensor's, or `grad`. With `return_ctype` too: here an
    array itself is what launches quickly.
    """
    requires_grad = getattr(t, "requires_grad", False) if requires_grad is None else requires_grad
    made = conversions.from_torch(t, dtype, bool(requires_grad) and grad is None)
    if grad is not None:
        made.grad = grad if isinstance(grad, array) else conversions.from_torch(grad, dtype)
    return made


def to_torch(a: Any, requires_grad: bool | None = None) -> Any:
    """A tensor over an array's memory."""
    requires_grad = getattr(a, "requires_grad", False) if requires_grad is None else requires_grad
    made = conversions.to_torch(a, bool(requires_grad))
    if requires_grad and a.requires_grad:
        made.grad = conversions.to_torch(a.grad)
    return made


def from_jax(jax_array: Any, dtype: Any = None) -> Any:
    """An array over the memory of a JAX array."""
    return conversions.from_jax(jax_array, dtype)


def to_jax(warp_array: Any) -> Any:
    """A JAX array over an array's memory."""
    return conversions.to_jax(warp_array)


def from_dlpack(source: Any, dtype: Any = None) -> Any:
    """An array over the memory of an object with `__dlpack__`, or of a capsule."""
    return dlpack.from_dlpack(source, dtype)


def to_dlpack(wp_array: Any) -> Any:
    """A capsule of DLPack over an array's memory."""
    return wp_array.__dlpack__()
