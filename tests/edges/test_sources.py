"""Source files as editors and machines leave them: the build is the same, and carets stand under what is meant."""

from __future__ import annotations

import io
import tokenize
import unicodedata
from pathlib import Path

import pytest

from kbuild import config, pipeline
from kbuild.errors import ExitCode
from kbuild.loader import format
from tests.helpers import building
from tests.helpers.building import Kbuild
from tests.helpers.situations import happens

SECTION = "Sources"

RIGHT = """\
import kbuild as kb

größe = 2.0


@kb.kernel
def scale(data: kb.array(dtype=float), naïve: float):
    i = kb.tid()
    if naïve > 0.0:
        data[i] = data[i] * naïve * größe
"""
FAULT = "größe - missing"
WRONG = RIGHT.replace("größe\n", FAULT + "\n").replace("größe = 2.0", "größe = 2.0  # naïve")

# How the text becomes the bytes of a file.
KINDS = {
    "UTF-8": lambda text: text.encode(),
    "UTF-8 with a byte order mark": lambda text: text.encode("utf-8-sig"),
    "UTF-8 by cookie and mark": lambda text: ("# -*- coding: utf-8 -*-\n" + text).encode("utf-8-sig"),
    "Latin-1 by cookie": lambda text: ("# -*- coding: latin-1 -*-\n" + text).encode("latin-1"),
    "Latin-9 by a cookie in line 2": lambda text: ("#!py\n# vim: fileencoding=l9\n" + text).encode("iso8859-15"),
    "Windows-1252 with CRLF": lambda text: ("# coding: cp1252\n" + text).replace("\n", "\r\n").encode("cp1252"),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "CRLF with a byte order mark": lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
    "CR alone": lambda text: text.replace("\n", "\r").encode(),
    "CRLF, CR and LF mixed": lambda text: text.replace("\n", "\r\n", 3).replace("\n    if", "\r    if").encode(),
    "tabs": lambda text: text.replace("    ", "\t").encode(),
    "a form feed in a line of its own": lambda text: text.replace("\n\n@", "\n\f\n@").encode(),
    "form feeds in comments": lambda text: ("# \f one\f\n# \v \x1c \x85 two\n" + text).encode(),
    "line separators in comments": lambda text: ("# one \u2028 line \u2029 for Python\n" + text).encode(),
    "no newline at the end": lambda text: text.rstrip("\n").encode(),
    "continued lines": lambda text: text.replace(" = data[i] ", " = \\\n  data[i] ").encode(),
    "decomposed letters": lambda text: unicodedata.normalize("NFD", text).encode(),
    "compatibility letters": lambda text: text.replace("naïve", "ｎaïve").replace("missing", "ｍiſſing").encode(),
}


@pytest.fixture(scope="module")
def plain(warm_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBUILD_CACHE", str(warm_cache))
        return digest_of(building.project(tmp_path_factory.mktemp("plain"), RIGHT))


def digest_of(project: Path) -> str:
    return pipeline.build(config.require(project)).bundles[0].digest


@happens(
    SECTION,
    "a source file has a byte order mark, an encoding cookie, CRLF or CR, tabs, form feeds, or identifiers outside "
    "ASCII (which Python normalises)",
    "The bundle is the same as from plain UTF-8 (same digest).",
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_build_is_the_same(
    warm_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, plain: str, kind: str
) -> None:
    monkeypatch.setenv("KBUILD_CACHE", str(warm_cache))
    assert digest_of(building.project(tmp_path, KINDS[kind](RIGHT))) == plain


@happens(SECTION, "a kernel in such a file has an error", "Line, column and carets are right in characters.")
@pytest.mark.parametrize("kind", KINDS)
def test_carets_stand_right(tmp_path: Path, kind: str) -> None:
    data = KINDS[kind](WRONG)
    project = building.project(tmp_path, data)
    (found,) = pipeline.check(config.require(project)).diagnostics
    number, line = next((n, line) for n, line in enumerate(as_python_reads(data), start=1) if fault_in(line))
    assert found.span is not None
    assert (found.code, found.span.line, found.span.column) == ("KB103", number, line.index(fault_in(line)) + 1)
    assert "missing" in found.message
    text, carets = (shown.partition("| ")[2] for shown in found.render().split("\n")[1:3])
    assert text == line
    assert marked(text, carets) == fault_in(line)


def as_python_reads(data: bytes) -> list[str]:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline=None).read().split("\n")


def fault_in(line: str) -> str:
    """The undefined name, as the file spells it."""
    return next((word for word in ("missing", "ｍiſſing") if f"- {word}" in line), "")


def marked(text: str, carets: str) -> str:
    """The characters of a line that carets in a fixed-width font stand under."""
    column, under = 0, ""
    for character in text:
        width = 0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if "^" in carets[column : column + width]:
            under += character
        column += width
    return under


NOT_TEXT = [
    (b"x = 'caf\xe9'\n", "SyntaxError", "utf-8"),
    (b"# coding: klingon\n", "SyntaxError", "klingon"),
    (b"# coding: utf-16\n", "SyntaxError", "utf-16"),
    (b"x = '\0'\n", "SyntaxError", "null bytes"),
    ("x = 1\n".encode("utf-16"), "SyntaxError", ""),
    (b"def broken(:\n", "SyntaxError", "invalid syntax"),
    (b"if True:\n\tx = 1\n        y = 2\n", "TabError", ""),
]


@happens(SECTION, "a source file is not in its encoding, or not Python", "An error [KB201] with Python's own words.")
@pytest.mark.parametrize(("head", "kind", "words"), NOT_TEXT)
def test_what_is_no_source(kbuild: Kbuild, tmp_path: Path, head: bytes, kind: str, words: str) -> None:
    project = building.project(tmp_path, head + RIGHT.encode())
    done = kbuild.run("check", project, status=ExitCode.KERNELS)
    assert f"module thing.kernels cannot be imported: {kind}" in done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


TWICE = """\
import kbuild as kb

@kb.kernel
def twice(data: kb.array(dtype=float)):
    data[0] = 1.0

first = twice

@kb.kernel
def twice(data: kb.array(dtype=float)):
    data[0] = 2.0
"""


@happens(
    SECTION,
    "two kernels of one module have the same name and capture the same values",
    "An error [KB205] at the second, with a note at the first: a launch could not tell them apart.",
)
def test_two_definitions_of_one_identity(kbuild: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path, TWICE)
    for command in ("check", "build"):
        text = kbuild.run(command, project, status=ExitCode.KERNELS).stderr
        assert f"{project}/thing/kernels.py:10:1: error: two kernels are called thing.kernels:twice" in text
        assert f"{project}/thing/kernels.py:4:1: note: the other definition" in text
        assert "help: rename one of them" in text


def test_modules_and_kernels_with_names_outside_ascii(kbuild: Kbuild, tmp_path: Path) -> None:
    project = building.project(tmp_path, RIGHT.replace("scale", "größer"), thing__größe=RIGHT)
    (project / "pyproject.toml").write_text(
        "[tool.kbuild]\nmodules = ['thing.*']\ntargets = ['sm_90']\nline-info = true\n"
    )
    kbuild.run("build", project)
    parsed = format.parse((project / building.BUNDLE).read_bytes())
    names = ["thing.größe:scale", "thing.kernels:größer"]
    assert [row["name"] for row in parsed.manifest["kernels"]] == [*names, *(f"{name}:adjoint" for name in names)]
    assert "right, 4 cubins" in kbuild.run("verify", project).stdout


def test_a_folder_with_a_strange_name(kbuild: Kbuild, tmp_path: Path, plain: str) -> None:
    """Blanks, quotes, a newline, bytes that are no UTF-8: the name is in messages and nowhere else."""
    folder = tmp_path / 'a "b" \\ \n $HOME ü \udcff'
    project = building.project(folder, RIGHT)
    kbuild.run("build", project)
    assert format.parse((project / building.BUNDLE).read_bytes()).digest == plain
    (project / "thing" / "kernels.py").write_bytes(WRONG.encode())
    assert "[KB103]" in kbuild.run("build", project, status=ExitCode.KERNELS).stderr
