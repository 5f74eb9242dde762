"""Traces for Perfetto and Chrome: the Trace Event Format, as one JSON object that is written as it comes.

Blocks are processes, warps their threads. A statement is a slice of one unit of time (`X`), a launch the slice around
all of a warp's statements (`B`, `E`); barriers, prints and faults are instants (`i`). Time is the count of statements,
so slices at one time are those that lanes executed together.
"""

from __future__ import annotations

import json
import linecache
from typing import IO, Any

from kbuild.sim.blocks import WARP
from kbuild.sim.looking.tracing import Event

_WARPS_PER_BLOCK = 1024 // WARP
_TITLE = 80  # characters of a line of source


class Chrome:
    """Writes a trace; `close` ends it."""

    kinds = frozenset({"statement", "barrier", "print", "fault"})

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._paths: dict[int, str] = {}
        self._launch: Event = {}
        self._open: dict[tuple[int, int], None] = {}  # tracks in the present launch, in the order of their beginnings
        self._named: set[tuple[int, int]] = set()
        self._separator = ""

    def write(self, event: Event) -> None:
        """One more."""
        kind = event["event"]
        if kind == "trace":
            about = {"writer": "kbuild simulator", "version": event["version"], "time": "statements"}
            self._stream.write(f'{{"displayTimeUnit":"ns","otherData":{json.dumps(about)},"traceEvents":[')
        elif kind == "file":
            self._paths[event["file"]] = event["path"]
        elif kind == "launch":
            self._launch = event
        elif kind == "end":
            self._end(event["t"])
        else:
            self._show(kind, event)

    def flush(self) -> None:
        """What was written is there."""
        self._stream.flush()

    def close(self) -> None:
        """The end of the object."""
        self._stream.write("\n]}\n")
        self._stream.flush()

    def _show(self, kind: str, event: Event) -> None:
        track = self._track(event)
        path = self._paths.get(event.get("file", -1), "")
        place = f"{path}:{event.get('line', 0)}"
        if kind == "statement":
            mask = event["mask"]
            args = {"mask": f"0x{mask}", "lanes": int(mask, 16).bit_count(), "kind": event["kind"], "at": place}
            self._put("X", track, event["t"], name=self._title(path, event), cat=event["kind"], dur=1, args=args)
        else:
            names = {"mask", "text", "reason", "thread"}
            args = {"at": place, **{name: value for name, value in event.items() if name in names}}
            name = event["kind"] if kind == "fault" else kind
            self._put("i", track, event["t"], name=name, cat=kind, s="t", args=args)

    def _title(self, path: str, event: Event) -> str:
        line = event.get("line", 0)
        return f"{line}: {linecache.getline(path, line).strip()[:_TITLE]}"

    def _track(self, event: Event) -> tuple[int, int]:
        """(process, thread) of an event's warp, which begins its slice of the launch here if it has not yet.

        Numbers of threads differ between processes too, as those of an operating system do, and none is 0.
        """
        block, warp = event.get("block", 0), event.get("warp", 0)
        track = block + 1, block * _WARPS_PER_BLOCK + warp + 1
        if track not in self._named:
            self._named.add(track)
            self._put("M", track, None, name="process_name", args={"name": f"block {block}"})
            self._put("M", track, None, name="process_sort_index", args={"sort_index": block})
            self._put("M", track, None, name="thread_name", args={"name": f"warp {warp}"})
            self._put("M", track, None, name="thread_sort_index", args={"sort_index": warp})
        if track not in self._open:
            self._open[track] = None
            known = {name: self._launch[name] for name in ("launch", "dim", "grid", "block")}
            self._put("B", track, event["t"], name=self._launch["kernel"], cat="launch", args=known)
        return track

    def _end(self, time: int) -> None:
        for track in self._open:
            self._put("E", track, time + 1, name=self._launch["kernel"], cat="launch")
        self._open.clear()

    def _put(self, phase: str, track: tuple[int, int], time: int | None, **fields: Any) -> None:
        stamp = {} if time is None else {"ts": time}
        text = json.dumps({"ph": phase, "pid": track[0], "tid": track[1], **stamp, **fields}, separators=(",", ":"))
        self._stream.write(f"{self._separator}\n{text}")
        self._separator = ","
