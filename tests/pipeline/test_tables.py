"""Tables of constants in a build: their bytes in cubins, units that fit, and what a change of one compiles again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kbuild.bundle.inspection import summary
from kbuild.bundle.verification import verify
from kbuild.errors import CompileError
from kbuild.loader import format
from kbuild.pipeline import emit
from tests.helpers.projects import write
from tests.pipeline.conftest import Project

pytestmark = pytest.mark.nvrtc

# ONE and TWO take a full bank each, SMALL 12 bytes.
TEXT = """\
import kbuild as kb

SMALL = kb.constant([1, 2, 3])
ONE = kb.constant([[0.5] * 128] * 128)
TWO = kb.constant([float(i % 7) for i in range(16384)])


@kb.func
def of_one(i: int, j: int):
    return ONE[i, j]


@kb.kernel
def first(a: kb.array(dtype=float), n: int):
    a[0] = of_one(n, n) * a[1]


@kb.kernel
def again(a: kb.array(dtype=float), n: int):
    a[0] = of_one(n, 0) + a[2]


@kb.kernel
def second(a: kb.array(dtype=float), n: int):
    a[0] = TWO[n] * a[3]


@kb.kernel
def small(a: kb.array(dtype=int), n: int):
    a[0] = SMALL[n] + SMALL[1]


@kb.kernel
def none(a: kb.array(dtype=int)):
    a[0] = SMALL[1] + len(TWO)
"""


@pytest.fixture
def tables(make_project: Callable[..., Project]) -> Project:
    project = make_project("tables", modules=["pkg.tables"])
    write(project.root, {"pkg/tables.py": TEXT})
    return project


def _cubins(project: Project, target: str = "sm_90") -> dict[frozenset[str], int]:
    parsed = format.parse(project.bundle.read_bytes())
    assert verify(parsed) == []
    return {
        frozenset(name.partition(":")[2] for name in row["kernels"]): row.get("constants", 0)
        for row in summary(parsed)["cubins"]
        if row["target"] == target
    }


def test_units_that_fit_and_what_is_compiled_again(tables: Project) -> None:
    first = tables.build()
    for target in first.targets:
        assert _cubins(tables, target) == {
            frozenset({"first", "again"}): 65536,
            frozenset({"second"}): 65536,
            frozenset({"small"}): 12,
            frozenset({"none"}): 0,
        }
    tables.edit("tables.py", "[0.5] * 128", "[0.75] * 128")
    assert tables.build().compiled == len(first.targets), "one unit for each target"
    assert tables.build().compiled == 0


def test_tables_that_fit_share_a_unit(tables: Project) -> None:
    tables.edit("tables.py", "[[0.5] * 128] * 128", "[[0.5] * 128] * 2")
    tables.edit("tables.py", "range(16384)", "range(1000)")
    tables.build()
    (one,) = _cubins(tables).items()
    assert one == (frozenset({"first", "again", "second", "small", "none"}), 12 + 4 + 1024 + 4000 - 4)


def test_adjoints_read_tables_too(make_project: Callable[..., Project]) -> None:
    project = make_project("adjoints", modules=["pkg.tables"], backward=True)
    write(project.root, {"pkg/tables.py": TEXT})
    project.build()
    found = _cubins(project)
    assert found[frozenset({"first:adjoint", "again:adjoint"})] == 65536
    assert found[frozenset({"small:adjoint"})] == 0
    (cuda,) = (text for name, text in emit(project.config, "cuda", kernel="second:adjoint") if name.endswith(".cu"))
    assert "__constant__" in str(cuda)
    assert "adj_a" in str(cuda)


def test_too_much_for_one_kernel_is_refused_with_the_sizes(tables: Project) -> None:
    tables.edit("tables.py", "of_one(n, n) * a[1]", "of_one(n, n) * TWO[n]")
    with pytest.raises(CompileError) as caught:
        tables.build()
    (found,) = caught.value.diagnostics
    assert (found.code, found.kernel) == ("KB199", "pkg.tables:first")
    assert "131072 bytes together (ONE 65536, TWO 65536), and constant memory has 65536" in found.message
    assert [note.message for note in found.notes] == [
        "ONE takes 65536 bytes: constant[float32, 128, 128]",
        "TWO takes 65536 bytes: constant[float32, 16384]",
    ]


def test_a_manifest_that_lies_about_its_constants(tables: Project) -> None:
    tables.build()
    parsed = format.parse(tables.bundle.read_bytes())
    row = next(row for row in parsed.manifest["cubins"] if row.get("constants") == 12)
    row["constants"] = 16
    assert [str(problem).partition(": ")[2] for problem in verify(parsed)] == [
        "it has 12 bytes of constants, but the manifest says 16"
    ]


def test_the_python_stage_has_the_tables(tables: Project) -> None:
    texts = dict(emit(tables.config, "python", kernel="small"))
    (text,) = texts.values()
    assert "SMALL = kb.constant([1, 2, 3], dtype=kb.int32)" in str(text)
