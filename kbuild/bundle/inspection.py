"""What a bundle holds, as the object that `inspect --json` prints: names and nesting are a promise to scripts."""

from __future__ import annotations

from typing import Any

from kbuild.bundle.gradients import costs
from kbuild.loader import format


def summary(parsed: format.Parsed) -> dict[str, Any]:
    """`{"format", "digest", "targets", "kernels": […], "cubins": […], "adjoints"}`; kernels are named, sizes are bytes.

    A cubin has `constants` where its code has tables of them, a kernel `backward` where it has an adjoint, or is known
    to have none; see `gradients.costs` for `adjoints`.
    """
    manifest = parsed.manifest
    return {
        "format": manifest["format"],
        "digest": parsed.digest,
        "targets": list(manifest["targets"]),
        "kernels": [_kernel(row, manifest) for row in manifest["kernels"]],
        "cubins": [_cubin(row, manifest) for row in manifest["cubins"]],
        "adjoints": costs(parsed),
    }


def _kernel(row: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    kernel = {"name": row["name"], "parameters": [dict(parameter) for parameter in row["parameters"]]}
    if "launch_bounds" in row:
        kernel["launch_bounds"] = list(row["launch_bounds"])
    if "cluster_dim" in row:
        kernel["cluster_dim"] = row["cluster_dim"]
    if "stated" in row:
        kernel["stated"] = [said for _, _, _, said in row["stated"]["rows"]]
    backward = dict(row.get("backward", {}))
    if "kernel" in backward:
        backward["kernel"] = manifest["kernels"][backward["kernel"]]["name"]
    return {**kernel, "backward": backward} if backward else kernel


def _cubin(row: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    names = [kernel["name"] for kernel in manifest["kernels"]]
    blob = manifest["blobs"][row["blob"]]
    return {
        "target": row["target"],
        "kernels": [names[index] for index in row["kernels"]],
        "toolchain": row["toolchain"],
        "driver": list(row["driver"]),
        "sha256": blob["sha256"],
        "size": blob["size"],
        "stored": blob["stored"],
        "resources": [dict(resources, kernel=names[resources["kernel"]]) for resources in row["resources"]],
        **({"constants": row["constants"]} if "constants" in row else {}),
    }
