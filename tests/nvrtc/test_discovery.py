"""Finding NVRTC beside kbuild, on PYTHONPATH, in CUDA_HOME and in configured folders; asking each library once."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kbuild.errors import ToolchainError
from kbuild.nvrtc import Cache, Toolchain, discover, discovery, known, survey
from kbuild.nvrtc.pool import Worker
from tests.helpers import nvrtc_cases as cases

pytestmark = pytest.mark.nvrtc

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """Shared, so that each library is asked once."""
    return Cache(tmp_path_factory.mktemp("cache"))


def _link(toolchain: Toolchain, folder: Path) -> Path:
    """The toolchain's files as links in another folder."""
    folder.mkdir(parents=True, exist_ok=True)
    assert toolchain.builtins is not None
    for file in (toolchain.library, toolchain.builtins):
        (folder / file.name).symlink_to(file)
    return folder / toolchain.library.name


def test_the_wheels_beside_kbuild(cache: Cache) -> None:
    found = {t.version: t for t in discover(cache=cache)}
    assert set(cases.VERSIONS) <= set(found)
    for version, build, numbers, refused in (
        ((11, 8), "11.8.89", {53, 62, 72, 87, 90}, {100, 110}),
        ((12, 9), "12.9.86", {53, 62, 72, 87, 90, 101, 120, 121}, {110}),
        ((13, 0), "13.0.88", {75, 87, 90, 103, 110, 121}, {53, 62, 72, 101}),
    ):
        toolchain = found[version]
        assert toolchain.build == build
        assert numbers <= set(toolchain.architectures)
        assert not refused & set(toolchain.architectures)
        assert toolchain.library.is_file()
        assert toolchain.builtins is not None
        assert toolchain.builtins.name.endswith("{}.{}".format(*version))
        assert toolchain.options == (("--no-source-include",) if version < (12, 0) else discovery.OPTIONAL_OPTIONS)
        files = (toolchain.library, toolchain.builtins)
        digests = b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)
        assert toolchain.digest == hashlib.sha256(digests).hexdigest()
        assert str(toolchain).startswith(f"NVRTC {build} (wheel nvidia-cuda-nvrtc")
    assert [t.version for t in discover(cache=cache)] == sorted(found)


@pytest.mark.parametrize(
    ("version", "arch", "known"),
    [
        ((11, 8), "sm_90", True), ((11, 8), "sm_90a", False), ((11, 8), "sm_110", False),
        ((12, 9), "sm_90a", True), ((12, 9), "sm_120f", True), ((12, 9), "compute_121a", True),
        ((12, 9), "sm_110", False),
        ((13, 0), "sm_110f", True), ((13, 0), "sm_72", False), ((13, 0), "compute_90", True),
    ],
)  # fmt: skip
def test_knows(version: tuple[int, int], arch: str, known: bool) -> None:
    assert cases.installed()[version].knows(arch) == known


def test_the_second_time_nothing_is_loaded_or_hashed(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    first = discover(cache=cache)

    def never(*_: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(discovery, "Worker", never)
    monkeypatch.setattr(discovery, "_digest", never)
    monkeypatch.setattr(discovery, "_build", never)
    assert discover(cache=cache) == first


@pytest.mark.skipif(platform.machine() != "x86_64", reason="known.py holds the wheels for x86-64")
def test_known_libraries_are_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("asked")

    monkeypatch.setattr(discovery, "Worker", never)
    monkeypatch.setattr(discovery, "_toolkits", lambda: iter(()))
    assert [t.build for t in discover(cache=Cache(tmp_path))] == ["11.8.89", "12.9.86", "13.0.88"]


def test_known_libraries_say_the_same_when_they_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = discover(cache=Cache(tmp_path / "told"))
    monkeypatch.setattr(known, "_WHEELS", {})
    assert discover(cache=Cache(tmp_path / "asked")) == told


def test_a_changed_file_is_asked_again(tmp_path: Path) -> None:
    toolchain = cases.installed()[11, 8]
    assert toolchain.builtins is not None
    for file in (toolchain.library, toolchain.builtins):
        shutil.copy(file, tmp_path)
    copy, cache = tmp_path / toolchain.library.name, Cache(tmp_path / "cache")
    (before,) = (t for t in discover([copy], cache=cache) if t.library == copy)
    with open(copy, "ab") as file:
        file.write(b"\0")  # a patch release: the same version, other bytes
    (after,) = (t for t in discover([copy], cache=cache) if t.library == copy)
    assert before.digest == toolchain.digest != after.digest
    assert before.version == after.version


def test_wheels_that_are_only_on_pythonpath(tmp_path: Path) -> None:
    """pip's build isolation: another Python without them, and a sitecustomize that adds a folder."""
    overlay = tmp_path / "overlay"
    for version in ((11, 8), (12, 9)):
        toolchain = cases.installed()[version]
        site = next(p for p in toolchain.library.parents if p.name == "site-packages")
        _link(toolchain, overlay / toolchain.library.parent.relative_to(site))
        for info in site.glob(f"nvidia_cuda_nvrtc_cu{version[0]}-*.dist-info"):
            shutil.copytree(info, overlay / info.name)
    (tmp_path / "sitecustomize.py").write_text(f"import site; site.addsitedir({str(overlay)!r})\n")
    program = (
        "import json; from kbuild.nvrtc import survey, Cache; from pathlib import Path; import sys\n"
        "found = survey(cache=Cache(Path(sys.argv[1])))\n"
        "print(json.dumps([[t.build, str(t.library), t.digest] for t in found.toolchains] + list(found.problems)))\n"
    )
    path = os.pathsep.join([str(tmp_path), str(REPOSITORY)])
    python = getattr(sys, "_base_executable", sys.executable)
    output = subprocess.run(
        [python, "-S", "-c", f"import sitecustomize\n{program}", str(tmp_path / "cache")],
        env={"PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    ).stdout
    found = {build: (library, digest) for build, library, digest in json.loads(output)}
    for version, build in (((11, 8), "11.8.89"), ((12, 9), "12.9.86")):
        library, digest = found[build]
        assert Path(library).is_relative_to(overlay)
        assert digest == cases.installed()[version].digest


@pytest.mark.parametrize("variable", ["CUDA_HOME", "CUDA_PATH"])
@pytest.mark.parametrize("folder", ["lib64", "lib", "targets/x86_64-linux/lib"])
def test_a_toolkit(variable: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
    toolchain = cases.installed()[12, 9]
    monkeypatch.setattr(discovery, "WHEELS", ())
    library = _link(toolchain, tmp_path / "cuda" / folder)
    library.rename(library.with_name("libnvrtc.so.12.9.86"))
    library.symlink_to("libnvrtc.so.12.9.86")
    monkeypatch.setenv(variable, str(tmp_path / "cuda"))
    (found,) = discover(cache=cache)
    assert (found.library, found.build, found.digest) == (library, "12.9.86", toolchain.digest)
    assert found.source == f"{variable}={tmp_path / 'cuda'}"


def test_a_configured_folder_goes_before_the_wheel(tmp_path: Path, cache: Cache) -> None:
    library = _link(cases.installed()[13, 0], tmp_path / "lib")
    for path in (tmp_path, tmp_path / "lib", library):
        found = {t.version: t for t in discover([path], cache=cache)}[13, 0]
        assert found.library == library
        assert found.source == f"configured {path}"


def test_a_configured_folder_without_nvrtc_is_an_error(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(ToolchainError, match=r"no NVRTC in .*which `toolchains`") as caught:
        discover([tmp_path], cache=cache)
    assert caught.value.code == "KB503"


def test_what_is_not_nvrtc_is_a_problem_and_not_the_end(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "libnvrtc.so.12").write_text("not a library")
    shutil.copy(cases.installed()[11, 8].builtins or "", tmp_path / "libnvrtc.so.10.2")
    found = survey([tmp_path / "text", tmp_path / "libnvrtc.so.10.2"], cache=cache)
    assert {t.version for t in found.toolchains} >= set(cases.VERSIONS)
    invalid, old = found.problems
    assert "libnvrtc.so.12 cannot be loaded" in invalid
    assert "has no nvrtcVersion: kbuild needs NVRTC 11.2 or newer" in old


def test_builtins_of_another_version_beside_a_library_are_a_problem(tmp_path: Path, cache: Cache) -> None:
    toolchain = cases.installed()[12, 9]
    assert toolchain.builtins is not None
    (tmp_path / toolchain.library.name).symlink_to(toolchain.library)
    (tmp_path / "libnvrtc-builtins.so.12.6").symlink_to(toolchain.builtins)
    found = survey([tmp_path], cache=cache)
    assert "is 12.9, and libnvrtc-builtins.so.12.6 lies beside it" in found.problems[0]


def test_problems_are_not_remembered(tmp_path: Path, cache: Cache) -> None:
    (tmp_path / "libnvrtc.so.12").write_text("not a library")
    asked = [survey([tmp_path], cache=cache).problems for _ in range(2)]
    assert asked[0] == asked[1] != ()


def test_a_worker_says_what_went_wrong(tmp_path: Path) -> None:
    worker = Worker(tmp_path / "libnvrtc.so.12", None)
    try:
        worker.send({"do": "probe", "options": []})
        with pytest.raises(Exception, match="cannot be loaded"):
            worker.receive()
    finally:
        worker.close()
