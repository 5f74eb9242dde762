"""The programs of docs/simulator.md end as the page says."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from textwrap import dedent

import pytest

import kbuild as kb
from tests.helpers import kernels

PAGE = (Path(__file__).parents[2] / "docs" / "simulator.md").read_text(encoding="utf-8")
# A file, and the indented text that follows it, perhaps behind a line or two.
PROGRAMS = {
    name: (text, dedent(shown))
    for name, text, shown in re.findall(
        r"```python\n# (\w+)\.py\n((?:(?!```).*\n)*)```\n\n(?:ends with\n\n)?((?:    .*\n)+)", PAGE
    )
}


def test_they_were_found() -> None:
    assert list(PROGRAMS) == ["smoothing", "reversing", "printing", "adding"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    text, shown = PROGRAMS[name]
    Path(f"{name}.py").write_text(f"# {name}.py\n{text}", encoding="utf-8")
    try:
        kernels.load(Path(f"{name}.py"))
        said = capsys.readouterr().out
    except kb.sim.Fault as fault:
        said = str(fault).replace(f"{tmp_path}/", "") + "\n"
    assert said == shown


def test_every_fault_and_every_setting_is_on_the_page() -> None:
    faults = [name for name in dir_of_sim() if isinstance(getattr(kb.sim, name), type)]
    faults = [name for name in faults if issubclass(getattr(kb.sim, name), kb.sim.Fault)]
    assert len(faults) > 6
    assert [name for name in faults if f"`kb.sim.{name}`" not in PAGE] == []
    settings = [field.name for field in dataclasses.fields(kb.sim.Settings)]
    assert [name for name in settings if f"| `{name}`" not in PAGE and f", `{name}`" not in PAGE] == []


def dir_of_sim() -> list[str]:
    from kbuild.simulate import face

    return list(face.__all__)
