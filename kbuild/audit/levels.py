"""How much a finding matters: the level of each code, and what a project says of checks, codes and kernels.

Rules(level=(("KB405", "off"),)).of(finding)   →   ("off", "")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from kbuild.audit.findings import Finding

LEVELS: Final = ("off", "note", "warning", "error")

# code → (check, level unless a project says otherwise). What gives wrong results is an error, what costs is not.
CODES: Final[Mapping[str, tuple[str, str]]] = {
    "KB401": ("bounds", "error"),
    "KB402": ("shared-races", "error"),
    "KB403": ("global-races", "error"),
    "KB404": ("barriers", "error"),
    "KB405": ("banks", "warning"),
    "KB406": ("coalescing", "warning"),
    "KB407": ("coalescing", "note"),
    "KB408": ("coalescing", "note"),
    "KB409": ("divergence", "note"),
    "KB410": ("source", "warning"),
    "KB411": ("source", "note"),
    "KB412": ("source", "warning"),
    "KB413": ("source", "warning"),
    "KB414": ("overflow", "warning"),
    "KB415": ("initialization", "error"),
    "KB416": ("source", "note"),
    "KB420": ("machine-code", "note"),
    "KB421": ("machine-code", "warning"),
    "KB422": ("machine-code", "note"),
    "KB423": ("machine-code", "warning"),
    "KB424": ("machine-code", "off"),
    "KB430": ("source", "warning"),
}
DONT_KNOW: Final = "note"  # the level of what is not known


@dataclass(frozen=True, slots=True)
class KernelRule:
    """What a project says of some kernels: patterns of names, levels by check or code, and why."""

    kernels: tuple[str, ...]
    level: tuple[tuple[str, str], ...]
    reason: str

    def covers(self, kernel: str) -> bool:
        """Whether a name (`module:qualname`, or an instance of it) is meant."""
        plain = kernel.partition("[")[0]
        return any(kernel == pattern or fnmatchcase(plain, pattern) for pattern in self.kernels)


@dataclass(frozen=True, slots=True)
class Rules:
    """Levels by check or code for all kernels, those of some kernels, and of what is not known."""

    level: tuple[tuple[str, str], ...] = ()
    kernels: tuple[KernelRule, ...] = ()
    unknown: str = DONT_KNOW

    def of(self, finding: Finding) -> tuple[str, str]:
        """The level of a finding, and the reason where a rule about its kernel decides. The last rule that says
        something counts; a code is nearer than its check."""
        usual = CODES[finding.code][1]
        level, reason = _said(self.level, finding) or usual, ""
        for rule in self.kernels:
            own = _said(rule.level, finding) if rule.covers(finding.kernel) else None
            if own is not None:
                level, reason = own, rule.reason
        if finding.verdict == "unknown" and level != "off":
            level = self.unknown
        return level, reason

    def wanted(self, checks: Iterable[str]) -> tuple[str, ...]:
        """Those of the checks that can say something: not all of whose codes are off for every kernel."""
        return tuple(one for one in checks if self._may_speak(one))

    def _may_speak(self, check: str) -> bool:
        said = [self.level, *(rule.level for rule in self.kernels)]
        codes = [code for code, (of, _) in CODES.items() if of == check]
        return any(
            _level_of(code, check, rows, "off" if number else CODES[code][1]) != "off"
            for code in codes
            for number, rows in enumerate(said)
        )


def _said(rows: Sequence[tuple[str, str]], finding: Finding) -> str | None:
    found = dict(rows)
    return found.get(finding.code, found.get(finding.check))


def _level_of(code: str, check: str, rows: Sequence[tuple[str, str]], usual: str) -> str:
    found = dict(rows)
    return found.get(code, found.get(check, usual))
