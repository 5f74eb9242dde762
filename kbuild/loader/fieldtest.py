"""Runs the self-test of a bundle on the GPUs of this machine, into a report that can be sent home."""

from __future__ import annotations

import json
import platform

from . import array, context, copying, driver, selftest
from .bundle import Bundle
from .errors import BundleError, LoaderError
from .explaining import explain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .selftest import Row, Sample

# After one of these the context is lost, and every later call of the process fails.
_STICKY = (700, 702, 710, 714, 715, 716, 717, 718, 719)


def expectations(bundle: Bundle) -> Row:
    """What the build computed, by kernel. Raises BundleError when the bundle holds no self-test."""
    row = bundle.manifest["selftest"]
    if row is None:
        raise BundleError(
            "%s holds no self-test\n  help: set `selftest = true` in [tool.kbuild] and build it again" % bundle
        )
    try:
        data = json.loads(bundle.parsed.blob(row["blob"]))
        if data["format"] != selftest.FORMAT:
            raise BundleError("%s: its self-test has format %r" % (bundle, data["format"]))
        return data["kernels"]  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError) as error:
        raise BundleError("%s: its self-test cannot be read: %s" % (bundle, error)) from None


def report(bundle: Bundle) -> Row:
    """Everything about the machine, and a verdict for each kernel on each GPU: ok, differs, failed or skipped."""
    expected = expectations(bundle)
    answer: Row = {
        "bundle": bundle.label,
        "digest": bundle.digest,
        "generator": bundle.manifest["generator"],
        "python": platform.python_version(),
        "machine": platform.platform(),
        "driver": "%d.%d" % driver.get().version,
        "devices": [],
    }
    for device in context.devices():
        answer["devices"].append(
            {
                "device": str(device),
                "name": device.name,
                "arch": device.target,
                "kernels": _on_device(bundle, device, expected),
            }
        )
    return answer


def _on_device(bundle: Bundle, device: Any, expected: Row) -> list[Row]:
    code = {name: unit for unit in explain(bundle, device) for name in unit["kernels"]}
    rows, lost = [], ""
    for name in bundle.kernels:
        row: Row = {"kernel": name, "target": code[name]["target"], "toolchain": code[name]["toolchain"]}
        if lost:
            verdict = {"verdict": "failed", "reason": "not run: %s" % lost}
        else:
            verdict = _verdict(bundle, name, device, expected.get(name))
            if verdict.pop("sticky", False):
                lost = "%s left the GPU's context in error" % name
        rows.append(dict(row, **verdict))
    return rows


def _verdict(bundle: Bundle, name: str, device: Any, expected: Row | None) -> Row:
    if expected is None or "skipped" in expected:
        reason = "the bundle holds no results for it" if expected is None else expected["skipped"]
        return {"verdict": "skipped", "reason": reason}
    try:
        return _compare(bundle, name, device, expected)
    except LoaderError as error:
        return {"verdict": "failed", "reason": str(error), "sticky": getattr(error, "code", 0) in _STICKY}


def _compare(bundle: Bundle, name: str, device: Any, expected: Row) -> Row:
    kernel = bundle[name]
    arguments = selftest.generate(kernel.parameters, expected["trial"], expected.get("given", {}))
    samples = selftest.samples(kernel.parameters, arguments)
    wanted = {path: _wanted(sample, expected["changes"].get(path)) for path, sample in samples.items()}
    arrays = {id(sample): _upload(sample, device) for sample in samples.values()}
    inputs = [_argument(a, arrays) for a in arguments.values()]
    dim = expected.get("dim", selftest.DIMS[kernel.ndim])  # not in the first bundles, nor block_dim
    kernel.launch(tuple(dim), inputs, device=device, block_dim=expected.get("block_dim"))
    wrong, worst, elements = 0, 0.0, 0
    for path, sample in samples.items():
        size = sample.element.size
        found = bytes(arrays[id(sample)].tobytes())
        for start in range(0, len(found), size):
            near, off = selftest.is_near(
                sample.element, found[start : start + size], wanted[path][start : start + size], expected["approximate"]
            )
            elements, wrong, worst = elements + 1, wrong + (not near), max(worst, off)
    verdict = {"verdict": "differs" if wrong else "ok", "elements": elements, "max_error": worst}
    return dict(verdict, reason="%d of %d elements differ" % (wrong, elements)) if wrong else verdict


def _wanted(sample: Sample, changes: Row | None) -> bytes:
    """The bytes of an array after the launch."""
    size = sample.element.size
    data = bytearray().join(selftest.packed(sample.element, value) for value in sample.data)
    if changes is not None:
        fresh = bytes.fromhex(changes["data"])
        for position, index in enumerate(changes["indices"]):
            data[index * size : (index + 1) * size] = fresh[position * size : (position + 1) * size]
    return bytes(data)


def _upload(sample: Sample, device: Any) -> Any:
    made = array.empty(sample.shape, sample.element, device)
    copying.upload(made, _wanted(sample, None))
    return made


def _seen(sample: Sample, made: Any) -> Any:
    """The array as its parameter takes it."""
    if sample.indices is None:
        return made
    from . import indexed  # few kernels ask for it

    tables = [None if one is None else array.array(one, int, device=made.device) for one in sample.indices]
    return indexed.indexedarray(made, tables)


def _argument(value: Any, arrays: dict[int, Any]) -> Any:
    if isinstance(value, selftest.Sample):
        return _seen(value, arrays[id(value)])
    if isinstance(value, dict):
        return {name: _argument(inner, arrays) for name, inner in value.items()}
    return value


def lines(answer: Row) -> list[str]:
    """The report for people."""
    said = [
        "%s %s" % (answer["bundle"], answer["digest"]),
        "driver for CUDA %s, %s" % (answer["driver"], answer["machine"]),
    ]
    for device in answer["devices"]:
        said.append("%s: %s, %s" % (device["device"], device["name"], device["arch"]))
        for row in device["kernels"]:
            detail = row.get("reason") or "%d elements, largest error %.1e" % (row["elements"], row["max_error"])
            said.append("  %-8s %s (%s): %s" % (row["verdict"], row["kernel"], row["target"] or "no code", detail))
    return said


def is_right(answer: Row) -> bool:
    """No kernel failed and none differs."""
    return not any(row["verdict"] in ("failed", "differs") for device in answer["devices"] for row in device["kernels"])
