"""What a file includes: which files are read, under which names, and what the compiler is left with."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbuild.cuda.includes import Roots, read
from kbuild.errors import CompileError
from tests.helpers.projects import write


def closure(root: Path, files: dict[str, str], *include_dirs: str) -> tuple[str, dict[str, str], list[str]]:
    write(root, files)
    found = read(root / "p/a.cu", Roots(root, tuple(root / folder for folder in include_dirs)))
    assert found.name == "/kbuild/p/a.cu"
    assert len(found.paths) == len(found.headers) + 1 or "kbuild/array.cuh" in found.headers
    return found.text, found.headers, found.foreign


CASES = {
    "beside it": (
        {"p/a.cu": '#include "h.cuh"\nint x;\n', "p/h.cuh": "int h;", "inc/h.cuh": "no"},
        '#include "/kbuild/p/h.cuh"\nint x;\n',
        {"/kbuild/p/h.cuh": "int h;"},
        [],
    ),
    "angled: include folders alone": (
        {"p/a.cu": "#include <h.cuh>", "p/h.cuh": "no", "inc/h.cuh": "int h;"},
        '#include "/kbuild/inc/h.cuh"',
        {"/kbuild/inc/h.cuh": "int h;"},
        [],
    ),
    "quoted: include folders too": (
        {"p/a.cu": '  #  include"sub/h.cuh" // why', "inc/sub/h.cuh": '#include "../i.cuh"', "inc/i.cuh": ""},
        '#include "/kbuild/inc/sub/h.cuh"',
        {"/kbuild/inc/sub/h.cuh": '#include "/kbuild/inc/i.cuh"', "/kbuild/inc/i.cuh": ""},
        [],
    ),
    "what is not there": (
        {"p/a.cu": '#include <cuda_fp16.h>\n#include "gone.h"'},
        '#include <cuda_fp16.h>\n#include "gone.h"',
        {},
        ["cuda_fp16.h", "gone.h"],
    ),
    "comments and strings": (
        {
            "p/a.cu": '// #include "h.cuh"\n/* #include "h.cuh"\n#include "h.cuh"\n*/ #include "i.cuh"\n'
            'const char *s = "/*";\n#include /* so */ "i.cuh"\n"\\"// #include";\n',
            "p/h.cuh": "",
            "p/i.cuh": "",
        },
        '// #include "h.cuh"\n/* #include "h.cuh"\n#include "h.cuh"\n#include "/kbuild/p/i.cuh"\n'
        'const char *s = "/*";\n#include "/kbuild/p/i.cuh"\n"\\"// #include";\n',
        {"/kbuild/p/i.cuh": ""},
        [],
    ),
    "all branches, and itself": (
        {
            "p/a.cu": '#if X\n#include "h.cuh"\n#else\n#include "i.cuh"\n#endif',
            "p/h.cuh": '#include "h.cuh"',
            "p/i.cuh": "",
        },
        '#if X\n#include "/kbuild/p/h.cuh"\n#else\n#include "/kbuild/p/i.cuh"\n#endif',
        {"/kbuild/p/h.cuh": '#include "/kbuild/p/h.cuh"', "/kbuild/p/i.cuh": ""},
        [],
    ),
    "asked whether it is there": (
        {"p/a.cu": '#if __has_include("h.cuh") && !__has_include( <gone.h> )\n#endif', "p/h.cuh": ""},
        '#if __has_include("/kbuild/p/h.cuh") && !__has_include( <gone.h> )\n#endif',
        {"/kbuild/p/h.cuh": ""},
        ["gone.h"],
    ),
    "ends of lines": (
        {"p/a.cu": '#include "h.cuh"\r\nint x;\r\n', "p/h.cuh": ""},
        '#include "/kbuild/p/h.cuh"\nint x;\n',
        {"/kbuild/p/h.cuh": ""},
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_file(tmp_path: Path, name: str) -> None:
    files, text, headers, foreign = CASES[name]
    assert closure(tmp_path, files, "inc") == (text, headers, foreign)


def test_kbuilds_own_header(tmp_path: Path) -> None:
    _, headers, foreign = closure(tmp_path, {"p/a.cu": "#include <kbuild/array.cuh>"})
    assert list(headers) == ["kbuild/array.cuh"]
    assert foreign == []


def test_names_outside_the_project(tmp_path: Path) -> None:
    write(tmp_path, {"p/q/a.cu": '#include "../../over.cuh"\n#include <far.cuh>', "over.cuh": "", "far/far.cuh": ""})
    found = read(tmp_path / "p/q/a.cu", Roots(tmp_path / "p", (tmp_path / "far",)))
    assert list(found.headers) == ["/kbuild/include0/far.cuh", "/kbuild/outside/up/over.cuh"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#include WHICH", "this include names no file"),
        ("x;\n  #include_next <h.cuh>", "this include names no file"),
        (b"\xff\xfe", "not UTF-8 at byte 0"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    (tmp_path / "a.cu").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CompileError, match=said) as raised:
        read(tmp_path / "a.cu", Roots(tmp_path))
    assert raised.value.diagnostics[0].code == "KB303"
