"""What docs/stages.md shows is what kbuild prints."""

from __future__ import annotations

import re
from pathlib import Path

from kbuild.cli.emitting import STAGES
from kbuild.intrinsics.table import has_effects
from kbuild.ir.python import print_python
from kbuild.ir.variables import print_variables
from tests.helpers import kernels

PAGE = Path(__file__).parents[2] / "docs" / "stages.md"


def test_the_example(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    source, again, table = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "example.py"
    path.write_text("import kbuild as kb\n\n\n" + source, encoding="utf-8")
    (kernel,), _ = kernels.diagnose(kernels.load(path)[1])
    assert print_python(kernel, has_effects) == again
    assert print_variables(kernel) == table


def test_every_stage_is_there() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE) == list(STAGES)
