"""Asserts the whole way: off by default; named by function and number in the code, by line in the manifest alone."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbuild import config as configuration
from kbuild.loader import bundle as bundles
from kbuild.loader.bundle import Bundle
from kbuild.pipeline import BuildResult, build, emit
from tests.helpers.building import Kbuild, project

pytestmark = pytest.mark.nvrtc

KERNELS = """\
import kbuild as kb
from thing.shared import root


@kb.kernel
def first(a: kb.array(dtype=float)):
    i = kb.tid()
    a[i] = root(a[i])
    assert a[i] < 100.0, "too lärge"


@kb.kernel
def second(a: kb.array(dtype=float)):
    a[0] = root(a[1])


@kb.kernel(asserts={own})
def third(a: kb.array(dtype=float)):
    assert a[0] != a[1]
    a[0] = 1.0
"""
SHARED = """\
import kbuild as kb


@kb.func
def root(x: float) -> float:
    assert x >= 0.0  # real numbers alone
    return kb.sqrt(x)
"""


def make(folder: Path, *, asserts: str = "", own: bool = True, **edits: str) -> Path:
    table = "backward = false\n" + (f"asserts = {asserts}\n" if asserts else "")
    texts = {"kernels": KERNELS.replace("{own}", str(own)), "shared": SHARED, **edits}
    return project(
        folder, texts["kernels"], targets=("sm_90", "jetson-orin-jp6"), table=table, thing__shared=texts["shared"]
    )


def built(folder: Path, **options: Any) -> tuple[BuildResult, Bundle]:
    config = configuration.load(make(folder, **options))
    assert config is not None
    result = build(config)
    return result, bundles.open(str(result.bundles[0].path))


def code(bundle: Bundle) -> dict[tuple[str, str], bytes]:
    return {(row["unit"], row["target"]): bundle.parsed.blob(row["blob"]) for row in bundle.manifest["cubins"]}


def test_off_but_where_a_kernel_asks(tmp_path: Path) -> None:
    _, bundle = built(tmp_path)
    assert {unit for unit, _ in code(bundle)} == {"thing.kernels", "thing.kernels#asserts"}
    for (unit, target), cubin in code(bundle).items():
        assert (b"__assertfail" in cubin) == (b"thing.kernels:third\0" in cubin) == unit.endswith("#asserts"), target
    (row,) = bundle.manifest["asserts"]
    names = [kernel["name"] for kernel in bundle.manifest["kernels"]]
    assert row == {
        "function": "thing.kernels:third",
        "number": 1,
        "line": 19,
        "text": "assert a[0] != a[1]",
        "kernels": [names.index("thing.kernels:third")],
    }
    bundle.verify()


def test_on_but_where_a_kernel_does_not_want(tmp_path: Path) -> None:
    _, bundle = built(tmp_path, asserts="true", own=False)
    assert {unit for unit, _ in code(bundle)} == {"thing.kernels", "thing.kernels#noasserts"}
    for (unit, _), cubin in code(bundle).items():
        assert (b"__assertfail" in cubin) == (unit == "thing.kernels")
    rows = [(r["function"], r["number"], r["line"], r["text"], r["kernels"]) for r in bundle.manifest["asserts"]]
    assert rows == [
        ("thing.kernels:first", 1, 9, "assert a[i] < 100.0, 'too l\\xe4rge'", [0]),
        ("thing.shared:root", 1, 6, "assert x >= 0.0", [0, 1]),
    ]


def test_without_asserts_the_manifest_says_nothing_of_them(tmp_path: Path) -> None:
    _, bundle = built(tmp_path, own=False)
    assert "asserts" not in bundle.manifest


def test_lines_that_move_change_neither_keys_nor_code(tmp_path: Path) -> None:
    _, before = built(tmp_path, asserts="true")
    moved = {
        "kernels": "# Moved.\n\n\n"
        + KERNELS.replace("{own}", "True").replace("\n    assert a[0]", "\n    # first\n\n    assert a[0]"),
        "shared": SHARED.replace("assert x >= 0.0", "assert (\n        x   >= 0.0\n    )"),
    }
    result, after = built(tmp_path, asserts="true", **moved)
    assert (result.compiled, result.lowered) == (0, 0)
    assert code(after) == code(before)

    def lines(bundle: Bundle) -> dict[str, int]:
        return {row["function"]: row["line"] for row in bundle.manifest["asserts"]}

    assert lines(before) == {"thing.kernels:first": 9, "thing.kernels:third": 19, "thing.shared:root": 6}
    assert lines(after) == {"thing.kernels:first": 12, "thing.kernels:third": 24, "thing.shared:root": 6}


def test_moved_lines_give_the_same_code_without_a_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cold: Callable[[], None]
) -> None:
    _, before = built(tmp_path / "a", asserts="true")
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path / "other"))
    result, after = built(tmp_path / "b", asserts="true", kernels="\n\n" + KERNELS.replace("{own}", "True"))
    assert result.compiled == 2
    assert code(after) == code(before)


@pytest.mark.parametrize(
    "edit",
    [
        ("x >= 0.0", "x > 0.0"),
        ("assert x >= 0.0", "assert x >= 0.0, 'new'"),
        ("    return", "    assert x < 9.0\n    return"),
    ],
)
def test_what_an_assert_says_enters_the_key(tmp_path: Path, edit: tuple[str, str]) -> None:
    _, before = built(tmp_path, asserts="true")
    result, after = built(tmp_path, asserts="true", shared=SHARED.replace(*edit))
    assert result.compiled == 2
    assert code(after) != code(before)


OVERLOADS = """\
import kbuild as kb
from typing import Any

@kb.func
def half(x: int) -> int:
    assert x % 2 == 0
    return x // 2

@kb.func
def half(x: float) -> float:
    assert x < 1e30
    assert x > -1e30
    return x * 0.5

@kb.kernel
def k(a: kb.array(dtype=Any)):
    i = kb.tid()
    assert i < a.shape[0]
    a[i] = half(a[i])

kb.overload(k, {"a": kb.array(dtype=int)})
kb.overload(k, {"a": kb.array(dtype=float)})
"""


def test_overloads_of_one_name_count_on(tmp_path: Path) -> None:
    config = configuration.load(project(tmp_path, OVERLOADS, table="asserts = true\nbackward = false\n"))
    assert config is not None
    bundle = bundles.open(str(build(config).bundles[0].path))
    rows = [(r["function"].partition(":")[2], r["number"], r["line"], r["kernels"]) for r in bundle.manifest["asserts"]]
    assert rows == [("half", 1, 6, [0, 1]), ("half", 2, 11, [0, 1]), ("half", 3, 12, [0, 1]), ("k", 1, 18, [0, 1])]
    (text,) = (text for name, text in emit(config, "cuda"))
    for number, condition in ((1, "x % 2 == 0"), (2, "x < 1e+30"), (3, "x > -1e+30")):
        assert f'__assertfail("{condition}", "thing.kernels:half", {number}u, "half", 1)' in text


def test_the_option_enters_the_key(tmp_path: Path) -> None:
    """Where no kernel says anything itself, the units keep their names."""
    plain = KERNELS.replace("(asserts={own})", "")
    _, off = built(tmp_path, kernels=plain)
    result, on = built(tmp_path, kernels=plain, asserts="true")
    assert result.compiled == 2
    assert code(off).keys() == code(on).keys()
    assert all(b"__assertfail" in cubin for cubin in code(on).values())
    assert not any(b"__assertfail" in cubin for cubin in code(off).values())


def test_turning_them_on_and_off_again(tmp_path: Path) -> None:
    _, before = built(tmp_path)
    built(tmp_path, asserts="true")
    result, after = built(tmp_path)
    assert result.compiled == 0
    assert after.digest == before.digest


def test_the_list_of_asserts(tmp_path: Path) -> None:
    """`python -m kbuild.loader asserts`: first the words that the driver prints, then the place."""
    result, _ = built(tmp_path, asserts="true")
    command = [sys.executable, "-m", "kbuild.loader", "asserts", str(result.bundles[0].path)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert lines[-2:] == [
        "thing.shared:root:1  line 6 of thing.shared: assert x >= 0.0",
        "    in thing.kernels:first, thing.kernels:second",
    ]


def test_the_self_test_skips_what_prints_or_fails(tmp_path: Path) -> None:
    kernels = """\
import kbuild as kb

@kb.kernel
def loud(a: kb.array(dtype=int)):
    a[kb.tid()] = 1
    print(a[kb.tid()])

@kb.kernel
def quiet(a: kb.array(dtype=int)):
    if a[kb.tid()] == 123456789:
        print("never")
    a[kb.tid()] = 1

@kb.kernel
def wrong(a: kb.array(dtype=int)):
    assert a[kb.tid()] == 123456789
    a[kb.tid()] = 1

@kb.kernel
def right(a: kb.array(dtype=int)):
    assert a[kb.tid()] != 123456789
    a[kb.tid()] = 1
"""
    config = configuration.load(project(tmp_path, kernels, table="selftest = true\nasserts = true\n"))
    assert config is not None
    bundle = bundles.open(str(build(config).bundles[0].path))
    tests = json.loads(bundle.parsed.blob(bundle.manifest["selftest"]["blob"]))["kernels"]
    assert tests["thing.kernels:loud"]["skipped"] == "with generated inputs: it prints"
    assert "the assertion `a[kb.tid()] == 123456789` fails" in tests["thing.kernels:wrong"]["skipped"]
    for name in ("quiet", "right"):
        assert set(tests[f"thing.kernels:{name}"]) == {"trial", "approximate", "dim", "block_dim", "changes"}


def test_the_command_line_shows_them(tmp_path: Path) -> None:
    kbuild = Kbuild(tmp_path / "cache")
    make(tmp_path / "p", asserts="true")
    text = kbuild.run("build", "--emit=ir", tmp_path / "p").stdout
    assert "assert (x >= float32(0.0)), thing.shared:root:1 'x >= 0.0'" in text
