"""The generated kernels cover kbuild's tables, and are what generate.py writes. Needs no GPU."""

import importlib.util
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 10), reason="the compiler's tables want Python 3.10")

PROJECT = Path(__file__).parent / "project"


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("gpukernels_generate", PROJECT / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_modules_are_what_the_generator_writes(generate):
    for name, text in generate.texts().items():
        written = (PROJECT / "src" / "gpukernels" / name).read_text(encoding="utf-8")
        assert written == text, "run python tests/gpu/project/generate.py"


def test_every_intrinsic_is_in_some_kernel(generate):
    text = "".join(path.read_text(encoding="utf-8") for path in generate.FOLDER.glob("*.py"))
    names = {*generate.ROWS, *generate.FUNCTIONS, *generate.OVERLOADS} - generate.TRIED_ELSEWHERE
    missing = [name for name in names if "kb.%s(" % name not in text]
    assert missing == []


def test_every_type_of_every_intrinsic_is_in_some_kernel(generate):
    """A scalar function of numbers stands in a kernel of each number type that its row lists, and so on."""
    texts = generate.texts()
    by_hand = (PROJECT / "src" / "gpukernels" / "cooperating.py").read_text(encoding="utf-8")
    for row in generate.ROWS.values():
        for type in row.cuda:
            if row.is_collective:  # those of one type alone are in `votes`
                kernel = "shuffled" if row.name.startswith("shfl") else "matched" if len(row.cuda) > 1 else "votes"
                assert "def %s(" % ("_".join([kernel, type] if len(row.cuda) > 1 else [kernel])) in by_hand
                assert "kb.%s(" % row.name in by_hand
                continue
            kernels = [part for text in texts.values() for part in text.split("@kb.kernel") if "_%s(" % type in part]
            assert any("kb.%s(" % row.name in part for part in kernels), (row.name, type)
