"""The GPUs of this machine with their primary contexts; the host as a device is in hosts.py.

A GPU's primary context is retained once, the one that the CUDA runtime and every library above it use too. A thread
without a context gets it and keeps it, as with the runtime; a thread with another one gets its own back. A finalizer,
which may come in any thread, leaves either as it was.
"""

from __future__ import annotations

import os
from _thread import RLock
from ctypes import c_int, c_uint64, create_string_buffer

from . import driver, recent, select
from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("Device", "synchronize")

VARIABLE = "KBUILD_DEVICE"
_COMPUTE_MAJOR, _COMPUTE_MINOR = 75, 76  # CUdevice_attribute
# A look into the table behind os.environ costs a tenth of one through it, and every new array takes one.
_variables: Any = getattr(os.environ, "_data", os.environ)
_name: Any = VARIABLE if _variables is os.environ else os.environ.encodekey(VARIABLE)
_lock = RLock()
_devices: list[Device] | None = None


class Device(select.Device):
    """One GPU: `str(device)` is `cuda:0`; `name`, compute capability `major`.`minor`, `driver` (its CUDA version)."""

    kind = "cuda"
    is_cuda, is_cpu = True, False
    # Answered by facts.py:
    is_integrated: bool  # the GPU shares its memory with the host, as on a Jetson
    total_memory: int  # bytes
    free_memory: int  # bytes that nobody on the machine holds
    sm_count: int  # streaming multiprocessors
    arch: int  # the compute capability as one number: 90 for 9.0

    def __init__(self, ordinal: int) -> None:
        cuda = driver.get()
        handle, name = c_int(), create_string_buffer(256)
        cuda.call("cuDeviceGet", handle, ordinal)
        cuda.call("cuDeviceGetName", name, 256, handle)
        self.ordinal, self.handle = ordinal, handle.value
        self.alias = "cuda:%d" % ordinal
        self.kinds: dict[Any, Any] = {}  # of arrays: kinds.py
        self._attributes: dict[int, int] = {}
        major, minor = self.attribute(_COMPUTE_MAJOR), self.attribute(_COMPUTE_MINOR)
        super().__init__(name.value.decode("utf-8", "replace"), major, minor, cuda.version)
        self._context = c_uint64()  # the driver writes it here; 0: not yet

    def attribute(self, which: int) -> int:
        """What the driver says of the GPU, by the number of a CUdevice_attribute; asked once."""
        known = self._attributes.get(which)
        if known is None:
            value = c_int()
            driver.get().call("cuDeviceGetAttribute", value, which, self.handle, about="cuda:%d" % self.ordinal)
            known = self._attributes[which] = value.value
        return known

    @property
    def target(self) -> str:
        """The compute capability as targets are written: `sm_90`."""
        return "sm_%d" % self.number

    @property
    def context(self) -> int:
        """Handle of the primary context, retained at the first use."""
        return self._context.value or self._retain()

    def _retain(self) -> int:
        cuda = driver.get()
        with _lock:
            if not self._context.value:
                cuda.call("cuDevicePrimaryCtxRetain", self._context, self.handle, about=str(self))
            return self._context.value

    def current(self) -> Current:
        """`with device.current():` makes the primary context current for some driver calls."""
        return Current(self._context.value or self._retain())

    def passing(self) -> Current:
        """The same for a finalizer. It comes at any time, in any thread: one that had no context has none afterwards,
        since to the CUDA runtime and the libraries above it the context says which GPU is meant.
        """
        return Current(self._context.value or self._retain(), False)

    def is_current(self) -> bool:
        """Whether this thread can go without `current`, which costs more."""
        cuda, found = driver.get(), c_uint64()
        status = cuda.ask("cuCtxGetCurrent", found)
        if status:
            raise cuda.error("cuCtxGetCurrent", status)
        return found.value == (self._context.value or self._retain())

    def __getattr__(self, name: str) -> Any:
        """What few programs ask of a device."""
        if name.startswith("_"):
            raise AttributeError(name)
        from . import facts

        return facts.of(self, name)

    def __eq__(self, other: object) -> bool:
        """`device == "cuda:0"`; `"cuda"` is the GPU that is meant where none is named."""
        if isinstance(other, str):
            return other == self.alias or (other == "cuda" and get_device(other) is self)
        return self is other

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[object, ...]:
        return get_device, (str(self),)

    def __str__(self) -> str:
        return self.alias

    def __repr__(self) -> str:
        return "<kb.Device %s: %s, %s>" % (self, self.name, self.target)


class Current:
    """Makes a context current in this thread, and puts back what was there.

    Set and set back, not pushed and popped: wherever an interrupt falls, setting back is right, and no context stays on
    the stack.
    """

    __slots__ = ("context", "keeps", "present")

    def __init__(self, context: int, keeps: bool = True) -> None:
        """`keeps`: a thread that had none keeps it."""
        self.context, self.keeps, self.present = context, keeps, 0

    def __enter__(self) -> None:
        cuda, found = driver.get(), c_uint64()
        status = cuda.ask("cuCtxGetCurrent", found)
        if status:
            raise cuda.error("cuCtxGetCurrent", status)
        self.present = found.value
        try:
            if self.present != self.context:
                cuda.call("cuCtxSetCurrent", self.context)
        except BaseException:
            self.__exit__(True)
            raise

    def __exit__(self, kind: object, *_: object) -> None:
        if self.present == self.context or (self.keeps and not self.present):
            return
        try:
            self._set_back()
        except BaseException as error:
            try:
                self._set_back()  # again, since the context is the program's, and it would not notice
            except DriverError:
                if not kind:  # else there is an error on its way, which goes first
                    raise
            if not isinstance(error, DriverError):  # an interrupt
                raise

    def _set_back(self) -> None:
        driver.get().call("cuCtxSetCurrent", self.present, about="the program's own context")


def devices() -> list[Device]:
    """All GPUs. Raises DriverError when there is no driver, or no GPU."""
    global _devices
    if _devices is None:
        cuda, count = driver.get(), c_int()  # outside the lock, which is nobody's in a forked child
        with _lock:
            if _devices is None:
                cuda.call("cuDeviceGetCount", count)
                _devices = [Device(i) for i in range(count.value)]
    if not _devices:
        raise driver.get().error("cuDeviceGetCount", 100)
    return _devices


def get_device(spec: object = None) -> Any:
    """The device that a number, `cuda`, `cuda:1`, `cpu`, `sim` or a Device stands for.

    None is the device of the innermost `ScopedDevice` or `ScopedStream` of this thread, else that of `set_device`, of
    the variable KBUILD_DEVICE, or the first GPU; `cuda` is the same where that is a GPU, else the first. Raises
    DriverError.
    """
    if spec is None:
        if not scopes and _name not in _variables:
            return (_devices or devices())[0]
        spec = chosen()
    if isinstance(spec, Device):
        return spec
    from . import naming

    return naming.device(spec)


def chosen() -> object:
    """How the device is named that is meant where none is named."""
    if scopes:
        from . import current

        found = current.device()
        if found is not None:
            return found
    return os.environ.get(VARIABLE, 0)


scopes: list[object] = []  # not empty while anybody has chosen a device or a stream; see current.py


def synchronize(device: Any = None) -> None:
    """Waits until a device (see `get_device`) has done everything that was launched on it."""
    place = get_device(device)
    if not isinstance(place, Device):
        return  # the host does everything at once
    with place.current():
        driver.get().call("cuCtxSynchronize", about=str(place))
    recent.passed(place.ordinal)


def lock() -> RLock:
    """Held while something is made of which there is one a GPU. Never asked for in a forked child."""
    return _lock


def _forget_lock() -> None:
    """In a forked child: whoever held the lock in the parent is not here to give it back."""
    global _lock
    _lock = RLock()


driver.on_fork(_forget_lock)
