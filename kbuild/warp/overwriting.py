"""`wp.config.verify_autograd_array_access`: told is where a step on a tape writes to what an earlier one has read.

Warp's gradients are wrong there. kbuild's are right, since the tape keeps a copy of what it needs; who wants to run the
program under Warp, too, or to do without the copies, asks for these lines.
"""

from __future__ import annotations

import os
import sys

from kbuild.loader import uses
from kbuild.loader.errors import LaunchError
from kbuild.loader.tape.overlap import meet

from . import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_TEXT = (
    "kbuild: %s is being written to%s but has already been read from in a previous launch. This may corrupt gradient "
    "computation in the backward pass. (Under Warp; kbuild keeps what is needed.)\n"
)
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def of_launch(recorder: Any, asked: Any) -> None:
    """A launch is about to be made."""
    if not config.verify_autograd_array_access:
        return
    try:
        written = asked.backward().written
    except LaunchError:
        return  # it says nothing about its arrays
    for leaf in asked.leaves:
        if leaf.path in written and _is_read(recorder, leaf.data):
            what = "%r, parameter %r of %s," % (leaf.data, leaf.path, asked.name)
            sys.stderr.write(_TEXT % (what, ""))


def of_copy(recorder: Any, target: Any) -> None:
    """An array is about to be copied into another one."""
    if config.verify_autograd_array_access and _is_read(recorder, target):
        sys.stderr.write(_TEXT % (repr(target), " by an array copy at %s" % _place()))


def _is_read(recorder: Any, one: Any) -> bool:
    """A step that some tape has recorded, and not taken back yet, has read it."""
    recorders = [recorder, *[other for other in uses.tapes if other is not recorder]]
    return any(
        read.device == one.device and meet(read, one)
        for known in recorders
        if not known.is_spent
        for step in known.steps
        if step.is_active
        for read in step.read
    )


def _place() -> str:
    """The line of the program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return "" if frame is None else "%s:%d" % (frame.f_code.co_filename, frame.f_lineno)
