"""What functions gave on a GPU, as files: the results alone, since `points.py` finds the arguments again.

zlib of:  JSON in one line ∥ "\\n" ∥ results of each function, little-endian
JSON:     {"machine": …, "toolchain": …, "type": "float32",
           "functions": [{"name": "sin", "points": 100000, "arguments": sha256 of the arguments' bytes}]}
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.floats import FORMATS


def digest(type: str, columns: list[list[int]]) -> str:
    """Tells whether the arguments here and there are the same."""
    hashed = hashlib.sha256()
    for column in columns:
        hashed.update(FORMATS[type].pack(column))
    return hashed.hexdigest()


def write(path: Path, head: dict[str, Any], results: list[bytes]) -> None:
    """Writes one file; `head` says in `functions` whose the results are."""
    text = json.dumps(head, separators=(",", ":"), sort_keys=True)
    path.write_bytes(zlib.compress(b"\n".join([text.encode(), b"".join(results)]), 9))


def read(path: Path) -> tuple[dict[str, Any], Iterator[tuple[str, str, bytes]]]:
    """The head, and (function, digest of the arguments, results) one after the other."""
    text, _, data = zlib.decompress(path.read_bytes()).partition(b"\n")
    head: dict[str, Any] = json.loads(text)
    return head, _parts(head, data)


def _parts(head: dict[str, Any], data: bytes) -> Iterator[tuple[str, str, bytes]]:
    start, size = 0, FORMATS[head["type"]].size
    for function in head["functions"]:
        end = start + size * function["points"]
        yield function["name"], function["arguments"], data[start:end]
        start = end
    assert start == len(data), "the file is cut short"
