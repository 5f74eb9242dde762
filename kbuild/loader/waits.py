"""Order between streams: who waits for whom, and for which memory; a capture waits for nothing outside of it."""

from __future__ import annotations

from ctypes import c_uint64

from . import driver
from .errors import DriverError
from .ordering import is_capturing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .context import Device


def wait_for_stream(device: Device, producer: int, consumer: int, other: Device | None = None) -> None:
    """Makes what follows on stream `consumer` wait for what stands on stream `producer` now, without blocking here.

    `other` is the consumer's GPU where it is not the producer's.
    """
    cuda, event = driver.get(), c_uint64()
    with device.current():
        try:
            cuda.call("cuEventCreate", event, 2)  # without timing: cheaper, and allowed in captures
            cuda.call("cuEventRecord", event, producer, about="stream 0x%x" % producer)
            with (device if other is None else other).current():  # 0 is the default stream of the current context
                cuda.call("cuStreamWaitEvent", consumer, event, 0, about="stream 0x%x" % consumer)
        finally:
            if event.value:
                cuda.call("cuEventDestroy_v2", event)


def wait_unless_captured(device: Device, producer: int, consumer: int) -> None:
    """`wait_for_stream`, but for a consumer that is being captured: a graph cannot wait for what is outside."""
    with device.current():
        is_free = not is_capturing(consumer) or is_capturing(producer)
    if is_free:
        wait_for_stream(device, producer, consumer)


_GONE = (201, 400, 709)  # what the driver says of a stream that its owner has destroyed, or whose context is gone


def wait(memory: Any, others: Any, consumer: int, place: Any) -> None:
    """Lets what follows on stream `consumer` of GPU `place` wait for what stands on other streams of the memory's GPU.

    For a stream that is gone the whole GPU is waited for instead, here and now.
    """
    for other in others:
        try:
            wait_for_stream(memory.device, other, consumer, place)
        except DriverError as error:
            if error.code not in _GONE or other not in memory.users:
                raise
            with memory.device.current():
                driver.get().call("cuCtxSynchronize", about=str(memory.device))
            memory.users.pop(other, None)


def gather(memory: Any) -> None:
    """Lets the stream that memory belongs to wait for the others that use it, so that it stands for all of them."""
    with memory.device.current():
        if is_capturing(memory.handle):
            return
    # Launches on the default stream leave no note.
    wait(memory, sorted({0, *memory.users} - {memory.handle}), memory.handle, memory.device)


def hand_over(memory: Any, place: Any, consumer: int, stream: Any) -> None:
    """Lets somebody's stream wait for everything that was done to an array's memory here, and the memory note it.

    `memory` is what owns it; of another library's only what stands on the streams that are meant here is known.
    """
    from . import current  # which knows of streams, as these wait

    users = getattr(memory, "users", None)
    if users is not None:
        memory.used_on(consumer, stream)
    with place.current():
        if is_capturing(consumer):
            return  # a capture cannot wait for what is outside of it
    # Launches on the default stream leave no note, so it is always one of them.
    others = {0, current.handle(place), *([] if users is None else (memory.handle, *users))} - {consumer}
    if users is None or memory.device is not place:
        for other in sorted(others):
            wait_for_stream(place, other, consumer)
    else:
        wait(memory, sorted(others), consumer, place)
