"""`python -m kbuild.loader doctor|coverage|verify|selftest|asserts PACKAGE|PATH`: for the field.

Exit codes: 0 done; 1 the bundle is damaged, holds nothing for a GPU here, or a kernel fails its self-test; 2 usage, or
no such bundle; 3 no usable driver or GPU.
"""

from __future__ import annotations

import argparse
import json
import sys

from . import context, driver, explaining, finder
from .bundle import Bundle, from_bytes
from .errors import BundleError, DriverError
from .explaining import describe_device, explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DONE, DAMAGED, USAGE, MACHINE = 0, 1, 2, 3


def main(arguments: list[str] | None = None) -> int:
    """Runs a command; returns the exit code."""
    options = _parser().parse_args(arguments)
    bundle, code = None, USAGE
    try:
        if options.bundle:
            label, data = finder.locate(options.bundle)
            code = DAMAGED
            bundle = from_bytes(data, label)
    except BundleError as error:
        return _fail(options, str(error), code)
    more = (options.device,) if options.command is _coverage else ()
    code, answer, lines = options.command(bundle, *more)
    if getattr(options, "report", None):
        with open(options.report, "w", encoding="utf-8") as file:
            json.dump(answer, file, indent=2)
    print(json.dumps(answer, indent=2) if options.json else "\n".join(lines))
    return int(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m kbuild.loader", description="Looks after bundles where they run.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    about_doctor = "the GPUs of this machine, and what each kernel of a bundle would load on them"
    about_verify = "checks every byte of a bundle, and each cubin's own tables against its manifest"
    about_selftest = "runs every kernel of a bundle on the GPUs here, against results computed while it was built"
    about_coverage = "what each kernel of a bundle would load on a GPU that is here or is named, or why nothing"
    about_asserts = "the asserts in a bundle's code: what the driver prints for one that fails, its line, its kernels"
    commands_of: tuple[tuple[str, Any, str], ...] = (
        ("doctor", _doctor, about_doctor),
        ("verify", _verify, about_verify),
        ("selftest", _selftest, about_selftest),
        ("coverage", _coverage, about_coverage),
        ("asserts", _asserts, about_asserts),
    )
    for name, command, about in commands_of:
        sub = commands.add_parser(name, help=about, description=about)
        sub.add_argument("bundle", metavar="PACKAGE|PATH", nargs="?" if name == "doctor" else None)
        sub.add_argument("--json", action="store_true", help="print one JSON object")
        if command is _selftest:
            sub.add_argument("--report", metavar="FILE", help="write the report as JSON, to send it home")
        if command is _coverage:
            about_device = "cuda:0, or ARCH[@CUDA] of a GPU that is not here: sm_87@12.2 (all GPUs here, unless given)"
            sub.add_argument("--device", metavar="DEVICE", help=about_device)
        sub.set_defaults(command=command)
    return parser


def _fail(options: Any, message: str, code: int) -> int:
    if options.json:
        print(json.dumps({"error": message}))
    else:
        print("error: " + message, file=sys.stderr)
    return code


def _verify(bundle: Bundle) -> tuple[int, dict[str, Any], list[str]]:
    answer = {"bundle": bundle.label, "digest": bundle.digest, "kernels": len(bundle), "problem": None}
    try:
        bundle.verify()
    except BundleError as error:
        return DAMAGED, dict(answer, problem=str(error)), ["%s: %s" % (bundle.label, error)]
    said = "%s: %d kernels, %d cubins, all as the manifest says\n  %s"
    return DONE, answer, [said % (bundle.label, len(bundle), len(bundle.manifest["cubins"]), bundle.digest)]


def _selftest(bundle: Bundle) -> tuple[int, dict[str, Any], list[str]]:
    from . import fieldtest

    answer: dict[str, Any] = {"bundle": bundle.label, "digest": bundle.digest, "problem": None}
    try:
        answer.update(fieldtest.report(bundle))
    except BundleError as error:
        return DAMAGED, dict(answer, problem=str(error)), [str(error)]
    except DriverError as error:
        return MACHINE, dict(answer, problem=str(error)), [str(error)]
    return (DONE if fieldtest.is_right(answer) else DAMAGED), answer, fieldtest.lines(answer)


def _asserts(bundle: Bundle) -> tuple[int, dict[str, Any], list[str]]:
    from . import asserts

    rows = asserts.rows(bundle.manifest)
    lines = [line for row in rows for line in asserts.describe(row)]
    without = "%s: no asserts; build with `asserts = true` in [tool.kbuild] to have them" % bundle.label
    return DONE, {"bundle": bundle.label, "digest": bundle.digest, "asserts": rows}, lines or [without]


def _coverage(bundle: Bundle, named: str | None) -> tuple[int, dict[str, Any], list[str]]:
    answer: dict[str, Any] = {"bundle": bundle.label, "digest": bundle.digest, "devices": [], "problem": None}
    try:
        devices = _devices(named)
    except ValueError as error:
        return USAGE, dict(answer, problem=str(error)), [str(error)]
    except DriverError as error:
        without = "  help: a GPU that is not here can be named: --device sm_87@12.2"
        return MACHINE, dict(answer, problem=str(error)), [str(error), without]
    code, lines = DONE, []
    for device in devices:
        rows = bundle.coverage(device)
        title = str(device) if isinstance(device, context.Device) else device.name
        answer["devices"].append({"device": title, "kernels": rows})
        here = "%s: " % title if isinstance(device, context.Device) else ""
        lines += [here + describe_device(device), *_table(rows)]
        code = code if all(row["kind"] for row in rows) else DAMAGED
    return code, answer, lines


def _devices(named: str | None) -> list[Any]:
    if named is None:
        return list(context.devices())
    return [context.get_device(named)] if named.startswith("cuda") else [explaining.device_of(named)]


def _table(rows: list[dict[str, Any]]) -> list[str]:
    """A line for each kernel, and reasons where nothing fits."""
    width = max([len(row["kernel"]) for row in rows] or [0])
    lines = []
    for row in rows:
        found = "%s, %s by CUDA %s" % (row["target"], row["kind"], row["toolchain"]) if row["kind"] else "nothing fits"
        lines.append("  %-*s  %s" % (width, row["kernel"], found))
        if not row["kind"]:
            lines += ["    %s: %s" % tuple(refusal) for refusal in row["refusals"]]
    return lines


def _doctor(bundle: Bundle | None) -> tuple[int, dict[str, Any], list[str]]:
    answer: dict[str, Any] = {"driver": None, "devices": [], "bundle": bundle and bundle.label, "problem": None}
    try:
        devices = context.devices()
    except DriverError as error:
        return MACHINE, dict(answer, problem=str(error)), [str(error), *_holdings(bundle)]
    answer["driver"] = "%d.%d" % driver.get().version
    lines = ["driver for CUDA %s" % answer["driver"]]
    code = DONE
    for device in devices:
        units = explain(bundle, device) if bundle is not None else []
        answer["devices"].append({"device": str(device), "name": device.name, "arch": device.target, "units": units})
        lines.append("%s: %s" % (device, describe_device(device)))
        for unit in units:
            lines += _describe_unit(unit)
            code = code if unit["kind"] else DAMAGED
    return code, answer, lines


def _describe_unit(unit: dict[str, Any]) -> list[str]:
    if unit["kind"]:
        found = "%s, %s for %s by CUDA %s" % (unit["target"], unit["kind"], unit["arch"], unit["toolchain"])
        return ["  %s (%d kernels): %s" % (unit["unit"], len(unit["kernels"]), found)]
    lines = ["  %s (%d kernels): nothing fits" % (unit["unit"], len(unit["kernels"]))]
    return lines + ["    %s: %s" % tuple(refusal) for refusal in unit["refusals"]]


def _holdings(bundle: Bundle | None) -> list[str]:
    if bundle is None:
        return []
    return ["%s holds %d kernels for %s" % (bundle.label, len(bundle), ", ".join(bundle.manifest["targets"]))]


if __name__ == "__main__":
    sys.exit(main())
