"""What the adjoints in a bundle cost.

A cubin holds several kernels, and tables that are nobody's: only the machine code in it can be told apart. So a
kernel's adjoint has the bytes of its code, beside those of the kernel's own, and all adjoints of a target together have
the bytes of their cubins, which hold nothing else.
"""

from __future__ import annotations

from typing import Any

from kbuild.loader import cubin, format

Row = dict[str, Any]


def costs(parsed: format.Parsed) -> dict[str, list[Row]]:
    """`{"kernels": [{"kernel", "target", "code", "adjoint"}], "targets": [{"target", "cubins", "size", "stored",
    "of"}]}`: bytes of machine code by kernel (None for PTX), bytes of cubins by target; `of` is what all cubins of the
    target take, stored.
    """
    manifest = parsed.manifest
    names = [row["name"] for row in manifest["kernels"]]
    if not any(name.endswith(format.ADJOINT) for name in names):
        return {"kernels": [], "targets": []}
    code: dict[tuple[str, str], int | None] = {}
    totals: dict[str, Row] = {}
    for row in manifest["cubins"]:
        blob = manifest["blobs"][row["blob"]]
        total = {"target": row["target"], "cubins": 0, "size": 0, "stored": 0, "of": 0}
        total = totals.setdefault(row["target"], total)
        total["of"] += blob["stored"]
        if all(names[index].endswith(format.ADJOINT) for index in row["kernels"]):
            total["cubins"] += 1
            total["size"] += blob["size"]
            total["stored"] += blob["stored"]
        found = _tables(parsed, row)
        for index in row["kernels"]:
            info = found.get(manifest["kernels"][index]["entry"])
            if (names[index], row["target"]) not in code or info is not None:
                code[names[index], row["target"]] = None if info is None else info.code
    kernels = [
        {"kernel": name, "target": target, "code": code.get((name, target)), "adjoint": size}
        for (adjoint, target), size in code.items()
        if adjoint.endswith(format.ADJOINT)
        for name in [adjoint[: -len(format.ADJOINT)]]
    ]
    return {"kernels": kernels, "targets": [total for total in totals.values() if total["cubins"]]}


def _tables(parsed: format.Parsed, row: Row) -> dict[str, cubin.KernelInfo]:
    """The kernels of a cubin; none where it has no tables, or wrong ones, which `verify` tells."""
    try:
        return cubin.read(parsed.blob(row["blob"])).kernels if row["kind"] == "cubin" else {}
    except cubin.CubinError:
        return {}
