"""Room for code that is nested deeply: long `elif` chains, sums of hundreds of terms, functions that call functions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_STACK = 256 << 20  # bytes, of address space: what is not used costs nothing
_FRAMES = 30_000


def deeply(work: Callable[[], T]) -> T:
    """What `work` gives, run in a thread whose stack is large, while Python's limit on recursion is high."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    frames, stack = sys.getrecursionlimit(), threading.stack_size(_STACK)
    sys.setrecursionlimit(max(frames, _FRAMES))
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
    if errors:
        raise errors[0]
    return results[0]
