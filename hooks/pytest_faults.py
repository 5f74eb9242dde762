"""Faults of kernels in pytest's reports."""

from __future__ import annotations

import linecache
import os
from types import TracebackType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ABOVE = 5  # lines of the kernel that are shown with the one where it happened


def leave_out_our_frames(fault: BaseException) -> None:
    """Cuts a fault's traceback to the frames that are not kbuild's, if there are any."""
    import kbuild

    ours = os.path.join(os.path.dirname(os.path.abspath(kbuild.__file__)), "")
    theirs = []
    entry = fault.__traceback__
    while entry is not None:
        if not os.path.abspath(entry.tb_frame.f_code.co_filename).startswith(ours):
            theirs.append(entry)
        entry = entry.tb_next
    following = None
    for entry in reversed(theirs):
        following = TracebackType(following, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    if following is not None:
        fault.__traceback__ = following


def add_kernel(report: Any, fault: Any) -> None:
    """Adds the kernel's lines down to the one where it happened; of a race, those of the other thread too."""
    add = getattr(report.longrepr, "addsection", None)
    if add is None:
        return
    other = getattr(fault, "other_span", None)
    if other is not None and other != fault.span:
        add("first: thread %s" % (fault.other_thread,), excerpt(other))
    if fault.span is not None:
        add("%s, thread %s" % (fault.kernel or "kernel", fault.thread), excerpt(fault.span))


def excerpt(span: Any) -> str:
    """A line with those above it in its function, marked as pytest marks its own."""
    lines: list[str] = []
    for number in range(max(span.line - _ABOVE, 1), span.line + 1):
        text = linecache.getline(span.path, number).rstrip()
        begins = text.lstrip().startswith(("@", "def ")) and not (lines and lines[-1].lstrip().startswith("@"))
        lines = [text] if begins else [*lines, text]
    lines = ["  " + line for line in lines[:-1]] + ["> " + line for line in lines[-1:]]
    return "%s\n\n%s:%d" % ("\n".join(lines), span.path, span.line)
