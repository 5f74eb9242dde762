"""What benchmarks/replay makes of a recording, and how it judges differences; neither Warp nor a GPU."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "replay"


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs as modules, for one test."""
    monkeypatch.syspath_prepend(str(PROGRAMS))
    for name in ("comparing", "judge", "recording", "gpu"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def descriptor(shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """Warp's array_t without addresses."""
    pad = (0,) * (4 - len(shape))
    return struct.pack("<QQ8iHH4x", 0, 0, *shape, *pad, *strides, *pad, len(shape), 0)


@pytest.fixture
def recording(tmp_path: Path) -> Any:
    """A kernel with an array of vectors that is every second of a buffer's, a struct with an array, and a float."""
    from recording import Recording

    fields = [["mask", 0, "array1[bool]"], ["gain", 56, "float32"], ["", 64, "size"]]
    array = descriptor((2,), (24,))
    options = descriptor((3,), (1,)) + struct.pack("<f4x", 0.5)
    params = [(array.hex(), [(0, "b0", 12)]), (options.hex(), [(0, "b1", 0)]), (struct.pack("<f", 2.0).hex(), [])]
    op = {"op": "launch", "kernel": "k0", "dim": [2], "bounds": struct.pack("<I4xQQ", 2, 2, 1).hex(), "params": params}
    parameters = [["x", "array1[vec3[float32]]"], ["options", "struct:m:Options"], ["dt", "float32"]]
    data = np.arange(12, dtype=np.float32).tobytes()
    document = {
        "structs": {"m:Options": fields},
        "kernels": [{"id": "k0", "module": "m", "qualname": "kernel", "parameters": parameters}],
        "cases": [{"scene": "s", "kernel": "k0", "op": op}],
        "scenes": [],
        "blobs": {"one": (3, len(zlib.compress(data)))},
    }
    (tmp_path / "g.json").write_text(json.dumps(document))
    (tmp_path / "g.blobs").write_bytes(b"pad" + zlib.compress(data))
    return Recording(tmp_path, "g")


def test_parameters(recording: Any) -> None:
    op = recording.cases[0]["op"]
    places = {"b0": 4096, "b1": 8192}
    bounds, array, options, dt = recording.warp_parameters(op, lambda buffer, offset: places[buffer] + offset)
    assert [len(part) for part in (bounds, array, options, dt)] == [24, 56, 64, 4]
    assert struct.unpack_from("<QQ", array) == (4096 + 12, 0)
    assert struct.unpack_from("<Q", options) == (8192,)
    values = recording.values(op, lambda buffer, offset: places[buffer] + offset, lambda *array: array)
    assert values == [
        (4108, (2,), (24,), "vec3[float32]"),
        {"mask": (8192, (3,), (1,), "bool"), "gain": 0.5},
        2.0,
    ]


def test_views(recording: Any) -> None:
    from recording import arrays_of

    memory = {"b0": bytearray(recording.blob("one")), "b1": bytearray(b"\1\0\1")}
    arrays = arrays_of(recording, [recording.cases[0]["op"]])
    assert [name for name, *_ in arrays] == ["x", "options.mask"]
    (x,), (mask,) = (recording.views(memory, *place) for _, *place in arrays)
    np.testing.assert_array_equal(x, [[3.0, 4.0, 5.0], [9.0, 10.0, 11.0]])
    np.testing.assert_array_equal(mask, [True, False, True])


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ([1.0, 2.0], [1.0, 2.0], {"equal": 2}),
        ([0.0, np.nan], [-0.0, np.nan], {"equal": 2}),
        ([1.0, 4.0], [1.0, 4.0000005], {"equal": 1, "ulps": 1, "special": 0}),
        ([1.0, np.inf], [1.0, 3.0], {"equal": 1, "special": 1}),
        ([1.0, np.nan], [1.0, 3.0], {"equal": 1, "special": 1}),
        ([1.0, 2.0], [2.0, 1.0], {"equal": 0, "multiset": True}),
        ([-0.0, -1e-45], [1e-45, 1e-45], {"equal": 0, "ulps": 2}),
    ],
)
def test_floats(one: list[float], other: list[float], wanted: dict[str, Any]) -> None:
    from comparing import compare

    first, second = np.array(one, np.float32), np.array(other, np.float32)
    found = compare(first, second, np.zeros(2, np.float32))
    assert {key: found[key] for key in wanted} == wanted


def test_integers() -> None:
    from comparing import compare, worst

    row = compare(np.array([1, 2, 3]), np.array([3, 2, 1]), np.array([1, 0, 0]))
    assert row == {"count": 3, "equal": 1, "changed": 2, "multiset": True}
    assert worst([row])["integers"] == 2


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "equal"),
        ({"unfused": {"equal": 9, "error": 1e-7}}, "equal"),
        ({"unfused": {"equal": 9, "error": 1e-7}, "fused": {"equal": 9, "error": 1e-7}}, "close"),
        ({"fused": {"equal": 9, "error": 1e-7}}, "equal"),
        ({"unfused": {"equal": 9, "error": 1e-3}}, "different"),
        ({"unfused": {"equal": 9, "integers": 1}}, "different"),
        ({"fused": {"equal": 9, "special": 1}}, "different"),
        ({"fused": {"equal": 9, "error": 1e-3}, "fused warp again": {"equal": 8, "error": 1e-3}}, "order"),
        ({"fused": {"equal": 9, "error": 1e-1}, "fused warp again": {"equal": 8, "error": 1e-3}}, "different"),
        ({"fused": {"equal": 9, "integers": 2}, "fused warp again": {"equal": 8, "integers": 2}}, "different"),
        (
            {
                "fused": {"equal": 9, "integers": 2},
                "fused warp again": {"equal": 8, "integers": 2},
                "fused arrays": [{"multiset": True}],
            },
            "order",
        ),
    ],
)
def test_verdicts(changes: dict[str, Any], verdict: str) -> None:
    from judge import verdict_of

    same = {"count": 10, "equal": 10, "changed": 5, "special": 0, "error": 0.0, "ulps": 0, "integers": 0}
    row: dict[str, Any] = {name: dict(same) for name in ("fused", "unfused", "fused warp again", "unfused warp again")}
    row.update({"fused arrays": [{"error": 1.0}], "unfused arrays": [{"error": 1.0}]})
    for name, change in changes.items():
        row[name] = {**row[name], **change} if isinstance(change, dict) else change
    assert verdict_of(row) == verdict


def test_interfaces() -> None:
    from gpu import described

    assert described(4096, (2,), (24,), "vec3[float32]", 0) == {
        "shape": (2, 3),
        "strides": (24, 4),
        "typestr": "<f4",
        "data": (4096, False),
        "version": 3,
        "stream": None,
    }
    assert described(0, (5, 2), (8, 4), "int32", 0)["shape"] == (0, 0)
    assert described(4096, (2,), (64,), "struct:m:Options", 64)["typestr"] == "|V64"
