"""Bundles: written at once, found wherever they lie, inspected, verified against real cubins, compared."""

from __future__ import annotations

import os
import stat
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbuild import targets
from kbuild.bundle import BUNDLE_NAME, compare, finding, locate, summary, verify, write
from kbuild.bundle import manifest as rows
from kbuild.errors import InternalError, ToolchainError, UsageError
from kbuild.loader import abi, canonical, cubin, format
from tests.helpers import bundles

GOLDEN = Path(__file__).parent / "data" / "format1.kbundle"


@pytest.fixture(scope="module")
def golden() -> format.Parsed:
    """Real cubins of CUDA 11.8, 12.9 and 13.0, and PTX; written on 2026-11-29 and never again."""
    return format.parse(GOLDEN.read_bytes())


# The old bundle


def test_the_first_bundle_is_read_for_ever(golden: format.Parsed) -> None:
    assert golden.digest == "sha256:f839515c8656e6f42f62ada56d42cce9609256e2b7e7ec88b83dfb4143355846"
    assert verify(golden) == []


# write


def test_write_publishes_what_it_returns(tmp_path: Path) -> None:
    path = tmp_path / "robosim" / BUNDLE_NAME
    parsed = write(path, bundles.MANIFEST, bundles.BLOBS)
    assert format.parse(path.read_bytes()).digest == parsed.digest
    assert os.listdir(path.parent) == [BUNDLE_NAME]
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_equal_bytes_leave_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / BUNDLE_NAME
    write(path, bundles.MANIFEST, bundles.BLOBS)
    os.utime(path, ns=(1, 1))
    before = path.stat()
    write(path, bundles.MANIFEST, bundles.BLOBS)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (1, before.st_ino)
    write(path, bundles.MANIFEST, [bundles.BLOBS[0], b"other"])
    assert path.stat().st_mtime_ns != 1


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / BUNDLE_NAME
    write(path, bundles.MANIFEST, bundles.BLOBS)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ToolchainError, match=r"_kbuild\.kbundle cannot be written: No space left on device"):
        write(path, bundles.MANIFEST, [bundles.BLOBS[0], b"other"])
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [BUNDLE_NAME]


def test_an_unreadable_manifest_is_never_written(tmp_path: Path) -> None:
    manifest = bundles.manifest()
    manifest["kernels"][0]["ndim"] = 9
    with pytest.raises(InternalError, match=r"would not be readable: manifest\.kernels\[0\]\.ndim is 9"):
        write(tmp_path / BUNDLE_NAME, manifest, bundles.BLOBS)
    assert os.listdir(tmp_path) == []


# locate


def make_wheel(path: Path, *members: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("robosim/__init__.py", "")
        for member in members:
            wheel.writestr(member, bundles.bundle())
    return path


def put(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").touch()
    (folder / BUNDLE_NAME).write_bytes(bundles.bundle())
    return folder / BUNDLE_NAME


def test_a_file(tmp_path: Path) -> None:
    path = put(tmp_path)
    (found,) = locate(str(path))
    assert (found.label, found.data) == (str(path), bundles.bundle())


def test_a_wheel(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "robosim-1.0-py3-none-any.whl", f"b/{BUNDLE_NAME}", f"a/{BUNDLE_NAME}")
    found = locate(str(path))
    assert [one.label for one in found] == [f"{path}/a/{BUNDLE_NAME}", f"{path}/b/{BUNDLE_NAME}"]
    assert {one.data for one in found} == {bundles.bundle()}


def test_a_wheel_without_a_bundle(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "robosim-1.0-py3-none-any.whl")
    with pytest.raises(UsageError, match=r"robosim-1\.0-py3-none-any\.whl holds no bundle"):
        locate(str(path))


def test_a_damaged_wheel(tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "a.whl", f"a/{BUNDLE_NAME}")
    data = bytearray(path.read_bytes())
    data[data.index(BUNDLE_NAME.encode()) + len(BUNDLE_NAME) + 20] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"a\.whl is damaged"):
        locate(str(path))


@pytest.mark.parametrize("layout", ["robosim", "src/robosim", "python/pkg/sub"])
def test_a_project_folder(tmp_path: Path, layout: str) -> None:
    path = put(tmp_path / layout)
    for elsewhere in ("build/lib/robosim", ".hidden/robosim", "venv/lib/robosim"):
        put(tmp_path / elsewhere)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    assert [found.label for found in locate(str(tmp_path))] == [str(path)]


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=rf"holds no bundle(.|\n)*python -m kbuild build {tmp_path}"):
        locate(str(tmp_path))


def test_an_installed_package_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "kb_installed" / "sub")
    for folder in (path.parent, path.parent.parent):
        (folder / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path / "kb_installed")
    assert [found.label for found in locate("kb_installed.sub")] == [str(path)]
    assert "kb_installed" not in sys.modules
    with pytest.raises(UsageError, match=r"the package kb_installed at .*kb_installed has no bundle"):
        locate("kb_installed")


def test_what_is_nowhere() -> None:
    with pytest.raises(UsageError, match="kb_nowhere: no such file or folder, and no installed package"):
        locate("kb_nowhere")
    with pytest.raises(UsageError, match=r"dist/nowhere\.whl does not exist(.|\n)*name a wheel"):
        locate("dist/nowhere.whl")
    with pytest.raises(UsageError, match=r"the package json\.encoder at .* has no bundle"):
        locate("json.encoder")


def test_huge_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "MAX_BYTES", 100)
    wheel = make_wheel(tmp_path / "a.whl", f"a/{BUNDLE_NAME}")
    for path in (put(tmp_path), wheel):
        with pytest.raises(UsageError, match="larger than 100 bytes"):
            locate(str(path))


# summary


def test_summary_has_exactly_the_promised_fields(golden: format.Parsed) -> None:
    found = summary(golden)
    assert list(found) == ["format", "digest", "targets", "kernels", "cubins", "adjoints"]
    assert found["adjoints"] == {"kernels": [], "targets": []}
    assert found["targets"] == ["jetson-orin-jp6", "sm_90", "jetson-thor-jp7", "compute_90"]
    kernel = found["kernels"][0]
    assert list(kernel) == ["name", "parameters"]
    assert kernel["parameters"][2] == {"name": "dt", "type": "float32", "offset": 36, "size": 4}
    row = found["cubins"][1]
    assert list(row) == ["target", "kernels", "toolchain", "driver", "sha256", "size", "stored", "resources"]
    assert (row["toolchain"], row["driver"]) == ("12.9.86", [12, 0])
    assert row["kernels"] == [kernel["name"] for kernel in found["kernels"]]
    assert row["resources"][0] == {
        "kernel": "robosim.kernels:integrate",
        "registers": 12,
        "shared": 0,
        "local": 0,
        "spills": 0,
    }


# verify


def changed(golden: format.Parsed, change: Callable[[Any], Any]) -> format.Parsed:
    """The old bundle with another manifest that parses, around the same cubins."""
    manifest, region = bundles.split(GOLDEN.read_bytes())
    change(manifest)
    return format.parse(bundles.join(canonical.encode(manifest), region))


def relay(index: int, ndim: int, types: list[tuple[str, abi.Type]]) -> Callable[[Any], None]:
    """Gives kernel `index` other parameters, laid out rightly."""

    def change(manifest: Any) -> None:
        old = manifest["kernels"][index]
        manifest["kernels"][index] = rows.kernel_row(old["name"], old["entry"], ndim, old["block_dim"], types)

    return change


def test_the_loader_sees_a_header_of_another_size(golden: format.Parsed) -> None:
    from kbuild.loader import bundle as loaded

    manifest, region = bundles.split(GOLDEN.read_bytes())
    loaded.from_bytes(bundles.join(canonical.encode(manifest), region), "memory").verify()
    manifest["kernels"][0]["origin"] = True  # whose place the padding before the first array takes
    with pytest.raises(format.BundleError, match=r"does not hold the kernel robosim.kernels:integrate as the manifest"):
        loaded.from_bytes(bundles.join(canonical.encode(manifest), region), "memory").verify()


def swap(manifest: Any, one: int, other: int) -> None:
    first, second = manifest["cubins"][one], manifest["cubins"][other]
    first["blob"], second["blob"] = second["blob"], first["blob"]


POS, GRAVITY, DT = ("pos", abi.Array(abi.FLOAT32, 1)), ("gravity", abi.Vector(3, abi.FLOAT32)), ("dt", abi.FLOAT32)
LIES: list[tuple[Callable[[Any], Any], str]] = [
    (
        lambda m: m["cubins"][1].update(arch="sm_80"),
        "cubin 1 (sm_90): it is code for sm_90, but the manifest says sm_80",
    ),
    (lambda m: m["cubins"][1].update(arch="sm_90a"), "it is code for sm_90, but the manifest says sm_90a"),
    (lambda m: swap(m, 0, 1), "cubin 0 (jetson-orin-jp6): it is code for sm_90, but the manifest says sm_87"),
    (
        lambda m: m["cubins"][1].update(arch="sm_80"),
        "it stands under the target sm_90, which does not mean cubin for sm_80",
    ),
    (
        lambda m: m["cubins"][3].update(kind="cubin", arch="sm_90", resources=m["cubins"][1]["resources"]),
        "it stands under the target compute_90, which does not mean cubin for sm_90",
    ),
    (lambda m: m["cubins"][1].update(toolchain="13.0.88"), "the toolchain 13.0.88 is not of CUDA 12.9"),
    (lambda m: m["cubins"][2].update(driver=[12, 0]), "it needs a driver for CUDA 13.0, but the manifest says 12.0"),
    (lambda m: m["cubins"][2].update(cuda=[13, 1]), "it was made by CUDA 13.0, but the manifest says 13.1"),
    (lambda m: m["kernels"][0].update(entry="other"), "robosim.kernels:integrate: the entry other is missing"),
    (
        lambda m: m["kernels"][0].update(entry="other"),
        "it has an entry that the manifest does not name: integrate_1a2b3c4d",
    ),
    (relay(0, 1, [POS, GRAVITY]), "it takes 4 parameters, but the manifest says 3, launch header included"),
    (relay(0, 2, [POS, GRAVITY, DT]), "the launch header is at offset 0 with 4 bytes, but the manifest says 0 and 24"),
    (
        lambda m: m["kernels"][0].update(origin=True),
        "the launch header is at offset 0 with 4 bytes, but the manifest says 0 and 8",
    ),
    (relay(0, 1, [POS, DT, GRAVITY]), "'dt' is at offset 24 with 12 bytes, but the manifest says 24 and 4"),
    (relay(0, 1, [POS, GRAVITY]), "its parameters take 40 bytes, but the manifest says 36"),
    (
        lambda m: m["cubins"][1]["resources"][0].update(registers=13),
        "cubin 1 (sm_90): robosim.kernels:integrate: its registers are 12, but the manifest says 13",
    ),
    (lambda m: m["cubins"][0]["resources"][1].update(shared=0), "its shared are 128, but the manifest says 0"),
    (lambda m: m["cubins"][0]["resources"][1].update(local=8), "its local are 0, but the manifest says 8"),
    (lambda m: m["targets"].append("sm_120"), "robosim.kernels:integrate: no code for the target sm_120"),
    (lambda m: m["cubins"][3].update(arch="compute_80"), "it is PTX for compute_90, but the manifest says compute_80"),
    (lambda m: m["cubins"][3].update(blob=1) or swap(m, 1, 3), "it is not PTX: it has no .target"),
    (
        lambda m: m["cubins"][3].update(kind="cubin", arch="sm_90", resources=m["cubins"][1]["resources"]),
        "cubin 3 (compute_90): not a cubin",
    ),
]


@pytest.mark.parametrize(("change", "wanted"), LIES, ids=[wanted[:50] for _, wanted in LIES])
def test_every_lie_is_found(golden: format.Parsed, change: Callable[[Any], Any], wanted: str) -> None:
    def with_all_blobs(manifest: Any) -> None:
        change(manifest)
        if {row["blob"] for row in manifest["cubins"]} != {0, 1, 2, 3}:
            manifest["cubins"][1]["blob"], manifest["cubins"][3]["blob"] = 3, 1

    problems = verify(changed(golden, with_all_blobs))
    assert any(wanted in str(problem) for problem in problems), [str(problem) for problem in problems]


def test_a_target_of_a_newer_kbuild_is_no_problem(golden: format.Parsed) -> None:
    def rename(manifest: Any) -> None:
        manifest["targets"][1] = manifest["cubins"][1]["target"] = "jetson-orin-jp9"

    assert verify(changed(golden, rename)) == []


def test_a_block_larger_than_the_kernel_allows(golden: format.Parsed, monkeypatch: pytest.MonkeyPatch) -> None:
    read = cubin.read

    def limited(data: bytes) -> cubin.Cubin:
        found = read(data)
        for info in found.kernels.values():
            info.max_threads = 128
        return found

    monkeypatch.setattr(cubin, "read", limited)
    assert "it allows 128 threads in a block, but the manifest says 256" in {p.message for p in verify(golden)}


def test_a_damaged_blob_is_a_problem_and_the_rest_is_still_checked() -> None:
    data = bytearray(GOLDEN.read_bytes())
    _, region = bundles.split(bytes(data))
    data[len(data) - len(region) + 40] ^= 1
    (problem,) = verify(format.parse(bytes(data), lazy=True))
    assert problem.to_json() == {
        "cubin": 0,
        "target": "jetson-orin-jp6",
        "kernel": None,
        "message": "blob 0 is damaged: its stored bytes have another digest",
    }


# compare


def test_a_bundle_differs_from_itself_in_nothing(golden: format.Parsed) -> None:
    assert compare(golden, golden) == []


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (lambda m: m.update(generator="kbuild 0.2.0"), "generator: kbuild 0.1.0 → kbuild 0.2.0"),
        (
            lambda m: m["cubins"][1]["resources"][0].update(registers=40),
            "cubin sm_90 robosim.kernels cubin resources: ",
        ),
        (lambda m: m["cubins"][1].update(toolchain="12.9.90"), "toolchain: 12.9.86 → 12.9.90"),
        (lambda m: m["targets"].append("sm_120"), "targets: ["),
        (lambda m: m["cubins"][1].update(unit="other"), "cubin sm_90 robosim.kernels cubin: only in the first"),
        (lambda m: m["cubins"][1].update(unit="other"), "cubin sm_90 other cubin: only in the second"),
        (lambda m: m["kernels"][0].update(block_dim=64), "kernel robosim.kernels:integrate block_dim: 256 → 64"),
        (
            lambda m: m.update(
                asserts=[{"function": "a:f", "number": 1, "line": 1, "text": "assert x", "kernels": [0]}]
            ),
            "asserts: only in the second (1 asserts)",
        ),
        (
            lambda m: m.update(sources=[{"module": "a", "path": "a.py", "size": 1, "mtime_ns": 1, "sha256": "0" * 64}]),
            "sources: only in the second (1 files)",
        ),
    ],
)
def test_differences(golden: format.Parsed, change: Callable[[Any], Any], wanted: str) -> None:
    found = [str(difference) for difference in compare(golden, changed(golden, change))]
    assert any(wanted in line for line in found), found


def test_order_of_blobs_is_no_difference() -> None:
    other = bundles.manifest()
    other["cubins"][0]["blob"], other["cubins"][1]["blob"] = 1, 0
    other["cubins"].reverse()
    one = format.parse(bundles.bundle())
    assert compare(one, format.parse(format.dump(other, bundles.BLOBS[::-1]))) == []


# The manifest's rows


def test_rows_are_what_parse_accepts(golden: format.Parsed) -> None:
    """The rows made from types and cubins are those of the old bundle."""
    spring = abi.Struct("robosim.kernels:Spring", [("a", abi.INT32), ("b", abi.INT32), ("k", abi.FLOAT32)])
    types = [("springs", abi.Array(spring, 1)), ("mass", abi.FLOAT64), ("one", spring), ("loud", abi.BOOL)]
    wanted = golden.manifest["kernels"][1]
    assert rows.kernel_row(wanted["name"], wanted["entry"], 2, 128, types) == wanted
    kernels = dict(enumerate(golden.manifest["kernels"]))
    for index, row in enumerate(golden.manifest["cubins"]):
        made = rows.cubin_row(
            targets.parse(row["target"]),
            row["unit"],
            kernels,
            toolchain=row["toolchain"],
            cuda=tuple(row["cuda"]),
            blob=index,
            data=golden.blob(row["blob"]),
            spills={},
        )
        assert made == row


def test_spills_come_from_the_log(golden: format.Parsed) -> None:
    kernels = {1: golden.manifest["kernels"][1]}
    common = {"toolchain": "12.9.86", "cuda": (12, 9), "blob": 0, "data": golden.blob(1)}
    row = rows.cubin_row(targets.parse("sm_90"), "u", kernels, spills={"pull_5e6f7a8b": 12}, **common)
    assert row["resources"] == [{"kernel": 1, "registers": 10, "shared": 128, "local": 0, "spills": 12}]
    with pytest.raises(cubin.CubinError, match=r"lacks the entry other of robosim\.kernels:make"):
        rows.cubin_row(targets.parse("sm_90"), "u", {1: dict(kernels[1], entry="other")}, spills={}, **common)


def test_equal_blobs_are_stored_once() -> None:
    blobs = rows.Blobs()
    assert [blobs.add(data) for data in (b"a", b"b", b"a")] == [0, 1, 0]
    assert blobs.data == [b"a", b"b"]
