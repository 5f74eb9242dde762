"""How much of the loader a start reads: what opens a bundle and launches, counted in a fresh process."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

from tests.helpers.fake_cuda import code, cubin_row, format, kernel_rows, make_manifest

ROOT = Path(__file__).parents[2]
NOTE = ROOT / "docs" / "design" / "launching.md"
# Lines of code: without comments, docstrings and blank lines. The note says why no fewer.
LIMIT_WITH_NUMBERS, LIMIT_WITH_AN_ARRAY = 1978, 2152

SCALARS, ARRAY = "p.kernels:scalars", "p.kernels:array"

# A program that has no kernels of its own in Python: it opens a bundle and launches, the third time the quick way.
PROGRAM = """
import sys
from kbuild import loader
from kbuild.loader import driver

path, library, wants_array = sys.argv[1:]
driver.LIBRARIES = (library,)
bundle = loader.open(path)
for _ in range(3):
    bundle["p.kernels:scalars"].launch(1000, (1.5, 2))

class Theirs:
    def __init__(self, address):
        self.__cuda_array_interface__ = {
            "shape": (8,), "typestr": "<f4", "data": (address, False), "version": 3, "stream": 1
        }

if wants_array == "True":
    array = Theirs(driver.get().query("cuMemAlloc_v2", 32))
    for _ in range(3):
        bundle["p.kernels:array"].launch(8, (array, 2))

ahead = sys.modules.get("kbuild.loader.ahead")
if ahead is not None:
    ahead._finish()  # what its thread imports counts
for name, module in list(sys.modules.items()):
    if name.partition(".")[0] == "kbuild":
        print(name, module.__file__)
"""


def lines_of_code(text: str) -> int:
    """Lines that hold a token of the program: no comments, no docstrings."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            documented.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    no_code = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    counted: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in no_code:
            counted.update(range(token.start[0], token.end[0] + 1))
    return len(counted - documented)


def write_bundle(path: Path) -> None:
    """Two kernels, as a wheel has them: with what is said of their adjoints."""
    kernels = [
        kernel_rows(SCALARS, [("x", "float32"), ("n", "int32")], 1, {}, 256),
        kernel_rows(ARRAY, [("a", "array1[float32]"), ("n", "int32")], 1, {}, 256),
    ]
    for kernel in kernels:
        kernel["backward"] = {"refused": "it stores nothing that a gradient could come from", "line": 7}
    manifest = make_manifest(kernels, [cubin_row("sm_90", [0, 1], 0)])
    path.write_bytes(format.dump(manifest, [code(kernels)]))


def modules_of_a_start(folder: Path, library: Path, wants_array: bool) -> dict[str, Path]:
    """The modules of kbuild's that the program imports, by name."""
    bundle = folder / "p.kbundle"
    write_bundle(bundle)
    program = [sys.executable, "-S", "-c", PROGRAM, str(bundle), str(library), str(wants_array)]
    environment = {"PYTHONPATH": str(ROOT), "FAKE_DEVICES": "9.0", "FAKE_DRIVER": "13000"}
    done = subprocess.run(program, env=environment, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {name: Path(path) for name, _, path in (line.partition(" ") for line in done.stdout.splitlines())}


@pytest.mark.parametrize(
    ("wants_array", "limit"), [(False, LIMIT_WITH_NUMBERS), (True, LIMIT_WITH_AN_ARRAY)], ids=["numbers", "an array"]
)
def test_a_start_reads_so_many_lines(tmp_path: Path, fake_library: Path, wants_array: bool, limit: int) -> None:
    found = modules_of_a_start(tmp_path, fake_library, wants_array)
    sizes = {name: lines_of_code(path.read_text(encoding="utf-8")) for name, path in found.items()}
    total = sum(sizes.values())
    table = ["%5d  %s" % (sizes[name], name) for name in sorted(sizes)]
    print("\n".join([*table, "%5d  lines in %d modules, of at most %d" % (total, len(sizes), limit)]))
    assert total <= limit


def test_the_note_lists_what_a_start_reads(tmp_path: Path, fake_library: Path) -> None:
    _, _, rest = NOTE.read_text(encoding="utf-8").partition("in this order they are the whole way:")
    listed = re.findall(r"`([\w.]+)`", rest.partition("Everything else waits")[0])
    names = [name if name.startswith("kbuild") else "kbuild.loader." + name for name in listed]
    assert sorted(names) == sorted(modules_of_a_start(tmp_path, fake_library, True))


def test_lines_are_counted_without_words() -> None:
    text = '"""A module.\n\nOf words.\n"""\n\nx = 1  # one\n\ndef f():\n    """Words."""\n    return """a\nb"""\n'
    assert lines_of_code(text) == 4


@pytest.mark.parametrize("first", ["array", "types", "bundle"])
def test_the_rest_is_got_ready_for_programs_that_will_want_it(tmp_path: Path, fake_library: Path, first: str) -> None:
    program = """
import sys
__import__("kbuild.loader." + sys.argv[1])
from kbuild.loader import driver
driver.LIBRARIES = (sys.argv[2],)
driver.get()
ahead = sys.modules.get("kbuild.loader.ahead")
if ahead is not None:
    ahead._finish()
print("kbuild.loader.memory.allocation" in sys.modules)
"""
    environment = {"PYTHONPATH": str(ROOT), "FAKE_DEVICES": "9.0", "FAKE_DRIVER": "13000"}
    command = [sys.executable, "-S", "-c", program, first, str(fake_library)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "%s\n" % (first != "bundle")), done.stderr
