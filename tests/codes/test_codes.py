"""The table of codes: complete, and its examples say the truth."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kbuild import config
from kbuild.audit import levels
from kbuild.audit.findings import CHECKS
from kbuild.cli.main import main
from kbuild.codes import CODES
from tests.helpers import audits, kernels

ROOT = Path(__file__).parents[2]
WITH_EXAMPLE = [name for name, code in CODES.items() if code.wrong]


def test_every_code_of_the_sources_is_in_the_table_and_none_besides() -> None:
    used = set()
    for folder in ("kbuild", "hooks"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "codes.py":
                used |= set(re.findall(r"\bKB\d{3}\b", path.read_text(encoding="utf-8")))
    assert used == set(CODES)


def test_every_code_of_the_language_has_an_example() -> None:
    assert [name for name in CODES if name.startswith("KB1") and name not in WITH_EXAMPLE] == ["KB114"]


def _codes(folder: Path, text: str, name: str) -> list[str]:
    """What is said of a module: while it is lowered, and of the audit's codes by the check that each belongs to."""
    if name in levels.CODES:
        return [one.finding.code for one in audits.judged(folder, text, levels.CODES[name][0])]
    _, declared = kernels.load(kernels.write(folder, text))
    _, found = kernels.diagnose(declared)
    return [diagnostic.code for diagnostic in found]


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_examples(tmp_path: Path, name: str) -> None:
    assert _codes(tmp_path, CODES[name].wrong, name) == [name]
    assert _codes(tmp_path, CODES[name].right, name) == []


def test_the_codes_of_the_audit() -> None:
    assert set(levels.CODES) == {name for name in CODES if name.startswith("KB4")}
    assert {check for check, _ in levels.CODES.values()} == set(CHECKS) == set(config.AUDIT_CHECKS)
    assert {level for _, level in levels.CODES.values()} <= set(levels.LEVELS) == set(config.AUDIT_LEVELS)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "kb112"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("KB112: a Python function called inside a kernel\n\nKernels call intrinsics")
    assert "Wrong:\n\n    import math\n" in said
    assert "        a[0] = kb.sin(1.0)\n" in said
    assert main(["explain", "KB103", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "a name that is not defined"
    assert main(["explain"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(CODES)


def test_explain_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "KB999"]) == 2
    assert "there is no code 'KB999'" in capsys.readouterr().err
