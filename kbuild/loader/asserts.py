"""The asserts in the bundles of this process: what to say when the driver reports that one has failed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable

    Row = Dict[str, Any]

_SHOWN = 8

_bundles: dict[str, Row] = {}  # label → manifest, of every opened bundle with asserts


def remember(manifest: Row, label: str) -> None:
    """Notes a bundle whose code holds asserts."""
    _bundles[label] = manifest


def rows(manifest: Row) -> list[Row]:
    """The asserts of a bundle; `kernels` are names."""
    names = [kernel["name"] for kernel in manifest["kernels"]]
    return [dict(row, kernels=[names[i] for i in row["kernels"]]) for row in manifest.get("asserts", ())]


def describe(row: Row) -> list[str]:
    """Two lines for people. The first word is what the driver prints for a failed assert."""
    module = row["function"].partition(":")[0]
    first = "%s:%d  line %d of %s: %s" % (row["function"], row["number"], row["line"], module, row["text"])
    return [first, "    in %s" % ", ".join(row["kernels"])]


def known() -> str:
    """What a message about a failed assert adds: the asserts it may be, or where to look them up."""
    found = [(label, row) for label, manifest in list(_bundles.items()) for row in rows(manifest)]
    if not found:
        return ""
    lines = ["; it starts with the name and number of one of these:"]
    lines += ["    " + line for _, row in found[:_SHOWN] for line in describe(row)]
    if len(found) > _SHOWN:
        lines.append("    … and %d more" % (len(found) - _SHOWN))
    lines += ["  help: `python -m kbuild.loader asserts %s` lists them" % label for label in _labels(found)]
    return "\n".join(lines)


def _labels(found: Iterable[tuple[str, Row]]) -> list[str]:
    return list(dict.fromkeys(label for label, _ in found))
