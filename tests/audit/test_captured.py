"""Captured data that changes later, found in the text of modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.audit.captured import Captures
from kbuild.audit.text import text_of
from tests.helpers.audits import findings

KERNEL = """
@kb.kernel
def kernel(a: kb.array(dtype=float)):
    i = kb.tid()
    a[i] = a[i] * {name}
"""

BAD = {
    "a global": ("GAIN = 2.0\n\n\ndef louder():\n    global GAIN\n    GAIN = 3.0\n", "GAIN", "it is assigned here"),
    "by addition": ("GAIN = 2.0\n\n\ndef louder():\n    global GAIN\n    GAIN += 1.0\n", "GAIN", "it is assigned here"),
    "an attribute": (
        "class Config:\n    pass\n\n\ncfg = Config()\ncfg.gain = 2.0\n\n\ndef louder():\n    cfg.gain = 3.0\n",
        "kb.static(cfg.gain)",
        "it is assigned here",
    ),
    "a list of a table": (
        "DATA = [1.0, 2.0]\nTABLE = kb.constant(DATA)\n\n\ndef louder():\n    DATA[0] = 3.0\n",
        "TABLE[0]",
        "'DATA', which the table is a copy of, changes here",
    ),
    "a list that grows": ("DATA = [1.0]\nTABLE = kb.constant(DATA)\nDATA.append(2.0)\n", "TABLE[0]", "changes here"),
}
GOOD = {
    "never": ("GAIN = 2.0\n", "GAIN"),
    "while it is imported": ("GAIN = 2.0\nGAIN = 3.0\n", "GAIN"),
    "another of that name": ("GAIN = 2.0\n\n\ndef louder():\n    GAIN = 3.0\n    return GAIN\n", "GAIN"),
    "its own attribute": (
        "class Config:\n    gain = 2.0\n\n\ncfg = Config\n\n\ndef louder(cfg):\n    cfg.gain = 3.0\n",
        "kb.static(cfg.gain)",
    ),
    "before the table": ("DATA = [1.0]\nDATA.append(2.0)\nTABLE = kb.constant(DATA)\n", "TABLE[0]"),
    "another list": ("DATA = [1.0]\nTABLE = kb.constant(DATA)\nMORE = []\nMORE.append(2.0)\n", "TABLE[0]"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_changes(tmp_path: Path, name: str) -> None:
    head, value, note = BAD[name]
    (one,) = findings(tmp_path, head + KERNEL.format(name=value), "source")
    assert (one.code, one.verdict) == ("KB412", "found")
    assert one.span is not None
    lines = text_of(one.span.path).lines  # type: ignore[union-attr]
    assert "a[i] = a[i] *" in lines[one.span.line - 1]
    (said,) = one.notes
    assert note in said.message
    assert said.span is not None
    assert any(word in lines[said.span.line - 1] for word in ("GAIN", "cfg.gain", "DATA"))


@pytest.mark.parametrize("name", GOOD)
def test_what_does_not(tmp_path: Path, name: str) -> None:
    head, value = GOOD[name]
    assert findings(tmp_path, head + KERNEL.format(name=value), "source") == []


FACTORY = """
def make(gain):
    @kb.kernel
    def kernel(a: kb.array(dtype=float)):
        a[0] = a[0] * gain

    {}
    return kernel


made = make(2.0)
"""


def test_a_factory(tmp_path: Path) -> None:
    louder = "def louder():\n        nonlocal gain\n        gain = 3.0\n"
    (one,) = findings(tmp_path, FACTORY.format(louder), "source")
    assert (one.code, one.subject) == ("KB412", "gain")
    assert findings(tmp_path, FACTORY.format("pass"), "source") == []


def test_another_module(tmp_path: Path) -> None:
    """A module that sets what a kernel of another one captures, by whatever name it knows it."""
    (tmp_path / "kernels.py").write_text("import kbuild as kb\n\nGAIN = 2.0\n" + KERNEL.format(name="GAIN"))
    others = {
        "app.main": "import app.kernels as k\n\n\ndef run():\n    k.GAIN = 3.0\n",
        "app.quiet": "import app.other as k\n\n\ndef run():\n    k.GAIN = 3.0\n",
        "app.early": "from app import kernels\n\nkernels.GAIN = 3.0\n",
        "app.beside": "from . import kernels as k\n\n\ndef run():\n    k.GAIN = 3.0\n",
        "app.below.deep": "from .. import kernels\n\n\ndef run():\n    kernels.GAIN = 3.0\n",
        "app.below.wrong": "from . import kernels\n\n\ndef run():\n    kernels.GAIN = 3.0\n",
        "app.from": "from app import kernels\n\n\ndef run():\n    kernels.GAIN = 3.0\n",
    }
    paths = {"app.kernels": str(tmp_path / "kernels.py")}
    for name, text in others.items():
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        paths[name] = str(path)
    text = text_of(paths["app.kernels"])
    assert text is not None
    place = text.span(next(node for node in text.tree.body if getattr(node, "name", "") == "kernel"))
    bad = ("app.main", "app.from", "app.beside", "app.below.deep")
    for name in others:
        captures = Captures({one: paths[one] for one in ("app.kernels", name)})
        found, count = captures.changing("app.kernels:kernel", [place])
        assert count == 2  # GAIN and kb.tid
        assert [one.code for one in found] == (["KB412"] if name in bad else [])


@pytest.mark.parametrize(
    "line",
    ["k.GAIN = 3.0", "k.GAIN += 1.0", "k.GAIN: float = 3.0", "k.GAIN, x = 3.0, 1.0", "x = k.GAIN = 3.0",
     "k.GAIN = (\n        3.0)", "x, k.GAIN = 1.0, 3.0", "k.GAIN **= 2.0"],
)  # fmt: skip
def test_every_way_to_assign_in_another_module(tmp_path: Path, line: str) -> None:
    (tmp_path / "kernels.py").write_text("import kbuild as kb\n\nGAIN = 2.0\n" + KERNEL.format(name="GAIN"))
    (tmp_path / "main.py").write_text(f"import app.kernels as k\n\n\ndef run():\n    {line}\n")
    text = text_of(str(tmp_path / "kernels.py"))
    assert text is not None
    place = text.span(next(node for node in text.tree.body if getattr(node, "name", "") == "kernel"))
    captures = Captures({"app.kernels": text.path, "app.main": str(tmp_path / "main.py")})
    assert [one.code for one in captures.changing("app.kernels:kernel", [place])[0]] == ["KB412"]
