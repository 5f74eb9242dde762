"""Messages between kbuild and a worker process: a length, a JSON object, a length, bytes. Over pipes, one at a time."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

_LENGTHS = struct.Struct("<IQ")
Header = dict[str, Any]


def send(stream: IO[bytes], header: Header, blob: bytes = b"") -> None:
    """Writes one message."""
    text = json.dumps(header).encode()
    stream.write(_LENGTHS.pack(len(text), len(blob)) + text + blob)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[Header, bytes] | None:
    """The next message, or None when the other side is gone, in the middle of one too."""
    prefix = stream.read(_LENGTHS.size)
    if len(prefix) < _LENGTHS.size:
        return None
    text_length, blob_length = _LENGTHS.unpack(prefix)
    text, blob = stream.read(text_length), stream.read(blob_length)
    if len(text) < text_length or len(blob) < blob_length:
        return None
    header: Header = json.loads(text)
    return header, blob
