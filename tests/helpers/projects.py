"""Small projects with kernels, written into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

KERNELS = """\
import kbuild as kb


@kb.kernel
def scale(data: kb.array(dtype=float), factor: float):
    i = kb.tid()
    data[i] = data[i] * factor
"""

BROKEN_KERNELS = """\
import kbuild as kb


@kb.kernel
def scale(data: kb.array(dtype=float), factor: float):
    i = kb.tid()
    data[i] = [factor]
"""


def pyproject(*, name: str = "thing", table: str | None = None, tail: str = "") -> str:
    """A pyproject.toml; `table` is the content of `[tool.kbuild]`, None leaves the table out."""
    if table is None:
        kbuild = ""
    else:
        kbuild = "[tool.kbuild]\n" + dedent(table)
    return (
        dedent(
            f"""\
            [build-system]
            requires = ["setuptools>=77"]
            build-backend = "setuptools.build_meta"

            [project]
            name = "{name}"
            version = "1.0"
            """
        )
        + kbuild
        + "\n"
        + dedent(tail)
    )


def table(*modules: str) -> str:
    """The lines of a `[tool.kbuild]` table for one GPU."""
    return f"modules = {list(modules)!r}\ntargets = ['sm_90']\n"


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Writes texts below a folder, and returns the folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def src_project(root: Path, *, tail: str = "", **files: str) -> Path:
    """A project with one package in `src`, `thing.kernels`."""
    return write(
        root,
        {
            "pyproject.toml": pyproject(table=table("thing.kernels"), tail=tail),
            "src/thing/__init__.py": "",
            "src/thing/kernels.py": KERNELS,
            **files,
        },
    )
