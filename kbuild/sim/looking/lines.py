"""Traces as lines of JSON: written as they come, read one at a time."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import IO, Any

from kbuild.sim.looking.tracing import KINDS, VERSION, Event


class Lines:
    """Writes an event a line."""

    kinds = frozenset(KINDS)

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, event: Event) -> None:
        """One more."""
        self._stream.write(json.dumps(event, separators=(",", ":")) + "\n")

    def flush(self) -> None:
        """What was written is there, whatever becomes of the program."""
        self._stream.flush()


class TraceError(ValueError):
    """A file that is no trace, or a line of it that is no event."""


def filter_trace(file: Any, predicate: Callable[[Event], Any] | None = None) -> Iterator[Event]:
    """The events of a trace for which `predicate(event)` holds, read one at a time; `file` is a path or an open file.

    Each event has its `path` beside the number of the file, and the number of its `launch`. Raises TraceError with file
    and line for what is no event, OSError for a file that cannot be read.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, encoding="utf-8") as stream:
            yield from _filtered(stream, os.fspath(file), predicate)
    else:
        yield from _filtered(file, str(getattr(file, "name", "the trace")), predicate)


def _filtered(stream: Any, name: str, predicate: Callable[[Event], Any] | None) -> Iterator[Event]:
    paths: dict[Any, str] = {}
    launch = None
    for number, line in enumerate(stream, 1):
        event = _event(line, f"{name}:{number}")
        if number == 1:
            _check_version(event, f"{name}:{number}")
        elif event["event"] == "file":
            paths[event.get("file")] = str(event.get("path"))
        elif event["event"] == "launch":
            launch = event.get("launch")
        if "file" in event and "path" not in event:
            if event["file"] not in paths:
                raise TraceError(f"{name}:{number}: file {event['file']} is not named in a line before")
            event["path"] = paths[event["file"]]
        if launch is not None and event["event"] != "file":
            event.setdefault("launch", launch)
        if predicate is None or predicate(event):
            yield event


def _event(line: str, place: str) -> Event:
    reason = "no object with an `event`"
    with contextlib.suppress(UnicodeDecodeError):
        try:
            found = json.loads(line)
        except ValueError as error:
            reason = str(error)
        else:
            if isinstance(found, dict) and isinstance(found.get("event"), str):
                return found
    raise TraceError(f"{place}: not an event of a trace: {reason}: {line.strip()[:60]!r}")


def _check_version(event: Event, place: str) -> None:
    if event["event"] != "trace":
        raise TraceError(f"{place}: a trace begins with its version: this file is none, or its beginning is missing")
    if event.get("version") != VERSION:
        raise TraceError(
            f"{place}: version {event.get('version')!r} of the format, and this kbuild reads version {VERSION}: "
            "read it with the kbuild that wrote it"
        )
