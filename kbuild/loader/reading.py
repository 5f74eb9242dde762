"""A bundle is read at the start of a program: by a reader that knows yes and no.

    read(data)  →  Parsed, as `format.parse(data, lazy=True)` gives it

format.py has the layout of the file, and a second reader that says what is wrong and where. It is asked where this one
has not said yes, and decides; the tests hold the two together.
"""

from __future__ import annotations

import struct
import zlib

from . import schema
from .abi import align_up
from .canonical import decode, encode
from .digest import sha256
from .errors import BundleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Union

    from .abi import Struct

    Row = Dict[str, Any]
    Bytes = Union[bytes, memoryview]

MAGIC = b"KBUNDLE\n"
VERSION = schema.FORMAT
HEADER = struct.Struct("<8sIIQ32s")
ALIGN = schema.BLOB_ALIGN
MAX_MANIFEST_BYTES = 1 << 25  # more than 10,000 kernels for ten targets
MIN_BYTES_PER_BRACKET = 8


class Parsed:
    """A bundle whose manifest is checked. `manifest` is the JSON object, `structs` are the types in it by name, `blob`
    gives what it refers to.
    """

    __slots__ = ("_blobs", "_digest", "manifest", "structs")

    def __init__(self, manifest: Row, structs: dict[str, Struct], blobs: memoryview) -> None:
        self.manifest, self.structs = manifest, structs
        self._blobs = blobs
        self._digest = ""

    @property
    def digest(self) -> str:
        """The bundle's digest, "sha256:<hex>"."""
        if not self._digest:
            from . import format  # for programs that name what they trust

            self._digest = format.digest(self.manifest)
        return self._digest

    def blob(self, index: int) -> bytes:
        """The raw bytes of a blob, both digests checked; BundleError when one is wrong."""
        row = self.manifest["blobs"][index]
        data = self._blobs[row["offset"] : row["offset"] + row["stored"]]
        if sha256(data).hexdigest() != row["stored_sha256"]:
            raise BundleError("blob %d is damaged: its stored bytes have another digest" % index)
        if row["codec"] == "raw":
            return bytes(data)
        raw = _inflate(data, row["size"], index)
        if sha256(raw).hexdigest() != row["sha256"]:
            raise BundleError("blob %d is not what the manifest says: its raw bytes have another digest" % index)
        return raw

    def verify(self) -> None:
        """Check every blob; BundleError for the first that is wrong."""
        for index in range(len(self.manifest["blobs"])):
            self.blob(index)


def _inflate(data: memoryview, size: int, index: int) -> bytes:
    """Decompress to exactly `size` bytes: never more, whatever the stream would unpack to."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(data, size + 1)
    except zlib.error as error:
        raise BundleError("blob %d does not decompress: %s" % (index, error)) from None
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise BundleError("blob %d is not one zlib stream of %d bytes" % (index, size))
    return raw


def read(data: Bytes) -> Parsed:
    """A bundle, in which all but the blobs is checked. BundleError says what is wrong and where."""
    found = quick(data)
    if found is None:
        from . import format  # after the fact alone

        found = format.parse(data, lazy=True)
    return found


def quick(data: Bytes) -> Parsed | None:
    """The same; None where anything is wrong."""
    view = memoryview(data).cast("B")
    try:
        return _read(view)
    except (ValueError, RecursionError):  # of the manifest's text or types
        return None


def _read(view: memoryview) -> Parsed | None:
    if len(view) < HEADER.size:
        return None
    magic, version, reserved, length, wanted = HEADER.unpack_from(view)
    if (magic, version, reserved) != (MAGIC, VERSION, 0) or length > MAX_MANIFEST_BYTES:
        return None
    text = bytes(view[HEADER.size : HEADER.size + length])
    if len(text) != length or sha256(text).digest() != wanted or has_too_many_brackets(text):
        return None
    manifest: Row = decode(text)
    structs = schema.structs_of(manifest)
    if structs is None or encode(manifest) != text:
        return None
    end = HEADER.size + length
    start = stop = align_up(end, ALIGN)
    padding = bytes(view[end:stop])
    for row in manifest["blobs"]:  # back to back, says the schema
        end = start + row["offset"] + row["stored"]
        stop = align_up(end, ALIGN)
        padding += view[end:stop]
    if stop != len(view) or padding.strip(b"\0"):
        return None
    return Parsed(manifest, structs, view[start:])


def has_too_many_brackets(text: bytes) -> bool:
    """Of a manifest: an empty list takes three bytes in the text and sixty in memory."""
    return MIN_BYTES_PER_BRACKET * (text.count(b"[") + text.count(b"{")) > len(text) + (1 << 21)
