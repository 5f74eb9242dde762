"""A small bundle, right in every field, for tests to read, damage and forge."""

from __future__ import annotations

import copy
import hashlib
import struct
from typing import Any

from kbuild.loader import canonical, format, reading
from kbuild.loader.errors import BundleError

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


def rich() -> dict[str, Any]:
    """A manifest that says everything that one can say."""
    made = manifest()
    integrate, pull = made["kernels"]
    springs = pull["parameters"][0]["type"]
    arrays: dict[str, Any] = {
        name: ["pos"] for name in ("read", "written", "accumulated", "before", "after", "scratch", "owned")
    }
    integrate.update(
        origin=True, waits=True, any_block_dim=True, launch_bounds=[512, 2], optional=["pos"],
        backward={**arrays, "kernel": 1, "saved": {"float32": 3, "int32": None}},
        stated={"line": 12, "rows": [["dt", ">", "0.0", "dt > 0.0"], ["dim[0]", "==", "pos.shape[0] + 1", "dim"]]},
    )  # fmt: skip
    integrate["parameters"][0].update(type="indexedarray1[vec3[float32]]", offset=8, size=32)
    integrate["parameters"][1].update(offset=40)
    integrate["parameters"][2].update(offset=52)
    integrate["size"] = 56
    pull.update(
        whole_blocks=True, dynamic_shared=4, cluster_dim=2, optional=["springs"], backward={"refused": "no", "line": 3}
    )
    plain = {
        "name": "robosim.cuda:plain", "entry": "plain", "ndim": 1, "block_dim": 32, "plain": True, "shared_memory": 64,
        "parameters": [{"name": "x", "type": "flat1[float32]", "offset": 0, "size": 8}], "size": 8,
    }  # fmt: skip
    made["kernels"].append(plain)
    made["structs"]["robosim.kernels:Net"] = {"size": 24, "align": 8, "fields": [["s", springs, 0], ["n", "int8", 16]]}
    resources = {"kernel": 2, "registers": 8, "shared": 0, "local": 0, "spills": 0, "min_blocks": 4}
    for row in made["cubins"]:
        row["kernels"].append(2)
        row["resources"].append(dict(resources))
    made["cubins"][1].update(constants=12)
    made["cubins"].append({**copy.deepcopy(made["cubins"][1]), "kind": "ptx", "arch": "compute_90", "resources": []})
    made["selftest"] = {"blob": 0}
    source = {"module": "robosim.kernels", "size": 1, "mtime_ns": 5, "sha256": "0" * 64}
    made["sources"] = [{**source, "path": "/kernels.py"}, {**source, "path": "/caf\udce9.py"}]
    where = {"function": "robosim.kernels:integrate", "text": "assert dt", "line": 3}
    made["asserts"] = [{**where, "number": 1, "kernels": [0, 1]}, {**where, "number": 2, "kernels": [2]}]
    return made


def _double(holder: Any, key: Any) -> None:
    """What stands at a place of a manifest a second time."""
    if isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder["m:other"] = copy.deepcopy(holder[key])


def _put(value: Any) -> Any:
    return lambda holder, key: holder.__setitem__(key, value)


def _add(number: int) -> Any:
    return lambda holder, key: holder.__setitem__(key, holder[key] + number if type(holder[key]) is int else number)


def _say(flag: str) -> Any:
    return lambda holder, key: holder.update({flag: True}) if isinstance(holder, dict) else None


# Ways to change what stands at a place of a manifest: (holder, key).
CHANGES: tuple[Any, ...] = (
    lambda holder, key: holder.__delitem__(key), _double, _add(1), _add(-1), _add(8), _say("waits"), _say("origin"),
    *map(_put, (
        None, True, False, 0, 33, 2**63, "", "a", "a:b", "\ud800", "a\0b", "sm_90", "sm_90f", "ptx", "raw", "12.9",
        "pos", "one.a", "springs", "flat1[float32]", "array1[float32]", "struct:robosim.kernels:Net", "0" * 64, [], {},
        [0], [0, 0], [12, 9], [256, 0], ["a", "a"], ["x", "int8", 0],
    )),
)  # fmt: skip


def expect_agreement(data: bytes) -> bool:
    """The quick reader, which every start uses, says yes exactly where the thorough one finds nothing wrong: which."""
    quick = reading.quick(data)
    try:
        thorough = format.parse(data, lazy=True)
    except BundleError:
        thorough = None
    assert (quick is None) == (thorough is None)
    if quick is None or thorough is None:
        return False
    assert quick.manifest == thorough.manifest
    assert quick.structs == thorough.structs
    assert bytes(quick._blobs) == bytes(thorough._blobs)
    return True
