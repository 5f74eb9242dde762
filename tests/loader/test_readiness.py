"""Before the first launch: preload, require, coverage, and the command of that name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import bundle as bundles
from kbuild.loader import context, driver, explaining, format, readiness, select
from kbuild.loader.errors import BundleError, DriverError, LaunchError
from tests.helpers import driver_cases
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, code, cubin_row, kernel_rows, make_bundle, make_manifest
from tests.helpers.situations import happens

SECTION = "A launch"
PARAMETERS = [("x", "float32")]
ORIN = select.Device("Orin", 8, 7, (12, 2))


def mixed() -> bundles.Bundle:
    """Kernels a and b for sm_90, b for sm_87 too, c for sm_87 alone."""
    kernels = [kernel_rows("p.kernels:" + name, PARAMETERS, 1, {}, 256) for name in "abc"]
    rows = [
        cubin_row("sm_90", [0, 1], 0, unit="ab"),
        cubin_row("sm_87", [1], 1, unit="b", toolchain="11.8.89", cuda=[11, 8], driver=[11, 4]),
        cubin_row("sm_87", [2], 2, unit="c", toolchain="11.8.89", cuda=[11, 8], driver=[11, 4]),
    ]
    blobs = [code(kernels[:2]), code(kernels[1:2]), code(kernels[2:])]
    return bundles.from_bytes(format.dump(make_manifest(kernels, rows), blobs), "memory")


def since(cuda: FakeCuda, count: int) -> list[str]:
    """What the driver was asked, but for contexts."""
    return [call for call in cuda.calls[count:] if not call.startswith("cuCtx")]


# preload


@happens(
    SECTION,
    "`Bundle.preload()` or `kb.preload` ran before",
    "No launch loads anything, so that a first launch may stand in a graph capture.",
)
def test_preload(two_gpus: FakeCuda) -> None:
    bundle = make_bundle(PARAMETERS)
    assert bundle.preload("cuda:1") == 1
    assert [c for c in two_gpus.calls if c.startswith(("cuModule", "cuFunc"))] == [
        "cuModuleLoadData",
        "cuModuleGetFunction",
        "cuFuncGetAttribute",
        "cuFuncLoad",
    ]
    before = len(two_gpus.calls)
    bundle["p.kernels:k"].launch(1, [1.0], device="cuda:1")
    assert since(two_gpus, before) == ["cuLaunchKernelEx"]
    bundle["p.kernels:k"].launch(1, [1.0])  # the other GPU has its own
    calls = [call for call in since(two_gpus, before)[1:] if call != "cuThreadExchangeStreamCaptureMode"]
    assert calls == [
        "cuDevicePrimaryCtxRetain",
        "cuModuleLoadData",
        "cuModuleGetFunction",
        "cuFuncGetAttribute",
        "cuLaunchKernelEx",
        "cuLaunchKernelEx",  # the context of the other GPU was current
    ]


def test_a_driver_that_has_no_cuFuncLoad(cuda: FakeCuda) -> None:
    driver.get().version = (12, 3)
    assert make_bundle(PARAMETERS).preload() == 1
    assert cuda.calls.count("cuFuncGetAttribute") == 2
    assert "cuFuncLoad" not in cuda.calls


def test_preload_of_some(cuda: FakeCuda) -> None:
    bundle = mixed()
    assert bundle.preload(kernels=["p.kernels:a", bundle["p.kernels:b"]]) == 2
    assert cuda.calls.count("cuModuleLoadData") == 1
    assert bundle.preload(kernels="p.kernels:a") == 1
    assert bundle.preload(kernels=[]) == 0
    with pytest.raises(BundleError, match=r"p.kernels:c: nothing in .* runs on .*\n.*sm_87 is Tegra code"):
        bundle.preload()
    with pytest.raises(LaunchError, match=r"p.kernels:A: the bundle has no such kernel; did you mean"):
        bundle.preload(kernels=["p.kernels:A"])
    with pytest.raises(LaunchError, match="a kernel is named by `module:name`, or is the kernel itself, not int 3"):
        bundle.preload(kernels=[3])


def test_preload_of_what_has_changed(cuda: FakeCuda, tmp_path: Path) -> None:
    source = tmp_path / "kernels.py"
    source.write_text("#\n")
    row = {"module": "p.kernels", "path": str(source), "size": 99, "mtime_ns": 1, "sha256": "0" * 64}
    with pytest.raises(kb.StaleBundle, match=r"kernels\.py"):
        make_bundle(PARAMETERS, sources=[row]).preload()
    assert "cuModuleLoadData" not in cuda.calls


def test_kb_preload(cuda: FakeCuda) -> None:
    kernel = driver_cases._package_kernel()
    assert kb.preload(driver_cases.PACKAGE) == 1
    assert kb.preload(kernel) == 1
    assert kb.preload([kernel, make_bundle(PARAMETERS)["p.kernels:k"], make_bundle(PARAMETERS)], device=0) == 3
    assert cuda.calls.count("cuModuleLoadData") == 3


@pytest.mark.parametrize("package", ["", "no_such_package", "a/b.kbundle", ".."])
def test_a_package_that_is_not_there(cuda: FakeCuda, package: str) -> None:
    with pytest.raises(BundleError, match=re.escape("there is no package %r to preload\n  help: give its" % package)):
        kb.preload(package)


def test_what_cannot_be_preloaded(cuda: FakeCuda) -> None:
    with pytest.raises(LaunchError, match="preload wants the name of a package, kernels or"):
        kb.preload(3)
    with pytest.raises(LaunchError, match="json: "):
        kb.preload("json")  # a package without a bundle


# require


@happens(
    SECTION,
    "`Bundle.require([...])` names kernels that the bundle lacks, or that have no code for the GPU",
    "One `BundleError` with each of them, why, and the cure. Nothing is loaded.",
)
def test_require(cuda: FakeCuda) -> None:
    bundle = mixed()
    assert bundle.require(["p.kernels:a", bundle["p.kernels:b"]]) is None
    assert bundle.require(["p.kernels:b", "p.kernels:c"], ORIN) is None
    assert bundle.require([]) is None
    with pytest.raises(BundleError) as caught:
        bundle.require(["p.kernels:a", "p.kernels:c", "q.integrate:integrate", "q:b"])
    assert str(caught.value).split("\n") == [
        "the bundle of package 'p' (memory) lacks some of 4 required kernels on Fake GPU 0 (sm_90, driver for CUDA "
        "13.0):",
        "  p.kernels:c: no code for it",
        "    sm_87 (11.8.89): sm_87 is Tegra code; only that Jetson runs it",
        "  q.integrate:integrate: the bundle has no such kernel",
        "  q:b: the bundle has no such kernel",
        '  help: rebuild the package with [tool.kbuild] targets = ["sm_87", "sm_90"]',
    ]
    assert not [call for call in cuda.calls if call.startswith("cuModule")]


def test_require_on_a_device_that_is_not_here() -> None:
    with pytest.raises(BundleError) as caught:
        mixed().require("p.kernels:a", explaining.device_of("sm_87"))
    assert "on sm_87 (sm_87, with any driver):\n  p.kernels:a: no code for it\n    sm_90 (12.9.86): " in str(
        caught.value
    )
    with pytest.raises(BundleError) as caught:
        mixed().require(["p.kernels:z"], ORIN)
    assert str(caught.value).endswith("\n  help: rebuild the package with these kernels in it")


# coverage


def test_coverage(cuda: FakeCuda) -> None:
    nothing = {"target": None, "arch": None, "toolchain": None, "kind": None}
    sm_90 = {"target": "sm_90", "arch": "sm_90", "toolchain": "12.9.86", "kind": "cubin"}
    tegra = ("sm_87", "sm_87 is Tegra code; only that Jetson runs it")
    assert mixed().coverage() == [
        {"kernel": "p.kernels:a", **sm_90, "refusals": []},
        {"kernel": "p.kernels:b", **sm_90, "refusals": [tegra]},
        {"kernel": "p.kernels:c", **nothing, "refusals": [tegra]},
    ]
    assert [row["target"] for row in mixed().coverage(ORIN)] == [None, "sm_87", "sm_87"]
    assert not [call for call in cuda.calls if call.startswith("cuModule")]


@pytest.mark.parametrize(
    ("text", "number", "version"),
    [("sm_87@12.2", 87, (12, 2)), ("sm_120", 120, explaining.ANY_DRIVER), ("sm_53@11.4", 53, (11, 4))],
)
def test_a_device_by_name(text: str, number: int, version: tuple[int, int]) -> None:
    device = explaining.device_of(text)
    assert (device.name, device.number, device.driver) == (text, number, version)


@pytest.mark.parametrize(
    "text", ["", "sm_", "sm_9", "sm_9000", "87", "sm_87@", "sm_87@12", "sm_87@12.x", "sm_90a", "sm_²³"]
)
def test_no_device(text: str) -> None:
    with pytest.raises(ValueError, match=r"a device is cuda:0, or ARCH\[@CUDA\] of one that is not here.*; not "):
        explaining.device_of(text)


@pytest.fixture
def bundle_file(tmp_path: Path) -> Path:
    path = tmp_path / "p.kbundle"
    bundle = mixed()
    blobs = [bundle.parsed.blob(i) for i in range(3)]
    path.write_bytes(format.dump({k: v for k, v in bundle.manifest.items() if k != "blobs"}, blobs))
    return path


def command(library: Path | None, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FAKE_DEVICES": "9.0", "FAKE_DRIVER": "13000"}
    environment["LD_LIBRARY_PATH"] = str(library.parent) if library else "/nowhere"
    line = [sys.executable, "-m", "kbuild.loader", "coverage", *map(str, arguments)]
    return subprocess.run(line, env=environment, capture_output=True, text=True)


def test_the_command(fake_library: Path, bundle_file: Path) -> None:
    done = command(fake_library, bundle_file)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.split("\n") == [
        "cuda:0: Fake GPU 0 (sm_90, driver for CUDA 13.0)",
        "  p.kernels:a  sm_90, cubin by CUDA 12.9.86",
        "  p.kernels:b  sm_90, cubin by CUDA 12.9.86",
        "  p.kernels:c  nothing fits",
        "    sm_87: sm_87 is Tegra code; only that Jetson runs it",
        "",
    ]
    answer = json.loads(command(fake_library, bundle_file, "--json", "--device", "cuda:0").stdout)
    assert (answer["problem"], answer["bundle"]) == (None, str(bundle_file))
    assert [row["kind"] for row in answer["devices"][0]["kernels"]] == ["cubin", "cubin", None]


def test_the_command_without_a_gpu(bundle_file: Path, tmp_path: Path) -> None:
    done = command(None, bundle_file, "--device", "sm_87@12.2")
    assert done.returncode == 1
    assert done.stdout.startswith("sm_87@12.2 (sm_87, driver for CUDA 12.2)\n  p.kernels:a  nothing fits\n")
    whole = tmp_path / "whole.kbundle"
    whole.write_bytes(bundle_bytes(PARAMETERS))
    assert command(None, whole, "--device", "sm_90").returncode == 0
    done = command(None, whole)
    assert done.returncode == 3
    assert "no CUDA driver" in done.stdout
    assert done.stdout.endswith("\n  help: a GPU that is not here can be named: --device sm_87@12.2\n")
    done = command(None, whole, "--json", "--device", "RTX 4090")
    assert done.returncode == 2
    assert json.loads(done.stdout)["problem"].startswith("a device is cuda:0, or ARCH[@CUDA] of one that is not here")


def test_what_is_no_gpu(cuda: FakeCuda) -> None:
    bundle: Any = make_bundle(PARAMETERS, any_block_dim=True)
    kernel = bundle["p.kernels:k"]
    asks = (bundle.preload, bundle.coverage, lambda d: bundle.require([], d), lambda d: kb.get_grid(kernel, 1, d))
    for ask in (*asks, lambda d: readiness.properties(kernel, d)):
        for device in ("cpu", "sim"):
            with pytest.raises(LaunchError, match="a bundle holds code for GPUs, and none for the device " + device):
                ask(device)
    assert kb.get_grid(kernel, 100, "cpu", block_dim=32) == (4, 32)


def test_a_gpu_that_is_not_there(cuda: FakeCuda) -> None:
    bundle: Any = mixed()
    for act in (bundle.preload, bundle.coverage, lambda device: bundle.require([], device)):
        with pytest.raises(DriverError, match="there is no device 'cuda:7'"):
            act("cuda:7")
    assert readiness.coverage(bundle, context.get_device()) == bundle.coverage()
