"""`[tool.kbuild]` of a project's pyproject.toml → one frozen `BuildConfig`.

    [tool.kbuild]
    modules = ["robosim.kernels", "robosim.vision.*"]     # where the kernels are
    targets = ["jetson-orin-jp6", "sm_90", "sm_120"]      # the GPUs to build for
    exclude = ["robosim.vision.experiments.*"]            # modules to leave out
    instances = ["robosim.instances:build"]               # functions that call the factories of kernels, or files of
                                                          # `python -m kbuild record`
    primitives = ["array_scan"]                           # functions of kbuild's that the project calls; true: all
    dialect = "warp"                                      # kernel modules say `import warp`
    mock-imports = ["torch"]                              # not installed while building, and not needed
    source = ["src"]                                      # where the packages are, if it cannot be told
    fmad = true                                           # fuse a * b + c
    fast-math = false                                     # approximate division, roots and functions
    max-registers = 128                                   # of a thread; all that there are if left out
    asserts = false                                       # compile the asserts in kernels
    backward = false                                      # build no adjoints, which gradients need
    line-info = false                                     # cubins know their Python lines
    toolchains = ["/opt/cuda-12.4"]                       # NVRTC libraries beside those that are found anyway
    selftest = true                                       # bundle results to compare with on the target
    jobs = 4                                              # parallel compilers; all cores if left out

    [tool.kbuild.cuda]                                    # of kernels in CUDA C++ files
    include-dirs = ["src/robosim/include"]                # where headers are
    defines = { BINS = 64, FAST = true }                  # macros
    std = "c++17"
    fmad = true                                           # fuse a * b + c, as CUDA does
    options = ["--use_fast_math"]                         # further options of NVRTC
    files = ["shared/**/*.cuh"]                           # for the sdist, beside those below the packages

    [tool.kbuild.audit]                                   # `python -m kbuild audit`, and a step of every build
    build = "warn"                                        # tell findings while building; "error": and refuse errors
    level = { divergence = "off", KB406 = "error" }       # of checks and codes: off, note, warning, error
    unknown = "note"                                      # the level of what is not known
    block-dim = 256                                       # threads of a block where the kernel does not say
    time-limit = 20                                       # seconds a kernel

    [[tool.kbuild.audit.kernels]]                         # levels of some kernels, and why
    names = ["robosim.blocks:*"]
    level = { KB405 = "off" }
    reason = "measured: padding costs more than the conflict"

Nothing is guessed and nothing is ignored: an unknown option, a wrong type or a value that cannot be is a `UsageError`
that names the file, the line, the key, what was found and what is wanted.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from kbuild import targets
from kbuild.errors import ToolchainError, UsageError, did_you_mean

OPTIONS = (
    "modules",
    "targets",
    "exclude",
    "instances",
    "primitives",
    "dialect",
    "mock-imports",
    "source",
    "fmad",
    "fast-math",
    "max-registers",
    "asserts",
    "backward",
    "line-info",
    "toolchains",
    "selftest",
    "jobs",
    "cuda",
    "audit",
)

CUDA_OPTIONS = ("include-dirs", "defines", "std", "fmad", "options", "files")
STANDARDS = ("c++14", "c++17", "c++20")

AUDIT_OPTIONS = ("build", "level", "unknown", "block-dim", "time-limit", "kernels")
AUDIT_RULE_OPTIONS = ("names", "level", "reason")
AUDIT_STEPS = ("off", "warn", "error")
AUDIT_LEVELS = ("off", "note", "warning", "error")
# Checks and codes of `kbuild.audit`, which reads no configuration and is read by none.
AUDIT_CHECKS = (
    "bounds",
    "overflow",
    "shared-races",
    "global-races",
    "barriers",
    "initialization",
    "banks",
    "coalescing",
    "divergence",
    "source",
    "machine-code",
)
_AUDIT_CODE = re.compile(r"KB4[0-9]{2}")

# Of `kbuild.primitives`, which reads no configuration and is read by none.
PRIMITIVES = (
    "array_cast",
    "array_inner",
    "array_scan",
    "array_sum",
    "capture_if",
    "capture_while",
    "copy",
    "radix_sort_pairs",
    "runlength_encode",
)

EXAMPLE = """\
[tool.kbuild]
modules = ["mypackage.kernels"]
targets = ["sm_90"]"""


@dataclass(frozen=True, slots=True)
class CudaConfig:
    """`[tool.kbuild.cuda]`: what CUDA C++ files are compiled with. `files` are patterns of files for the sdist."""

    include_dirs: tuple[Path, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    std: str = "c++17"
    fmad: bool = True
    options: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditRule:
    """One of `[[tool.kbuild.audit.kernels]]`: patterns of kernels, levels by check or code, and the reason."""

    names: tuple[str, ...]
    level: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True, slots=True)
class AuditConfig:
    """`[tool.kbuild.audit]`: what `build` makes of findings ("off", "warn" or "error"), levels by check or code, that
    of what is not known, rules about some kernels, threads of a block where the kernel does not say, and seconds that
    a kernel may take.
    """

    build: str = "off"
    level: tuple[tuple[str, str], ...] = ()
    unknown: str = "note"
    kernels: tuple[AuditRule, ...] = ()
    block_dim: int = 256
    time_limit: float = 20.0


@dataclass(frozen=True, slots=True)
class BuildConfig:
    """What a build is asked for. Paths are absolute; `jobs` None means all cores, `backward` None: adjoints of the
    kernels that can have one.
    """

    root: Path
    modules: tuple[str, ...]
    targets: tuple[targets.Target, ...]
    source_roots: tuple[Path, ...]
    exclude: tuple[str, ...] = ()
    instances: tuple[str, ...] = ()
    dialect: str = ""
    mock_imports: tuple[str, ...] = ()
    fmad: bool = True
    fast_math: bool = False
    max_registers: int | None = None
    lineinfo: bool = False
    toolchains: tuple[Path, ...] = ()
    selftest: bool = False
    jobs: int | None = None
    asserts: bool = False
    primitives: tuple[str, ...] = ()
    backward: bool | None = None
    cuda: CudaConfig = CudaConfig()
    audit: AuditConfig = AuditConfig()


def load(project: Path) -> BuildConfig | None:
    """The configuration of a project folder; None when its pyproject.toml has no `[tool.kbuild]` table, or is missing.

    UsageError for whatever is wrong in it.
    """
    path = project.resolve() / "pyproject.toml"
    if not path.is_file():
        return None
    text = _read(path)
    if "kbuild" not in text:  # other projects' files are none of our business, well-formed or not
        return None
    document = _parse(path, text)
    tool = document.get("tool")
    table = tool.get("kbuild") if isinstance(tool, dict) else None
    if table is None:
        return None
    return _Reader(path, text, document, table).config()


def is_project(argument: str) -> bool:
    """Whether a word of the command line means a project's folder: one that is there, or a path to nothing. It is none
    where it names a file, or a package that lies elsewhere."""
    path = Path(argument)
    is_name = all(part.isidentifier() for part in argument.split("."))
    return path.is_dir() or not (path.exists() or is_name)


def require(project: Path) -> BuildConfig:
    """The configuration of a project folder; UsageError when there is none."""
    if not project.is_dir():
        raise UsageError(f"{project} is not a folder: a project folder with a pyproject.toml is wanted", code="KB002")
    config = load(project)
    if config is not None:
        return config
    path = project / "pyproject.toml"
    found = "has no [tool.kbuild] table" if path.is_file() else "does not exist"
    raise UsageError(f"{path} {found}", code="KB002", help=f"add to it:\n\n{EXAMPLE}\n")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8: {error.reason} at byte {error.start}", code="KB002", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", code="KB002", where=str(path)) from None


def _parse(path: Path, text: str) -> dict[str, Any]:
    toml = _toml()
    try:
        return dict(toml.loads(text))
    except toml.TOMLDecodeError as error:
        raise UsageError(f"not valid TOML: {error}", code="KB002", where=str(path)) from None


def _toml() -> Any:
    """tomllib (Python 3.11), or tomli, which has the same face."""
    for name in ("tomllib", "tomli"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    raise ToolchainError("reading pyproject.toml needs tomli before Python 3.11", help="pip install 'kbuild[build]'")


_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_INSTANCES = re.compile(_FUNCTION.pattern + r"|[^\0]+\.json")
_PATTERN = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*(\.\*)?")


class _Reader:
    """Takes the table apart; every complaint goes through `fail`, which knows file and line."""

    title = "tool.kbuild"
    known: tuple[str, ...] = OPTIONS

    def __init__(self, path: Path, text: str, document: dict[str, Any], table: Any, number: int = 0) -> None:
        self.path, self.text, self.document, self.root, self.number = path, text, document, path.parent, number
        if not isinstance(table, dict):
            self.fail(self.title.rpartition(".")[2], f"is {_shown(table)}, but wants a table [{self.title}]")
        self.table: dict[str, Any] = table
        for key in self.table:
            if key not in self.known:
                self.fail_unknown(key)

    def config(self) -> BuildConfig:
        modules = self.names(
            "modules", _PATTERN, "a module like 'robosim.kernels' or a pattern like 'robosim.vision.*'"
        )
        self.need("modules", modules, 'name the modules that hold kernels: modules = ["mypackage.kernels"]')
        return BuildConfig(
            root=self.root,
            modules=modules,
            targets=self.targets(),
            source_roots=self.source_roots(modules),
            exclude=self.names("exclude", _PATTERN, "a module or a pattern like 'robosim.vision.*'"),
            instances=self.instances(),
            dialect=self.dialect(),
            mock_imports=self.names("mock-imports", _NAME, "a module like 'torch'"),
            fmad=self.flag("fmad", True),
            fast_math=self.flag("fast-math", False),
            max_registers=self.max_registers(),
            lineinfo=self.flag("line-info", False),
            toolchains=self.folders("toolchains", Path.exists, "an NVRTC library or a toolkit's folder"),
            selftest=self.flag("selftest", False),
            jobs=self.jobs(),
            asserts=self.flag("asserts", False),
            backward=self.flag("backward", True) if "backward" in self.table else None,
            primitives=self.primitives(),
            cuda=self.cuda(),
            audit=self.audit(),
        )

    # One kind of value each

    def flag(self, key: str, default: bool) -> bool:
        value = self.table.get(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"is {_shown(value)}, but wants true or false")
        return value

    def jobs(self) -> int | None:
        value = self.table.get("jobs")
        if value is not None and (type(value) is not int or value < 1):
            self.fail("jobs", f"is {_shown(value)}, but wants an integer from 1 on")
        return value

    def max_registers(self) -> int | None:
        value = self.table.get("max-registers")
        if value is not None and (type(value) is not int or not 16 <= value <= 255):
            self.fail("max-registers", f"is {_shown(value)}, but wants an integer from 16 to 255")
        return value

    def dialect(self) -> str:
        value = self.table.get("dialect", "")
        if value not in ("", "warp"):
            self.fail("dialect", f'is {_shown(value)}, but wants "warp", or is left out')
        return str(value)

    def primitives(self) -> tuple[str, ...]:
        """Functions by name; `true` is all of them."""
        value = self.table.get("primitives", False)
        if isinstance(value, bool):
            return PRIMITIVES if value else ()
        if not isinstance(value, list):
            wanted = f"true, or a list of functions like [{PRIMITIVES[0]!r}]"
            self.fail("primitives", f"is {_shown(value)}, but wants {wanted}")
        names = self.strings("primitives")
        for index, name in enumerate(names):
            if name not in PRIMITIVES:
                near = did_you_mean(name, PRIMITIVES) or f"the functions are {', '.join(PRIMITIVES)}"
                self.fail(f"primitives[{index}]", f"is {name!r}, which is no function of kbuild's over arrays", near)
        return tuple(sorted(names))

    def cuda(self) -> CudaConfig:
        if "cuda" not in self.table:
            return CudaConfig()
        return _CudaReader(self.path, self.text, self.document, self.table["cuda"]).cuda_config()

    def audit(self) -> AuditConfig:
        if "audit" not in self.table:
            return AuditConfig()
        return _AuditReader(self.path, self.text, self.document, self.table["audit"]).audit_config()

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of different strings."""
        values = self.table.get(key, [])
        if not isinstance(values, list):
            hint = f"; write [{_shown(values, kind=False)}]" if isinstance(values, str) else ""
            self.fail(key, f"is {_shown(values)}, but wants a list of strings{hint}")
        for index, value in enumerate(values):
            if not isinstance(value, str):
                self.fail(f"{key}[{index}]", f"is {_shown(value)}, but wants a string")
            if value in values[:index]:
                self.fail(f"{key}[{index}]", f"repeats {value!r}")
        return tuple(values)

    def names(self, key: str, pattern: re.Pattern[str], wanted: str) -> tuple[str, ...]:
        values = self.strings(key)
        for index, value in enumerate(values):
            if not pattern.fullmatch(value):
                self.fail(f"{key}[{index}]", f"is {value!r}, but wants {wanted}", _repaired(value))
        return values

    def instances(self) -> tuple[str, ...]:
        """Functions by name, and files that `record` wrote by their absolute path."""
        wanted = "a function like 'robosim.instances:build', or a file like 'kbuild-instances.json'"
        names = self.one_or_more("instances", _INSTANCES, wanted)
        for index, name in enumerate(names):
            if name.endswith(".json") and not (self.root / name).is_file():
                self.fail(f"instances[{index}]", f"names {name}, which does not exist", "python -m kbuild record -- …")
        return tuple(str((self.root / name).resolve()) if name.endswith(".json") else name for name in names)

    def one_or_more(self, key: str, pattern: re.Pattern[str], wanted: str) -> tuple[str, ...]:
        """A list of names, or a single one."""
        if isinstance(self.table.get(key), str):
            self.table = {**self.table, key: [self.table[key]]}
        return self.names(key, pattern, wanted)

    def folders(self, key: str, is_right: Callable[[Path], bool], wanted: str) -> tuple[Path, ...]:
        paths = [(self.root / value).resolve() for value in self.strings(key)]
        for index, path in enumerate(paths):
            if not is_right(path):
                found = "is not that" if path.exists() else "does not exist"
                self.fail(f"{key}[{index}]", f"wants {wanted}, but {path} {found}")
        return tuple(paths)

    def targets(self) -> tuple[targets.Target, ...]:
        names = self.strings("targets")
        self.need(
            "targets", names, 'name the GPUs to build for: targets = ["sm_90"]; `python -m kbuild targets` lists them'
        )
        parsed: list[targets.Target] = []
        for index, name in enumerate(names):
            try:
                parsed.append(targets.parse(name))
            except UsageError as error:
                place = f"{self.place('targets')}: targets[{index}]"
                raise UsageError(error.message, code=error.code, help=error.help, where=place) from None
        return tuple(parsed)

    def source_roots(self, modules: Iterable[str]) -> tuple[Path, ...]:
        """The folders that hold the import packages: as configured, as setuptools is told, or where they are found."""
        if "source" in self.table:
            roots = self.folders("source", Path.is_dir, "a folder with import packages")
            return self.need("source", roots, 'leave it out, or name a folder: source = ["src"]')
        told = tuple(self.root / folder for folder in _setuptools_roots(self.document))
        return tuple(path.resolve() for path in told) or (_found_root(self.root, modules),)

    # Complaints

    def need(self, key: str, values: tuple[Any, ...], help: str) -> tuple[Any, ...]:
        if not values:
            self.fail(key, "is empty" if key in self.table else "is missing", help)
        return values

    def fail_unknown(self, key: str) -> NoReturn:
        near = did_you_mean(key.replace("_", "-"), self.known)
        self.fail(key, "is not an option of kbuild", near or f"the options are {', '.join(self.known)}")

    def fail(self, key: str, message: str, help: str | None = None) -> NoReturn:
        raise UsageError(f"[{self.title}] {key} {message}", code="KB003", help=help, where=self.place(key))

    def place(self, key: str) -> str:
        """`pyproject.toml`'s path, and the line of the key in its table where that can be told."""
        words = r"[ \t]*\.[ \t]*".join(self.title.split("."))
        heads = list(re.finditer(rf"^[ \t]*\[\[?[ \t]*{words}[ \t]*\]\]?", self.text, re.MULTILINE))
        if self.number >= len(heads):
            return str(self.path)
        head = heads[self.number]
        next_table = re.compile(r"^[ \t]*\[\[?[^\[\]]*\]\]?[ \t]*(#.*)?$", re.MULTILINE).search(self.text, head.end())
        word = re.escape(key.partition("[")[0])
        assignment = re.compile(rf"^[ \t]*[\"']?{word}[\"']?[ \t]*[=.]", re.MULTILINE)
        line = assignment.search(self.text, head.end(), next_table.start() if next_table else len(self.text))
        start = line.start() if line else head.start()
        return f"{self.path}:{self.text.count(chr(10), 0, start) + 1}"


_MACRO = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What kbuild decides itself, or what would make the code no cubin of its own.
_OWN_OPTIONS = re.compile(
    r"(?:-arch|--gpu-architecture|-I|--include-path|-D|--define-macro|-U|--undefine-macro|-std|--std|-fmad|--fmad"
    r"|-lineinfo|--generate-line-info|-rdc|--relocatable-device-code|-dc|--device-c|-dw|--device-w|-dlto|--dlink-time-opt"
    r"|--split-compile|--time|--pch|--create-pch|--use-pch|--device-time-trace|-frandom-seed|--minimal).*"
)
_ELSEWHERE = {
    "-I": "include-dirs", "--include-path": "include-dirs", "-D": "defines", "--define-macro": "defines",
    "-std": "std", "--std": "std", "-fmad": "fmad", "--fmad": "fmad",
}  # fmt: skip


class _CudaReader(_Reader):
    """`[tool.kbuild.cuda]`."""

    title = "tool.kbuild.cuda"
    known = CUDA_OPTIONS

    def cuda_config(self) -> CudaConfig:
        return CudaConfig(
            include_dirs=self.folders("include-dirs", Path.is_dir, "a folder with headers"),
            defines=self.defines(),
            std=self.standard(),
            fmad=self.flag("fmad", True),
            options=self.options(),
            files=self.strings("files"),
        )

    def standard(self) -> str:
        value = self.table.get("std", "c++17")
        if value not in STANDARDS:
            self.fail("std", f"is {_shown(value)}, but wants one of {', '.join(STANDARDS)}")
        return str(value)

    def defines(self) -> tuple[tuple[str, str], ...]:
        """Macros by name: a text or a number is what one stands for, `true` defines it as 1, `false` leaves it out."""
        values = self.table.get("defines", {})
        if not isinstance(values, dict):
            self.fail("defines", f"is {_shown(values)}, but wants a table like {{ BINS = 64 }}")
        found = []
        for name, value in values.items():
            if not _MACRO.fullmatch(name):
                self.fail("defines", f"has {name!r}, which is no name of a macro")
            if isinstance(value, bool):
                found += [(name, "1")] if value else []
            elif isinstance(value, (int, float, str)) and "\n" not in str(value):
                found.append((name, str(value)))
            else:
                self.fail("defines", f"has {name} = {_shown(value)}, but wants a text, a number, true or false")
        return tuple(sorted(found))

    def options(self) -> tuple[str, ...]:
        values = self.strings("options")
        for index, value in enumerate(values):
            if not value.startswith("-") or "\n" in value:
                self.fail(f"options[{index}]", f"is {value!r}, but wants an option of NVRTC like '--use_fast_math'")
            if _OWN_OPTIONS.fullmatch(value):
                other = next((option for start, option in _ELSEWHERE.items() if value.startswith(start)), None)
                help = f"say it with `{other}`" if other else None
                self.fail(f"options[{index}]", f"is {value!r}, which kbuild decides itself", help)
        return values


class _AuditReader(_Reader):
    """`[tool.kbuild.audit]`. A project that has the table wants to be told while building."""

    title = "tool.kbuild.audit"
    known: tuple[str, ...] = AUDIT_OPTIONS

    def audit_config(self) -> AuditConfig:
        return AuditConfig(
            build=self.one_of("build", AUDIT_STEPS, "warn"),
            level=self.levels("level"),
            unknown=self.one_of("unknown", AUDIT_LEVELS, "note"),
            kernels=self.rules(),
            block_dim=self.block_dim(),
            time_limit=self.time_limit(),
        )

    def one_of(self, key: str, words: tuple[str, ...], usual: str) -> str:
        value = self.table.get(key, usual)
        if value not in words:
            self.fail(key, f"is {_shown(value)}, but wants one of {', '.join(words)}")
        return str(value)

    def levels(self, key: str) -> tuple[tuple[str, str], ...]:
        """Levels by check or code, in their order."""
        values = self.table.get(key, {})
        if not isinstance(values, dict):
            self.fail(key, f'is {_shown(values)}, but wants a table like {{ divergence = "off", KB405 = "error" }}')
        for name, level in values.items():
            if name not in AUDIT_CHECKS and not _AUDIT_CODE.fullmatch(name):
                near = did_you_mean(name, AUDIT_CHECKS) or f"the checks are {', '.join(AUDIT_CHECKS)}"
                self.fail(key, f"has {name!r}, which is no check, and no code of one (KB401 …)", near)
            if level not in AUDIT_LEVELS:
                self.fail(key, f"has {name} = {_shown(level)}, but wants one of {', '.join(AUDIT_LEVELS)}")
        return tuple(values.items())

    def block_dim(self) -> int:
        value = self.table.get("block-dim", 256)
        if type(value) is not int or not 1 <= value <= 1024:
            self.fail("block-dim", f"is {_shown(value)}, but wants an integer from 1 to 1024")
        return value

    def time_limit(self) -> float:
        value = self.table.get("time-limit", 20)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 3600:
            self.fail("time-limit", f"is {_shown(value)}, but wants seconds, more than 0 and 3600 at most")
        return float(value)

    def rules(self) -> tuple[AuditRule, ...]:
        values = self.table.get("kernels", [])
        if not isinstance(values, list):
            self.fail("kernels", f"is {_shown(values)}, but wants tables [[tool.kbuild.audit.kernels]]")
        readers = (
            _AuditRuleReader(self.path, self.text, self.document, value, number) for number, value in enumerate(values)
        )
        return tuple(reader.rule() for reader in readers)


class _AuditRuleReader(_AuditReader):
    """One of `[[tool.kbuild.audit.kernels]]`."""

    title = "tool.kbuild.audit.kernels"
    known: tuple[str, ...] = AUDIT_RULE_OPTIONS

    def rule(self) -> AuditRule:
        names = self.strings("names")
        self.need("names", names, 'name kernels, or patterns of them: names = ["robosim.blocks:*"]')
        for index, name in enumerate(names):
            if ":" not in name:
                self.fail(f"names[{index}]", f"is {name!r}, but wants a kernel like 'robosim.blocks:*' (module:name)")
        level = self.levels("level")
        self.need("level", level, 'say what of them: level = { KB405 = "off" }')
        reason = self.table.get("reason", "")
        if not isinstance(reason, str) or not reason.strip():
            self.fail("reason", "is missing" if "reason" not in self.table else "is empty", "say why it may stay")
        return AuditRule(names, level, reason.strip())


def _shown(value: object, kind: bool = True) -> str:
    """A value as TOML has it, with the name of its kind."""
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    text = text if len(text) <= 60 else text[:57] + "..."
    kinds = {bool: "the boolean", int: "the integer", float: "the number", str: "the string", list: "the list"}
    return f"{kinds.get(type(value), 'the table')} {text}" if kind else text


def _repaired(name: str) -> str | None:
    """A guess at the module that was meant by a path or a file name."""
    guess = name.removesuffix(".py").strip("./").replace("/", ".")
    guess = guess.removesuffix(".__init__").removeprefix("src.")
    return f"did you mean {guess!r}?" if guess != name and _PATTERN.fullmatch(guess) else None


def _setuptools_roots(document: dict[str, Any]) -> list[str]:
    """Folders of packages from [tool.setuptools], which setuptools itself checks: what is odd there is passed over."""
    table = document.get("tool", {}).get("setuptools", {})
    folders = table.get("package-dir", {}) if isinstance(table, dict) else {}
    if isinstance(folders, dict) and folders:
        return [_root_of(package, folder) for package, folder in folders.items() if isinstance(folder, str)]
    packages = table.get("packages") if isinstance(table, dict) else None
    find = packages.get("find", {}) if isinstance(packages, dict) else {}
    where = find.get("where", []) if isinstance(find, dict) else []
    return [folder for folder in where if isinstance(folder, str)]


def _root_of(package: str, folder: str) -> str:
    """The folder above a package's own: `{"robosim": "python/robosim"}` → `python`."""
    return str(Path(folder, *[".."] * len(package.split(".")))) if package else folder


def _found_root(root: Path, modules: Iterable[str]) -> Path:
    """`src/` where it holds the packages; the project's folder else."""
    packages = {module.partition(".")[0] for module in modules}
    source = root / "src"
    in_source = source.is_dir() and any((source / package).exists() for package in packages)
    in_root = any((root / package).exists() for package in packages)
    return source if in_source or (source.is_dir() and not in_root) else root
