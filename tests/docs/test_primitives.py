"""The calls of docs/primitives.md give what the page says, and its table has every function and type."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import kbuild as kb
from kbuild.primitives import NAMES, casting, functions, reducing, scanning
from tests.helpers.whole_arrays import Compiled, on_this_machine

PAGE = (Path(__file__).parents[2] / "docs" / "primitives.md").read_text(encoding="utf-8")


def test_the_calls_of_the_page(tmp_path: Path) -> None:
    names: dict[str, Any] = {"kb": kb}
    with on_this_machine(Compiled(tmp_path)):
        for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
            exec(text, names)
        assert names["starts"].tolist() == [0, 2, 2, 5]
        assert names["values"].tolist()[:3] == [1, 2, 0]
        assert (names["count"], names["runs"].tolist()[:3], names["lengths"].tolist()[:3]) == (3, [1, 2, 3], [3, 2, 1])
        assert (names["total"], names["product"]) == (kb.vec3(100.0, 100.0, 100.0), 300.0)


def test_the_table() -> None:
    rows = {row.group(1): row.group(2) for row in re.finditer(r"^\| `(\w+)\(.*\| (.*) \|$", PAGE, re.MULTILINE)}
    assert sorted(rows) == sorted(NAMES)
    types = {
        "array_scan": scanning.TYPES,
        "radix_sort_pairs": functions._KEYS,
        "array_sum": reducing.TYPES,
        "array_inner": reducing.TYPES,
        "array_cast": casting.TYPES,
    }
    for name, wanted in types.items():
        assert ", ".join(wanted) in rows[name]
