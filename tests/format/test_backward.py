"""What a manifest says of adjoints: what it may say, and hostile ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kbuild.loader import abi, format, schema_later, struct_table
from kbuild.loader.errors import BundleError
from tests.helpers import bundles

LISTS = ("read", "written", "accumulated", "before", "after", "scratch", "owned")
BODY = "struct:m:Body"
STRUCTS = {
    "m:Body": {
        "size": 40,
        "align": 8,
        "fields": [["mass", "array1[float32]", 0], ["kind", "array1[int32]", 16], ["scale", "float32", 32]],
    }
}
PARAMETERS = [("x", "array1[vec3[float32]]"), ("n", "array1[int32]"), ("body", BODY), ("dt", "float32")]
ADJOINTS = [("adj_x", "array1[vec3[float32]]"), ("adj_body", BODY)]
SAVED = [
    ("saved_float32", "array2[float32]"),
    ("saved_int32", "array2[int32]"),
    ("saved_words", "array1[int32]"),
    ("counting", "bool"),
]


def rows(parameters: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], int]:
    types = struct_table.parse(STRUCTS)
    parsed = [abi.parse(spelling, types) for _, spelling in parameters]
    offsets, size = format.layout(1, parsed, True)
    made = [
        {"name": name, "type": spelling, "offset": offset, "size": type.size}
        for (name, spelling), type, offset in zip(parameters, parsed, offsets, strict=True)
    ]
    return made, size


def kernel(name: str, entry: str, parameters: list[tuple[str, str]], **more: Any) -> dict[str, Any]:
    made, size = rows(parameters)
    row = {"name": name, "entry": entry, "ndim": 1, "block_dim": 256, "origin": True, "parameters": made, "size": size}
    return {**row, **more}


def backward(**changes: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"kernel": 1, **{name: [] for name in LISTS}, "saved": {}}
    row.update(read=["x", "body.mass"], written=["x"], before=["x"], scratch=["x"])
    return {**row, **changes}


def manifest(saved: bool = False) -> dict[str, Any]:
    """A kernel, its adjoint, and a kernel that has none."""
    parameters = [*PARAMETERS, *ADJOINTS, *(SAVED if saved else ())]
    words = {"float32": None, "int32": 100} if saved else {}
    kernels = [
        kernel("m:k", "k_k", PARAMETERS, backward=backward(saved=words)),
        kernel("m:k:adjoint", "k_k_a", parameters),
        kernel("m:other", "other_k", PARAMETERS, backward={"refused": "a reason", "line": 7}),
    ]
    cubin = {**bundles.MANIFEST["cubins"][1], "kernels": [0, 1, 2], "blob": 0}
    cubin["resources"] = [{**cubin["resources"][0], "kernel": index} for index in range(3)]
    made = {**bundles.manifest(), "structs": STRUCTS, "definitions": {}, "kernels": kernels, "cubins": [cubin]}
    return {**made, "targets": ["sm_90"]}


def parse(change: Callable[[dict[str, Any]], object] = lambda _: None, saved: bool = False) -> dict[str, Any]:
    made = manifest(saved)
    change(made)
    return format.parse(format.dump(made, bundles.BLOBS[:1])).manifest


def test_what_may_be_said() -> None:
    assert parse()["kernels"][0]["backward"]["read"] == ["x", "body.mass"]
    assert parse()["kernels"][2]["backward"] == {"refused": "a reason", "line": 7}
    assert parse(saved=True)["kernels"][0]["backward"]["saved"] == {"float32": None, "int32": 100}


def to(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda m: m["kernels"][0]["backward"].update(changes)


def parameters(made: list[tuple[str, str]]) -> Callable[[dict[str, Any]], object]:
    def change(m: dict[str, Any]) -> None:
        m["kernels"][1]["parameters"], m["kernels"][1]["size"] = rows(made)

    return change


HOSTILE: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (to(kernel=3), r"kernels\[0\]\.backward\.kernel is 3, but there are 3 kernels"),
    (to(kernel=-1), r"kernels\[0\]\.backward\.kernel is -1, but wants an integer from 0 on"),
    (to(kernel=2), r"kernels\[0\]\.backward\.kernel names 'm:other', which is not its adjoint"),
    (to(kernel=0), r"kernels\[0\]\.backward\.kernel names 'm:k', which is not its adjoint"),
    (to(extra=1), r"kernels\[0\]\.backward has the unknown key 'extra'"),
    (to(refused="x"), r"kernels\[0\]\.backward lacks 'line'"),
    (to(refused="x", line=1), r"kernels\[0\]\.backward has the unknown key 'accumulated'"),
    (lambda m: m["kernels"][0].update(backward=None), r"kernels\[0\]\.backward is None, but wants an object"),
    (lambda m: m["kernels"][0]["backward"].pop("saved"), r"kernels\[0\]\.backward lacks 'saved'"),
    (lambda m: m["kernels"][2]["backward"].update(line=-1), r"kernels\[2\]\.backward\.line is -1"),
    (lambda m: m["kernels"][2]["backward"].update(refused="a\nb"), r"refused is 'a\\nb', but wants a printable text"),
    (lambda m: m["kernels"][1].update(backward=backward()), r"kernels\[1\]\.backward: an adjoint has none of its own"),
    (to(read=["y"]), r"kernels\[0\]\.backward\.read names 'y', which is no array"),
    (to(read=["dt"]), r"read names 'dt', which is no array"),
    (to(read=["body"]), r"read names 'body', which is no array"),
    (to(after=["body.scale"]), r"after names 'body\.scale', which is no array"),
    (to(after=["body.mass.x"]), r"after names 'body\.mass\.x', which is no array"),
    (to(written=["adj_x"]), r"written names 'adj_x', which is no array"),
    (to(read=["x", "x"]), r"kernels\[0\]\.backward\.read\[1\] repeats 'x'"),
    (to(read=[1]), r"read\[0\] is 1, but wants a printable text"),
    (to(accumulated=["n"]), r"accumulated names 'n', which is not in written"),
    (to(scratch=["n"]), r"scratch names 'n', which is not in before"),
    (to(saved={"bool": 1}), r"backward\.saved has the key 'bool', but wants one of float32, float64, int32, int64"),
    (to(saved={"int32": -1}), r"backward\.saved\['int32'\] is -1"),
    (to(saved={"int32": True}), r"backward\.saved\['int32'\] is True"),
    (
        to(saved={"int32": None}),
        r"saved_int32: array2\[int32\], saved_words: array1\[int32\], counting: bool\)$",
    ),
    (
        parameters([*PARAMETERS, *ADJOINTS, *SAVED]),
        r"counting: bool\), but wants \(x: array1.* adj_body: struct:m:Body\)$",
    ),
    (parameters(PARAMETERS), r"the adjoint takes \(x: .* dt: float32\), but wants \(x: .* adj_body: struct:m:Body\)$"),
    (parameters([*PARAMETERS, *ADJOINTS[::-1]]), r"the adjoint takes"),
    (parameters([*PARAMETERS, ("adj_x", "array1[float32]"), ADJOINTS[1]]), r"the adjoint takes"),
    (parameters([*PARAMETERS, *ADJOINTS, ("adj_n", "array1[int32]")]), r"the adjoint takes"),
    (parameters([*ADJOINTS, *PARAMETERS]), r"the adjoint takes"),
    (
        lambda m: (
            m["kernels"][1].update(kernel("m:k:adjoint", "k_k_a", []), ndim=2, size=24) or m["kernels"][1].pop("origin")
        ),
        r"kernels\[0\]\.backward: the adjoint has another ndim than its kernel",
    ),
]


@pytest.mark.parametrize(("change", "said"), HOSTILE)
def test_hostile(change: Callable[[dict[str, Any]], object], said: str) -> None:
    with pytest.raises(BundleError, match=said):
        parse(change)


def saved(m: dict[str, Any], made: list[tuple[str, str]]) -> None:
    parameters([*PARAMETERS, *ADJOINTS, *made])(m)


HOSTILE_SAVED: list[list[tuple[str, str]]] = [
    [],
    SAVED[:-1],
    [*SAVED, ("more", "bool")],
    [SAVED[0], *SAVED[2:]],
    [("saved_float64", "array2[float64]"), *SAVED],
    [("saved_float32", "array1[float32]"), *SAVED[1:]],
    [SAVED[1], SAVED[0], *SAVED[2:]],
    [*SAVED[:3], ("counting", "int32")],
    [*SAVED[2:], *SAVED[:2]],
]


@pytest.mark.parametrize("made", HOSTILE_SAVED)
def test_hostile_parameters_of_what_is_saved(made: list[tuple[str, str]]) -> None:
    with pytest.raises(BundleError, match="the adjoint takes"):
        parse(lambda m: saved(m, made), saved=True)


def test_a_start_leaves_what_is_said_of_adjoints_alone() -> None:
    """Their shape is checked, the rest when the first is used."""
    made = manifest()
    made["kernels"][0]["backward"]["read"] = ["nothing"]
    data = format.dump(made, bundles.BLOBS[:1])
    parsed = format.parse(data, lazy=True)
    with pytest.raises(BundleError, match="read names 'nothing'"):
        schema_later.check(parsed.manifest, parsed.structs)
    with pytest.raises(BundleError, match="read names 'nothing'"):
        format.parse(data)
