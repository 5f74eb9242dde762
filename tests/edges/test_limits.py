"""What the machine or the GPU does not allow: compilers that are not installed, parameters that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kbuild import config
from kbuild.errors import ExitCode, ToolchainError, UsageError
from kbuild.loader import format
from kbuild.nvrtc import Compiled
from tests.helpers import building, nvrtc_cases, projects
from tests.helpers.building import Kbuild
from tests.helpers.situations import happens

CONFIGURATION = "Configuration"
SECTION = "Targets and compilers"

MISTAKES = [
    ("targets = ['sm_90']", "[tool.kbuild] modules is missing", "modules = "),
    ("modules = ['thing.kernels']", "[tool.kbuild] targets is missing", "python -m kbuild targets"),
    ("modules = ['thing.kernels']\ntargets = ['sm90']", "unknown target 'sm90'", "did you mean 'sm_90'?"),
    ("modules = ['thing.kernels']\ntargets = ['jetson-orin']", "unknown target", "did you mean 'jetson-orin-jp"),
    ("modules = ['thing.kernels']\ntarget = ['sm_90']", "target is not an option", "did you mean 'targets'?"),
    ("modules = ['thing.kernel']\ntargets = ['sm_90']", "there is no module 'thing.kernel'", "'thing.kernels'?"),
    (
        "modules = ['thing.deep.*']\ntargets = ['sm_90']",
        "no module matches 'thing.deep.*'",
        "did you mean 'thing.kernels'",
    ),
    ("modules = ['thing']\ntargets = ['sm_90']", "no kernels in package thing", "@kb.kernel"),
]


@happens(
    CONFIGURATION,
    "`modules` or `targets` is missing, a module does not exist or has no kernels, a target or option is unknown",
    "An error with file and line, what was found and what is wanted; `did you mean …?` where a name is near. Status 2.",
)
@pytest.mark.parametrize(("table", "message", "cure"), MISTAKES, ids=[message[:40] for _, message, _ in MISTAKES])
def test_mistakes(kbuild: Kbuild, tmp_path: Path, table: str, message: str, cure: str) -> None:
    project = building.project(tmp_path, projects.KERNELS)
    (project / "pyproject.toml").write_text(f"[tool.kbuild]\n{table}\n")
    done = kbuild.run("build", project, status=ExitCode.USAGE)
    assert message in done.stderr
    assert cure in done.stderr
    assert not list(project.rglob("*.kbundle*"))


def test_a_table_without_a_header_of_its_own(tmp_path: Path) -> None:
    """However TOML spells it, it is the same table; and the line of a mistake is still told."""
    for text in (
        "[tool]\nkbuild.modules = ['a']\nkbuild.target = []\n",
        "tool.kbuild = {modules = ['a'], target = 1}\n",
    ):
        (tmp_path / "pyproject.toml").write_text(text)
        with pytest.raises(UsageError, match=r"pyproject\.toml(:\d)?: error: \[tool\.kbuild\] target is not an option"):
            config.load(tmp_path)


# Compilers that are not there

HIDE = """
import importlib.metadata as metadata
known = metadata.distributions
metadata.distributions = lambda **how: () if how.get("name") in {names!r} else known(**how)
"""


@happens(
    SECTION,
    "no installed compiler covers a target",
    "An error [KB502] that names the target, the versions it takes, those that are there, and the line that installs "
    "one (`pip install 'kbuild[cuda11]'`). Status 3.",
)
@pytest.mark.parametrize(
    ("hidden", "target", "extra"),
    [
        ("nvidia-cuda-nvrtc-cu11", "jetson-orin-jp5", "kbuild[cuda11]"),
        ("nvidia-cuda-nvrtc-cu12", "sm_90", "kbuild[build]"),
        ("nvidia-cuda-nvrtc", "jetson-thor-jp7", "kbuild[build]"),
    ],
)
def test_no_compiler_for_a_target(kbuild: Kbuild, tmp_path: Path, hidden: str, target: str, extra: str) -> None:
    project = building.project(tmp_path / "project", projects.KERNELS, targets=[target])
    without = kbuild.with_site(tmp_path / "site", HIDE.format(names=(hidden,)))
    done = without.run("build", project, status=ExitCode.MACHINE)
    assert f"for target '{target}'" in done.stderr
    assert "found: NVRTC 1" in done.stderr
    assert f"pip install '{extra}'" in done.stderr
    assert "requires" in done.stderr


def test_no_compiler_at_all(kbuild: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path / "project", projects.KERNELS)
    names = ("nvidia-cuda-nvrtc-cu11", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
    done = kbuild.with_site(tmp_path / "site", HIDE.format(names=names)).run("build", project, status=ExitCode.MACHINE)
    assert "found: none" in done.stderr
    assert "pip install 'kbuild[build]'" in done.stderr


# Parameters


def many(count: int, extra: int) -> str:
    """A kernel with `count` matrices of 64 bytes and `extra` floats behind the header of 8 bytes."""
    names = [f"m{i}: kb.mat44" for i in range(count)] + [f"f{i}: float" for i in range(extra)]
    return f"""\
import kbuild as kb


@kb.kernel
def small(data: kb.array(dtype=float)):
    data[kb.tid()] = 1.0


@kb.kernel
def many({", ".join(names)}):
    i = kb.tid()
"""


SMALL, LARGE = (63, 14), (511, 13)  # 8 + 64 * 63 + 4 * 14 = 4096, and 32764


def build(kbuild: Kbuild, project: Path, status: int = 0) -> Any:
    return json.loads(kbuild.run("build", project, "--json", status=status).stdout)


@happens(
    SECTION,
    "a kernel has more parameters than a target takes (4,096 bytes before CUDA 12.1, 32,764 since)",
    "An error [KB302] at the kernel's `def` with its bytes and the limit of each target, before a compiler is asked.",
)
@pytest.mark.parametrize(
    ("target", "count", "extra", "limit", "by"),
    [
        ("jetson-orin-jp5", *SMALL, 4096, "11.8"),
        ("sm_90", *LARGE, 32764, "12.9"),
        ("compute_90", *LARGE, 32764, "12.9"),
    ],
)
def test_one_parameter_too_many(
    kbuild: Kbuild, tmp_path: Path, target: str, count: int, extra: int, limit: int, by: str
) -> None:
    """What fits to the byte is built; one float more is refused by kbuild, and would be by NVRTC."""
    project = building.project(tmp_path, many(count, extra), targets=[target])
    assert build(kbuild, project)["compiled"] in (0, 2)
    building.project(tmp_path, many(count, extra + 1), targets=[target])
    answer = build(kbuild, project, ExitCode.KERNELS)
    (found,) = answer["diagnostics"]
    assert (found["code"], found["line"], found["kernel"]) == ("KB302", 10, "thing.kernels:many")
    assert f"takes {limit + 4} bytes of parameters" in found["message"]
    assert f"{target} takes {limit} (CUDA {by})" in found["message"]
    assert ("CUDA 12.1" in found["help"]) == (limit == 4096)
    emitted = kbuild.run("build", project, "--emit=ptx", status=ExitCode.KERNELS)
    assert "def many(" in emitted.stderr
    assert "[KB302]" in emitted.stderr


CLUSTERS = """\
import kbuild as kb


@kb.kernel
def alone(data: kb.array(dtype=float)):
    data[kb.tid()] = 1.0


@kb.kernel(cluster_dim=2)
def clustered(data: kb.array(dtype=float)):
    tile = kb.shared_array(256, float)
    tile[kb.thread_idx()] = data[kb.tid()]
    kb.cluster_sync()
    data[kb.tid()] = kb.cluster_array(tile, 1 - kb.cluster_rank())[kb.thread_idx()]
    kb.cluster_sync()
"""


@happens(
    SECTION,
    "a kernel runs in clusters, and a target has none (before compute capability 9.0)",
    "An error [KB306] at the kernel's `def` that names the targets, before a compiler is asked.",
)
def test_clusters_on_targets_without(kbuild: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path, CLUSTERS, targets=["sm_90", "sm_80", "jetson-orin-jp6"])
    (found,) = build(kbuild, project, ExitCode.KERNELS)["diagnostics"]
    assert (found["code"], found["line"], found["kernel"]) == ("KB306", 10, "thing.kernels:clustered")
    assert "runs in clusters (cluster_dim=2), which sm_80, jetson-orin-jp6 cannot" in found["message"]
    assert "leave older targets out" in found["help"]
    building.project(tmp_path, CLUSTERS, targets=["sm_90", "sm_120"])
    answer = build(kbuild, project)
    shown = kbuild.run("inspect", answer["bundle"]).stdout
    assert (
        "thing.kernels:clustered: tid() of 1, 256 threads a block, whole blocks only, clusters of 2 blocks\n" in shown
    )
    rows = json.loads(kbuild.run("inspect", answer["bundle"], "--json").stdout)["kernels"]
    assert {row["name"].partition(":")[2]: row.get("cluster_dim") for row in rows if "adjoint" not in row["name"]} == {
        "alone": None,
        "clustered": 2,
    }


@happens(
    SECTION,
    "the adjoint of a kernel has more parameters than a target takes",
    "The kernel is built, without its gradient for any target. A warning [KB220] at its `def` says so, with the bytes "
    "and the target; an error where the gradient was asked for.",
)
def test_an_adjoint_with_more_parameters_than_a_target_takes(kbuild: Kbuild, tmp_path: Path) -> None:
    names = [f"a{i}" for i in range(128)]  # 8 + 128 * 16 = 2056 bytes, and as many again but for the header
    parameters = ", ".join(f"{name}: kb.array(dtype=float)" for name in names)
    text = f"import kbuild as kb\n\n\n@kb.kernel\ndef wide({parameters}):\n    a0[kb.tid()] = {' + '.join(names)}[0]\n"
    text = text.replace(" + ", "[0] + ")
    project = building.project(tmp_path, text, targets=["jetson-orin-jp5", "sm_90"])
    said = kbuild.run("build", project).stderr
    assert (
        "kernels.py:5:1: warning: thing.kernels:wide has no gradient: its adjoint takes 4104 bytes of parameters"
        in said
    )
    assert "but jetson-orin-jp5 takes 4096 (CUDA 11.8)" in said
    building.project(tmp_path, text, targets=["sm_90"])
    assert kbuild.run("build", project).stderr.count("warning") == 0
    building.project(tmp_path, text, targets=["jetson-orin-jp5"], table="backward = true\n")
    assert "error: thing.kernels:wide has no gradient" in kbuild.run("build", project, status=ExitCode.KERNELS).stderr


def test_more_parameters_than_old_gpus_take(kbuild: Kbuild, tmp_path: Path) -> None:
    """Each target is asked by itself, and the bundle knows that such a kernel needs a newer driver."""
    text = many(SMALL[0], SMALL[1] + 1)
    project = building.project(tmp_path, text, targets=["sm_90", "sm_120"], table="backward = false\n")
    build(kbuild, project)
    parsed = format.parse((project / building.BUNDLE).read_bytes())
    assert [row["driver"] for row in parsed.manifest["cubins"]] == [[12, 1], [12, 8]]
    table = (project / "pyproject.toml").read_text().replace("'sm_120'", "'jetson-orin-jp6', 'sm_75@11.8'")
    (project / "pyproject.toml").write_text(table)
    (found,) = build(kbuild, project, ExitCode.KERNELS)["diagnostics"]
    assert "jetson-orin-jp6 takes 4096 (CUDA 11.8), sm_75@11.8 takes 4096 (CUDA 11.8)" in found["message"]
    assert "sm_90 takes" not in found["message"]


@pytest.mark.nvrtc
@pytest.mark.parametrize(("version", "limit"), [((11, 8), 4096), ((12, 9), 32764)])
def test_the_limit_is_nvrtcs_own(tmp_path: Path, version: tuple[int, int], limit: int) -> None:
    source = 'struct P { int words[%d]; }; extern "C" __global__ void k(P p, int* out) { *out = p.words[0]; }'
    words = (limit - 8) // 8 * 2
    for more, fits in ((0, True), (2, False)):
        job = nvrtc_cases.job("sm_90", version, source % (words + more))
        assert isinstance(nvrtc_cases.compile_one(job, tmp_path), Compiled) == fits


TILES = """\
import kbuild as kb


@kb.func
def helper(x: float):
    half = kb.shared_array(%d, float)
    half[kb.thread_idx()] = x
    kb.syncthreads()
    return half[0]


@kb.kernel
def tiled(data: kb.array(dtype=float)):
    tile = kb.shared_array((64, 96), float)
    i = kb.tid()
    tile[0, kb.thread_idx()] = helper(data[i])
    kb.syncthreads()
    data[i] = tile[0, 0]
"""


@happens(
    SECTION,
    "the arrays in shared memory of a kernel and of what it calls take more than 48 KiB",
    "An error [KB195] at the kernel's `def` with the bytes of each array, before a compiler is asked.",
)
@pytest.mark.parametrize("target", ["jetson-orin-jp5", "sm_90"])
def test_more_shared_memory_than_a_block_may_have(kbuild: Kbuild, tmp_path: Path, target: str) -> None:
    """What fits to the byte is built, so ptxas counts as kbuild does; one float more is refused by kbuild."""
    project = building.project(tmp_path, TILES % 6144, targets=[target])
    build(kbuild, project)
    (cubin,) = format.parse((project / building.BUNDLE).read_bytes()).manifest["cubins"]
    assert cubin["resources"][0]["shared"] == 49152
    building.project(tmp_path, TILES % 6145, targets=[target])
    (found,) = build(kbuild, project, ExitCode.KERNELS)["diagnostics"]
    assert (found["code"], found["line"], found["kernel"]) == ("KB195", 13, "thing.kernels:tiled")
    said = kbuild.run("build", project, status=ExitCode.KERNELS).stderr
    assert "takes 49156 bytes of shared memory in each block (half 24580, tile 24576), and CUDA allows 49152" in said
    assert "13 | def tiled(data" in said
    assert "kernels.py:6:5: note: half takes 24580 bytes: 6145 of float32" in said
    assert "kernels.py:14:5: note: tile takes 24576 bytes: 64 × 96 of float32" in said


def test_what_ptxas_says_stands_at_the_kernels_def(tmp_path: Path) -> None:
    """ptxas knows entries, not lines; two modules may have entries of one name."""
    from kbuild.nvrtc import LogMessage
    from kbuild.pipeline.units import _diagnostic
    from kbuild.scan.data import ScannedKernel

    kernel = ScannedKernel("m:k", "m:k", "k_k", 256, [], "", [], [], ["/m.py", 7, 1, 9, 4])
    job = nvrtc_cases.job("sm_90", (12, 9))
    message = LogMessage(None, None, "error", "Entry function 'k_k' uses too much shared data", "k_k")
    found = _diagnostic(message, job, {}, {"k_k": kernel})
    assert str(found.span) == "/m.py:7:1"
    assert found.kernel == "m:k"


def test_a_toolchain_folder_without_nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbuild import pipeline

    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    project = building.project(tmp_path, projects.KERNELS, table="toolchains = ['thing']\n")
    with pytest.raises(ToolchainError, match=r"no NVRTC in .*/thing, which `toolchains` of \[tool\.kbuild\] names"):
        pipeline.build(config.require(project))
