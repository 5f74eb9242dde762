"""What a person sees: the chain of calls, carets under wide letters and tabs, all errors at once, each once."""

from __future__ import annotations

import unicodedata
from pathlib import Path

from kbuild.errors import Diagnostic
from tests.helpers import kernels


def diagnostics(folder: Path, text: str) -> list[Diagnostic]:
    return kernels.diagnose(kernels.load(kernels.write(folder, text))[1])[1]


def test_the_chain_from_kernel_to_function_to_function(tmp_path: Path) -> None:
    path = kernels.write(
        tmp_path,
        """
        @kb.func
        def innermost(x: float):
            return x + missing

        @kb.func
        def between(x: float):
            y = innermost(x)
            return y

        @kb.kernel
        def outermost(a: kb.array(dtype=float)):
            a[0] = between(a[1]) + 1.0
            a[1] = innermost(a[0])
        """,
    )
    (found,) = kernels.diagnose(kernels.load(path)[1])[1]
    module = path.stem
    assert found.kernel == f"{module}:outermost"
    assert (
        found.render()
        == f"""\
{path}:5:16: error: 'missing' is not defined [KB103]
  5 |     return x + missing
    |                ^^^^^^^
  {path}:9:9: note: in {module}:innermost, called here
  {path}:14:12: note: in {module}:between, called here"""
    )


def test_each_kernel_hears_of_a_helper_that_is_wrong(tmp_path: Path) -> None:
    found = diagnostics(
        tmp_path,
        """
        @kb.func
        def helper(x: float):
            return [x]

        @kb.kernel
        def first(a: kb.array(dtype=float)):
            a[0] = helper(a[1]) + helper(a[2])

        @kb.kernel
        def second(a: kb.array(dtype=float)):
            a[0] = helper(a[1])
        """,
    )
    assert [(d.code, (d.kernel or "").rpartition(":")[2]) for d in found] == [("KB111", "first"), ("KB111", "second")]


def shown(folder: Path, line: str, indent: str = "    ") -> tuple[str, str]:
    """The excerpt of the one error of a kernel with this statement: source line and carets, after their margin."""
    (found,) = diagnostics(
        folder, f"@kb.kernel\ndef k(größe: kb.array(dtype=float), 長: float, é: float):\n{indent}{line}\n"
    )
    _, source, carets = found.render().splitlines()[:3]
    margin = source.index("|") + 2
    return source[margin:], carets[margin:]


def width(text: str) -> int:
    """Columns on a terminal."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def test_carets_stand_under_what_is_wrong(tmp_path: Path) -> None:
    for line, wrong in {
        "größe[0] = fehlt": "fehlt",
        "größe[0] = 長 + fehlt": "fehlt",
        "größe[0] = 長 + 無い + 1.0": "無い",
        "é = é + fehlt  # ü 長": "fehlt",
        "e\N{COMBINING ACUTE ACCENT} = 長 * fehlt": "fehlt",
        "größe['ü長'] = 1.0": "größe['ü長']",
    }.items():
        source, carets = shown(tmp_path, line)
        start = source.index(wrong)
        assert carets == " " * width(source[:start]) + "^" * width(wrong), line


def test_carets_after_tabs(tmp_path: Path) -> None:
    source, carets = shown(tmp_path, "if 長 > 0.0:\n\t\tgröße[0] =\t長 *\tfehlt", "\t")
    prefix = source[: source.index("fehlt")]
    assert carets.count("\t") == prefix.count("\t") == 4
    assert carets.replace("\t", "").rstrip("^") == " " * width(prefix.replace("\t", ""))
    assert carets.endswith("^" * 5)


def test_an_expression_over_several_lines_shows_its_first(tmp_path: Path) -> None:
    (found,) = diagnostics(
        tmp_path, "@kb.kernel\ndef k(a: kb.array(dtype=float)):\n    a[0] = [\n        1.0,\n    ]\n"
    )
    assert found.render().splitlines()[1:3] == ["  4 |     a[0] = [", "    |            ^"]


def test_a_file_with_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "case_latin.py"
    text = "# coding: latin-1\nimport kbuild as kb\n\n@kb.kernel\ndef k(ä: kb.array(dtype=float)):\n    ä[0] = fehlt\n"
    path.write_bytes(text.encode("latin-1"))
    (found,) = kernels.diagnose(kernels.load(path)[1])[1]
    assert found.span is not None
    assert (found.span.line, found.span.column, found.span.end_column) == (6, 12, 17)


def test_form_feeds_and_odd_line_ends(tmp_path: Path) -> None:
    lines = [
        "import kbuild as kb",
        "\x0c",
        "x = '\u2028'",
        "@kb.kernel",
        "def k(a: kb.array(dtype=float)):",
        "    a[0] = fehlt",
        "",
    ]
    text = "\r\n".join(lines)
    path = tmp_path / "case_odd.py"
    path.write_bytes(text.encode())
    (found,) = kernels.diagnose(kernels.load(path)[1])[1]
    assert found.span is not None
    assert (found.span.line, found.span.column) == (6, 12)


def test_decorators_of_any_shape(tmp_path: Path) -> None:
    text = """
        from functools import partial

        fused = partial(kb.kernel, fmad=True)

        @fused
        def first(a: kb.array(dtype=float)): a[0] = 1.0

        @kb.kernel(
            fmad=False,
        )
        def second(
            a: kb.array(dtype=float),
        ):
            a[0] = 2.0

        def plain(a: kb.array(dtype=float)):
            a[0] = 3.0

        third = kb.kernel(plain)

        class Holder:
            @kb.kernel
            def inside(a: kb.array(dtype=float)):
                a[0] = 4.0

        if True:
            @kb.kernel
            def conditional(a: kb.array(dtype=float)):
                a[0] = 5.0
    """
    names = [kernel.name.partition(":")[2] for kernel in kernels.lower_text(tmp_path, text)]
    assert names == ["Holder.inside", "conditional", "first", "plain", "second"]


def test_a_file_that_changed_since_import(tmp_path: Path) -> None:
    path = kernels.write(tmp_path, "@kb.kernel\ndef k(a: kb.array(dtype=float)):\n    a[0] = 1.0\n")
    _, declared = kernels.load(path)
    path.write_text("\n\n\n" + path.read_text())
    (found,) = kernels.diagnose(declared)[1]
    assert found.code == "KB100"
    assert "changed since import" in found.message


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    path = kernels.write(tmp_path, "@kb.kernel\ndef k(a: kb.array(dtype=float)):\n    a[0] = 1.0\n")
    _, declared = kernels.load(path)
    path.unlink()
    (found,) = kernels.diagnose(declared)[1]
    assert found.code == "KB100"
    assert str(path) in found.message
