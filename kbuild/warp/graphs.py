"""Warp's graphs, over `kb.capture`."""

from __future__ import annotations

from kbuild.loader import driver, recording
from kbuild.loader.errors import DriverError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_conditional_graph_supported() -> bool:
    """Whether graphs can decide and loop: with drivers of CUDA 12.4 and newer."""
    try:
        return driver.get().version >= (12, 4)
    except DriverError:
        return False


def capture_while(condition: Any, while_body: Any, stream: Any = None, **named: Any) -> None:
    """Runs a body, or launches a graph, as long as the first element of an array is not zero."""
    if recording.is_on():
        _run(while_body, stream, named)  # no kernel runs that could end a loop
        return
    while _is_true(condition):
        _run(while_body, stream, named)


def capture_if(condition: Any, on_true: Any = None, on_false: Any = None, stream: Any = None, **named: Any) -> None:
    """Runs one of two bodies, or launches one of two graphs, by the first element of an array."""
    if recording.is_on():
        for body in (on_true, on_false):
            _run(body, stream, named)
        return
    _run(on_true if _is_true(condition) else on_false, stream, named)


def _is_true(condition: Any) -> bool:
    return bool(condition.flatten()[0])


def _run(body: Any, stream: Any, named: dict[str, Any]) -> None:
    if body is not None:
        body(**named)
