"""Opening bundles, choosing code, refusing what is damaged or not trusted."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kbuild import loader
from kbuild.loader import bundle as bundles
from kbuild.loader import format, select
from kbuild.loader.errors import BundleError, LaunchError
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, code, cubin_row, kernel_rows, make_bundle, make_manifest

PARAMETERS = [("x", "float32")]


def write_package(folder: Path, name: str, data: bytes | None) -> Path:
    """A package with a bundle, which fails when it is imported."""
    package = folder / name
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    if data is not None:
        (package / "_kbuild.kbundle").write_bytes(data)
    return package


def test_by_package_folder_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write_package(tmp_path, "opened_package", bundle_bytes(PARAMETERS))
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("opened_package", str(package), package, package / "_kbuild.kbundle"):
        bundle = loader.open(name)
        assert isinstance(bundle, loader.Bundle)
        assert bundle.kernels == tuple(bundle) == ("p.kernels:k",)
        assert (len(bundle), "p.kernels:k" in bundle, "x" in bundle) == (1, True, False)
    assert "opened_package" not in sys.modules


def test_a_namespace_package_and_a_nested_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path / "space_of_names", "inner_package", bundle_bytes(PARAMETERS))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert len(loader.open("space_of_names.inner_package")) == 1
    with pytest.raises(BundleError, match=r"there is no package 'space_of_names.nothing'"):
        loader.open("space_of_names.nothing")


def test_inside_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as archive:
        archive.writestr("zipped_package/__init__.py", "")
        archive.writestr("zipped_package/_kbuild.kbundle", bundle_bytes(PARAMETERS))
    monkeypatch.syspath_prepend(str(tmp_path / "app.zip"))
    assert loader.open("zipped_package").label == str(tmp_path / "app.zip" / "zipped_package" / "_kbuild.kbundle")


def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_package(tmp_path, "bare_package", None)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        BundleError, match=r"package 'bare_package' has no bundle: there is no .*_kbuild.kbundle"
    ) as caught:
        loader.open("bare_package")
    assert "[tool.kbuild]" in str(caught.value)
    assert "pip install ." in str(caught.value)
    with pytest.raises(BundleError, match="there is no package 'no_such_package' here"):
        loader.open("no_such_package")
    with pytest.raises(BundleError, match=r"cannot read the bundle .*x.kbundle: No such file"):
        loader.open(tmp_path / "x.kbundle")
    with pytest.raises(BundleError, match="cannot read the bundle"):
        loader.open(tmp_path)


def test_only_the_trusted_content(tmp_path: Path) -> None:
    path = tmp_path / "a.kbundle"
    path.write_bytes(bundle_bytes(PARAMETERS))
    digest = loader.open(path).digest
    assert loader.open(path, digest=digest).digest == digest
    with pytest.raises(BundleError, match=r"is not the bundle that is trusted: its digest is sha256:.* not sha256:00"):
        loader.open(path, digest="sha256:" + "0" * 64)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.kbundle"
    path.write_bytes(bundle_bytes(PARAMETERS)[:-1])
    with pytest.raises(BundleError, match=r"a\.kbundle: .*\n  help: reinstall the package"):
        loader.open(path)


def test_damaged_code_is_never_loaded(cuda: FakeCuda, tmp_path: Path) -> None:
    data = bytearray(bundle_bytes(PARAMETERS))
    data[-16] ^= 1
    bundle = bundles.from_bytes(bytes(data), "memory")
    with pytest.raises(BundleError, match="blob 0"):
        bundle["p.kernels:k"].launch(1, (1.0,))
    with pytest.raises(BundleError, match="blob 0"):
        bundle.verify()
    assert "cuModuleLoadData" not in cuda.calls


def test_an_unknown_kernel() -> None:
    with pytest.raises(
        LaunchError, match=r"has no kernel 'p.kernels:kk'; did you mean 'p.kernels:k'\?; it holds p.kernels:k"
    ):
        make_bundle(PARAMETERS)["p.kernels:kk"]


def test_a_kernel_shows_its_signature() -> None:
    bundle = make_bundle([("a", "array1[vec3[float32]]"), ("x", "float32")])
    assert repr(bundle["p.kernels:k"]) == "<kernel p.kernels:k(a: array1[vec3[float32]], x: float32)>"
    assert bundle["p.kernels:k"] is bundle["p.kernels:k"]


def test_a_bundle_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write_package(tmp_path, "closed_package", None)
    (package / "_kbuild.kbundle").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BundleError, match=r"cannot read the bundle .*_kbuild.kbundle: Is a directory"):
        loader.open("closed_package")


# Selection


def several(*rows: dict[str, Any], statuses: tuple[int, ...] = ()) -> bundles.Bundle:
    """A bundle of one kernel with a cubin a row; loading them answers the statuses."""
    kernel = kernel_rows("p.kernels:k", PARAMETERS, 1, {}, 256)
    codes = [code([kernel], status) + b"#%d" % i for i, status in enumerate(statuses or (0,) * len(rows))]
    cubins = [cubin_row(**dict(row, kernels=[0], blob=i)) for i, row in enumerate(rows)]
    return bundles.from_bytes(format.dump(make_manifest([kernel], cubins), codes), "memory")


SM_90 = {"target": "sm_90"}
SM_90_OLDER = {"target": "sm_90@12.4", "arch": "sm_90", "toolchain": "12.4.1", "cuda": [12, 4]}
ORIN = {"target": "sm_87"}
PTX = {"target": "compute_80", "arch": "compute_80", "kind": "ptx"}


@pytest.mark.parametrize("status", [209, 218, 222])
def test_the_next_one_is_tried(cuda: FakeCuda, status: int) -> None:
    bundle = several(SM_90_OLDER, SM_90, statuses=(0, status))
    bundle["p.kernels:k"].launch(1, (1.0,))
    assert len(cuda.records) == 1
    assert cuda.calls.count("cuModuleLoadData") == 2


def test_nothing_loads(cuda: FakeCuda) -> None:
    bundle = several(SM_90, ORIN, PTX, statuses=(209, 0, 0))
    with pytest.raises(BundleError) as caught:
        bundle["p.kernels:k"].launch(1, (1.0,))
    for part in (
        "p.kernels:k: nothing in the bundle of package 'p' (memory) runs on Fake GPU 0 (sm_90, driver for CUDA 13.0)",
        "sm_90 (12.9.86): CUDA_ERROR_NO_BINARY_FOR_GPU",
        "sm_87 (12.9.86): sm_87 is Tegra code",
        "compute_80 (12.9.86): PTX would be compiled on this machine",
        "help: update the driver, or rebuild the package for it: "
        '[tool.kbuild] targets = ["compute_80", "sm_87", "sm_90", "sm_90@13.0"]',
        "loader.open(…, allow_ptx=True), KBUILD_ALLOW_PTX=1",
    ):
        assert part in str(caught.value)


def test_another_failure_is_no_reason_to_try_the_next(cuda: FakeCuda) -> None:
    bundle = several(SM_90_OLDER, SM_90, statuses=(0, 200))
    with pytest.raises(loader.DriverError, match="cuModuleLoadData failed"):
        bundle["p.kernels:k"].launch(1, (1.0,))


def test_ptx_only_when_allowed(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = several(PTX)
    with pytest.raises(BundleError, match="PTX"):
        bundle["p.kernels:k"].launch(1, (1.0,))
    bundle.allow_ptx = True
    bundle["p.kernels:k"].launch(1, (1.0,))
    monkeypatch.setenv("KBUILD_ALLOW_PTX", "1")
    assert make_bundle(PARAMETERS).allow_ptx


def test_a_unit_is_loaded_once(two_gpus: FakeCuda) -> None:
    kernels = [kernel_rows("p.kernels:" + name, PARAMETERS, 1, {}, 256) for name in "ab"]
    manifest = make_manifest(kernels, [cubin_row("sm_90", [0, 1], 0)])
    bundle = bundles.from_bytes(format.dump(manifest, [code(kernels)]), "memory")
    for device in (0, 1, 0, 1):
        for name in bundle:
            bundle[name].launch(1, (1.0,), device=device)
    assert two_gpus.calls.count("cuModuleLoadData") == 2
    assert two_gpus.calls.count("cuModuleGetFunction") == 4


def test_a_bundle_that_lies_about_its_entries(cuda: FakeCuda) -> None:
    kernel = kernel_rows("p.kernels:k", PARAMETERS, 1, {}, 256)
    data = format.dump(make_manifest([kernel], [cubin_row("sm_90", [0], 0)]), [b"FAKE 0\n"])
    with pytest.raises(loader.DriverError, match=r"p.kernels:k: cuModuleGetFunction failed: .*500.*\n.*no such name"):
        bundles.from_bytes(data, "memory")["p.kernels:k"].launch(1, (1.0,))


def test_explain() -> None:
    bundle = several(SM_90, SM_90_OLDER, ORIN)
    (h200,) = loader.explain(bundle, select.Device("H200", 9, 0, (12, 8)))
    assert (h200["unit"], h200["kernels"], h200["kind"]) == ("p.kernels", ["p.kernels:k"], "cubin")
    assert (h200["target"], h200["arch"], h200["toolchain"]) == ("sm_90", "sm_90", "12.9.86")
    (desktop,) = loader.explain(bundle, select.Device("RTX 4090", 8, 9, (13, 0)))
    assert desktop["kind"] is None
    assert [target for target, _ in desktop["refusals"]] == ["sm_90", "sm_90@12.4", "sm_87"]


def test_verify_reads_the_cubins_own_tables() -> None:
    with pytest.raises(BundleError, match=r"the cubin of p.kernels for sm_90: "):
        make_bundle(PARAMETERS).verify()


# python -m kbuild.loader


def doctor(library: Path | None, *arguments: str, devices: str = "9.0") -> subprocess.CompletedProcess[str]:
    env = {"FAKE_DEVICES": devices, "PYTHONPATH": str(Path(__file__).parents[2])}
    if library is not None:
        env["LD_LIBRARY_PATH"] = str(library.parent)
    command = [sys.executable, "-m", "kbuild.loader", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)


@pytest.fixture
def bundle_file(tmp_path: Path) -> str:
    (tmp_path / "a.kbundle").write_bytes(bundle_bytes(PARAMETERS))
    return str(tmp_path / "a.kbundle")


def test_doctor(fake_library: Path, bundle_file: str) -> None:
    done = doctor(fake_library, "doctor", bundle_file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "driver for CUDA 13.0",
        "cuda:0: Fake GPU 0 (sm_90, driver for CUDA 13.0)",
        "  p.kernels (1 kernels): sm_90, cubin for sm_90 by CUDA 12.9.86",
    ]
    assert doctor(fake_library, "doctor").returncode == 0


def test_doctor_where_nothing_fits(fake_library: Path, bundle_file: str) -> None:
    done = doctor(fake_library, "doctor", bundle_file, devices="9.0,8.7")
    assert done.returncode == 1
    assert "  p.kernels (1 kernels): nothing fits\n    sm_90: " in done.stdout


def test_doctor_without_a_driver(bundle_file: str) -> None:
    done = doctor(None, "doctor", bundle_file)
    assert done.returncode == 3
    assert "no CUDA driver on this machine" in done.stdout
    assert f"{bundle_file} holds 1 kernels for sm_90" in done.stdout


def test_doctor_as_json(fake_library: Path, bundle_file: str) -> None:
    import json

    answer = json.loads(doctor(fake_library, "doctor", "--json", bundle_file).stdout)
    assert (answer["driver"], answer["problem"], answer["bundle"]) == ("13.0", None, bundle_file)
    (device,) = answer["devices"]
    assert (device["device"], device["name"], device["arch"]) == ("cuda:0", "Fake GPU 0", "sm_90")
    assert device["units"][0]["target"] == "sm_90"
    assert "no CUDA driver" in json.loads(doctor(None, "doctor", "--json").stdout)["problem"]


def test_verify(bundle_file: str, tmp_path: Path) -> None:
    found = doctor(None, "verify", bundle_file)
    assert found.returncode == 1  # the fake code is no cubin
    assert "the cubin of p.kernels for sm_90" in found.stdout
    damaged = tmp_path / "damaged.kbundle"
    damaged.write_bytes(Path(bundle_file).read_bytes() + b"x")
    for command in ("verify", "doctor"):
        assert doctor(None, command, str(damaged)).returncode == 1
    missing = doctor(None, "verify", str(tmp_path / "b.kbundle"))
    assert missing.returncode == 2
    assert "error: cannot read the bundle" in missing.stderr
    assert '{"error": "cannot read' in doctor(None, "verify", "--json", "nothing/here").stdout
    assert doctor(None, "verify").returncode == 2
    assert doctor(None, "frobnicate").returncode == 2
