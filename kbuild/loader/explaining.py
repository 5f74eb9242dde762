"""What a GPU would load of a bundle, why not other code, and what would help. Nothing is loaded for an answer."""

from __future__ import annotations

from . import finder, refusals, select
from .errors import did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle import Bundle

    Row = dict[str, Any]

__all__ = ("explain",)

ANY_DRIVER = (999, 0)  # of a device that is not here


def describe_device(device: Any) -> str:
    """`NVIDIA H200 (sm_90, driver for CUDA 13.0)`."""
    if device.driver == ANY_DRIVER:
        return "%s (sm_%d%d, with any driver)" % (device.name, device.major, device.minor)
    return "%s (sm_%d%d, driver for CUDA %d.%d)" % (device.name, device.major, device.minor, *device.driver)


def describe_refusals(
    name: str, rows: list[Row], refused: list[tuple[int, str]], verdict: str = "no code for it"
) -> list[str]:
    """Lines: a kernel, what is wrong, and why each row is not for the device."""
    reasons = ["  %s (%s): %s" % (rows[i]["target"], rows[i]["toolchain"], reason) for i, reason in refused]
    return ["%s: %s" % (name, verdict), *reasons]


def explain(bundle: Bundle, device: Any) -> list[Row]:
    """What a GPU would load for each unit: nothing is loaded, and the GPU need not be here.

    `device` is a select.Device(name, major, minor, driver) or a kb.Device. Each row: `unit`, `kernels`, `target`,
    `arch`, `toolchain`, `kind` (None where nothing fits) and `refusals`, a list of (target, reason).
    """
    units: dict[tuple[str, tuple[int, ...]], list[Row]] = {}
    for row in bundle.manifest["cubins"]:
        units.setdefault((row["unit"], tuple(row["kernels"])), []).append(row)
    return [_explain_unit(bundle, device, unit, rows) for (unit, _), rows in units.items()]


def _explain_unit(bundle: Bundle, device: Any, unit: str, rows: list[Row]) -> Row:
    best = best_of(bundle, device, rows)
    answer: Row = {"unit": unit, "kernels": [bundle.names[i] for i in rows[0]["kernels"]]}
    answer.update({key: best.get(key) for key in ("target", "arch", "toolchain", "kind")})
    answer["refusals"] = [(rows[i]["target"], reason) for i, reason in refusals.reasons(device, rows, bundle.allow_ptx)]
    return answer


def best_of(bundle: Bundle, device: Any, rows: list[Row]) -> Row:
    """The row that a device would load first; {} for none."""
    order = select.order(device, rows, bundle.allow_ptx)
    return rows[order[0]] if order else {}


def cures(bundle: Bundle, device: Any, rows: list[Row]) -> list[str]:
    """Lines that say what gives a device code where none of these rows is for it."""
    arch = "sm_%d%d" % (device.major, device.minor)
    cure = "rebuild the package with"
    if any(row["arch"] == arch for row in rows):  # the GPU was thought of, so it is the driver's age
        arch += "@%d.%d" % device.driver
        cure = "update the driver, or rebuild the package for it:"
    listed = ", ".join('"%s"' % target for target in dict.fromkeys([*bundle.manifest["targets"], arch]))
    lines = ["  help: %s [tool.kbuild] targets = [%s]" % (cure, listed)]
    if any(row["kind"] == "ptx" for row in rows) and not bundle.allow_ptx:
        lines.append("  help: or allow its PTX to be compiled here: loader.open(…, allow_ptx=True), KBUILD_ALLOW_PTX=1")
    return lines


def device_of(text: str) -> select.Device:
    """The device that `ARCH[@CUDA]` stands for: `sm_87@12.2`; without a version its driver takes everything.

    Raises ValueError.
    """
    arch, at, version = text.partition("@")
    digits, parts = arch[3:], version.split(".")
    is_right = arch.startswith("sm_") and digits.isascii() and digits.isdigit() and len(digits) in (2, 3)
    if at:
        is_right = is_right and len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts)
    if not is_right:
        raise ValueError("a device is cuda:0, or ARCH[@CUDA] of one that is not here, as in sm_87@12.2; not %r" % text)
    return select.Device(text, int(digits[:-1]), int(digits[-1]), (int(parts[0]), int(parts[1])) if at else ANY_DRIVER)


def no_bundle(spec: Any) -> str:
    """What to say about a package without a bundle."""
    return (
        "package %r has no bundle: there is no %s\n"
        "  help: give its pyproject.toml a [tool.kbuild] table and build it with `pip install .`; for development, "
        "KBUILD_JIT=1 compiles at launch" % (spec.name, finder.bundle_path(spec))
    )


def no_code(bundle: Bundle, device: Any, name: str, rows: list[Row], attempts: list[tuple[int, str]]) -> str:
    """What to say about a kernel of which nothing runs on a device: `attempts` are what its driver has refused."""
    verdict = "nothing in %s runs on %s" % (bundle, describe_device(device))
    refused = attempts + refusals.reasons(device, rows, bundle.allow_ptx)
    return "\n".join([*describe_refusals(name, rows, refused, verdict), *cures(bundle, device, rows)])


def no_kernel(bundle: Bundle, name: str) -> str:
    """What to say about a kernel that a bundle does not have."""
    held = ", ".join(bundle.kernels) or "none"
    return "%s has no kernel %r%s; it holds %s" % (bundle, name, did_you_mean(name, bundle.names), held)
