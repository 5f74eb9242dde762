"""The CUDA driver through ctypes: the few functions the loader needs, and errors that say what to do.

`get()` opens `libcuda.so.1` at its first call and never again; importing this module opens nothing. Every call goes
through `Driver.call`, which raises DriverError; only a launch calls the library directly (`Driver.invoke`), and
`Driver.ask` does for those who want the status. What a start does not need is declared in symbols.py.
"""

from __future__ import annotations

import ctypes
import os
import sys
from _thread import RLock
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .errors import DriverError

# What programs import that declare kernels or make arrays; any other has all that launches when the driver starts.
_REST = frozenset(("%s.types" % __package__, "%s.array_class" % __package__))

LIBRARIES = ("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1")

NO_DRIVER = "NO_DRIVER"  # name of the error where there is no library to ask
NO_BINARY = (209, 218, 222)  # no binary for this GPU, invalid PTX, PTX of a newer toolkit: another cubin may do
WRONG_CONTEXT = (201, 400)
ASSERT = 710  # an assert in a kernel failed
# After these the context is lost: every later call fails with the same code.
STICKY = frozenset({214, 700, 702, ASSERT, 714, 715, 716, 717, 718, 719})
NOT_READY = 600
CAPTURING = range(900, 909)  # what a capture forbids
UNSUPPORTED, INVALIDATED = 900, 901

_PTR, _OUT = c_uint64, POINTER(c_uint64)
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuGetErrorName": (c_int, POINTER(c_char_p)),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
    "cuDeviceGetCount": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (_OUT, c_int),
    "cuCtxGetCurrent": (_OUT,),
    "cuCtxSetCurrent": (_PTR,),
    "cuCtxSynchronize": (),
    "cuModuleLoadData": (_OUT, c_char_p),
    "cuModuleGetFunction": (_OUT, _PTR, c_char_p),
    "cuFuncGetAttribute": (POINTER(c_int), c_int, _PTR),
    "cuThreadExchangeStreamCaptureMode": (POINTER(c_int),),
    "cuMemAlloc_v2": (_OUT, c_size_t),
    "cuMemFree_v2": (_PTR,),
    "cuMemGetInfo_v2": (POINTER(c_size_t), POINTER(c_size_t)),
    "cuPointerGetAttribute": (c_void_p, c_int, _PTR),
    "cuEventCreate": (_OUT, c_uint),
    "cuEventRecord": (_PTR, _PTR),
    "cuStreamWaitEvent": (_PTR, _PTR, c_uint),
    "cuEventDestroy_v2": (_PTR,),
}


class Driver:
    """The opened library. `version` is (major, minor) of CUDA; `invoke(config, function, params, None)` launches."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._functions: dict[str, Any] = {}
        self.lost: str | None = None  # the message of the error by which the context was lost
        for name, arguments in _SIGNATURES.items():
            self._declare(name, arguments)
        version = c_int()
        self.call("cuDriverGetVersion", version)
        self.version = (version.value // 1000, version.value % 1000 // 10)
        self.call("cuInit", 0)
        try:  # a function object of its own: its arguments are ready-made ctypes objects, which it passes as such
            self.invoke: Any = library["cuLaunchKernelEx"]
        except AttributeError:
            from . import old_driver

            self.invoke = old_driver.launcher(library)

    def call(self, name: str, *args: Any, about: str = "") -> None:
        """Calls the driver; DriverError when it refuses. `about` names the kernel or the device in the message."""
        status = self.ask(name, *args)
        if status:
            raise self.error(name, status, about)

    def ask(self, name: str, *args: Any) -> int:
        """Calls the driver and gives its status, for callers to whom a refusal is an answer."""
        try:
            function = self._functions[name]
        except KeyError:
            from .symbols import SIGNATURES  # no part of a start

            function = self._declare(name, SIGNATURES[name])
        status: int = function(*args)
        return status

    def _declare(self, name: str, arguments: tuple[Any, ...]) -> Any:
        try:
            function = getattr(self.library, name)
        except AttributeError:
            from . import failures

            raise failures.too_old(name, name in _SIGNATURES) from None
        function.argtypes = arguments
        self._functions[name] = function
        return function

    def error(self, call: str, code: int, about: str = "") -> DriverError:
        """The error for a call's status: name, text, subject and remedy."""
        from . import failures  # after the fact alone

        return failures.error(self, call, code, about)

    def query(self, name: str, *args: Any, about: str = "") -> int:
        """Calls a function whose first argument receives a handle or an address, and returns that."""
        result = c_uint64()
        self.call(name, result, *args, about=about)
        return result.value


_driver: Driver | None = None
_lock = RLock()
_opening: list[None] = []  # not empty while a thread starts the driver
_forked = False
_fork_hooks: list[Callable[[], None]] = []


def get() -> Driver:
    """The driver, opened at the first call. Raises DriverError when there is none, or after a fork."""
    if _forked:
        from . import failures

        raise failures.forked()
    return _driver or _open()


def _open() -> Driver:
    global _driver
    with _lock:
        if _driver is None:
            if not _REST.isdisjoint(sys.modules):
                from . import ahead  # what it gets ready imports this module

                ahead.start()
            _opening.append(None)
            try:
                _driver = Driver(_load())
            finally:
                _opening.pop()
    return _driver


def _load() -> ctypes.CDLL:
    reasons = []
    for path in LIBRARIES:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            reasons.append(str(error))
    from . import failures

    raise failures.no_driver(reasons)


def on_fork(hook: Callable[[], None]) -> None:
    """Calls `hook` in every forked child, so that caches of handles can be dropped and locks made anew."""
    _fork_hooks.append(hook)


def _after_fork() -> None:
    global _forked, _lock
    _lock = RLock()  # the thread that held it in the parent, if one did, is not here to give it back
    _forked = _forked or _driver is not None or bool(_opening)
    for hook in _fork_hooks:
        hook()


os.register_at_fork(after_in_child=_after_fork)


def is_usable() -> bool:
    """Whether the driver is open and belongs to this process."""
    return _driver is not None and not _forked
