"""Small packages with kernel modules, and scans of them in the real fresh process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbuild.scan.client import Scanner
from kbuild.scan.data import Request, Scanned
from tests.helpers.projects import write

Scan = Callable[..., Scanned]


def kernels(*names: str, head: str = "") -> str:
    """A module with kernels of these names."""
    made = "".join(f"\n\n@kb.kernel\ndef {name}(a: kb.array(dtype=float)):\n    a[0] = 1.0\n" for name in names)
    return f"import kbuild as kb\n{head}\n{made}"


def request_for(root: Path, *modules: str, **options: Any) -> Request:
    return replace(Request([str(root)], list(modules), [], True, False, False), **options)


@pytest.fixture
def scan(tmp_path: Path) -> Scan:
    """`scan({"pkg.kernels": text}, …)`: the packages are written and the modules scanned, all of them or `modules`."""

    def run(files: dict[str, str], *, modules: tuple[str, ...] | None = None, **options: Any) -> Scanned:
        for name, text in files.items():
            path = tmp_path.joinpath(*name.split("."))
            for parent in [p for p in path.parents if tmp_path in p.parents]:
                write(parent, {} if (parent / "__init__.py").exists() else {"__init__.py": ""})
            write(path.parent, {path.name + ".py": text})
        with Scanner(request_for(tmp_path, *(modules or files), **options)) as scanner:
            return scanner.scan()

    return run
