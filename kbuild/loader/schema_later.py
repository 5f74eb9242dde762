"""What a manifest claims that no start looks at: of adjoints, and of what kernels state of their launches.

It is checked where a whole bundle is (`format.parse`, `Bundle.verify`), and of each kernel before its first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import abi


def check(manifest: dict[str, Any], structs: dict[str, abi.Struct]) -> None:
    """Raises BundleError with the place of what is wrong. The manifest's other claims have been checked."""
    if any("backward" in row for row in manifest["kernels"]):
        from . import schema_backward

        schema_backward.check(manifest)
    if any("stated" in row for row in manifest["kernels"]):
        from . import stated

        stated.check(manifest, structs)
