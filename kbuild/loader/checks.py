"""`KBUILD_CHECK=launch`: waits after each launch, so that what goes wrong in a kernel shows where it was launched.

For development: the GPU idles while the host prepares the next launch.
"""

from __future__ import annotations

import os
import sys

from . import driver, recent
from .errors import DriverError, LaunchError, describe
from .ordering import is_capturing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from .context import Device

VARIABLE = "KBUILD_CHECK"
_OWN = __name__.partition(".")[0] + "."


def after_launches() -> bool:
    """Whether each launch is to be waited for. Raises LaunchError for a setting that means nothing."""
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "launch"):
        raise LaunchError("%s is 'launch' or not set, not %r" % (VARIABLE, value))
    return value == "launch"


def wait(name: str, gpu: Device, handle: int, dim: Any, arguments: list[tuple[str, Any]]) -> None:
    """Waits for a launch; DriverError that names it when it, or what ran at its side, has gone wrong."""
    cuda = driver.get()
    with gpu.current():
        if is_capturing(handle):
            return  # nothing has run yet
        status = cuda.ask("cuStreamSynchronize", handle)
    if not status:
        recent.passed(gpu.ordinal, handle)
        return
    recent.passed(gpu.ordinal)  # all that were before have been waited for: this one it is
    error = cuda.error("cuStreamSynchronize", status, "%s on %s" % (name, gpu))
    head, _, rest = str(error).partition("\n")
    lines = [head, "  launched at %s, dim=%r" % (caller(), dim)]
    lines += ["    %s = %s" % (parameter, _shown(value)) for parameter, value in arguments]
    raise DriverError("\n".join([*lines, rest]) if rest else "\n".join(lines), error.call, error.code, error.name)


def _shown(value: Any) -> str:
    if hasattr(value, "_kb_array_"):
        return "%r at 0x%x" % (value, value.ptr)
    return describe(value)


def caller() -> str:
    """`file:line` of the first frame outside kbuild."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_ours(frame):
        frame = frame.f_back
    return "?" if frame is None else "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)


def _is_ours(frame: FrameType) -> bool:
    return (frame.f_globals.get("__name__") or "").startswith(_OWN)
