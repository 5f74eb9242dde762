"""Kernels to which a launch gives shared memory (for an array of that size, or in CUDA C++): how much a block may have.

Without a word, CUDA gives a block 48 KiB. What the GPU has beyond that is asked for once, when the code is loaded.
"""

from __future__ import annotations

from ctypes import byref, c_int

from . import driver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import blocks
    from .context import Device
    from .kernel import BundleKernel

_STATIC, _MAX_DYNAMIC = 1, 8  # CUfunction_attribute
_PLAIN, _OPT_IN = 8, 97  # CUdevice_attribute: shared memory of a block, and what it may have when asked for


def admitted(kernel: BundleKernel, function: int, device: Device) -> blocks.Shape:
    """The kernel's shape on a GPU, whose driver has been asked for all that a block may have. Raises DriverError."""
    static, cuda = c_int(), driver.get()
    most = max(device.attribute(_OPT_IN), device.attribute(_PLAIN))
    with device.current():
        cuda.call("cuFuncGetAttribute", byref(static), _STATIC, function, about=kernel.name)
        shape = kernel.shape.on_device(most, static.value)
        cuda.call("cuFuncSetAttribute", function, _MAX_DYNAMIC, shape.most, about=kernel.name)
    return shape
