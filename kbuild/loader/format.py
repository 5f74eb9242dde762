"""The bundle file: writing it and reading it, side by side.

    offset  bytes
         0      8  magic "KBUNDLE\\n"
         8      4  u32 version of the format
        12      4  u32 zero
        16      8  u64 length of the manifest
        24     32  SHA-256 of the manifest
        56      n  manifest: canonical JSON in ASCII (schema.py has its fields)
                   zeros up to a multiple of 16
                   blobs back to back, each filled with zeros up to a multiple of 16; the last one ends the file

Numbers are little-endian. Every byte is covered: the header by its own checks, the manifest by the digest in the
header, a blob by the digest of its stored bytes in the manifest, and padding is zero. A blob has a second digest, of
its raw bytes, since a compressor may write the same data in several ways; the bundle's own digest is over the manifest
with raw digests only. Digests show damage, not an intruder: `loader.open(…, digest=…)` names what is trusted.

Versions of the format. The first 56 bytes, and `generator` in the manifest, stay where they are in every version:
    1   2026-11-29   the first
        2026-11-30   `asserts`; of a kernel `optional` and `whole_blocks`; each absent where a build has none
        2026-11-30   the types `indexedarray1[…]` to `indexedarray4[…]`
        2026-11-30   of a kernel `origin`, with which its header has one word more, and `any_block_dim`
        2026-11-30   of a kernel `backward`, and the kernels that it names
        2026-11-30   of a kernel `waits`
        2026-11-30   of a kernel `dynamic_shared`
        2026-11-30   of a kernel `launch_bounds`, of a cubin `constants`, of a kernel in it `min_blocks`
        2026-11-30   of a kernel `plain` and `shared_memory`; the type `flat`
        2026-11-30   of a kernel `cluster_dim`
        2026-11-30   of a kernel `stated`
"""

from __future__ import annotations

import zlib

from . import schema_faults
from .abi import align_up
from .canonical import decode, encode
from .digest import sha256
from .errors import BundleError as BundleError  # what is imported as itself is part of this module's face
from .parameter_block import layout as layout
from .parameter_block import layout_behind as layout_behind
from .parameter_block import writes_origin as writes_origin
from .reading import ALIGN as ALIGN
from .reading import HEADER as HEADER
from .reading import MAGIC as MAGIC
from .reading import MAX_MANIFEST_BYTES, has_too_many_brackets
from .reading import VERSION as VERSION
from .reading import Parsed as Parsed
from .schema import ADJOINT as ADJOINT
from .schema import header_of as header_of
from .schema import header_size as header_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Sequence, Union

    from .abi import Struct
    from .abi import Type as Type

    Row = Dict[str, Any]
    Bytes = Union[bytes, memoryview]


def digest(manifest: Row) -> str:
    """The bundle's digest, "sha256:<hex>": over the manifest with each blob reduced to what it is, however stored."""
    blobs = [{"sha256": row["sha256"], "size": row["size"]} for row in manifest["blobs"]]
    return "sha256:%s" % sha256(encode(dict(manifest, blobs=blobs))).hexdigest()


# Writing


def dump(manifest: Row, blobs: Sequence[Bytes]) -> bytes:
    """The bytes of a bundle. `manifest` lacks "blobs" (or has it replaced); its cubins refer to `blobs` by index.

    The same input gives the same bytes with one zlib; `digest` is the same with every zlib. What the manifest says is
    checked by `parse`.
    """
    rows, stored, offset = [], [], 0
    for blob in blobs:
        row, data = _store(bytes(blob))
        rows.append(dict(row, offset=offset))
        stored.append(_pad(data))
        offset += len(stored[-1])
    text = encode(dict(manifest, blobs=rows))
    header = HEADER.pack(MAGIC, VERSION, 0, len(text), sha256(text).digest())
    return _pad(header + text) + b"".join(stored)


def _store(raw: bytes) -> tuple[Row, bytes]:
    """A blob's row, without its offset, and its stored bytes: compressed where that saves something."""
    packed = zlib.compress(raw, 9)
    codec, data = ("zlib", packed) if len(packed) < len(raw) else ("raw", raw)
    row = {
        "sha256": sha256(raw).hexdigest(),
        "size": len(raw),
        "stored_sha256": sha256(data).hexdigest(),
        "stored": len(data),
        "codec": codec,
    }
    return row, data


def _pad(data: bytes) -> bytes:
    return data + bytes(align_up(len(data), ALIGN) - len(data))


# Reading


def parse(data: Bytes, lazy: bool = False) -> Parsed:
    """Read a bundle and check everything in it. BundleError says what is wrong and where.

    `lazy` leaves each blob's digests to the moment when `Parsed.blob` is asked for it, and what is said of adjoints and
    of launches to their first use (`schema_later`): the loader starts so, by way of `reading.read`.
    """
    view = memoryview(data).cast("B")
    text, start = _manifest_text(view)
    manifest, structs = _read_manifest(text)
    _check_extent(manifest["blobs"], view, start)
    parsed = Parsed(manifest, structs, view[start:])
    if not lazy:
        from . import schema_later

        schema_later.check(manifest, structs)
        parsed.verify()
    return parsed


def _manifest_text(view: memoryview) -> tuple[bytes, int]:
    """The manifest's bytes and where the blobs start."""
    if len(view) < HEADER.size:
        raise BundleError("not a bundle: %d bytes, fewer than the header's %d" % (len(view), HEADER.size))
    magic, version, reserved, length, wanted = HEADER.unpack_from(view)
    if magic != MAGIC:
        raise BundleError("not a bundle: the file starts with %r instead of %r" % (magic, MAGIC))
    if version != VERSION:
        raise BundleError(_other_version(version, bytes(view[HEADER.size :][: min(length, 1 << 20)])))
    if reserved:
        raise BundleError("damaged header: bytes 12 to 15 are not zero")
    end = HEADER.size + length
    if length > MAX_MANIFEST_BYTES or end > len(view):
        raise BundleError("truncated or damaged: a manifest of %d bytes in a file of %d" % (length, len(view)))
    text = bytes(view[HEADER.size : end])
    if sha256(text).digest() != wanted:
        raise BundleError("damaged: the manifest's digest is not the one in the header")
    start = align_up(end, ALIGN)
    _check_padding(view, end, start)
    return text, start


def _other_version(version: int, text: bytes) -> str:
    """What to say about a file of another version: `generator` tells which kbuild reads it."""
    _, _, rest = text.partition(b'"generator":"')
    generator = rest.partition(b'"')[0][:40].decode("ascii", "replace")
    writer = ", written by %s" % generator if generator.isprintable() and generator else ""
    cure = "install that kbuild or a newer one" if version > VERSION else "build it again"
    return "bundle format %d%s; this kbuild reads format %d: %s" % (version, writer, VERSION, cure)


def _check_padding(view: memoryview, start: int, end: int) -> None:
    padding = bytes(view[start:end])
    if len(padding) != end - start:
        raise BundleError("truncated: %d bytes, at least %d wanted" % (len(view), end))
    if padding.strip(b"\0"):
        raise BundleError("damaged: the padding from byte %d to %d is not zero" % (start, end))


def _read_manifest(text: bytes) -> tuple[Row, dict[str, Struct]]:
    if has_too_many_brackets(text):
        raise BundleError("damaged manifest: more brackets than a manifest has")
    try:
        manifest: Row = decode(text)
        structs = schema_faults.check(manifest)
        same = encode(manifest) == text
    except RecursionError:
        raise BundleError("damaged manifest: nested too deep") from None
    except ValueError as error:
        raise BundleError("damaged manifest: %s" % error) from None
    if not same:  # a repeated key, blanks, another order, 1e0 or \\u0041: two readers could see two manifests
        raise BundleError("the manifest is not canonical: a repeated key, or another order or spelling than kbuild's")
    return manifest, structs


def _check_extent(blobs: list[Row], view: memoryview, start: int) -> None:
    """The blobs, padding included, end where the file ends. The manifest's check put them back to back."""
    end = start
    for row in blobs:
        stop = start + row["offset"] + row["stored"]
        end = align_up(stop, ALIGN)
        if end > len(view):
            raise BundleError("truncated: %d bytes, at least %d wanted" % (len(view), end))
        _check_padding(view, stop, end)
    if end != len(view):
        raise BundleError("%d bytes behind the last blob" % (len(view) - end))
