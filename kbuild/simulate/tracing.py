"""`trace=`: from what a user gives to a watcher, and the file behind it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from kbuild.sim.looking.chrome import Chrome
from kbuild.sim.looking.lines import Lines
from kbuild.sim.looking.tracing import Event, Kept, Sink, Tracer

CHROME = ".json"  # the suffix of traces for Perfetto and Chrome; all else is lines of JSON


@contextmanager
def opened(
    given: Any,
    threads: Iterable[Any] | None = None,
    lines: Iterable[int] | None = None,
    kinds: Iterable[str] | None = None,
    is_strict: bool = True,
) -> Iterator[tuple[Tracer, list[Event]]]:
    """A tracer that writes to a path or an open text file, or keeps its events (True), and the events kept.

    Raises TypeError, ValueError for what is none of these, OSError for a file that cannot be written.
    """
    with ExitStack() as stack:
        sink: Sink
        kept: list[Event] = []
        if given is True:
            sink = keeper = Kept()
            kept = keeper.events
        elif isinstance(given, (str, os.PathLike)):
            sink = _sink(stack.enter_context(open(given, "w", encoding="utf-8")), os.fspath(given), stack)
        elif hasattr(given, "write"):
            sink = _sink(given, str(getattr(given, "name", "")), stack)
        else:
            raise TypeError(f"trace wants a path, an open text file, or True to keep the events, not {given!r:.80}")
        yield Tracer(sink, threads, lines, kinds, is_strict), kept


def _sink(stream: Any, name: str, stack: ExitStack) -> Sink:
    if not name.endswith(CHROME):
        return Lines(stream)
    chrome = Chrome(stream)
    stack.callback(chrome.close)
    return chrome
