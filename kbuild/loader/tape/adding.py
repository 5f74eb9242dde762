"""`to += source`, and whether an array is zero: what the gradients of copies need.

By a kernel of kbuild's own where the program has it (`primitives = ["copy"]`, see `providers.ADDITION`), else on the
host.
"""

from __future__ import annotations

import struct

from .. import abi, copying, interface, ordering, providers
from ..array_class import array
from ..copying import stream_on
from ..errors import LaunchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def add(to: array, source: array, about: str) -> None:
    """Adds an array to another of the same shape and type, on its device. Raises LaunchError."""
    scalar = interface.scalar_of(to._type.element)
    if scalar is None:
        raise LaunchError(
            "%s: copies of structs pass no gradients on (%r)\n  help: copy their fields in a kernel" % (about, to)
        )
    if any(extent > 1 and not stride for extent, stride in zip(to.shape, to.strides)):
        raise LaunchError(
            "%s: the gradient of %r is one number for several of its elements\n"
            "  help: copy the array before it is used (kb.clone)" % (about, to)
        )
    if to.device.kind == "cuda":
        provider = providers.find(providers.ADDITION)
        if provider is not None and provider(to, source):
            return
        _check_capture(to, about)
    total = _sums(scalar, to.tobytes(), source.tobytes())
    copying.upload(to, total)


def _sums(scalar: abi.Scalar, a: Any, b: Any) -> bytearray:
    format = "<%d%s" % (len(a) // scalar.size, scalar.code)
    numbers = [x + y for x, y in zip(struct.unpack(format, a), struct.unpack(format, b))]
    if scalar.size == 8:
        return bytearray(struct.pack(format, *numbers))
    return bytearray(b"".join([_rounded(scalar, number) for number in numbers]))


def _rounded(scalar: abi.Scalar, number: float) -> bytes:
    try:
        return struct.pack("<" + scalar.code, number)
    except OverflowError:  # a number that this type has no room for is infinite there
        return struct.pack("<" + scalar.code, float("inf") if number > 0 else float("-inf"))


def is_zero(one: array, about: str) -> bool:
    """Whether every byte of an array is zero; waits for the GPU. Raises LaunchError in a capture."""
    if one.device.kind == "cuda":
        _check_capture(one, about)
    return not any(one.tobytes())


def _check_capture(one: array, about: str) -> None:
    handle = stream_on(one.device, None)
    with one.device.current():
        if ordering.is_capturing(handle):
            raise LaunchError(
                "%s: its gradient goes by way of the host here, which a capture cannot do\n"
                '  help: write `primitives = ["copy"]` into [tool.kbuild], or copy in a kernel' % about
            )
