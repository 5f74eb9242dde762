"""What the loader tells those who want to know: bundles opened, code loaded or refused, kernels compiled at launch.

    stop = kb.on_event(lambda event: metrics.count("kbuild." + event["event"]))

An event is a dictionary of texts and numbers. `event` says which it is:

| event | other keys | when |
|---|---|---|
| `opened` | `bundle`, `digest`, `kernels` (how many) | a bundle was read and checked |
| `loaded` | `bundle`, `unit`, `target`, `toolchain`, `kind`, `device`, `seconds`, `bytes` | a GPU got code |
| `refused` | `bundle`, `unit`, `target`, `toolchain`, `kind`, `device`, `by`, `reason` | code was not taken for a GPU |
| `compiled` | `kernel`, `targets`, `seconds` | a kernel was compiled at launch |

`by` is `"kbuild"` for code that was made for another GPU or driver, and `"driver"` for code that the driver sent back.
The same events go to the logger `kbuild` of Python's `logging`, if the program has imported that: `opened`, `loaded`
and `compiled` as INFO, `refused` as DEBUG, and as WARNING if it was the driver. A launch of loaded code tells nothing.
"""

from __future__ import annotations

import sys

from . import refusals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Event = dict[str, Any]

__all__ = ("on_event",)

DEBUG, INFO, WARNING = 10, 20, 30  # as in `logging`, which is not imported for these
_TEXTS = {
    "opened": "opened %(bundle)s: %(kernels)d kernels, %(digest)s",
    "loaded": "loaded %(unit)s for %(target)s (%(toolchain)s) on %(device)s: %(bytes)d bytes, %(seconds).4f s",
    "refused": "refused %(unit)s for %(target)s (%(toolchain)s) on %(device)s: %(reason)s",
    "compiled": "compiled %(kernel)s at launch for %(targets)s: %(seconds).2f s",
}

_callbacks: list[Callable[[Event], None]] = []


def on_event(callback: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
    """Calls `callback(event)` from now on whenever the loader opens, loads, refuses or compiles something.

    An event is a dictionary (see `kbuild.loader.events`). Returns a function that ends it. The callback may be called
    in any thread; what it raises is printed, and stops nothing.
    """
    if not callable(callback):
        raise TypeError("on_event wants a function of an event, not %r" % (callback,))
    _callbacks.append(callback)

    def stop() -> None:
        if callback in _callbacks:
            _callbacks.remove(callback)

    return stop


def is_wanted(level: int) -> bool:
    """Whether anybody listens to events of a level, so that the others cost nothing."""
    return bool(_callbacks) or _logger(level) is not None


def _logger(level: int) -> Any:
    """The logger, if the program uses `logging` and wants to hear this level; else None."""
    get_logger = getattr(sys.modules.get("logging"), "getLogger", None)  # it may be half imported in another thread
    if get_logger is None:
        return None
    logger = get_logger("kbuild")
    return logger if logger.isEnabledFor(level) else None


def emit(event: str, level: int = INFO, **fields: Any) -> None:
    """Tells everybody who listens."""
    logger = _logger(level)
    listeners: list[Any] = [] if logger is None else [lambda told: logger.log(level, _TEXTS[event], told)]
    for listener in (*listeners, *_callbacks):
        try:
            listener(dict(fields, event=event))
        except Exception as error:
            _say("kbuild: a listener failed, in the event %r: %r\n" % (event, error))


def tell_loading(bundle: Any, rows: list[Any], device: Any, search: Any) -> None:
    """The events of one look for code: what was refused by us and by the driver, then what was loaded."""

    def about(row: Any) -> dict[str, Any]:
        named = {key: row[key] for key in ("unit", "target", "toolchain", "kind")}
        return dict(named, bundle=bundle.label, device=str(device))

    if is_wanted(DEBUG):
        for i, reason in refusals.reasons(device, rows, bundle.allow_ptx):
            emit("refused", DEBUG, by="kbuild", reason=reason, **about(rows[i]))
    for i, reason in search.attempts:
        emit("refused", WARNING, by="driver", reason=reason, **about(rows[i]))
    for row, seconds, size in search.loads:
        emit("loaded", seconds=seconds, bytes=size, **about(row))


def _say(text: str) -> None:
    """On stderr, as far as there is one: telling must not fail."""
    try:
        sys.stderr.write(text)
    except Exception:
        return
