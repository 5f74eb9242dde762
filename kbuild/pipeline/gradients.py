"""Kernels that have no gradient: what is said of them, and how much of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from kbuild.errors import CompileError, Diagnostic, Note, Span
from kbuild.scan.data import REQUIRED, Scanned, is_own

CODE = "KB220"
_MOST = 3  # warnings of a build, each with its line; more become one
_NAMED = 5

_HELP = "`enable_backward=False` in its decorator says that none is wanted"


class _Unit(Protocol):
    """Lowered, or out of the cache: what is said of each kernel's adjoint."""

    @property
    def backward(self) -> dict[str, dict[str, Any]]: ...


def refusals(scanned: Scanned, units: Iterable[_Unit]) -> list[Diagnostic]:
    """A diagnostic for each kernel that is to have an adjoint and cannot: an error where one was required."""
    required = {kernel.primal for kernel in scanned.kernels if kernel.backward == REQUIRED}
    return [
        Diagnostic(
            CODE,
            f"{name} has no gradient: {row['refused']}",
            Span(*row["place"]),
            "error" if name in required else "warning",
            row["help"] or _HELP,
            kernel=name,
        )
        for unit in units
        for name, row in unit.backward.items()
        if "refused" in row
    ]


def as_error(diagnostic: Diagnostic) -> Diagnostic:
    """The same, where the adjoint itself was asked for."""
    return replace(diagnostic, severity="error")


def raise_errors(diagnostics: Iterable[Diagnostic]) -> None:
    """Raises CompileError where an adjoint is missing that was required."""
    errors = [d for d in diagnostics if d.severity == "error"]
    if errors:
        raise CompileError(collapsed(errors))


def collapsed(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics with those of one line and reason as one: the instances of a kernel, all that call one function."""
    groups: dict[object, list[Diagnostic]] = {}
    for number, one in enumerate(diagnostics):
        reason = one.message.partition(": ")[2]
        groups.setdefault((one.span, reason, one.severity) if one.code == CODE else number, []).append(one)
    return [_together(group) for group in groups.values()]


def _together(group: Sequence[Diagnostic]) -> Diagnostic:
    first, *others = group
    if not others:
        return first
    note = Note(f"it is in the way of {_counted(len(others), 'more kernel')}: {_listed(others)}")
    return replace(first, notes=(*first.notes, note))


def brief(diagnostics: Sequence[Diagnostic], kernels: Sequence[str]) -> list[Diagnostic]:
    """What a build of these kernels shows of them: many warnings about kernels without gradients are one."""
    shown = collapsed(diagnostics)
    few = [d for d in shown if d.code != CODE or d.severity == "error"]
    without = [d for d in diagnostics if d.code == CODE and d.severity == "warning"]
    if len(shown) - len(few) <= _MOST:
        return shown
    own = sum(not is_own(name.partition(":")[0]) for name in kernels)
    text = f"{len(without)} of {_counted(own, 'kernel')} have no gradients: {_listed(without)}"
    help = "`python -m kbuild check` says why, with the lines; `backward = false` in [tool.kbuild] builds none at all"
    return [*few, Diagnostic(CODE, text, severity="warning", help=help)]


def _listed(diagnostics: Sequence[Diagnostic]) -> str:
    names = [str(d.kernel) for d in diagnostics[:_NAMED]]
    more = len(diagnostics) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
