"""What is said when the driver refuses: the call, the code, by what it may have come, and what to do."""

from __future__ import annotations

from _thread import get_ident
from ctypes import c_char_p

from . import asserts, driver, recent
from .errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REMEDIES = {
    1: "an argument is out of the driver's range; for a launch, check block_dim and the size of the parameters",
    2: "free arrays that are no longer used, or make them smaller; `nvidia-smi` shows who holds the memory",
    3: "the driver was not initialised in this process; if it was forked, start it with the 'spawn' method",
    4: "the driver is shutting down: launch before the interpreter exits",
    34: "this is the stub library of the CUDA toolkit, not the driver: remove it from LD_LIBRARY_PATH",
    35: "the driver is too old: install a newer one",
    100: "no CUDA GPU is visible: check `nvidia-smi` and CUDA_VISIBLE_DEVICES; in a container, pass the GPU in",
    101: "there is no such GPU: kb.get_devices() lists them",
    200: "the code object is damaged: rebuild or reinstall the package",
    201: "no context of this GPU is current",
    209: "the bundle's code does not fit this GPU: add the GPU to `targets` in [tool.kbuild] and rebuild",
    218: "the PTX is not valid for this driver: add the GPU itself to `targets` in [tool.kbuild] and rebuild",
    222: "the PTX is newer than this driver: update the driver, or pin an older toolkit as in `sm_90@12.4`",
    304: "the operating system refused: check the limits of this process",
    400: "a handle is not valid here: is the stream one of this GPU, and still open?",
    500: "the code holds no such name: the bundle is damaged, rebuild it",
    700: "a kernel read or wrote outside its arrays; the process must restart; `compute-sanitizer python` says where",
    701: "the block is too large for the kernel's registers: launch with a smaller block_dim",
    702: "a kernel ran past the display watchdog's limit: launch less at a time; the process must restart",
    704: "peer access between these GPUs is enabled already",
    705: "peer access between these GPUs is not enabled",
    driver.ASSERT: "an assert in a kernel failed: the driver has printed which on stderr; the process must restart",
    715: "the GPU met an instruction it does not know; the process must restart",
    714: "a kernel's stack is damaged; the process must restart",
    716: "a kernel used an address that is not aligned to its type; check ptr and strides of foreign arrays; the "
    "process must restart",
    717: "a kernel used an address of the wrong kind; the process must restart",
    718: "a kernel's program counter left its code; the process must restart",
    719: "a kernel failed and its context is lost; the process must restart; `compute-sanitizer python` says where",
    802: "the GPU's system is not ready: is the fabric manager (or MPS) running?",
    803: "the driver's library and its kernel module differ in version: restart the machine after a driver update",
    804: "the driver library is newer than this GPU's driver supports: remove the cuda-compat package",
    801: "this GPU or its driver has no such function",
    900: "the stream is being captured into a graph, and this call cannot be: do it before the capture",
    901: "an earlier call spoiled the capture; what waits, and what frees or makes memory by itself, does",
    902: "two captures would become one: keep work of one graph on its own streams",
    904: "a stream that joined the capture has to be waited for before the capture ends",
    905: "the default stream cannot take part in a capture: name a stream",
    906: "work on the default stream would wait for a stream that is being captured: name another stream",
    908: "the capture was begun in another thread",
    912: "the GPU cannot hold such a cluster at once: make cluster_dim, block_dim or the shared memory smaller",
    999: "the driver gives no reason; `dmesg | grep -i nvrm` may",
}

_SHOWN = 8  # launches

_spoilers: dict[int, str] = {}  # by thread: the driver's last word against a capture


def error(cuda: driver.Driver, call: str, code: int, about: str) -> DriverError:
    """The error for a call's status, in the driver's own words; `about` is the call's subject."""
    name, text = _said(cuda, "cuGetErrorName", code), _said(cuda, "cuGetErrorString", code)
    name = name or "CUDA_ERROR_%d" % code
    message = "%s%s failed: %s (%d)" % (about + ": " if about else "", call, name, code)
    message += ", %s" % text if text else ""
    remedy = _REMEDIES.get(code)
    if code == driver.ASSERT:
        remedy = "%s%s" % (remedy, asserts.known())
    if code in driver.CAPTURING:
        message += _spoiled(code, message)
    if code in driver.STICKY:
        message += _story(cuda.lost)
    made = DriverError(message + ("\n  help: " + remedy if remedy else ""), call, code, name)
    if code in driver.STICKY and cuda.lost is None:
        cuda.lost = str(made)
    return made


def _said(cuda: driver.Driver, function: str, code: int) -> str:
    text = c_char_p()
    getattr(cuda.library, function)(code, text)
    return text.value.decode("utf-8", "replace") if text.value else ""


def no_driver(reasons: list[str]) -> DriverError:
    """The error where there is no library to ask."""
    return DriverError(
        "no CUDA driver on this machine: %s\n  help: install the NVIDIA driver; in a container, start it with the GPU "
        "(docker run --gpus all). A CUDA toolkit is not needed" % "; ".join(reasons),
        name=driver.NO_DRIVER,
    )


def too_old(function: str, is_needed: bool) -> DriverError:
    """The error where a driver lacks a function; `is_needed` by everything."""
    needed = ", 11.4 is needed" if is_needed else ""
    return DriverError("the CUDA driver has no %s: it is too old%s" % (function, needed), function)


def forked() -> DriverError:
    """The error in the child of a process that had started CUDA."""
    return DriverError(
        "this process was forked after its parent had started CUDA, which cannot work in both\n"
        "  help: start workers with multiprocessing.set_start_method('spawn'), or use the GPU in the workers only",
        code=3,
    )


def in_time(error: DriverError) -> DriverError:
    """The error of code that is loaded; where a capture forbids that, with the cure."""
    if error.code != driver.UNSUPPORTED:
        return error
    cure = "\n  help: load the code before the capture: kb.preload(), bundle.preload()"
    return DriverError(str(error) + cure, error.call, error.code, error.name)


def begin_capture() -> None:
    """A capture begins in this thread: what spoiled earlier ones does not matter any more."""
    _spoilers.pop(get_ident(), None)


def _spoiled(code: int, message: str) -> str:
    """What a message about a spoiled capture adds: by what it was spoiled, where that was an error in this thread."""
    if code == driver.INVALIDATED:
        found = _spoilers.get(get_ident())
        return "" if found is None else "\n  the capture was spoiled by: %s" % found
    _spoilers[get_ident()] = message.partition("\n")[0]
    return ""


def _story(lost: str | None) -> str:
    """What a message about a lost context adds: by what it was lost, or which launches it may have been."""
    if lost is not None:
        first = lost.partition("\n")[0]
        return "\n  the GPU's context was lost earlier in this process: %s" % first
    lines = []
    for ordinal, known in sorted(recent.logs.items()):
        launches = list(known)[::-1]
        if launches:
            lines.append(
                "\n  launches on cuda:%d since the last synchronisation that went well, newest first:" % ordinal
            )
            lines += ["\n    %s%s%s" % (name, _size(dim), _on(stream)) for name, dim, stream in launches[:_SHOWN]]
            if len(launches) > _SHOWN:
                more = "%d more" % (len(launches) - _SHOWN) if len(launches) < recent.KEPT else "more"
                lines.append("\n    … and %s" % more)
    if lines:
        lines.append("\n  help: KBUILD_CHECK=launch waits after each launch, and names the one that fails")
    return "".join(lines)


def _size(dim: Any) -> str:
    return "" if dim is None else ", dim=%r" % (dim,)  # a graph has none


def _on(stream: Any) -> str:
    return "" if stream is None else ", stream=%r" % (stream,)
