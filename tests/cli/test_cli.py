"""The command line: answers, objects, help, exit statuses; the building itself is a stand-in."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import types
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import kbuild
from kbuild import config, targets
from kbuild.bundle import pinning
from kbuild.cli import console as console_module
from kbuild.cli.main import COMMANDS, main
from kbuild.errors import CompileError, Diagnostic, ExitCode, InternalError, Span, ToolchainError, UsageError
from kbuild.loader.errors import DriverError
from tests.helpers import bundles

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "bundle" / "data" / "format1.kbundle"
GOLDEN_DIGEST = "sha256:f839515c8656e6f42f62ada56d42cce9609256e2b7e7ec88b83dfb4143355846"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line; gives (status, stdout, stderr)."""

    def call(*argv: object) -> tuple[int, str, str]:
        try:
            status = main([str(argument) for argument in argv])
        except SystemExit as end:
            status = int(end.code or 0)
        out = capsys.readouterr()
        return status, out.out, out.err

    return call


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "robosim").mkdir()
    text = '[tool.kbuild]\nmodules = ["robosim.kernels"]\ntargets = ["sm_90", "jetson-orin-jp6"]\n'
    (tmp_path / "pyproject.toml").write_text(text)
    return tmp_path


# A stand-in for the pipeline


@dataclasses.dataclass
class Bundle:
    package: str
    path: Path
    digest: str
    size: int


WARNING = Diagnostic(
    "KB900", "slow", Span("/p/robosim/kernels.py", 3, 5), "warning", kernel="robosim.kernels:integrate"
)
ERROR = Diagnostic("KB103", "no lists", Span("/p/robosim/kernels.py", 7, 9), help="use an array", kernel="m:k")


class Pipeline(types.ModuleType):
    """Answers as kbuild.pipeline does, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__("kbuild.pipeline")
        self.packages = ["robosim"]
        self.diagnostics: tuple[Diagnostic, ...] = (WARNING,)
        self.error: Exception | None = None
        self.stages: list[tuple[str, str | bytes]] = [("robosim.kernels.cu", "code\n")]

    def bundle_paths(self, settings: config.BuildConfig) -> list[str]:
        return [f"{package}/_kbuild.kbundle" for package in self.packages]

    def build(self, settings: config.BuildConfig, **options: Any) -> Any:
        self.settings, self.options = settings, options
        if self.error:
            raise self.error
        progress = options["progress"]
        progress.start(2)
        progress.advance("sm_90 robosim.kernels")
        progress.advance("sm_87 robosim.kernels")
        progress.finish()
        return types.SimpleNamespace(
            bundles=tuple(Bundle(name, Path(name, "_kbuild.kbundle"), "sha256:ab", 7) for name in self.packages),
            kernels=("robosim.kernels:integrate",),
            targets=tuple(target.name for target in settings.targets),
            compiled=1,
            cached=1,
            lowered=1,
            seconds=1.25,
            nvrtc_seconds=0.5,
            diagnostics=self.diagnostics,
            skipped=("robosim.old: has no kernels",),
        )

    def check(self, settings: config.BuildConfig) -> Any:
        errors = [one for one in self.diagnostics if one.severity == "error"]
        return types.SimpleNamespace(
            found=2,
            complete=2 - len(errors),
            refusals={one.code: 1 for one in errors},
            diagnostics=self.diagnostics,
            skipped=("robosim.tests: excluded",),
        )

    def emit(self, settings: config.BuildConfig, stage: str, **options: Any) -> Iterator[tuple[str, str | bytes]]:
        self.settings, self.options = settings, {"stage": stage, **options}
        yield from self.stages


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    fake = Pipeline()
    monkeypatch.setitem(sys.modules, "kbuild.pipeline", fake)
    monkeypatch.setattr(kbuild, "pipeline", fake, raising=False)
    return fake


# Help and the command line itself


def test_help_names_every_command_and_explains_itself(run: Run) -> None:
    status, out, _ = run("--help")
    assert status == 0
    for command in COMMANDS:
        assert f"\n    {command} " in out
    assert "exit status:" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_and_json(run: Run, command: str) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert "examples:\n  python -m kbuild " + command in out
    assert "--json" in out
    assert max(map(len, out.splitlines())) <= 120


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"kbuild {kbuild._version.__version__}\n", "")


@pytest.mark.parametrize(
    "argv", [(), ("bild",), ("build", "--jobs", "0"), ("build", "--emit", "sass"), ("check", "-x")]
)
def test_a_wrong_command_line_is_usage(run: Run, argv: tuple[str, ...]) -> None:
    status, out, err = run(*argv)
    assert (status, out) == (ExitCode.USAGE, "")
    assert "error:" in err
    assert "--help" in err


# build


def test_build(run: Run, project: Path, pipeline: Pipeline) -> None:
    status, out, err = run("build", project)
    assert status == 0
    assert "robosim/_kbuild.kbundle: 7 bytes, sha256:ab" in out
    assert "1 kernel for 2 targets: 1 unit compiled, 1 from the cache, 1.2 s" in out
    assert "[1/2] sm_90 robosim.kernels\n[2/2] sm_87 robosim.kernels\n" in err
    assert "/p/robosim/kernels.py:3:5: warning: slow [KB900]" in err
    assert "skipped: robosim.old: has no kernels" in err
    assert pipeline.options["output"] is None
    assert pipeline.options["jobs"] is None


def test_build_json_has_the_promised_fields(run: Run, project: Path, pipeline: Pipeline) -> None:
    _, out, _ = run("build", project, "--json")
    found = json.loads(out)
    promised = ["bundle", "digest", "kernels", "targets", "compiled", "cached", "seconds", "nvrtc_seconds"]
    assert list(found)[: len(promised)] == promised
    assert found["bundle"] == "robosim/_kbuild.kbundle"
    assert found["kernels"] == ["robosim.kernels:integrate"]
    assert found["targets"] == ["sm_90", "jetson-orin-jp6"]
    assert found["bundles"] == [
        {"package": "robosim", "path": "robosim/_kbuild.kbundle", "digest": "sha256:ab", "size": 7}
    ]


def test_build_options_reach_the_pipeline(run: Run, project: Path, pipeline: Pipeline, tmp_path: Path) -> None:
    run("build", project, "-o", tmp_path / "out", "-j", "3", "--target", "sm_80", "--target", "sm_120+ptx")
    assert pipeline.options["output"] == tmp_path / "out"
    assert pipeline.options["jobs"] == 3
    assert [target.name for target in pipeline.settings.targets] == ["sm_80", "sm_120+ptx"]


def test_build_with_an_unknown_target(run: Run, project: Path, pipeline: Pipeline) -> None:
    status, _, err = run("build", project, "--target", "sm_91")
    assert status == ExitCode.USAGE
    assert "unknown target 'sm_91'" in err


def test_build_without_a_project(run: Run, tmp_path: Path) -> None:
    status, out, err = run("build", tmp_path, "--json")
    assert status == ExitCode.USAGE
    assert "pyproject.toml does not exist" in err
    error = json.loads(out)["error"]
    assert error["code"] == "KB002"
    assert "[tool.kbuild]" in error["help"]


def test_pin(run: Run, project: Path, pipeline: Pipeline) -> None:
    trusted = project / "trusted.py"
    status, out, _ = run("build", project, "--pin", trusted)
    assert (status, trusted.read_text()) == (0, 'DIGEST = "sha256:ab"\n')
    assert f"digest noted in {trusted}" in out
    pipeline.packages = ["a", "b"]
    status, _, err = run("build", project, "--pin", trusted)
    assert status == ExitCode.USAGE
    assert "several packages" in err


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'DIGEST = "sha256:1"\n'),
        ("import os", 'import os\nDIGEST = "sha256:1"\n'),
        ('A = 1\nDIGEST = "sha256:0"  # old\nB = 2\n', 'A = 1\nDIGEST = "sha256:1"\nB = 2\n'),
        ('DIGEST: str = "sha256:0"\n', 'DIGEST = "sha256:1"\n'),
        ("DIGESTS = 3\n", 'DIGESTS = 3\nDIGEST = "sha256:1"\n'),
    ],
)
def test_pin_changes_one_line(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "trusted.py"
    path.write_text(before)
    pinning.pin(path, "sha256:1")
    assert path.read_text() == after


def test_pin_into_nowhere(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--pin .*nowhere/trusted\.py: .*No such file"):
        pinning.pin(tmp_path / "nowhere" / "trusted.py", "sha256:1")


# build --emit


def test_emit_text(run: Run, project: Path, pipeline: Pipeline) -> None:
    status, out, err = run("build", project, "--emit=cuda", "--kernel", "integrate")
    assert (status, out) == (0, "code\n")
    assert "--- robosim.kernels.cu" in err
    assert pipeline.options == {"stage": "cuda", "kernel": "integrate"}
    _, out, _ = run("build", project, "--emit=cuda", "--json")
    assert json.loads(out) == {"stage": "cuda", "outputs": [{"name": "robosim.kernels.cu", "text": "code\n"}]}


def test_emit_machine_code(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.stages = [("sm_90/robosim.kernels:0.cubin", b"\x7fELF")]
    status, _, err = run("build", project, "--emit=cubin")
    assert status == ExitCode.USAGE
    assert "add -o FOLDER" in err
    status, out, _ = run("build", project, "--emit=cubin", "-o", project / "out")
    path = project / "out" / "sm_90_robosim.kernels.0.cubin"
    assert (status, out) == (0, f"{path}\n")
    assert path.read_bytes() == b"\x7fELF"
    _, out, _ = run("build", project, "--emit=cubin", "-o", project / "out", "--json")
    assert json.loads(out) == {"files": [str(path)]}


def test_kernel_without_emit(run: Run, project: Path, pipeline: Pipeline) -> None:
    status, _, err = run("build", project, "--kernel", "integrate")
    assert status == ExitCode.USAGE
    assert "--kernel goes with --emit" in err


def test_check_emits_what_needs_no_compiler(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.stages = [("robosim.kernels:integrate.py", "import kbuild as kb\n")]
    status, out, err = run("check", project, "--emit=python", "--kernel", "integrate")
    assert (status, out) == (0, "import kbuild as kb\n")
    assert "--- robosim.kernels:integrate.py" in err
    assert pipeline.options == {"stage": "python", "kernel": "integrate"}
    status, out, _ = run("check", project, "--emit=python", "-o", project / "out")
    path = project / "out" / "robosim.kernels.integrate.py"
    assert (status, out, path.read_text()) == (0, f"{path}\n", "import kbuild as kb\n")
    status, _, err = run("check", project, "--emit=ptx")
    assert status == ExitCode.USAGE
    assert "python" in err
    for option in ("--kernel", "--output"):
        status, _, err = run("check", project, option, "x")
        assert status == ExitCode.USAGE
        assert f"{option} goes with --emit" in err


# check


def test_check(run: Run, project: Path, pipeline: Pipeline) -> None:
    status, out, err = run("check", project)
    assert (status, out) == (0, "2 of 2 kernels can be compiled\n")
    assert "warning: slow [KB900]" in err
    assert "skipped: robosim.tests: excluded" in err
    pipeline.diagnostics = (WARNING, ERROR)
    status, out, err = run("check", project)
    assert (status, out) == (ExitCode.KERNELS, "1 of 2 kernels can be compiled\n")
    assert "error: no lists [KB103]" in err
    assert "help: use an array" in err


def test_check_json_has_the_promised_fields(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.diagnostics = (ERROR,)
    status, out, _ = run("check", project, "--json")
    assert status == ExitCode.KERNELS
    found = json.loads(out)
    assert found["kernels"] == {"found": 2, "complete": 1}
    assert found["refusals"] == [{"code": "KB103", "count": 1}]
    (row,) = found["diagnostics"]
    assert row.pop("help") == "use an array"
    assert row == {
        "code": "KB103",
        "severity": "error",
        "path": "/p/robosim/kernels.py",
        "line": 7,
        "column": 9,
        "message": "no lists",
        "kernel": "m:k",
    }


# Errors


def test_compile_errors_are_shown_and_listed(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.error = CompileError([ERROR])
    status, out, err = run("build", project, "--json")
    assert status == ExitCode.KERNELS
    assert "no lists [KB103]" in err
    assert "Traceback" not in err
    assert [row["code"] for row in json.loads(out)["diagnostics"]] == ["KB103"]


def test_a_machine_that_lacks_something(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.error = ToolchainError("no NVRTC", help="pip install 'kbuild[build]'")
    status, out, err = run("build", project)
    assert (status, out) == (ExitCode.MACHINE, "")
    assert "error: no NVRTC [KB501]\n  help: pip install 'kbuild[build]'" in err


@pytest.mark.parametrize("missing", ["numpy", "cuda", "cuda.bindings"])
def test_a_missing_extra(run: Run, project: Path, pipeline: Pipeline, missing: str) -> None:
    pipeline.error = ModuleNotFoundError("no", name=missing)
    status, _, err = run("build", project)
    assert status == ExitCode.MACHINE
    assert f"building needs the module {missing.partition('.')[0]!r}" in err
    assert "pip install 'kbuild[build]'" in err


def test_no_driver(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.error = DriverError("no CUDA driver")
    status, _, err = run("build", project)
    assert (status, err) == (ExitCode.MACHINE, "error: no CUDA driver\n")


@pytest.mark.parametrize(
    "error", [ZeroDivisionError("x / 0"), InternalError("bad IR"), ModuleNotFoundError("m", name="m")]
)
def test_our_own_bugs(run: Run, project: Path, pipeline: Pipeline, error: Exception) -> None:
    pipeline.error = error
    status, out, err = run("build", project, "--json")
    assert status == ExitCode.INTERNAL == 70
    assert "this is a bug in kbuild" in err
    assert f"kbuild {kbuild._version.__version__}, Python " in err
    assert "Traceback" in err
    assert str(error) in json.loads(out)["error"]["message"]


def test_interrupted(run: Run, project: Path, pipeline: Pipeline) -> None:
    pipeline.error = KeyboardInterrupt()  # type: ignore[assignment]
    assert run("build", project)[::2] == (130, "interrupted\n")


# inspect and verify


def test_inspect(run: Run) -> None:
    status, out, err = run("inspect", GOLDEN)
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert GOLDEN_DIGEST in lines
    assert "pos array1[vec3[float32]] 8 16" in lines
    assert "sm_90 sm_90 robosim.kernels 2 NVRTC 12.9.86 driver 525 (CUDA 12.0) 6240 1409" in lines
    assert "compute_90 compute_90 (PTX) robosim.kernels 2 NVRTC 12.9.86 driver 575 (CUDA 12.9) 3242 992" in lines
    assert "robosim.kernels:make.<locals>.pull[5bd481b5] sm_90 10 128 0 0" in lines


def test_inspect_json(run: Run, tmp_path: Path) -> None:
    status, out, err = run("inspect", GOLDEN, "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["digest"] == GOLDEN_DIGEST
    wheel = tmp_path / "two.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        for package in ("a", "b"):
            file.writestr(f"{package}/_kbuild.kbundle", GOLDEN.read_bytes())
    assert json.loads(run("inspect", wheel, "--json")[1]) == {"bundles": [found, found]}


def test_inspect_an_architecture_of_the_future(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "new.kbundle"
    path.write_bytes(bundles.forge(lambda m: m["cubins"][1].update(arch="sm_210")))
    status, out, _ = run("inspect", path)
    assert status == 0
    assert "a driver for CUDA 12.0" in out


def test_inspect_compare(run: Run, tmp_path: Path) -> None:
    assert run("inspect", GOLDEN, "--compare", GOLDEN)[1] == "no difference\n"
    other = tmp_path / "other.kbundle"
    other.write_bytes(bundles.bundle())
    _, out, _ = run("inspect", other, "--compare", GOLDEN)
    assert (
        "targets: ['jetson-orin-jp6', 'sm_90', 'jetson-thor-jp7', 'compute_90'] → ['jetson-orin-jp6', 'sm_90']" in out
    )
    found = json.loads(run("inspect", other, "--compare", GOLDEN, "--json")[1])
    assert found["differences"][0]["what"] == "targets"
    (tmp_path / "a").mkdir()
    for name in ("a", "."):
        (tmp_path / name / "_kbuild.kbundle").write_bytes(bundles.bundle())
    status, _, err = run("inspect", tmp_path, "--compare", GOLDEN)
    assert status == ExitCode.USAGE
    assert "one bundle on each side" in err


def test_inspect_damage(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.kbundle"
    path.write_bytes(GOLDEN.read_bytes()[:-16])
    status, out, err = run("inspect", path)
    assert (status, out) == (ExitCode.KERNELS, "")
    assert "error: truncated" in err


def test_verify(run: Run) -> None:
    status, out, err = run("verify", GOLDEN)
    assert (status, out, err) == (0, f"{GOLDEN}: right, 4 cubins, {GOLDEN_DIGEST}\n", "")
    assert run("verify", GOLDEN, "--digest", GOLDEN_DIGEST)[0] == 0
    status, _, err = run("verify", GOLDEN, "--digest", "sha256:00")
    assert status == ExitCode.KERNELS
    assert f"it is {GOLDEN_DIGEST}, not the trusted sha256:00" in err


def test_verify_json(run: Run, tmp_path: Path) -> None:
    found = json.loads(run("verify", GOLDEN, "--json")[1])
    assert found == {
        "ok": True,
        "bundles": [{"path": str(GOLDEN), "digest": GOLDEN_DIGEST, "cubins": 4, "problems": []}],
    }
    damaged = bytearray(GOLDEN.read_bytes())
    damaged[-40] ^= 1
    path = tmp_path / "x.kbundle"
    path.write_bytes(damaged)
    status, out, err = run("verify", path, "--json")
    assert (status, err) == (ExitCode.KERNELS, "")
    (problem,) = json.loads(out)["bundles"][0]["problems"]
    assert (problem["cubin"], problem["target"]) == (3, "compute_90")
    path.write_bytes(GOLDEN.read_bytes()[:100])
    status, out, _ = run("verify", path, "--json")
    assert status == ExitCode.KERNELS
    assert json.loads(out)["bundles"][0]["digest"] is None


def test_verify_a_place_without_a_bundle(run: Run, tmp_path: Path) -> None:
    status, _, err = run("verify", tmp_path)
    assert status == ExitCode.USAGE
    assert "holds no bundle" in err


# targets and doctor


@pytest.fixture
def no_toolchains(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without NVRTC."""
    from kbuild.cli import doctor
    from kbuild.nvrtc import Survey, discovery

    monkeypatch.setattr(doctor, "survey", lambda _: Survey((), ()))
    monkeypatch.setattr(discovery, "discover", lambda: ())


@pytest.fixture
def toolchains(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with NVRTC 12.9, and a broken one."""
    from kbuild.cli import doctor
    from kbuild.nvrtc import Survey, Toolchain, discovery

    one = Toolchain((12, 9), "12.9.86", Path("/x/libnvrtc.so.12"), None, "00", (80, 90, 120), (), "wheel x")
    monkeypatch.setattr(doctor, "survey", lambda _: Survey((one,), ("CUDA_HOME=/y: it does not start",)))
    monkeypatch.setattr(discovery, "discover", lambda: (one,))


def test_targets(run: Run, toolchains: None) -> None:
    status, out, _ = run("targets")
    assert status == 0
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "sm_90 sm_90 H100, H200, GH200 NVRTC 12.9.86 driver 525 (CUDA 12.0)" in lines
    assert any(line.startswith("jetson-orin-jp6 sm_87") and "kbuild[cuda11]" in line for line in lines)
    assert any(line.startswith("jetson-nano: Jetson Nano (sm_53) is not supported, because") for line in lines)


def test_targets_lists_everything_that_is_supported(run: Run, toolchains: None) -> None:
    found = json.loads(run("targets", "--json")[1])
    names = {row["name"] for row in found["targets"]}
    assert set(targets.PLATFORMS) <= names
    assert {"sm_50", "sm_87", "sm_90", "sm_110", "sm_121"} <= names
    assert not names & {"sm_53", "sm_62"}, "architectures of JetPack 4"
    assert [row["name"] for row in found["unsupported"]] == list(targets.UNSUPPORTED)
    assert found["toolchains"] == [{"version": "12.9.86", "source": "wheel x"}]


def test_targets_by_name(run: Run, toolchains: None) -> None:
    found = json.loads(run("targets", "sm_90a@12.4", "compute_80", "jetson-thor-jp7", "--json")[1])
    rows = {row["name"]: row for row in found["targets"]}
    assert rows["sm_90a@12.4"]["toolchain"] == "12.9.86"
    assert rows["compute_80"]["about"] == "PTX for A100 and newer"
    assert rows["jetson-thor-jp7"]["toolchain"] is None
    assert "kbuild[build]" in rows["jetson-thor-jp7"]["help"]
    assert found["unsupported"] == []
    assert run("targets", "sm_91")[0] == ExitCode.USAGE
    assert run("targets", "jetson-nano")[0] == ExitCode.USAGE


def test_doctor(run: Run, toolchains: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "cache"))
    status, out, err = run("doctor")
    assert status == 0
    assert f"cache     {tmp_path}/cache (writable; 0 entries, 0.0 MB)" in out
    assert "12.9.86  80 90 120          wheel x" in out
    assert "problem: CUDA_HOME=/y: it does not start" in err
    assert not (tmp_path / "cache").exists(), "looking changes nothing"


def test_doctor_of_a_project(run: Run, toolchains: None, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, out, err = run("doctor", project)
    assert status == ExitCode.MACHINE
    assert f"project {project}" in out
    assert "problem: no toolchain compiles sm_87 for target 'jetson-orin-jp6'" in err
    monkeypatch.chdir(project)
    found = json.loads(run("doctor", "--json")[1])
    assert [row["toolchain"] for row in found["project"]["targets"]] == ["12.9.86", None]
    assert len(found["problems"]) == 2
    assert set(found) == {
        "kbuild", "python", "machine", "extras", "toolchains", "cache", "driver", "gpus", "gpu_problem", "project",
        "problems",
    }  # fmt: skip


def test_doctor_where_nothing_can_be_built(
    run: Run, no_toolchains: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, _ = run("doctor")
    assert status == 0
    assert "no toolchain: to compile kernels here, pip install 'kbuild[build]'" in out


def test_doctor_reports_a_broken_project_and_goes_on(
    run: Run, toolchains: None, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "pyproject.toml").write_text("[tool.kbuild]\nmodules = 3\n")
    status, out, err = run("doctor")
    assert status == 0
    assert "12.9.86" in out
    assert "pyproject.toml:2: [tool.kbuild] modules is the integer 3" in err
    assert run("doctor", project)[0] == ExitCode.USAGE


def test_doctor_shows_gpus(run: Run, toolchains: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kbuild.loader import driver, hosts

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(driver, "get", lambda: types.SimpleNamespace(version=(13, 0)))
    gpu = types.SimpleNamespace(name="NVIDIA H200", target="sm_90")
    monkeypatch.setattr(hosts, "get_devices", lambda: [gpu])
    _, out, _ = run("doctor")
    assert "driver    CUDA 13.0\nGPU       NVIDIA H200 (sm_90)\n" in out
    found = json.loads(run("doctor", "--json")[1])
    assert (found["driver"], found["gpus"]) == ([13, 0], [{"name": "NVIDIA H200", "arch": "sm_90"}])

    def none() -> None:
        raise DriverError("no CUDA driver on this machine")

    monkeypatch.setattr(driver, "get", none)
    assert "GPU       no CUDA driver on this machine" in run("doctor")[1]


def test_doctor_and_a_cache_that_cannot_be_written(
    run: Run, toolchains: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KBUILD_CACHE", "/dev/null/kbuild")
    assert "NOT writable" in run("doctor")[1]


# How it is shown


def test_a_terminal_gets_the_same_names(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """rich must not read a kernel's brackets as markup."""
    pytest.importorskip("rich")
    monkeypatch.setattr(console_module, "_is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "200")
    _, out, _ = run("inspect", GOLDEN)
    assert "make.<locals>.pull[5bd481b5]" in out
    assert "─" in out


def test_without_rich(run: Run, project: Path, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run("inspect", GOLDEN)[1]
    monkeypatch.setattr(console_module, "_is_terminal", lambda _: True)
    for name in ("rich.box", "rich.console"):
        monkeypatch.setitem(sys.modules, name, None)
    assert run("inspect", GOLDEN)[1] == plain
    assert "[2/2] sm_87" in run("build", project)[2]


def test_progress_on_a_terminal(run: Run, project: Path, pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    monkeypatch.setattr(console_module, "_is_terminal", lambda _: True)
    status, out, err = run("build", project)
    assert status == 0
    assert "[1/2]" not in err
    assert "1 kernel for 2 targets" in out


# As a program


def program(*argv: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kbuild", *argv], capture_output=True, text=True, check=False, cwd=ROOT, **options
    )


def test_the_program() -> None:
    done = program("verify", str(GOLDEN))
    assert (done.returncode, done.stderr) == (0, "")
    assert GOLDEN_DIGEST in done.stdout


def test_an_ascii_terminal_and_a_closed_pipe() -> None:
    plain = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert program("targets", "--help", env=plain).returncode == 0
    command = f"{sys.executable} -m kbuild inspect {GOLDEN} | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_inspecting_needs_no_extras() -> None:
    """On a deployed machine there is no NumPy, no cuda-python, no rich, no tomli."""
    code = (
        "import sys\n"
        "for name in ('numpy', 'cuda', 'rich', 'tomli', 'tomllib'): sys.modules[name] = None\n"
        "from kbuild.cli.main import main\n"
        f"assert main(['inspect', {str(GOLDEN)!r}]) == main(['verify', {str(GOLDEN)!r}]) == 0\n"
        "sys.exit(main(['doctor', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_old_python_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from kbuild import __main__

    class Version(tuple):  # type: ignore[type-arg]
        """Compares like sys.version_info."""

    monkeypatch.setattr(sys, "version_info", Version((3, 8, 18)))
    assert __main__.main() == ExitCode.MACHINE
    err = capsys.readouterr().err
    assert "needs Python 3.10 or newer, and this is 3.8" in err
    assert "python -m kbuild.loader doctor" in err
