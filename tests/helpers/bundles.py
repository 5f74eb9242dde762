"""A small bundle, right in every field, for tests to read, damage and forge."""

from __future__ import annotations

import copy
import hashlib
import struct
from typing import Any

from kbuild.loader import canonical, format

SPRING = {"size": 12, "align": 4, "fields": [["a", "int32", 0], ["b", "int32", 4], ["k", "float32", 8]]}

IDENTITY = hashlib.sha256(b"float 0.5").hexdigest()

MANIFEST: dict[str, Any] = {
    "format": 1,
    "generator": "kbuild 0.1.0",
    "package": "robosim",
    "options": {"fmad": True, "lineinfo": False},
    "structs": {"robosim.kernels:Spring": SPRING},
    "definitions": {
        "robosim.kernels:integrate": {
            "plan": [],
            "instances": [{"identity": "0" * 64, "values": [], "kernel": 0}],
        },
        "robosim.kernels:make.<locals>.pull": {
            "plan": ["closure:k"],
            "instances": [{"identity": IDENTITY, "values": ["float 0.5"], "kernel": 1}],
        },
    },
    "kernels": [
        {
            "name": "robosim.kernels:integrate",
            "entry": "integrate_1a2b3c4d",
            "ndim": 1,
            "block_dim": 256,
            "parameters": [
                {"name": "pos", "type": "array1[vec3[float32]]", "offset": 8, "size": 16},
                {"name": "gravity", "type": "vec3[float32]", "offset": 24, "size": 12},
                {"name": "dt", "type": "float32", "offset": 36, "size": 4},
            ],
            "size": 40,
        },
        {
            "name": f"robosim.kernels:make.<locals>.pull[{IDENTITY[:8]}]",
            "entry": "pull_5e6f7a8b",
            "ndim": 2,
            "block_dim": 128,
            "parameters": [
                {"name": "springs", "type": "array1[struct:robosim.kernels:Spring]", "offset": 24, "size": 16},
                {"name": "mass", "type": "float64", "offset": 40, "size": 8},
                {"name": "one", "type": "struct:robosim.kernels:Spring", "offset": 48, "size": 12},
                {"name": "loud", "type": "bool", "offset": 60, "size": 1},
            ],
            "size": 61,
        },
    ],
    "targets": ["jetson-orin-jp6", "sm_90"],
    "cubins": [
        {
            "target": "jetson-orin-jp6",
            "arch": "sm_87",
            "kind": "cubin",
            "toolchain": "11.8.89",
            "cuda": [11, 8],
            "driver": [11, 0],
            "kernels": [0, 1],
            "unit": "robosim.kernels",
            "resources": [
                {"kernel": 0, "registers": 16, "shared": 0, "local": 0, "spills": 0},
                {"kernel": 1, "registers": 24, "shared": 128, "local": 8, "spills": 0},
            ],
            "blob": 0,
        },
        {
            "target": "sm_90",
            "arch": "sm_90",
            "kind": "cubin",
            "toolchain": "12.9.86",
            "cuda": [12, 9],
            "driver": [12, 0],
            "kernels": [0, 1],
            "unit": "robosim.kernels",
            "resources": [
                {"kernel": 0, "registers": 14, "shared": 0, "local": 0, "spills": 0},
                {"kernel": 1, "registers": 22, "shared": 128, "local": 8, "spills": 0},
            ],
            "blob": 1,
        },
    ],
    "selftest": None,
    "sources": None,
}

# The first does not compress, so that both codecs are there.
BLOBS = [bytes(range(1, 38)), b"cubin of sm_90 " * 8]


def manifest() -> dict[str, Any]:
    """A copy to change; without "blobs"."""
    return copy.deepcopy(MANIFEST)


def bundle() -> bytes:
    """The bytes of the small bundle."""
    return format.dump(MANIFEST, BLOBS)


def split(data: bytes) -> tuple[dict[str, Any], bytes]:
    """A bundle's manifest, "blobs" included, and the bytes of its blob region."""
    import json

    length = struct.unpack_from("<Q", data, 16)[0]
    start = (56 + length + 15) // 16 * 16
    return json.loads(data[56 : 56 + length]), data[start:]


def join(text: bytes, region: bytes, version: int = 1, reserved: int = 0) -> bytes:
    """A bundle around any manifest text: the header is consistent with it."""
    header = struct.pack("<8sIIQ32s", b"KBUNDLE\n", version, reserved, len(text), hashlib.sha256(text).digest())
    head = header + text
    return head + bytes(-len(head) % 16) + region


def forge(change: Any) -> bytes:
    """The small bundle with its manifest changed by `change(manifest)`, and every digest made right again."""
    data, region = split(bundle())
    change(data)
    return join(canonical.encode(data), region)
