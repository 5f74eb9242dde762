"""Kernels that are written in CUDA C++, on a GPU: how much shared memory a launch may give their blocks.

Beyond 48 KiB the driver wants to be told before, once a kernel. The most that the GPU has is allowed to every one of
them: it changes nothing for launches that ask for less.
"""

from __future__ import annotations

from . import driver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import blocks, context
    from .kernel import BundleKernel

WITHOUT_ASKING = 48 * 1024  # bytes of shared memory of a block, those in its code included
_MOST_SHARED = 97  # CUdevice_attribute
_MAX_DYNAMIC_SHARED = 8  # CUfunction_attribute


def on_device(kernel: BundleKernel, function: int, row: dict[str, Any], device: context.Device) -> blocks.Shape:
    """The kernel's shape with what the GPU allows it. Raises DriverError."""
    declared = next((one["shared"] for one in row["resources"] if one["kernel"] == kernel.index), 0)
    most: int = device.attribute(_MOST_SHARED) - declared
    if most + declared > WITHOUT_ASKING:
        with device.current():
            driver.get().call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, most, about=kernel.name)
    return kernel.shape.on(most)
