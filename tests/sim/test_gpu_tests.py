"""The tests of the language that run on a GPU, run on the simulator: every operator, conversion, function and
construct, against what `tests/gpu/meaning.py` says that it means.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = os.pathsep.join(("tests/gpu/project/src", "tests/gpu/clusters/src"))
# Tests of what is a bundle's, a driver's or a launch's on a GPU, and none of the language.
ELSEWHERE = {
    "test_atomics.py": "cells_beside_a_small_one",
    "test_clusters.py": "bound_launches or graphs",
    "test_cooperating.py": "graphs",
    "test_flow.py": "nobody_built",
    "test_generics.py": "several_types or not_built",
    "test_gradients.py": "on_a_gpu",
    "test_layouts.py": "one_row or gigabytes",  # addresses, and more memory than a test should take
    "test_statics.py": "not_built",
    "test_tape.py": "streams or graph or capture or bound or pieces or torch or tensor",
}
FILES = [
    "atomics",
    "blocks",
    "clusters",
    "composites",
    "conversions",
    "cooperating",
    "every_adjoint",
    "flow",
    "functions",
    "generics",
    "gradients",
    "layouts",
    "rotations",
]


@pytest.mark.parametrize("name", [*FILES, "scalars", "stated", "statics", "structs", "tables", "tape"])
def test_as_on_a_gpu(name: str) -> None:
    run(name)


@pytest.mark.parametrize("name", ["flow", "functions", "generics", "gradients", "rotations", "structs"])
def test_adjoints_as_on_a_gpu(name: str, tmp_path: Path) -> None:
    """That every adjoint runs: what is held against the simulator here is the simulator."""
    run(name, KBUILD_SHADOW_ADJOINTS=str(tmp_path / "adjoints.json"))
    found = json.loads((tmp_path / "adjoints.json").read_text(encoding="utf-8"))
    assert not found["differ"]
    assert found["launches"]["exact"]
    assert not [reason for reason in found["not tried"] if "has no gradient" not in reason and "both" not in reason]


def run(name: str, **more: str) -> None:
    file = f"test_{name}.py"
    skipped = ["-k", f"not ({ELSEWHERE[file]})"] if file in ELSEWHERE else []
    settings = {"KBUILD_DEVICE": "sim", "KBUILD_SIM": "divisions=off", "PYTHONPATH": PROJECTS, **more}
    command = [sys.executable, "-m", "pytest", f"tests/gpu/{file}", "-q", "-p", "no:cacheprovider", *skipped]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout
