"""Two bundles side by side: what a rebuild, another toolchain or another kbuild changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kbuild.loader import format

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs; `before` or `after` is None where it is on one side only."""

    what: str
    before: object
    after: object

    def __str__(self) -> str:
        if self.before is None:
            return f"{self.what}: only in the second ({self.after})"
        if self.after is None:
            return f"{self.what}: only in the first ({self.before})"
        return f"{self.what}: {self.before} → {self.after}"

    def to_json(self) -> dict[str, object]:
        return {"what": self.what, "before": self.before, "after": self.after}


def compare(one: format.Parsed, other: format.Parsed) -> list[Difference]:
    """What differs between two bundles, from the outside in; empty when they are the same bundle.

    How blobs are stored does not count; as in `digest`.
    """
    before, after = one.manifest, other.manifest
    differences = [
        Difference(key, before[key], after[key])
        for key in ("generator", "package", "options", "targets")
        if before[key] != after[key]
    ]
    differences += _tables("struct", before["structs"], after["structs"])
    differences += _tables("definition", before["definitions"], after["definitions"])
    differences += _tables("kernel", _kernels(before), _kernels(after))
    differences += _tables("cubin", _cubins(before), _cubins(after))
    tests = [_selftest(manifest) for manifest in (before, after)]
    if tests[0] != tests[1]:
        differences.append(Difference("selftest", *tests))
    if before["sources"] != after["sources"]:
        differences.append(Difference("sources", *(_count(m["sources"], "files") for m in (before, after))))
    if before.get("asserts") != after.get("asserts"):
        differences.append(Difference("asserts", *(_count(m.get("asserts"), "asserts") for m in (before, after))))
    return differences


def _tables(kind: str, before: dict[str, Row], after: dict[str, Row]) -> Iterator[Difference]:
    """Rows that are on one side only, and the fields in which the others differ."""
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            sides = ["there" if name in side else None for side in (before, after)]
            yield Difference(f"{kind} {name}", *sides)
            continue
        for field in dict.fromkeys([*before[name], *after[name]]):  # some are in few rows
            value, other = before[name].get(field), after[name].get(field)
            if value != other:
                yield Difference(f"{kind} {name} {field}", value, other)


def _kernels(manifest: Row) -> dict[str, Row]:
    return {row["name"]: _kernel(row, manifest) for row in manifest["kernels"]}


def _kernel(row: Row, manifest: Row) -> Row:
    kept = {key: row[key] for key in row if key != "name"}
    if "kernel" in kept.get("backward", {}):
        kept["backward"] = dict(kept["backward"], kernel=manifest["kernels"][kept["backward"]["kernel"]]["name"])
    return kept


def _cubins(manifest: Row) -> dict[str, Row]:
    """Cubins by target and unit, kernels by name, blobs by content: indices differ without meaning anything."""
    names = [kernel["name"] for kernel in manifest["kernels"]]
    rows = {}
    for row in manifest["cubins"]:
        blob = manifest["blobs"][row["blob"]]
        kept = {key: row[key] for key in ("arch", "toolchain", "cuda", "driver")}
        kept.update(kernels=[names[index] for index in row["kernels"]], size=blob["size"], sha256=blob["sha256"])
        kept["resources"] = [dict(resources, kernel=names[resources["kernel"]]) for resources in row["resources"]]
        rows[f"{row['target']} {row['unit']} {row['kind']}"] = kept
    return rows


def _selftest(manifest: Row) -> str | None:
    row = manifest["selftest"]
    return None if row is None else str(manifest["blobs"][row["blob"]]["sha256"])


def _count(rows: list[Row] | None, what: str) -> str | None:
    return None if rows is None else f"{len(rows)} {what}"
