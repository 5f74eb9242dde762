"""What a bundle holds, as the object that `inspect --json` prints: names and nesting are a promise to scripts."""

from __future__ import annotations

from typing import Any

from kbuild.loader import format


def summary(parsed: format.Parsed) -> dict[str, Any]:
    """`{"format", "digest", "targets", "kernels": […], "cubins": […]}`; kernels are named, sizes are bytes."""
    manifest = parsed.manifest
    return {
        "format": manifest["format"],
        "digest": parsed.digest,
        "targets": list(manifest["targets"]),
        "kernels": [_kernel(row) for row in manifest["kernels"]],
        "cubins": [_cubin(row, manifest) for row in manifest["cubins"]],
    }


def _kernel(row: dict[str, Any]) -> dict[str, Any]:
    return {"name": row["name"], "parameters": [dict(parameter) for parameter in row["parameters"]]}


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
    }
