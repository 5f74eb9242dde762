"""Kernels that are written in CUDA C++, on a GPU: how much shared memory a launch may give their blocks.

Beyond 48 KiB the driver wants to be told before, once a kernel. The most that the GPU has is allowed to every one of
them: it changes nothing for launches that ask for less.
"""

from __future__ import annotations

from ctypes import c_int

from . import driver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import blocks, context
    from .kernel import BundleKernel

WITHOUT_ASKING = 48 * 1024  # bytes of shared memory of a block, those in its code included
_MOST_SHARED = 97  # CUdevice_attribute
_STATIC_SHARED, _MAX_DYNAMIC_SHARED = 1, 8  # CUfunction_attribute


def on_device(kernel: BundleKernel, function: int, row: dict[str, Any], device: context.Device) -> blocks.Shape:
    """The kernel's shape with what the GPU allows it. Raises DriverError."""
    known = [one["shared"] for one in row["resources"] if one["kernel"] == kernel.index]
    cuda, declared = driver.get(), c_int(known[0] if known else 0)
    with device.current():
        if not known:  # of PTX the driver alone can tell
            cuda.call("cuFuncGetAttribute", declared, _STATIC_SHARED, function, about=kernel.name)
        most: int = device.attribute(_MOST_SHARED) - declared.value
        if most + declared.value > WITHOUT_ASKING:
            cuda.call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, most, about=kernel.name)
    return kernel.shape.on(most)
