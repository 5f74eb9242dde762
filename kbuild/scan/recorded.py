"""A file of instances that `python -m kbuild record` wrote: reading, merging, making them while building."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kbuild.loader import recording

FORMAT = 1
_ABOUT = "instances of kernels, written by `python -m kbuild record`"


class Unreadable(ValueError):
    """The file is none of ours; the message says why."""


def read(path: Path) -> list[dict[str, Any]]:
    """The entries of a file. Raises OSError, Unreadable."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Unreadable(f"{path} is no JSON: {error}") from None
    entries = data.get("instances") if isinstance(data, dict) else None
    if not isinstance(entries, list) or data.get("format") != FORMAT:
        raise Unreadable(f"{path} is no list of instances of format {FORMAT}: record it again")
    for number, entry in enumerate(entries):
        if not isinstance(entry, dict) or not (entry.keys() & {"factory", "kernel"}):
            raise Unreadable(f"{path}: entry {number} names neither a factory nor a kernel")
    return entries


def write(path: Path, entries: Iterable[dict[str, Any]]) -> int:
    """Writes entries, each once, in an order of their own, a line each; returns their number."""
    lines = sorted({json.dumps(entry, sort_keys=True) for entry in entries})
    body = ",\n".join(f"    {line}" for line in lines)
    head = f'{{\n  "about": {json.dumps(_ABOUT)},\n  "format": {FORMAT},\n  "instances": ['
    text = f"{head}\n{body}\n  ]\n}}\n" if lines else f"{head}]\n}}\n"
    path.write_text(text, encoding="utf-8")
    return len(lines)


def replay(path: Path) -> None:
    """Makes every instance. Raises what the first faulty entry raises, with the entry in the message."""
    for entry in read(path):
        try:
            recording.replay(entry)
        except Exception as error:
            what = f"{type(error).__name__}: {error}"
            raise Unreadable(f"{path.name}: {describe(entry)}: {what}") from error


def describe(entry: dict[str, Any]) -> str:
    """An entry as a call: `robosim.kernels:make(Mode.FAST, 128, op=twice)`."""
    if "factory" in entry:
        return _call(entry, entry["factory"])
    return f"{entry['kernel']} for {', '.join(f'{name}: {type}' for name, type in entry.get('types', {}).items())}"


def _call(entry: dict[str, Any], name: str) -> str:
    given = [*map(_shown, entry.get("args", ())), *_named(entry.get("kwargs", {}))]
    return f"{name}({', '.join(given)})"


def _named(values: dict[str, Any]) -> list[str]:
    return [f"{name}={_shown(value)}" for name, value in values.items()]


def _shown(data: Any) -> str:
    """A value of the file as one writes it, about."""
    match data:
        case {"enum": place, "name": name}:
            return f"{_last(place)}.{name}"
        case {"enum": place, "of": number}:
            return f"{_last(place)}({number})"
        case {"record": place, "fields": dict(fields)}:
            return f"{_last(place)}({', '.join(_named(fields))})"
        case {"made": {"factory": factory} as inner}:
            return _call(inner, _last(factory))
        case {"python": str(place)} | {"class": str(place)}:
            return _last(place)
        case {"type": str(name)} | {"builtin": str(name)} | {"float": str(name)}:
            return name
        case {"value": kind, "items": items}:
            return f"{kind}({items})"
        case {"tuple": list(items)}:
            return f"({', '.join(map(_shown, items))})"
        case {"list": list(items)}:
            return f"[{', '.join(map(_shown, items))}]"
    return repr(data)


def _last(place: str) -> str:
    return place.rpartition(":")[2]
