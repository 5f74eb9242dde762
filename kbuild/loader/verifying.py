"""Whether a bundle's code is what its manifest says: `Bundle.verify`."""

from __future__ import annotations

from . import cubin, format, schema_later
from .errors import BundleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle import Bundle

    Row = dict[str, Any]


def verify(bundle: Bundle) -> None:
    """Checks every cubin: both digests, and its own tables against the manifest; and what that says of adjoints and of
    launches. Raises BundleError.
    """
    schema_later.check(bundle.manifest, bundle.structs)
    for row in bundle.manifest["cubins"]:
        data = bundle.parsed.blob(row["blob"])
        if row["kind"] == "cubin":
            _verify_cubin(bundle, row, data)


def _verify_cubin(bundle: Bundle, row: Row, data: bytes) -> None:
    try:
        tables = cubin.read(data)
    except cubin.CubinError as error:
        raise BundleError("the cubin of %s for %s: %s" % (row["unit"], row["target"], error)) from None
    if tables.arch != row["arch"]:
        message = "the cubin of %s for %s is code for %s, and the manifest says %s"
        raise BundleError(message % (row["unit"], row["target"], tables.arch, row["arch"]))
    for index in row["kernels"]:
        kernel = bundle.manifest["kernels"][index]
        found = tables.kernels.get(kernel["entry"])
        # The launch header is the first parameter of the entry; the manifest lists the kernel's own.
        header = () if "plain" in kernel else ((0, format.header_of(kernel)),)
        wanted = (*header, *[(p["offset"], p["size"]) for p in kernel["parameters"]])
        if found is None or found.parameters != wanted:
            message = "the cubin of %s for %s does not hold the kernel %s as the manifest describes it"
            raise BundleError(message % (row["unit"], row["target"], kernel["name"]))
