"""A project written for Warp, checked as it stands: no pyproject.toml, no change to its sources.

check_as("warp", ["mujoco_warp"]) → DialectCheck: every kernel definition in the sources, and what became of it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kbuild.config import BuildConfig
from kbuild.errors import Diagnostic, InternalError, Span
from kbuild.nvrtc import Cache, cache_root, discover
from kbuild.pipeline.units import Compilation, code_of, try_units
from kbuild.scan.client import Scanner
from kbuild.scan.data import LoweredUnit, Request, Scanned, ScannedUnit, diagnostic_from_json
from kbuild.scan.locating import Definition, Located, definitions, locate
from kbuild.targets import Target


@dataclass(frozen=True, slots=True)
class CheckedKernel:
    """One instance of a kernel, or one that its module's failure kept from being made; `refusals`: code and message."""

    name: str
    path: str
    line: int
    refusals: tuple[tuple[str, str], ...] = ()

    @property
    def codes(self) -> tuple[str, ...]:
        """Each code once."""
        return tuple(dict.fromkeys(code for code, _ in self.refusals))


@dataclass(slots=True)
class DialectCheck:
    """What a check found. `definitions` are those of the sources' text, `unmade` those that nothing has called into
    being: they stand in functions, and `--instances` names what calls those.
    """

    kernels: list[CheckedKernel] = field(default_factory=list)
    definitions: list[Definition] = field(default_factory=list)
    unmade: list[Definition] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    warnings: int = 0

    @property
    def complete(self) -> int:
        """Kernels without a refusal."""
        return sum(not kernel.refusals for kernel in self.kernels)

    @property
    def refusals(self) -> dict[str, int]:
        """How many kernels each code refuses; a kernel counts once for each of its codes."""
        return dict(sorted(Counter(code for kernel in self.kernels for code in kernel.codes).items()))


def check_as(
    dialect: str,
    words: Sequence[str],
    *,
    instances: Sequence[str] = (),
    mocks: Sequence[str] = (),
    targets: Sequence[Target] = (),
) -> DialectCheck:
    """Imports and lowers everything that paths and packages hold; compiles what is complete for the targets."""
    modules = locate(words)
    result = DialectCheck(definitions=definitions(module.path for module in modules))
    with Scanner(_request(dialect, modules, instances, mocks)) as scanner:
        scanned = scanner.scan()
        result.failed = list(scanned.failed)
        result.diagnostics += [diagnostic_from_json(row) for row in scanned.diagnostics]
        complete = _lower(scanner, scanned, result, bool(targets))
    _count_failed(modules, scanned, result)
    if targets:
        _compile(complete, scanned, tuple(targets), result)
    _note_unmade(result)
    return result


def _request(dialect: str, modules: Sequence[Located], instances: Sequence[str], mocks: Sequence[str]) -> Request:
    roots = list(dict.fromkeys(str(module.root) for module in modules))
    names = [module.name for module in modules]
    named = [_function(one) for one in instances]
    return Request(
        roots, names, list(mocks), True, False, per_kernel=True, instances=named, dialect=dialect, keep_going=True
    )


def _function(word: str) -> str:
    """`file.py` is its function `instances`; what `record` has written is named by its path."""
    if word.endswith(".json"):
        return str(Path(word).resolve())
    path, _, function = word.rpartition(":")
    if word.endswith(".py"):
        path, function = word, "instances"
    return f"{Path(path).resolve() if path.endswith('.py') else path}:{function}"


def _lower(
    scanner: Scanner, scanned: Scanned, result: DialectCheck, keep: bool
) -> list[tuple[ScannedUnit, LoweredUnit]]:
    """One kernel after the other, so that a fault of ours in one costs that one."""
    complete = []
    without_row = {d.kernel: d for d in result.diagnostics if d.kernel is not None and d.severity == "error"}
    for unit in scanned.units:
        row = scanned.kernels[unit.kernels[0]]
        try:
            lowered = scanner.lower([unit.name])
            found = [diagnostic_from_json(one) for one in lowered.diagnostics]
        except InternalError as error:
            lines = str(error).rstrip().splitlines()
            found = [Diagnostic("KB700", f"a bug in kbuild: {lines[-1]}", row.span, kernel=row.name)]
        else:
            complete += [(unit, one) for one in lowered.units if keep]
        errors = [d for d in found if d.severity == "error"]
        errors += [without_row[name] for name in {row.definition, row.name} & without_row.keys()]
        result.diagnostics += [d for d in found if d not in result.diagnostics]
        result.kernels.append(_checked(row.name, row.span, errors))
    known = {row.definition for row in scanned.kernels}
    for name, diagnostic in without_row.items():
        if name not in known and name not in {row.name for row in scanned.kernels}:
            result.kernels.append(_checked(name, diagnostic.span or Span("", 0), [diagnostic]))
    return complete


def _checked(name: str, span: Span, errors: Sequence[Diagnostic]) -> CheckedKernel:
    return CheckedKernel(name, span.path, span.line, tuple((d.code, d.message) for d in errors))


def _count_failed(modules: Sequence[Located], scanned: Scanned, result: DialectCheck) -> None:
    """The kernels of modules that cannot be imported are refused with them, but for those that came to be before."""
    made = {(kernel.path, kernel.line) for kernel in result.kernels}
    for module in modules:
        if module.name not in scanned.failed:
            continue
        for one in definitions([module.path]):
            if (one.path, one.line) not in made:
                name = f"{module.name}:{one.qualname}"
                result.kernels.append(CheckedKernel(name, one.path, one.line, (("KB201", "its module fails"),)))


def _compile(
    complete: Sequence[tuple[ScannedUnit, LoweredUnit]],
    scanned: Scanned,
    targets: tuple[Target, ...],
    result: DialectCheck,
) -> None:
    config = BuildConfig(Path.cwd(), (), targets, ())
    cache = Cache(cache_root())
    plan = Compilation(config, discover((), cache=cache), cache)
    codes = [code_of(one) for _, one in complete]
    found = try_units(plan, [unit for unit, _ in complete], scanned.kernels, codes)
    errors: dict[str, list[Diagnostic]] = {}
    for (unit, _), diagnostics in zip(complete, found, strict=True):
        result.diagnostics += diagnostics
        result.warnings += sum(d.severity == "warning" for d in diagnostics)
        errors[scanned.kernels[unit.kernels[0]].name] = [d for d in diagnostics if d.severity == "error"]
    result.kernels = [
        _checked(k.name, Span(k.path, k.line), errors[k.name]) if errors.get(k.name) else k for k in result.kernels
    ]


def _note_unmade(result: DialectCheck) -> None:
    made = {(kernel.path, kernel.line) for kernel in result.kernels}
    result.unmade = [one for one in result.definitions if (one.path, one.line) not in made]
