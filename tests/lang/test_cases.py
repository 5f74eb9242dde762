"""Every error of the language on the line, and where a caret line says so at the columns, that is at fault.

A case is a file in `cases/` with `# E: KB103 part of the message` on guilty lines. A comment line of carets below marks
the columns in characters. `# E without line: …` stands for messages that have no place. Nothing else may be reported.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from kbuild.codes import CODES
from kbuild.errors import Diagnostic
from tests.helpers import kernels

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))
_MARK = re.compile(r"# E: (.*)$")
_NO_LINE = re.compile(r"^# E without line: (.*)$")


@dataclass(frozen=True)
class Expected:
    line: int | None
    code: str
    message: str
    columns: tuple[int, int] | None = None

    def fits(self, found: Diagnostic) -> bool:
        span = found.span
        if found.code != self.code or self.message not in f"{found.message}; {found.help or ''}":
            return False
        if self.line is None or span is None:
            return self.line is None and span is None
        return span.line == self.line and self.columns in (None, (span.column, span.end_column))


def expected_in(path: Path) -> list[Expected]:
    lines = path.read_text(encoding="utf-8").splitlines()
    found = []
    for number, line in enumerate(lines, start=1):
        for pattern, place in ((_MARK, number), (_NO_LINE, None)):
            if match := pattern.search(line):
                columns = _carets(lines[number]) if number < len(lines) else None
                for part in match[1].split("; E: "):
                    code, _, message = part.partition(" ")
                    found.append(Expected(place, code, message, columns))
    return found


def _carets(line: str) -> tuple[int, int] | None:
    match = re.fullmatch(r"#\s*(\^+)", line)
    return (match.start(1) + 1, match.end(1) + 1) if match else None


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_exactly_these_errors(path: Path) -> None:
    if path.stem.startswith("python_3_12") and sys.version_info < (3, 12):
        pytest.skip("syntax of Python 3.12")
    module, declared = kernels.load(path, f"cases.{path.stem}")
    _, found = kernels.diagnose(declared)
    wanted = expected_in(path)
    assert wanted, "a case expects something"
    unexpected = [d.render() for d in found if not any(w.fits(d) for w in wanted)]
    missing = [w for w in wanted if not any(w.fits(d) for d in found)]
    assert not unexpected, "\n\n".join(
        [f"{module.__name__}: not expected:", *unexpected, "missing:", *map(str, missing)]
    )
    assert not missing
    assert len(found) == len(wanted)


def test_every_code_has_a_case() -> None:
    covered = {e.code for path in CASES for e in expected_in(path) if e.code.startswith("KB1")}
    assert covered == {code for code in CODES if code.startswith("KB1")}


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_message_shows_place_reason_and_kernel(path: Path) -> None:
    _, declared = kernels.load(path, f"cases.{path.stem}")
    for diagnostic in kernels.diagnose(declared)[1]:
        text = diagnostic.render()
        assert diagnostic.kernel in {kernel.name for kernel in declared}
        assert f"[{diagnostic.code}]" in text.splitlines()[0]
        if diagnostic.span is not None:
            assert "^" in text.splitlines()[2]
        assert "None" not in diagnostic.message.replace("None is no value", "")
