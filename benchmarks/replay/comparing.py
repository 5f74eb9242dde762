"""How far two results are from each other, array by array."""

from __future__ import annotations

from typing import Any

import numpy as np
from recording import Recording

_INTEGER = {2: np.int16, 4: np.int32, 8: np.int64}


def compare(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> dict[str, Any]:
    """`one` is the reference. `error` is the largest difference over the largest number in the reference, or over 1e-3
    of what the array held before where that is larger: what is left of a difference of large numbers is no fairer.
    """
    count = int(one.size)
    row: dict[str, Any] = {"count": count, "equal": count, "changed": 0}
    if not count:
        return row
    one, other, before = (np.ascontiguousarray(x) for x in (one, other, before))
    bits = one.view(np.dtype(f"u{one.dtype.itemsize}"))
    same = bits == other.view(bits.dtype)
    row["changed"] = int(np.count_nonzero(bits != before.view(bits.dtype)))
    if one.dtype.kind == "f":
        same |= (one == other) | (np.isnan(one) & np.isnan(other))
    row["equal"] = int(np.count_nonzero(same))
    if row["equal"] == count:
        return row
    if one.dtype.kind != "f":
        row["multiset"] = bool(np.array_equal(np.sort(one, axis=None), np.sort(other, axis=None)))
        return row
    a, b = one.astype(np.float64), other.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    row["special"] = int(np.count_nonzero(~finite & ~same))
    if finite.any():
        difference = np.abs(a - b)[finite]
        scale = max(float(np.abs(a[finite]).max()), float(np.abs(b[finite]).max()))
        row["largest"] = float(difference.max())
        row["error"] = float(difference.max() / scale) if scale else 0.0
        row["ulps"] = int(_ulps(one[finite], other[finite]).max())
    row["multiset"] = bool(np.array_equal(np.sort(one, axis=None), np.sort(other, axis=None)))
    return row


def _ulps(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Representable numbers between two, capped at 2**40."""

    def ordered(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        whole = x.view(_INTEGER[x.dtype.itemsize]).astype(object if x.dtype.itemsize == 8 else np.int64)
        return np.where(whole < 0, -(whole & ((1 << (8 * x.dtype.itemsize - 1)) - 1)), whole)

    return np.minimum(np.abs(ordered(one) - ordered(other)), 1 << 40).astype(np.int64)


def differences(recording: Recording, arrays: list[Any], before: Any, one: Any, other: Any) -> list[dict[str, Any]]:
    """A row for each array that has one."""
    rows = []
    for name, *place in arrays:
        views = [recording.views(memory, *place) for memory in (one, other, before)]
        for a, b, c in zip(*views, strict=True):
            row = compare(a, b, c)
            rows.append({"name": name, "element": place[-1], **row})
    return rows


def worst(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Several arrays as one."""
    total: dict[str, Any] = {"count": 0, "equal": 0, "changed": 0, "special": 0, "error": 0.0, "ulps": 0, "integers": 0}
    for row in rows:
        for key in ("count", "equal", "changed"):
            total[key] += row[key]
        total["special"] += row.get("special", 0)
        total["error"] = max(total["error"], row.get("error", 0.0))
        total["ulps"] = max(total["ulps"], row.get("ulps", 0))
        if "error" not in row and "special" not in row:
            total["integers"] += row["count"] - row["equal"]
    return total
