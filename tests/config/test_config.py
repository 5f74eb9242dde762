"""[tool.kbuild]: what is read, and what each mistake is told."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from pathlib import Path

import pytest

from kbuild import config
from kbuild.errors import ExitCode, ToolchainError, UsageError

GOOD = 'modules = ["robosim.kernels"]\ntargets = ["sm_90"]\n'


def write(folder: Path, table: str, rest: str = "") -> Path:
    text = f'[project]\nname = "robosim"\n{rest}\n[tool.kbuild]\n{textwrap.dedent(table)}\n[tool.other]\nmodules = 3\n'
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def fails(folder: Path, table: str) -> str:
    with pytest.raises(UsageError) as caught:
        config.load(write(folder, table))
    assert caught.value.exit_code == ExitCode.USAGE
    message = str(caught.value)
    assert str(folder / "pyproject.toml") in message
    return message


def test_every_option(tmp_path: Path) -> None:
    for folder in ("python", "cuda-12.4"):
        (tmp_path / folder).mkdir()
    table = """
        modules = ["robosim.kernels", "robosim.vision.*"]
        exclude = ["robosim.vision.tests.*"]
        mock-imports = ["torch", "a.b"]
        targets = ["jetson-orin-jp6", "sm_90"]
        source = ["python"]
        fmad = false
        fast-math = true
        max-registers = 64
        line-info = true
        toolchains = ["cuda-12.4"]
        jobs = 3
    """
    found = config.load(write(tmp_path, table))
    assert found is not None
    assert found.modules == ("robosim.kernels", "robosim.vision.*")
    assert found.exclude == ("robosim.vision.tests.*",)
    assert found.mock_imports == ("torch", "a.b")
    assert [target.name for target in found.targets] == ["jetson-orin-jp6", "sm_90"]
    assert found.source_roots == (tmp_path / "python",)
    assert (found.fmad, found.lineinfo, found.jobs) == (False, True, 3)
    assert (found.fast_math, found.max_registers) == (True, 64)
    assert found.toolchains == (tmp_path / "cuda-12.4",)
    assert found.root == tmp_path


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("true", config.PRIMITIVES),
        ("false", ()),
        ("[]", ()),
        ('["array_sum", "array_scan"]', ("array_scan", "array_sum")),
    ],
)
def test_primitives(tmp_path: Path, text: str, wanted: tuple[str, ...]) -> None:
    found = config.load(write(tmp_path, GOOD + f"primitives = {text}"))
    assert found is not None
    assert found.primitives == wanted


def test_the_documented_options_are_the_fields() -> None:
    """One table of names: the module's docstring, OPTIONS and BuildConfig say the same."""
    renamed = {"line-info": "lineinfo", "source": "source_roots"}
    fields = {renamed.get(option, option.replace("-", "_")) for option in config.OPTIONS}
    assert fields == {field.name for field in dataclasses.fields(config.BuildConfig)} - {"root"}
    cuda = {option.replace("-", "_") for option in config.CUDA_OPTIONS}
    assert cuda == {field.name for field in dataclasses.fields(config.CudaConfig)}
    audit = {option.replace("-", "_") for option in config.AUDIT_OPTIONS}
    assert audit == {field.name for field in dataclasses.fields(config.AuditConfig)}
    assert set(config.AUDIT_RULE_OPTIONS) == {field.name for field in dataclasses.fields(config.AuditRule)}
    options = {*config.OPTIONS, *config.CUDA_OPTIONS, *config.AUDIT_OPTIONS, *config.AUDIT_RULE_OPTIONS}
    for option in options - {"cuda", "audit", "kernels"}:
        assert f"    {option} = " in (config.__doc__ or "")


def test_defaults(tmp_path: Path) -> None:
    found = config.load(write(tmp_path, GOOD))
    assert found is not None
    assert (found.exclude, found.mock_imports, found.toolchains, found.jobs) == ((), (), (), None)
    assert (found.fmad, found.lineinfo) == (True, False)
    assert found.source_roots == (tmp_path,)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.jobs = 4  # type: ignore[misc]


def test_no_table_is_no_configuration(tmp_path: Path) -> None:
    assert config.load(tmp_path) is None
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    assert config.load(tmp_path) is None
    for text in ("tool = 3\n", "[broken\n", "# kbuild\ntool = 3\n", "[tool.other]\nname = 'kbuild'\n"):
        (tmp_path / "pyproject.toml").write_text(text)
        assert config.load(tmp_path) is None


def test_require_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"pyproject\.toml does not exist(.|\n)*\[tool\.kbuild\]\nmodules"):
        config.require(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.other]\n")
    with pytest.raises(UsageError, match=r"has no \[tool\.kbuild\] table"):
        config.require(tmp_path)
    with pytest.raises(UsageError, match="nowhere is not a folder"):
        config.require(tmp_path / "nowhere")
    assert config.require(write(tmp_path, GOOD)).modules == ("robosim.kernels",)


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ('targets = ["sm_90"]', r"modules is missing(.|\n)*modules = \[\"mypackage.kernels\"\]"),
        ('modules = []\ntargets = ["sm_90"]', "modules is empty"),
        ('modules = ["a"]', r"targets is missing(.|\n)*python -m kbuild targets"),
        ('modules = ["a"]\ntargets = []', "targets is empty"),
        ('modules = "a.b"\ntargets = ["sm_90"]', r"modules is the string 'a\.b', but wants a list.*write \['a\.b'\]"),
        ("modules = 3", "modules is the integer 3, but wants a list of strings"),
        ("modules = [3]", r"modules\[0\] is the integer 3, but wants a string"),
        ('modules = ["a", "b", "a"]', r"modules\[2\] repeats 'a'"),
        ('modules = ["a b"]', r"modules\[0\] is 'a b', but wants a module"),
        ('modules = ["*"]', r"modules\[0\] is '\*', but wants a module"),
        ('modules = ["a.*.b"]', r"modules\[0\] is 'a\.\*\.b'"),
        ('modules = ["a.**"]', r"modules\[0\] is 'a\.\*\*'"),
        ('modules = [""]', r"modules\[0\] is '', but wants a module"),
        ('modules = ["src/robosim/kernels.py"]', r"did you mean 'robosim\.kernels'\?"),
        (GOOD + 'exclude = ["a..b"]', r"exclude\[0\] is 'a\.\.b'"),
        (GOOD + 'mock-imports = ["torch.*"]', r"mock-imports\[0\] is 'torch\.\*'"),
        (GOOD + 'mock_imports = ["torch"]', r"mock_imports is not an option(.|\n)*did you mean 'mock-imports'"),
        (GOOD + "lineinfo = true", r"lineinfo is not an option(.|\n)*did you mean 'line-info'"),
        (GOOD + "qqq = true", "qqq is not an option(.|\n)*the options are modules, targets,"),
        (GOOD + "fmad = 1", "fmad is the integer 1, but wants true or false"),
        (GOOD + "fast-math = 1", "fast-math is the integer 1, but wants true or false"),
        (GOOD + "max-registers = 8", "max-registers is the integer 8, but wants an integer from 16 to 255"),
        (GOOD + "max-registers = true", "max-registers is the boolean true, but wants an integer from 16 to 255"),
        (GOOD + 'line-info = "yes"', "line-info is the string 'yes', but wants true or false"),
        (GOOD + "primitives = 3", "primitives is the integer 3, but wants true, or a list of functions like"),
        (GOOD + 'primitives = "array_scan"', "primitives is the string 'array_scan', but wants true, or a list"),
        (GOOD + 'primitives = ["array_scn"]', r"primitives\[0\] is 'array_scn', which is no(.|\n)*mean 'array_scan'"),
        (GOOD + 'primitives = ["fft"]', r"primitives\[0\] is 'fft'(.|\n)*the functions are array_cast, array_inner"),
        (GOOD + 'primitives = ["array_sum", "array_sum"]', r"primitives\[1\] repeats 'array_sum'"),
        (GOOD + "jobs = 0", "jobs is the integer 0, but wants an integer from 1 on"),
        (GOOD + "jobs = true", "jobs is the boolean true, but wants an integer"),
        (GOOD + "jobs = 2.0", r"jobs is the number 2\.0, but wants an integer"),
        (GOOD + "jobs = {}", "jobs is the table {}, but wants an integer"),
        (GOOD + 'source = ["nowhere"]', r"source\[0\] wants a folder.*nowhere does not exist"),
        (GOOD + 'source = ["pyproject.toml"]', r"source\[0\] wants a folder.*pyproject\.toml is not that"),
        (GOOD + "source = []", "source is empty"),
        (GOOD + 'toolchains = ["cuda-99"]', r"toolchains\[0\] wants an NVRTC library.*cuda-99 does not exist"),
        ('modules = ["a"]\ntargets = ["sm_99"]', r"targets\[0\]: error: .*sm_99"),
        ('modules = ["a"]\ntargets = ["sm_90", "jetson-orin-jp9"]', r"targets\[1\]: error: (.|\n)*jetson-orin-jp"),
        ('modules = ["a"]\ntargets = ["sm_90", "sm_90"]', r"targets\[1\] repeats 'sm_90'"),
    ],
)
def test_mistakes(tmp_path: Path, table: str, wanted: str) -> None:
    message = fails(tmp_path, table)
    with pytest.raises(UsageError, match=wanted):
        raise UsageError(message)


CUDA = GOOD.strip() + "\n[tool.kbuild.cuda]\n"


def test_every_option_of_cuda(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    table = """include-dirs = ["include"]
defines = { SIZE = 64, SCALE = "0.5f", FAST = true, SLOW = false }
std = "c++20"
fmad = false
options = ["--use_fast_math"]
files = ["more/*.cuh"]
"""
    found = config.load(write(tmp_path, CUDA + table))
    assert found is not None
    assert found.cuda == config.CudaConfig(
        (tmp_path / "include",),
        (("FAST", "1"), ("SCALE", "0.5f"), ("SIZE", "64")),
        "c++20",
        False,
        ("--use_fast_math",),
        ("more/*.cuh",),
    )


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ("include_dirs = []", r"\[tool.kbuild.cuda\] include_dirs is not an option(.|\n)*did you mean 'include-dirs'"),
        ("qqq = 1", "qqq is not an option(.|\n)*the options are include-dirs, defines"),
        ('include-dirs = ["nowhere"]', r"include-dirs\[0\] wants a folder with headers, but .*nowhere does not exist"),
        ('defines = ["A"]', "defines is the list .*, but wants a table like { BINS = 64 }"),
        ('defines = { "A B" = 1 }', "defines has 'A B', which is no name of a macro"),
        ("defines = { A = [1] }", r"defines has A = the list \[1\], but wants a text"),
        ('defines = { A = "1\\n2" }', "defines has A = "),
        ('std = "c++11"', r"std is the string 'c\+\+11', but wants one of c\+\+14"),
        ("fmad = 1", r"\[tool.kbuild.cuda\] fmad is the integer 1, but wants true or false"),
        ('options = "-G"', r"options is the string '-G', but wants a list of strings; write \['-G'\]"),
        ('options = ["fast"]', r"options\[0\] is 'fast', but wants an option of NVRTC"),
        ('options = ["-Iinclude"]', r"options\[0\] is '-Iinclude', which kbuild decides itself(.|\n)*`include-dirs`"),
        ('options = ["--std=c++20"]', r"which kbuild decides itself(.|\n)*say it with `std`"),
        ('options = ["-rdc=true"]', "which kbuild decides itself"),
        ("files = 3", "files is the integer 3"),
    ],
)
def test_mistakes_about_cuda(tmp_path: Path, table: str, wanted: str) -> None:
    message = fails(tmp_path, CUDA + table)
    with pytest.raises(UsageError, match=wanted):
        raise UsageError(message)


def test_a_cuda_table_that_is_none(tmp_path: Path) -> None:
    assert "cuda is the integer 3, but wants a table [tool.kbuild.cuda]" in fails(tmp_path, GOOD.strip() + "\ncuda = 3")


def test_the_line_of_a_key_of_cuda(tmp_path: Path) -> None:
    message = fails(tmp_path, GOOD.strip() + '\n[tool.kbuild.cuda]\nfmad = false\nstd = "c"')
    assert message.startswith(f"{tmp_path / 'pyproject.toml'}:9: error: [tool.kbuild.cuda] std is")


def test_the_line_of_the_key(tmp_path: Path) -> None:
    assert "pyproject.toml:7: error: [tool.kbuild] jobs" in fails(tmp_path, GOOD.strip() + "\njobs = 0")
    assert "pyproject.toml:4: error: [tool.kbuild] modules is missing" in fails(tmp_path, "jobs = 1")


def test_a_table_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\nkbuild = 3\n")
    with pytest.raises(UsageError, match="wants a table"):
        config.load(tmp_path)


def test_broken_files(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool.kbuild\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: error: not valid TOML: .*line 1"):
        config.load(tmp_path)
    path.write_bytes(b"[tool.kbuild]\nmodules = ['\xff']\n")
    with pytest.raises(UsageError, match=r"pyproject\.toml: error: not UTF-8"):
        config.load(tmp_path)


def test_without_a_toml_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tomllib", None)
    monkeypatch.setitem(__import__("sys").modules, "tomli", None)
    with pytest.raises(ToolchainError, match=r"pip install 'kbuild\[build\]'"):
        config.load(write(tmp_path, GOOD))


@pytest.mark.parametrize(
    ("setuptools", "wanted"),
    [
        ('package-dir = {"" = "lib"}', ["lib"]),
        ('package-dir = {"robosim" = "python/robosim"}', ["python"]),
        ('packages.find = {where = ["a", "b"]}', ["a", "b"]),
        ('package-dir = 3\npackages = ["robosim"]', ["."]),
    ],
)
def test_sources_as_setuptools_is_told(tmp_path: Path, setuptools: str, wanted: list[str]) -> None:
    found = config.load(write(tmp_path, GOOD, f"[tool.setuptools]\n{setuptools}\n"))
    assert found is not None
    assert found.source_roots == tuple((tmp_path / folder).resolve() for folder in wanted)


def test_sources_as_they_lie(tmp_path: Path) -> None:
    write(tmp_path, GOOD)

    def root() -> Path:
        found = config.load(tmp_path)
        assert found is not None
        return found.source_roots[0]

    assert root() == tmp_path
    (tmp_path / "src").mkdir()
    assert root() == tmp_path / "src"
    (tmp_path / "robosim").mkdir()
    assert root() == tmp_path, "a src/ of something else"
    (tmp_path / "src" / "robosim").mkdir()
    assert root() == tmp_path / "src"


def test_the_reference_has_every_option() -> None:
    page = Path(__file__).parents[2] / "docs" / "configuration.md"
    rows = [line.split("`")[1] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    count = len(config.OPTIONS)
    assert sorted(rows[:count]) == sorted(config.OPTIONS)
    end = count + len(config.CUDA_OPTIONS)
    assert sorted(rows[count:end]) == sorted(config.CUDA_OPTIONS)
    assert sorted(rows[end : end + len(config.AUDIT_OPTIONS)]) == sorted(config.AUDIT_OPTIONS)


AUDIT = GOOD.strip() + "\n[tool.kbuild.audit]\n"


def test_every_option_of_the_audit(tmp_path: Path) -> None:
    text = (
        AUDIT
        + """\
        build = "error"
        level = { divergence = "off", KB406 = "error" }
        unknown = "warning"
        block-dim = 128
        time-limit = 0.5

        [[tool.kbuild.audit.kernels]]
        names = ["robosim.blocks:*", "robosim.vision:blur"]
        level = { KB405 = "off" }
        reason = "measured"
    """
    )
    found = config.load(write(tmp_path, text))
    assert found is not None
    rule = config.AuditRule(("robosim.blocks:*", "robosim.vision:blur"), (("KB405", "off"),), "measured")
    level = (("divergence", "off"), ("KB406", "error"))
    assert found.audit == config.AuditConfig("error", level, "warning", (rule,), 128, 0.5)


def test_builds_are_told_where_there_is_a_table(tmp_path: Path) -> None:
    found = config.load(write(tmp_path, GOOD))
    assert found is not None
    assert found.audit.build == "off"
    found = config.load(write(tmp_path, AUDIT))
    assert found is not None
    assert found.audit == config.AuditConfig(build="warn")


RULE = AUDIT + "[[tool.kbuild.audit.kernels]]\n"


@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        (AUDIT + "levels = {}", r"levels is not an option of kbuild(.|\n)*did you mean 'level'"),
        (AUDIT + "build = true", r"build is the boolean true, but wants one of off, warn, error"),
        (AUDIT + "level = 'off'", r"level is the string 'off', but wants a table like { divergence = \"off\""),
        (AUDIT + "level = { bound = 'off' }", r"level has 'bound', which is no check(.|\n)*did you mean 'bounds'"),
        (AUDIT + "level = { KB103 = 'off' }", r"level has 'KB103', which is no check"),
        (AUDIT + "level = { bounds = 'fatal' }", r"level has bounds = the string 'fatal', but wants one of off, note"),
        (AUDIT + "unknown = 1", r"unknown is the integer 1"),
        (AUDIT + "block-dim = 2000", r"block-dim is the integer 2000, but wants an integer from 1 to 1024"),
        (AUDIT + "block-dim = true", r"block-dim is the boolean true"),
        (AUDIT + "time-limit = 0", r"time-limit is the integer 0, but wants seconds"),
        (AUDIT + "time-limit = 'long'", r"time-limit is the string 'long'"),
        (AUDIT + "kernels = ['a']", r"kernels is the string 'a', but wants a table"),
        (AUDIT + "kernels = 3", r"kernels is the integer 3, but wants tables \[\[tool.kbuild.audit.kernels\]\]"),
        (RULE + "level = { KB405 = 'off' }\nreason = 'x'", r"names is missing(.|\n)*robosim.blocks:\*"),
        (
            RULE + "names = ['sums']\nlevel = { KB405 = 'off' }\nreason = 'x'",
            r"names\[0\] is 'sums', but wants a kernel",
        ),
        (RULE + "names = ['m:k']\nreason = 'x'", r"level is missing"),
        (RULE + "names = ['m:k']\nlevel = { KB405 = 'off' }", r"reason is missing(.|\n)*say why"),
        (RULE + "names = ['m:k']\nlevel = { KB405 = 'off' }\nreason = ' '", r"reason is empty"),
    ],
)
def test_mistakes_about_the_audit(tmp_path: Path, table: str, wanted: str) -> None:
    assert re.search(wanted, fails(tmp_path, table))


def test_the_line_of_a_key_in_the_second_of_several_tables(tmp_path: Path) -> None:
    good = "names = ['m:k']\nlevel = { KB405 = 'off' }\nreason = 'x'\n"
    message = fails(tmp_path, RULE + good + "[[tool.kbuild.audit.kernels]]\n" + good.replace("'off'", "'of'"))
    lines = (RULE + good).count("\n")
    assert message.startswith(
        f"{tmp_path / 'pyproject.toml'}:{4 + lines + 3}: error: [tool.kbuild.audit.kernels] level has"
    )
