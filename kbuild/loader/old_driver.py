"""Drivers older than CUDA 11.8, as JetPack 5 has them: a launch without cuLaunchKernelEx."""

from __future__ import annotations

import ctypes
import struct
from ctypes import c_uint, c_void_p

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def launcher(library: ctypes.CDLL) -> Callable[..., int]:
    """`invoke(config, function, params, None)` of cuLaunchKernel: a function that takes what cuLaunchKernelEx takes."""
    plain = library["cuLaunchKernel"]

    def invoke(config: c_void_p, function: c_void_p, params: c_void_p, extra: None) -> int:
        *sizes, stream = struct.unpack("<7I4xQ", ctypes.string_at(config, 40))
        status: int = plain(function, *map(c_uint, sizes), c_void_p(stream), params, extra)
        return status

    return invoke
