"""Machines of every kind: each GPU of the table with each driver, bundles for other GPUs, no GPU, no driver.

Also the largest arrays, whose extents and strides are numbers of 32 bits.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kbuild import targets
from kbuild.loader import abi, format, hosts, select
from kbuild.loader import array as arrays
from kbuild.loader import bundle as bundles
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.values import vec3
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, code, cubin_row, kernel_rows, make_manifest
from tests.helpers.pythons import need_python
from tests.helpers.situations import happens

ROOT = Path(__file__).parents[2]
SECTION = "Where the loader runs"
FIELD = "In the field"
PARAMETERS = [("x", "float32")]
DRIVERS = [(11, 4), (11, 8), (12, 0), (12, 2), (12, 8), (13, 0)]
CUBINS = [(arch.name, cuda) for arch in targets.ARCHITECTURES.values() for cuda in ((11, 8), (12, 9), (13, 0))]


def gpu_text(name: str, capability: tuple[int, int]) -> str:
    """A GPU as the fake driver is told of it: Jetsons and the DGX Spark share their memory with the CPU."""
    tegra = targets.ARCHITECTURES[capability[0] * 10 + capability[1]].is_tegra
    return "%d.%d/%s/%d" % (*capability, name, tegra or name == "DGX Spark")


def bundle_of(*cubins: tuple[str, tuple[int, int]]) -> bundles.Bundle:
    kernel = kernel_rows("p.kernels:k", PARAMETERS, 1, {}, 256)
    rows, blobs = [], []
    for i, (arch, cuda) in enumerate(cubins):
        version = "%d.%d" % cuda
        rows.append(cubin_row(f"{arch}@{version}", [0], i, arch=arch, cuda=list(cuda), toolchain=version))
        rows[-1]["driver"] = [max(cuda[0], 11), 0]
        blobs.append(code([kernel]) + b"#%d" % i)
    return bundles.from_bytes(format.dump(make_manifest([kernel], rows), blobs), "memory")


@pytest.mark.parametrize(("name", "capability"), targets.GPUS, ids=[name for name, _ in targets.GPUS])
def test_every_gpu_of_the_table(fake_library: Path, name: str, capability: tuple[int, int]) -> None:
    """What runs is what the table says; where nothing does, the message names the GPU and what would cure it."""
    bundle = bundle_of(*CUBINS)
    rows = bundle.manifest["cubins"]
    for driver in DRIVERS:
        version = str(driver[0] * 1000 + driver[1] * 10)
        with FakeCuda(fake_library, devices=gpu_text(name, capability), version=version) as cuda:
            (device,) = hosts.get_devices()
            assert (device.name, device.target, device.driver) == (name, "sm_%d%d" % capability, driver)
            assert device.is_tegra == targets.ARCHITECTURES[device.number].is_tegra
            kernel = bundle_of(*CUBINS)["p.kernels:k"]
            order = select.order(device, rows)
            if order:
                kernel.launch(5, (1.0,))
                chosen = rows[order[0]]
                assert chosen["cuda"][0] <= driver[0]
                assert chosen["arch"][3:-1] == str(capability[0])
                assert not device.is_tegra or chosen["arch"] == device.target
                assert len(cuda.records) == 1
            else:
                with pytest.raises(BundleError) as caught:
                    kernel.launch(5, (1.0,))
                assert f"runs on {name} (sm_{capability[0]}{capability[1]}, driver for CUDA " in str(caught.value)
                assert "help: " in str(caught.value)
                assert "cuModuleLoadData" not in cuda.calls
            assert cuda.breaches == []


@happens(
    SECTION,
    "the driver is older than the CUDA version that built every fitting cubin",
    "`BundleError` that lists each cubin with the reason, and says `update the driver, or rebuild the package for it: "
    "targets = […]` with this GPU and its CUDA version.",
)
def test_a_driver_older_than_the_cubins(fake_library: Path) -> None:
    bundle = bundle_of(("sm_90", (12, 9)), ("sm_90", (13, 0)))
    with FakeCuda(fake_library, devices="9.0/H100", version="11080") as cuda:
        with pytest.raises(BundleError) as caught:
            bundle["p.kernels:k"].launch(5, (1.0,))
        assert "cuModuleLoadData" not in cuda.calls
    assert str(caught.value).splitlines() == [
        "p.kernels:k: nothing in the bundle of package 'p' (memory) runs on H100 (sm_90, driver for CUDA 11.8)",
        "  sm_90@12.9 (12.9): built by CUDA 12.9, and the driver speaks CUDA 11.8",
        "  sm_90@13.0 (13.0): built by CUDA 13.0, and the driver speaks CUDA 11.8",
        "  help: update the driver, or rebuild the package for it: [tool.kbuild] targets = "
        '["sm_90@12.9", "sm_90@13.0", "sm_90@11.8"]',
    ]


@happens(
    SECTION,
    "the wheel was built for other GPUs",
    "`BundleError` that lists each target with the reason, and the line of configuration that adds this GPU.",
)
def test_a_wheel_for_other_gpus(fake_library: Path) -> None:
    bundle = bundle_of(("sm_87", (11, 8)), ("sm_90", (12, 9)), ("sm_120", (12, 9)))
    with FakeCuda(fake_library, devices="8.9/RTX 4090", version="12080") as cuda:
        with pytest.raises(BundleError) as caught:
            bundle["p.kernels:k"].launch(5, (1.0,))
        assert "cuModuleLoadData" not in cuda.calls
    assert str(caught.value).splitlines() == [
        "p.kernels:k: nothing in the bundle of package 'p' (memory) runs on RTX 4090 (sm_89, driver for CUDA 12.8)",
        "  sm_87@11.8 (11.8): sm_87 is Tegra code; only that Jetson runs it",
        "  sm_90@12.9 (12.9): sm_90 is of another major version than sm_89",
        "  sm_120@12.9 (12.9): sm_120 is of another major version than sm_89",
        '  help: rebuild the package with [tool.kbuild] targets = ["sm_120@12.9", "sm_87@11.8", "sm_90@12.9", "sm_89"]',
    ]


# Large arrays


@happens(
    "A launch",
    "an array has an extent or a stride beyond 32 bits",
    "`ValueError` or `LaunchError` with the axis and the number, before any memory is taken. Addresses inside an array "
    "are 64 bits wide: arrays of many GiB are fine.",
)
def test_the_largest_arrays(cuda: FakeCuda) -> None:
    for shape, element, message in (
        (2**31, "uint8", "extent along axis 0 is 2147483648"),
        ((2, 2**29), "float32", "stride along axis 0 is 2147483648"),
        ((1, 1, 2**31), "uint8", "extent along axis 2 is 2147483648"),
        ((1, 2**16, 2**15), "uint8", "stride along axis 0 is 2147483648"),
    ):
        before = len(cuda.calls)
        with pytest.raises(ValueError, match=message):
            arrays.empty(shape, abi.SCALARS[element])
        assert "cuMemAlloc_v2" not in cuda.calls[before:]
    most = arrays.empty(2**31 - 1, abi.UINT8)
    wide = arrays.empty((4, 2**29 - 1), abi.FLOAT32)  # 8 GiB
    assert (most.nbytes, wide.nbytes) == (2**31 - 1, 4 * (2**31 - 4))
    kernel = bundles.from_bytes(bundle_bytes([("a", "array1[uint8]"), ("b", "array2[float32]")]), "memory")[
        "p.kernels:k"
    ]
    for _ in range(3):
        kernel.launch(1, (most, wide))
    assert len(cuda.records) == 3

    class Tensor:
        def __init__(self, **described: Any) -> None:
            self.__cuda_array_interface__ = {"data": (most.ptr, False), "version": 3, **described}

    for wrong, message in (
        (Tensor(shape=(2**31,), typestr="|u1"), "extent along axis 0 is 2147483648"),
        (Tensor(shape=(2,), strides=(2**31,), typestr="|u1"), "stride along axis 0 is 2147483648"),
        (Tensor(shape=(2,), strides=(-(2**31) - 1,), typestr="|u1"), "stride along axis 0 is -2147483649"),
    ):
        with pytest.raises(LaunchError, match=f"parameter a: wanted array1.uint8., got an array whose {message}"):
            kernel.launch(1, (wrong, wide))


@happens(
    "A launch",
    "`dim` has more threads than a launch of the driver takes (2³¹ − 1)",
    "A kernel with two axes or more goes in several launches, in order on its stream; with one axis it is a "
    "`LaunchError`.",
)
def test_the_largest_launches(cuda: FakeCuda) -> None:
    one = bundles.from_bytes(bundle_bytes(PARAMETERS), "memory")["p.kernels:k"]
    for dim in (2**31, (2**16, 2**15), 2**63, 10**30):
        with pytest.raises(LaunchError, match=r"dim is larger than 2\^31 - 1 along axis 0"):
            one.launch(dim, (1.0,))
    one.launch(2**31 - 1, (1.0,), block_dim=1)
    assert cuda.records[-1].grid == 2**31 - 1
    two = bundles.from_bytes(bundle_bytes(PARAMETERS, ndim=2), "memory")["p.kernels:k"]
    with pytest.raises(LaunchError, match=r"dim is larger than 2\^31 - 1 along axis 1"):
        two.launch((1, 2**31), (1.0,))
    two.launch((5, 2**30), (1.0,))
    assert len(cuda.records) == 1 + 5
    assert arrays.zeros(1, vec3).nbytes == 12


# python -m kbuild.loader, on Python 3.8


@pytest.fixture
def files(tmp_path: Path) -> Path:
    good = bundle_bytes(PARAMETERS)
    (tmp_path / "good.kbundle").write_bytes(good)
    (tmp_path / "short.kbundle").write_bytes(good[:-1])
    (tmp_path / "long.kbundle").write_bytes(good + b"x")
    (tmp_path / "other.kbundle").write_bytes(b"MZ" + good[2:])
    (tmp_path / "empty.kbundle").write_bytes(b"")
    flipped = bytearray(good)
    flipped[-16] ^= 1
    (tmp_path / "flipped.kbundle").write_bytes(bytes(flipped))
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "__init__.py").write_text("")
    (tmp_path / "folder").mkdir()
    return tmp_path


def command(files: Path, library: Path | None, *arguments: str, **variables: str) -> tuple[int, str, str]:
    environment = {"PYTHONPATH": f"{ROOT}{os.pathsep}{files}", "PYTHONDONTWRITEBYTECODE": "1", **variables}
    if library is not None:
        environment["LD_LIBRARY_PATH"] = str(library.parent)
    words = [str(need_python("3.8")), "-W", "error", "-m", "kbuild.loader", *arguments]
    done = subprocess.run(words, cwd=files, env=environment, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout, done.stderr


REFUSED = [  # arguments, status, what is said
    (["short.kbundle"], 1, "short.kbundle: "),
    (["long.kbundle"], 1, "long.kbundle: "),
    (["other.kbundle"], 1, "other.kbundle: "),
    (["empty.kbundle"], 1, "empty.kbundle: "),
    (["missing.kbundle"], 2, "cannot read the bundle missing.kbundle: No such file or directory"),
    (["folder/"], 2, "cannot read the bundle folder/_kbuild.kbundle: No such file or directory"),
    (["bare"], 2, "package 'bare' has no bundle: there is no "),
    (["no_such_package"], 2, "there is no package 'no_such_package' here: is it installed in "),
]


@happens(
    FIELD,
    "`doctor` or `verify` is given a bundle that is damaged, missing, or a package without one",
    "One line that names it and says what is wrong, as an object with `--json`; status 1 for damage, 2 for what is not "
    "there.",
)
@pytest.mark.parametrize(("arguments", "status", "message"), REFUSED, ids=[a[0] for a, _, _ in REFUSED])
@pytest.mark.parametrize("name", ["doctor", "verify"])
def test_bundles_refused(
    files: Path, fake_library: Path, name: str, arguments: list[str], status: int, message: str
) -> None:
    code, out, err = command(files, fake_library, name, *arguments)
    assert (code, out) == (status, "")
    assert err.startswith("error: ")
    assert message in err
    code, out, err = command(files, fake_library, name, "--json", *arguments)
    assert (code, err) == (status, "")
    assert message in json.loads(out)["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["verify"], "the following arguments are required: PACKAGE|PATH"),
        (["frobnicate"], "invalid choice: 'frobnicate'"),
        (["doctor", "a", "b"], "unrecognized arguments: b"),
    ],
)
def test_usage(files: Path, arguments: list[str], message: str) -> None:
    code, _, err = command(files, None, *arguments)
    assert (code, message in err) == (2, True), err


@happens(
    FIELD, "`verify` finds code that is not what the manifest says", "The first problem, by unit and target; status 1."
)
def test_verify_on_python_3_8(files: Path, fake_library: Path) -> None:
    code, out, _ = command(files, None, "verify", "flipped.kbundle")
    assert (code, "flipped.kbundle: " in out, "blob 0" in out) == (1, True, True), out
    code, out, _ = command(files, None, "verify", "--json", "flipped.kbundle")
    assert (code, "blob 0" in json.loads(out)["problem"]) == (1, True)
    code, out, _ = command(files, None, "verify", "good.kbundle")  # the fake driver's code is no cubin
    assert (code, "good.kbundle: the cubin of p.kernels for sm_90: " in out) == (1, True), out


@happens(
    FIELD,
    "`doctor` finds no driver, no GPU, a driver that refuses, or nothing that fits",
    "It says which, with the cure, and what the bundle holds; status 3 for the machine, 1 where nothing fits.",
)
def test_doctor_on_python_3_8(files: Path, fake_library: Path) -> None:
    code, out, _ = command(files, None, "doctor", "good.kbundle")
    assert code == 3
    assert "no CUDA driver on this machine" in out
    assert "good.kbundle holds 1 kernels for sm_90" in out
    code, out, _ = command(files, fake_library, "doctor", FAKE_DEVICES="")
    assert (code, "cuInit failed: CUDA_ERROR_100 (100)" in out, "CUDA_VISIBLE_DEVICES" in out) == (3, True, True)
    code, out, _ = command(files, fake_library, "doctor", "good.kbundle", FAKE_DEVICES="9.0/H100,8.7/Orin/1")
    assert out.splitlines() == [
        "driver for CUDA 13.0",
        "cuda:0: H100 (sm_90, driver for CUDA 13.0)",
        "  p.kernels (1 kernels): sm_90, cubin for sm_90 by CUDA 12.9.86",
        "cuda:1: Orin (sm_87, driver for CUDA 13.0)",
        "  p.kernels (1 kernels): nothing fits",
        "    sm_90: sm_90 is desktop code; a Tegra GPU runs only code made for exactly its architecture, sm_87",
    ]
    assert code == 1
    code, out, _ = command(files, fake_library, "doctor", "--json", FAKE_DRIVER="11040")
    assert (code, json.loads(out)["driver"]) == (0, "11.4")
