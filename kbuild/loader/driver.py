"""The CUDA driver through ctypes: the few functions the loader needs, and errors that say what to do.

`get()` opens `libcuda.so.1` at its first call and never again; importing this module opens nothing. Every call goes
through `Driver.call`, which raises DriverError; only a launch calls the library directly (`Driver.invoke`), and
`Driver.ask` does for those who want the status. What a start does not need is declared in symbols.py.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from _thread import RLock
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# What programs import that declare kernels or make arrays; any other has all that launches when the driver starts.
_REST = frozenset(("%s.types" % __package__, "%s.array" % __package__))

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
        self.invoke = _launcher(library)

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
            needed = "" if name not in _SIGNATURES else ", 11.4 is needed"
            raise DriverError("the CUDA driver has no %s: it is too old%s" % (name, needed), name) from None
        function.argtypes = arguments
        self._functions[name] = function
        return function

    def error(self, call: str, code: int, about: str = "") -> DriverError:
        """The error for a call's status: name, text, subject and remedy."""
        from . import failures  # after the fact alone

        name, text = self._say("cuGetErrorName", code), self._say("cuGetErrorString", code)
        return failures.error(self, call, code, name, text, about)

    def _say(self, function: str, code: int) -> str:
        text = c_char_p()
        getattr(self.library, function)(code, text)
        return text.value.decode("utf-8", "replace") if text.value else ""

    def query(self, name: str, *args: Any, about: str = "") -> int:
        """Calls a function whose first argument receives a handle or an address, and returns that."""
        result = c_uint64()
        self.call(name, result, *args, about=about)
        return result.value


def _launcher(library: ctypes.CDLL) -> Callable[..., int]:
    """`invoke(config, function, params, None)`: cuLaunchKernelEx, or its older sister behind the same arguments.

    A fresh function object without declared arguments: all four are ready-made ctypes objects, and are passed as such.
    """
    try:
        return library["cuLaunchKernelEx"]
    except AttributeError:
        plain = library["cuLaunchKernel"]

    def invoke(config: c_void_p, function: c_void_p, params: c_void_p, extra: None) -> int:
        *sizes, stream = struct.unpack("<7I4xQ", ctypes.string_at(config, 40))
        status: int = plain(function, *map(c_uint, sizes), c_void_p(stream), params, extra)
        return status

    return invoke


_driver: Driver | None = None
_lock = RLock()
_opening: list[None] = []  # not empty while a thread starts the driver
_forked = False
_fork_hooks: list[Callable[[], None]] = []


def get() -> Driver:
    """The driver, opened at the first call. Raises DriverError when there is none, or after a fork."""
    if _forked:
        raise DriverError(
            "this process was forked after its parent had started CUDA, which cannot work in both\n"
            "  help: start workers with multiprocessing.set_start_method('spawn'), or use the GPU in the workers only",
            code=3,
        )
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
    raise DriverError(
        "no CUDA driver on this machine: %s\n  help: install the NVIDIA driver; in a container, start it with the GPU "
        "(docker run --gpus all). A CUDA toolkit is not needed" % "; ".join(reasons),
        name=NO_DRIVER,
    )


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
