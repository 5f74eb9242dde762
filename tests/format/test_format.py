"""The bundle file: round trips, and refusal of everything that is not exactly what `dump` writes."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import re
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.loader import canonical, digest, format, parameter_block, reading, schema, schema_faults
from kbuild.loader.errors import BundleError, LoaderError
from tests.helpers import bundles


def refused(data: bytes, wanted: str) -> None:
    with pytest.raises(BundleError, match=wanted):
        format.parse(data)
    bundles.expect_agreement(data)


# Round trips


def test_round_trip() -> None:
    parsed = format.parse(bundles.bundle())
    rows = parsed.manifest["blobs"]
    assert {key: value for key, value in parsed.manifest.items() if key != "blobs"} == bundles.MANIFEST
    assert [parsed.blob(index) for index in range(len(rows))] == bundles.BLOBS
    assert [row["codec"] for row in rows] == ["raw", "zlib"]
    assert format.dump(parsed.manifest, bundles.BLOBS) == bundles.bundle()


def test_dump_leaves_its_arguments_alone() -> None:
    manifest = bundles.manifest()
    format.dump(manifest, bundles.BLOBS)
    assert manifest == bundles.MANIFEST


def test_parse_takes_any_bytes_like() -> None:
    data = bundles.bundle()
    for kind in (bytes, bytearray, memoryview):
        assert format.parse(kind(data)).digest == format.parse(data).digest


@given(st.lists(st.binary(min_size=1, max_size=300), min_size=2, max_size=2))
def test_any_blobs_round_trip(blobs: list[bytes]) -> None:
    parsed = format.parse(format.dump(bundles.MANIFEST, blobs))
    assert [parsed.blob(index) for index in range(2)] == blobs


@given(st.text(min_size=1).filter(str.isprintable))
def test_any_captured_text_round_trips(text: str) -> None:
    manifest = bundles.manifest()
    manifest["definitions"]["robosim.kernels:integrate"]["instances"][0]["values"] = [text]
    assert format.parse(format.dump(manifest, bundles.BLOBS)).manifest["definitions"] == manifest["definitions"]


def test_layout_of_the_file() -> None:
    """The comment in format.py, byte by byte."""
    data = bundles.bundle()
    magic, version, reserved, length, digest = struct.unpack_from("<8sIIQ32s", data)
    text = data[56 : 56 + length]
    assert (magic, version, reserved) == (b"KBUNDLE\n", 1, 0)
    assert hashlib.sha256(text).digest() == digest
    manifest = json.loads(text)
    assert text == json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode("ascii")
    start = (56 + length + 15) // 16 * 16
    for row, blob in zip(manifest["blobs"], bundles.BLOBS, strict=True):
        stored = data[start + row["offset"] : start + row["offset"] + row["stored"]]
        assert row["offset"] % 16 == 0
        assert (zlib.decompress(stored) if row["codec"] == "zlib" else stored) == blob
    assert len(data) % 16 == 0


def test_the_digest_ignores_how_blobs_are_stored() -> None:
    data, _ = bundles.split(bundles.bundle())
    stored = [bundles.BLOBS[0], zlib.compress(bundles.BLOBS[1], 1)]
    offset = 0
    region = b""
    for row, blob in zip(data["blobs"], stored, strict=True):
        row.update(stored=len(blob), stored_sha256=hashlib.sha256(blob).hexdigest(), offset=offset)
        region += blob + bytes(-len(blob) % 16)
        offset = len(region)
    other = bundles.join(canonical.encode(data), region)
    assert other != bundles.bundle()
    assert format.parse(other).digest == format.parse(bundles.bundle()).digest


def test_the_digest_is_over_the_manifest_with_raw_digests() -> None:
    manifest, _ = bundles.split(bundles.bundle())
    manifest["blobs"] = [{"sha256": hashlib.sha256(b).hexdigest(), "size": len(b)} for b in bundles.BLOBS]
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()
    assert format.parse(bundles.bundle()).digest == "sha256:" + hashlib.sha256(text).hexdigest()


# Damage


def test_every_truncation_is_refused() -> None:
    data = bundles.bundle()
    for length in range(len(data)):
        refused(data[:length], "truncated|not a bundle")


def test_a_bundle_of_nothing() -> None:
    """No kernels, no blobs: the manifest's own padding ends the file."""
    empty = {"structs": {}, "definitions": {}, "kernels": [], "targets": [], "cubins": []}
    data = format.dump({**bundles.MANIFEST, **empty, "generator": "kbuild 0.1.0 padded"}, [])
    assert format.parse(data).manifest["kernels"] == []
    for length in range(len(data)):
        refused(data[:length], "truncated|not a bundle")


def test_every_flipped_bit_is_refused() -> None:
    data = bundles.bundle()
    for position in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[position] ^= 1 << bit
            with pytest.raises(BundleError):
                format.parse(bytes(damaged))
        bundles.expect_agreement(bytes(damaged))


@given(st.binary(max_size=200))
def test_noise_is_refused(data: bytes) -> None:
    with pytest.raises(BundleError):
        format.parse(data)
    bundles.expect_agreement(data)


@given(st.binary(max_size=200))
def test_noise_in_place_of_the_manifest_is_refused(text: bytes) -> None:
    with pytest.raises(BundleError):
        format.parse(bundles.join(text, b""))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [path, *(place for key in keys for place in places(value[key], (*path, key)))]


PLACES = [place for place in places(bundles.split(bundles.bundle())[0]) if place]


@given(st.sampled_from(PLACES), JSON)
def test_any_json_anywhere_never_escapes_as_another_error(place: tuple[Any, ...], value: object) -> None:
    """Whatever stands at any place of the manifest: it parses, or it is a BundleError."""

    def change(manifest: Any) -> None:
        for key in place[:-1]:
            manifest = manifest[key]
        manifest[place[-1]] = value

    data, region = bundles.split(bundles.bundle())
    change(data)
    text = json.dumps(data, sort_keys=True, separators=(",", ":")).encode()
    bundles.expect_agreement(bundles.join(text, region))
    try:
        parsed = format.parse(bundles.join(text, region))
    except BundleError:
        return
    assert canonical.encode(parsed.manifest) == text


def test_nothing_may_be_left_out() -> None:
    """Removing any key or item of the manifest is noticed, unless the item was free (a plan, a value)."""
    free = ("plan", "values", "instances", "options", "definitions")
    for place in PLACES:
        if any(key in free for key in place[:-1]) and place[-1] not in ("identity", "kernel"):
            continue

        def change(manifest: Any, place: tuple[Any, ...] = place) -> None:
            for key in place[:-1]:
                manifest = manifest[key]
            del manifest[place[-1]]

        bundles.expect_agreement(bundles.forge(change))
        try:
            format.parse(bundles.forge(change))
        except BundleError:
            continue
        pytest.fail(f"{place} can be removed")


# The header


def test_headers() -> None:
    manifest, region = bundles.split(bundles.bundle())
    text = canonical.encode(manifest)
    refused(b"PK\x03\x04" + bytes(100), "not a bundle: the file starts with b'PK")
    refused(b"", "not a bundle: 0 bytes")
    refused(bundles.join(text, region, reserved=1), "bytes 12 to 15")
    refused(bundles.bundle() + bytes(16), "16 bytes behind the last blob")
    refused(bundles.bundle() + b"\0", "1 bytes behind the last blob")
    huge = bytearray(bundles.bundle())
    struct.pack_into("<Q", huge, 16, 2**64 - 1)
    refused(bytes(huge), "a manifest of 18446744073709551615 bytes in a file of")


def test_padding_is_zero() -> None:
    data = bundles.bundle()
    length = struct.unpack_from("<Q", data, 16)[0]
    damaged = bytearray(data)
    assert (56 + length) % 16, "the sample's manifest needs padding for this test"
    damaged[56 + length] = 1
    refused(bytes(damaged), f"padding from byte {56 + length}")
    damaged = bytearray(data)
    assert damaged[-1] == 0
    damaged[-1] = 1
    refused(bytes(damaged), "padding from byte")


def test_other_versions_say_who_reads_them() -> None:
    manifest, region = bundles.split(bundles.bundle())
    manifest["generator"] = "kbuild 9.1.0"
    newer = bundles.join(canonical.encode(manifest), region, version=7)
    refused(
        newer, r"bundle format 7, written by kbuild 9\.1\.0; this kbuild reads format 1: install that kbuild or a newer"
    )
    refused(bundles.join(b"?", b"", version=7), "bundle format 7; this kbuild reads format 1: install that kbuild")
    refused(bundles.join(canonical.encode(manifest), region, version=0), "format 0.*build it again")
    hostile = b'{"generator":"\x1b[31m' + b"x" * 100 + b'"}'
    refused(bundles.join(hostile, b"", version=7), r"bundle format 7; this")


# The text of the manifest


@pytest.mark.parametrize(
    ("find", "put", "wanted"),
    [
        (b'"format":1', b'"format":1,"format":1', "not canonical"),
        (b'"format":1', b'"format": 1', "not canonical"),
        (b'"format":1', b'"format":01', "damaged manifest"),
        (b'"format":1', b'"format":1.0', r"the number 1\.0, where only integers"),
        (b'"format":1', b'"format":1e0', "the number 1e0"),
        (b'"format":1', b'"format":NaN', "the number NaN"),
        (b'"format":1', b'"format":-Infinity', "the number -Infinity"),
        (b'"format":1', b'"format":' + b"1" * 5000, "a number of 5000 digits"),
        (b'"shared":0', b'"shared":-0', "not canonical"),
        (b'"format":1', b'"format":true', r"manifest\.format is True, but wants an integer"),
        (b'"generator":"k', b'"generator":"\\u006b', "not canonical"),
        (b'"generator":"k', '"generator":"ü'.encode(), "damaged manifest: 'ascii' codec"),
        (b'"sources":null', b'"sources":' + b"[" * 100_000 + b"]" * 100_000, "nested too deep|manifest.sources"),
        (b"{", b"[{", "damaged manifest"),
    ],
)
def test_text_of_the_manifest(find: bytes, put: bytes, wanted: str) -> None:
    manifest, region = bundles.split(bundles.bundle())
    text = canonical.encode(manifest)
    assert find in text
    refused(bundles.join(text.replace(find, put, 1), region), wanted)


def test_a_manifest_is_an_object() -> None:
    for text in (b"[]", b"3", b"null", b'"x"', b""):
        refused(bundles.join(text, b""), "wants an object|damaged manifest")


# Forgeries that are consistent in every digest


def at(*path: Any) -> Callable[[Any], Callable[[Any], None]]:
    """A change that sets the value at a path."""

    def with_value(value: Any) -> Callable[[Any], None]:
        def change(manifest: Any) -> None:
            for key in path[:-1]:
                manifest = manifest[key]
            manifest[path[-1]] = value

        return change

    return with_value


PARAMETER = ("kernels", 0, "parameters")
ASSERT = {"function": "robosim.kernels:integrate", "number": 1, "line": 3, "text": "assert a", "kernels": [0, 1]}
FORGERIES: list[tuple[Callable[[Any], Any], str]] = [
    (at("extra")(1), r"manifest has the unknown key 'extra'"),
    (at("kernels", 0, "extra")(1), r"manifest\.kernels\[0\] has the unknown key 'extra'"),
    (
        at("kernels", 0, "whole_blocks")(False),
        r"kernels\[0\]\.whole_blocks is False, but wants true, or to be left out",
    ),
    (at("kernels", 0, "origin")(1), r"kernels\[0\]\.origin is 1, but wants true"),
    (at("kernels", 1, "origin")(True), r"kernels\[1\]\.origin is of kernels with one coordinate, not 2"),
    (at("kernels", 0, "launch_bounds")(256), r"kernels\[0\]\.launch_bounds is 256, but wants \[1 to 1024 threads"),
    (at("kernels", 0, "launch_bounds")([256, 33]), r"kernels\[0\]\.launch_bounds is \[256, 33\], but wants"),
    (at("kernels", 0, "launch_bounds")([16, 0]), r"kernels\[0\]\.block_dim is \d+, but launch_bounds allows 16"),
    (at("cubins", 1, "constants")(-1), r"cubins\[1\]\.constants is -1"),
    (at("cubins", 1, "resources", 0, "min_blocks")(0), r"resources\[0\]\.min_blocks is 0, but wants 1 to 32"),
    (at("kernels", 0, "any_block_dim")(False), r"kernels\[0\]\.any_block_dim is False, but wants true"),
    (
        lambda m: m["kernels"][0].update(any_block_dim=True, whole_blocks=True),
        r"kernels\[0\]\.any_block_dim is not for whole_blocks, whose size is the kernel's",
    ),
    (at("kernels", 0, "whole_blocks")(1), r"kernels\[0\]\.whole_blocks is 1, but wants true"),
    (lambda m: m["kernels"][0].pop("entry"), r"manifest\.kernels\[0\] lacks 'entry'"),
    (at("format")(2), r"manifest\.format is 2 in a file of format 1"),
    (at("package")("a b"), r"manifest\.package is 'a b', but wants a dotted name"),
    (at("generator")("\x1b[31m"), r"manifest\.generator is '\\x1b\[31m'"),
    (at("options", "fmad")([1]), r"manifest\.options\['fmad'\] is \[1\]"),
    (at("kernels", 0, "entry")("a-b"), r"manifest\.kernels\[0\]\.entry is 'a-b', but wants a C identifier"),
    (at("kernels", 0, "entry")("é"), "wants a C identifier"),
    (at("kernels", 0, "entry")("pull_5e6f7a8b"), r"cubins\[0\]\.kernels: entry\[1\] repeats 'pull_5e6f7a8b'"),
    (at("kernels", 0, "name")("integrate"), "wants module:qualname"),
    (at("kernels", 0, "name")("a:b[zzzzzzzz]"), "wants module:qualname"),
    (at("kernels", 0, "ndim")(5), r"kernels\[0\]\.ndim is 5, but wants 1 to 4"),
    (at("kernels", 0, "ndim")(2), r"parameters\[0\]: pos is laid out at offset 8 .* offset 24"),
    (at("kernels", 0, "block_dim")(0), r"block_dim is 0, but wants 1 to 1024"),
    (at("kernels", 0, "block_dim")(1025), "wants 1 to 1024"),
    (at("kernels", 0, "size")(44), r"kernels\[0\]\.size is 44, but its parameters end at 40"),
    (at(*PARAMETER, 1, "offset")(20), r"gravity is laid out at offset 20 .* wants offset 24"),
    (at(*PARAMETER, 1, "offset")(28), r"gravity is laid out at offset 28"),
    (at(*PARAMETER, 1, "offset")(-1), r"parameters\[1\]\.offset is -1, but wants an integer from 0 on"),
    (at(*PARAMETER, 1, "size")(16), "gravity is laid out at offset 24 with 16 bytes"),
    (at(*PARAMETER, 1, "type")("vec4[float32]"), "its type vec4.float32. wants offset 24 and 16 bytes"),
    (at(*PARAMETER, 1, "type")("vec3[float33]"), r"parameters\[1\]\.type: unknown type 'vec3\[float33\]'"),
    (at(*PARAMETER, 1, "type")("struct:robosim.kernels:Nothing"), "unknown type 'struct:robosim.kernels:Nothing'"),
    (at(*PARAMETER, 1, "type")("array1[" * 60 + "int8" + "]" * 60), "its type array1.* wants offset 24"),
    (at(*PARAMETER, 1, "type")("array1[" * 9999), "but wants a type"),
    (
        at(*PARAMETER, 0, "type")("indexedarray1[float32]"),
        "its type indexedarray1.float32. wants offset 8 and 32 bytes",
    ),
    (at(*PARAMETER, 0, "type")("indexedarray5[float32]"), r"parameters\[0\]\.type: unknown type 'indexedarray5"),
    (at(*PARAMETER, 1, "name")("pos"), r"kernels\[0\]\.parameters\[1\] repeats 'pos'"),
    (at(*PARAMETER, 1, "name")("a b"), "wants an identifier"),
    (at("kernels")([]), r"definitions\['robosim.kernels:integrate'\]\.instances\[0\]\.kernel is 0, but there are 0"),
    (lambda m: m["kernels"].append(m["kernels"][0]), r"kernels\[2\] repeats 'robosim.kernels:integrate'"),
    (at("structs", "robosim.kernels:Spring", "size")(16), "is not laid out as its fields ask for"),
    (at("structs", "robosim.kernels:Spring", "fields", 0, 2)(4), "is not laid out as its fields ask for"),
    (at("structs", "robosim.kernels:Spring", "fields", 0, 0)("b"), r"\.fields\[1\] repeats 'b'"),
    (at("structs", "robosim.kernels:Spring", "fields", 0)(["a", "int32"]), r"wants \[name, type, offset\]"),
    (at("structs", "robosim.kernels:Spring", "fields", 0, 1)("struct:robosim.kernels:Spring"), "contains itself"),
    (at("structs", "x")({"size": 1, "align": 1, "fields": []}), "structs has the key 'x', but wants module:qualname"),
    (at("definitions", "robosim.kernels:integrate", "instances", 0, "kernel")(2), "is 2, but there are 2 kernels"),
    (at("definitions", "robosim.kernels:integrate", "instances", 0, "kernel")(1), "which is not its own"),
    (at("definitions", "robosim.kernels:integrate", "instances", 0, "identity")("0" * 63), "64 hexadecimal digits"),
    (at("definitions", "robosim.kernels:integrate", "instances", 0, "identity")("0" * 63 + "A"), "64 hexadecimal"),
    (
        lambda m: m["definitions"]["robosim.kernels:integrate"]["instances"].extend(
            m["definitions"]["robosim.kernels:integrate"]["instances"]
        ),
        r"instances\[1\] repeats '0000",
    ),
    (at("definitions", "robosim.kernels:integrate", "plan")(["global:a", "global:a"]), r"plan\[1\] repeats 'global:a'"),
    (at("targets")(["sm_90", "sm_90"]), r"targets\[1\] repeats 'sm_90'"),
    (at("targets")(["sm_90"]), r"cubins\[0\]\.target is 'jetson-orin-jp6', which is none of the targets"),
    (at("cubins", 0, "target")("sm_90"), r"cubins\[1\] repeats \('sm_90', 'robosim.kernels', 'cubin'\)"),
    (lambda m: m["cubins"][0].update(target="sm_90", unit="other"), "which cubins.0. holds already"),
    (at("cubins", 0, "arch")("compute_87"), r"cubins\[0\]\.arch is 'compute_87', but a cubin wants sm_"),
    (at("cubins", 0, "arch")("sm_87x"), "wants an architecture such as sm_90"),
    (at("cubins", 0, "kind")("fatbin"), "wants 'cubin' or 'ptx'"),
    (at("cubins", 0, "kind")([]), "wants 'cubin' or 'ptx'"),
    (at("cubins", 0, "toolchain")("new"), r"wants a version such as 12\.9\.86"),
    (at("cubins", 0, "driver")([12]), r"wants \[major, minor\]"),
    (at("cubins", 0, "driver")([12, True]), r"wants \[major, minor\]"),
    (at("cubins", 0, "kernels")([]), r"cubins\[0\]\.kernels is empty"),
    (at("cubins", 0, "kernels")([0, 0]), r"cubins\[0\]\.kernels\[1\] repeats 0"),
    (at("cubins", 0, "kernels")([0, 2]), r"cubins\[0\]\.kernels is 2, but there are 2 kernels"),
    (at("cubins", 0, "resources")([]), r"is about the kernels \[\], but wants one row for each of \[0, 1\]"),
    (at("cubins", 0, "resources", 1, "kernel")(0), r"is about the kernels \[0, 0\]"),
    (at("cubins", 0, "resources", 1, "registers")("24"), r"resources\[1\]\.registers is '24', but wants an integer"),
    (at("cubins", 0, "blob")(2), r"cubins\[0\]\.blob is 2, but there are 2 blobs"),
    (at("cubins", 0, "blob")(1), r"blobs\[0\] belongs to no cubin"),
    (at("blobs", 0, "offset")(16), r"blobs\[0\]\.offset is 16, but the next free byte is 0"),
    (at("blobs", 1, "offset")(0), r"blobs\[1\]\.offset is 0, but the next free byte is 48"),
    (at("blobs", 1, "offset")(64), "the next free byte is 48"),
    (lambda m: m["blobs"].reverse(), "the next free byte is 0"),
    (at("blobs", 1, "stored")(10_000), "truncated: .* bytes, at least .* wanted"),
    (at("blobs", 1, "stored")(2**63 - 1), "truncated: .* bytes, at least .* wanted"),
    (at("blobs", 1, "stored")(0), r"blobs\[1\] is empty"),
    (at("blobs", 0, "size")(38), "is stored raw, but its two sizes or digests differ"),
    (at("blobs", 0, "sha256")("0" * 64), "is stored raw, but its two sizes or digests differ"),
    (at("blobs", 1, "sha256")("0" * 64), "blob 1 is not what the manifest says"),
    (at("blobs", 1, "stored_sha256")("0" * 64), "blob 1 is damaged"),
    (at("blobs", 1, "size")(119), "blob 1 is not one zlib stream of 119 bytes"),
    (at("blobs", 1, "size")(121), "blob 1 is not one zlib stream of 121 bytes"),
    (at("blobs", 1, "size")(2**40), "more than .* bytes of zlib can hold"),
    (at("blobs", 0, "codec")("lzma"), "wants 'zlib' or 'raw'"),
    (at("sources")([{"module": "a"}]), r"sources\[0\] lacks 'path'"),
    (at("sources")([{"module": "a", "path": "a\0", "size": 1, "mtime_ns": 1, "sha256": "0" * 64}]), "wants a path"),
    (at("sources")([{"module": "a", "path": "\ud800", "size": 1, "mtime_ns": 1, "sha256": "0" * 64}]), "wants a path"),
    (at("asserts")([{"function": "a:b"}]), r"asserts\[0\] lacks 'number'"),
    (at("asserts")(None), r"asserts is None, but wants a list"),
    (at("asserts")([{**ASSERT, "text": "a\x1b[2J"}]), r"asserts\[0\]\.text is .*, but wants a printable text"),
    (at("asserts")([{**ASSERT, "function": "f"}]), r"asserts\[0\]\.function is 'f', but wants module:qualname"),
    (at("asserts")([{**ASSERT, "kernels": [0, 2]}]), r"asserts\[0\]\.kernels is 2, but there are 2 kernels"),
    (at("asserts")([{**ASSERT, "kernels": [1, 1]}]), r"asserts\[0\]\.kernels\[1\] repeats 1"),
    (
        at("sources")([{"module": "a", "path": "a.py", "size": 1, "mtime_ns": 1, "sha256": "0" * 64}] * 2),
        r"sources\[1\] repeats 'a\.py'",
    ),
]


@pytest.mark.parametrize(("change", "wanted"), FORGERIES, ids=[wanted[:40] for _, wanted in FORGERIES])
def test_forgeries(change: Callable[[Any], Any], wanted: str) -> None:
    refused(bundles.forge(change), wanted)


def test_asserts_may_be_there() -> None:
    assert format.parse(bundles.forge(at("asserts")([ASSERT]))).manifest["asserts"] == [ASSERT]
    assert "asserts" not in format.parse(bundles.bundle()).manifest


def test_a_kernel_may_run_in_whole_blocks() -> None:
    kernels = format.parse(bundles.forge(at("kernels", 1, "whole_blocks")(True))).manifest["kernels"]
    assert [row.get("whole_blocks") for row in kernels] == [None, True]


def test_options_may_be_lists_of_texts() -> None:
    assert format.parse(bundles.forge(at("options", "defines")(["A", "B"]))).manifest["options"]["defines"] == [
        "A",
        "B",
    ]


def test_more_parameters_than_cuda_takes() -> None:
    def change(manifest: Any) -> None:
        manifest["kernels"][0]["parameters"] = [
            {"name": "m", "type": "mat64x64[float64]", "offset": 8, "size": 32768},
        ]
        manifest["kernels"][0]["size"] = 32776

    refused(bundles.forge(change), r"kernels\[0\]\.size is 32776, but CUDA takes 32764 bytes")


def test_a_blob_is_one_stream_and_no_more() -> None:
    """Bytes behind a zlib stream, and a stream that unpacks to more than it declares, with every digest right."""
    manifest, _ = bundles.split(bundles.bundle())
    stored = zlib.compress(bundles.BLOBS[1], 9) + b"more"
    region = bundles.BLOBS[0] + bytes(-len(bundles.BLOBS[0]) % 16) + stored + bytes(-len(stored) % 16)
    manifest["blobs"][1].update(stored=len(stored), stored_sha256=hashlib.sha256(stored).hexdigest())
    refused(bundles.join(canonical.encode(manifest), region), "not one zlib stream of 120 bytes")


def test_a_bomb_is_not_unpacked() -> None:
    """100 MB declared as 120 bytes: refused without unpacking them."""
    import tracemalloc

    manifest, _ = bundles.split(bundles.bundle())
    stored = zlib.compress(bytes(100_000_000), 9)
    region = bundles.BLOBS[0] + bytes(-len(bundles.BLOBS[0]) % 16) + stored + bytes(-len(stored) % 16)
    manifest["blobs"][1].update(stored=len(stored), stored_sha256=hashlib.sha256(stored).hexdigest())
    data = bundles.join(canonical.encode(manifest), region)
    tracemalloc.start()
    try:
        refused(data, "not one zlib stream of 120 bytes")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_ptx_needs_no_resources() -> None:
    def change(manifest: Any) -> None:
        manifest["cubins"][1].update(kind="ptx", arch="compute_90", resources=[])

    assert format.parse(bundles.forge(change)).manifest["cubins"][1]["kind"] == "ptx"


def test_lazy_leaves_the_blobs_for_later() -> None:
    data = bytearray(bundles.bundle())
    _, region = bundles.split(bytes(data))
    data[len(data) - len(region)] ^= 1
    refused(bytes(data), "blob 0 is damaged")
    parsed = format.parse(bytes(data), lazy=True)
    assert parsed.blob(1) == bundles.BLOBS[1]
    with pytest.raises(BundleError, match="blob 0 is damaged"):
        parsed.blob(0)
    with pytest.raises(LoaderError, match="blob 0 is damaged"):
        parsed.verify()


def test_imports_are_few() -> None:
    """The start of every program pays for what these import."""
    allowed = {"__future__", "struct", "zlib"}
    for module in (reading, format, schema, schema_faults, parameter_block, digest, canonical):
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        for node in tree.body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert set(names) <= allowed


def assert_like_json(value: object) -> None:
    text = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    assert canonical.encode(value) == text
    assert canonical.decode(text) == value


@given(JSON)
def test_canonical_json_is_json(value: object) -> None:
    """Where json and `canonical` both have an answer, it is the same one."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    integer = max((len(number) for number in re.findall(r"\d+", text)), default=0)
    is_finite = "NaN" not in text and "Infinity" not in text
    if is_finite:
        assert canonical.encode(value) == text.encode()
    if (
        re.fullmatch(
            r"[^.eENI]*", re.sub(r'"[^"]*"', "", text).replace("null", "").replace("true", "").replace("false", "")
        )
        and integer < 20
    ):
        assert canonical.decode(text.encode()) == value


def test_canonical_json_by_example() -> None:
    for value in ({}, [], "", 0, -1, None, True, {"b": [1, {"a": 'é\x00\u2028\U0001f600"'}], "a": False}):
        assert_like_json(value)


@pytest.mark.parametrize("text", [b"", b"[", b'{"a":1,}', b"[1]x", b"nul", b'"\n"', b"[1,]", b"\xff", b"{1:2}", b"01"])
def test_what_is_not_json(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        canonical.decode(text)


def test_what_has_no_json_text() -> None:
    with pytest.raises(TypeError, match="object has no JSON text"):
        canonical.encode(object())
    with pytest.raises(ValueError, match="Out of range float values"):
        canonical.encode(float("nan"))


def test_a_python_without_json_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    monkeypatch.setattr(canonical, "_scanner", canonical._make_scanner())
    monkeypatch.setattr(canonical, "_encoder", canonical._make_encoder())
    test_canonical_json_by_example()
    with pytest.raises(ValueError, match="no JSON value at character 0"):
        canonical.decode(b"")
    assert format.dump(bundles.MANIFEST, bundles.BLOBS) == bundles.bundle()
    assert format.parse(bundles.bundle()).manifest["kernels"] == bundles.MANIFEST["kernels"]


@pytest.mark.parametrize("size", [0, 1, digest.SMALL, digest.SMALL + 1])
def test_every_sha256_is_the_same(size: int) -> None:
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    for kind in (bytes, bytearray, memoryview):
        assert digest.sha256(kind(data)).digest() == hashlib.sha256(data).digest()


def test_a_python_without_its_own_sha256(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_sha256", "_sha2"):
        monkeypatch.setitem(sys.modules, name, None)
    assert digest._built_in() is hashlib.sha256


def test_parsing_is_fast() -> None:
    """A start with ten kernels for two targets: well under a millisecond; ten times that here, for a busy machine."""
    manifest = bundles.manifest()
    manifest["kernels"] = [dict(manifest["kernels"][0], name=f"m:k{i}", entry=f"k{i}") for i in range(10)]
    manifest["definitions"] = {}
    manifest["structs"] = {}
    for row in manifest["cubins"]:
        row["kernels"] = list(range(10))
        row["resources"] = [dict(row["resources"][0], kernel=i) for i in range(10)]
    data = format.dump(manifest, bundles.BLOBS)
    times = []
    for _ in range(20):
        start = time.perf_counter()
        reading.read(data)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.01


def test_the_quick_reader_agrees_on_a_manifest_with_everything() -> None:
    """Every place of it taken away, doubled, or replaced by what could stand there."""
    data = format.dump(bundles.rich(), bundles.BLOBS)
    assert reading.quick(data) is not None
    manifest, region = bundles.split(data)
    verdicts: Counter[bool] = Counter()
    for place in places(manifest)[1:]:
        for change in bundles.CHANGES:
            changed = copy.deepcopy(manifest)
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            change(holder, place[-1])
            verdicts[bundles.expect_agreement(bundles.join(canonical.encode(changed), region))] += 1
    assert verdicts[False] > 9000
    assert verdicts[True] > 200


def unsaid(shape: Any, values: list[Any], place: str = "") -> list[str]:
    """The places of a shape that none of these values has anything at."""
    kind = type(shape)
    if not values:
        return [place]
    if kind is dict:
        found = [
            (f"{place}.{key}", inner, [value[key] for value in values if key in value]) for key, inner in shape.items()
        ]
        return [one for name, inner, below in found for one in unsaid(inner, below, name)]
    if kind is list:
        return unsaid(shape[0], [item for value in values for item in value], place + "[]")
    if kind is schema.Table:
        return unsaid(shape.shapes[1], [item for value in values for item in value.values()], place + "[]")
    if kind is schema.Either:
        key, first, second = shape.shapes
        with_key, without = [v for v in values if key in v], [v for v in values if key not in v]
        return unsaid(first, with_key, f"{place}({key})") + unsaid(second, without, place)
    if kind in (schema.May, schema.Nullable):
        return unsaid(shape.shapes[0], [value for value in values if value is not None], place)
    return []


def test_the_manifest_with_everything_has_everything() -> None:
    """A key that comes to the schema comes to the manifest that the readers are tried on."""
    manifest, _ = bundles.split(format.dump(bundles.rich(), bundles.BLOBS))
    assert unsaid(schema.MANIFEST, [manifest]) == []
