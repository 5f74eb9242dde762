"""Logs of NVRTC 11.8 (no excerpts), 12.9 and 13.0 (with them) and of ptxas, as messages."""

# ruff: noqa: E501 - logs as they come
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild.nvrtc.log import LogMessage, parse_log, spilled_bytes

PATH = "/kbuild/pkg/kernels.py"

OLD = f"""{PATH}(7): error: identifier "x" is undefined

{PATH}(8): error: expression must have class type but it has type "float"
          detected during instantiation of "T g(T) [with T=float]"
(9): here

{PATH}(7): warning #177-D: variable "y" was declared but never referenced

2 errors detected in the compilation of "kbuild.cu".
"""

NEW = f"""{PATH}(7): error: identifier "x" is undefined
  extern "C" __global__ void k(int*o){{ o[0]=x; int y; o[1] = foo(3); }}
                                            ^

{PATH}(8): error: expression must have class type but it has type "float"
          template<class T> __device__ T g(T a){{ return a.zz; }}
                                                ^
          detected during instantiation of "T g(T) [with T=float]" at line 9

{PATH}(7): warning #177-D: variable "y" was declared but never referenced
  extern "C" __global__ void k(int*o){{ o[0]=x; int y; }}
                                                   ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

2 errors detected in the compilation of "kbuild.cu".
"""


@pytest.mark.parametrize(("log", "tail"), [(OLD, ""), (NEW, " at line 9")])
def test_messages_of_the_compiler(log: str, tail: str) -> None:
    instance = 'detected during instantiation of "T g(T) [with T=float]"'
    assert parse_log(log) == (
        LogMessage(PATH, 7, "error", 'identifier "x" is undefined'),
        LogMessage(PATH, 8, "error", f'expression must have class type but it has type "float" {instance}{tail}'),
        LogMessage(PATH, 7, "warning", 'variable "y" was declared but never referenced'),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("kbuild.cu(1): catastrophic error: #error directive: \"no way\"",
         LogMessage("kbuild.cu", 1, "error", '#error directive: "no way"')),
        ("kbuild.cu(1): Error: Formal parameter space overflowed (40008 bytes required, max 4096 bytes allowed) in function k",
         LogMessage("kbuild.cu", 1, "error",
                    "Formal parameter space overflowed (40008 bytes required, max 4096 bytes allowed) in function k", "k")),
        ("a(b)/c.py(3): remark #1234: really", LogMessage("a(b)/c.py", 3, "note", "really")),
        ("At end of source: error: expected a \";\"", LogMessage(None, None, "error", 'expected a ";"')),
        ("nvrtc: error: unrecognized option --bogus found",
         LogMessage(None, None, "error", "unrecognized option --bogus found")),
        ("ptxas error   : Entry function 'k_1' uses too much shared data (0x10000 bytes, 0xc000 max)",
         LogMessage(None, None, "error", "Entry function 'k_1' uses too much shared data (0x10000 bytes, 0xc000 max)", "k_1")),
        ("ptxas fatal   : Unresolved extern function 'foo'",
         LogMessage(None, None, "error", "Unresolved extern function 'foo'")),
        ("ptxas application ptx input, line 26; error   : Not a name of any known instruction: 'bogus'",
         LogMessage(None, None, "error", "Not a name of any known instruction: 'bogus'")),
        ("ptxas warning : Value of threads per SM for entry k is out of range. .minnctapersm will be ignored",
         LogMessage(None, None, "warning",
                    "Value of threads per SM for entry k is out of range. .minnctapersm will be ignored", "k")),
    ],
)  # fmt: skip
def test_single_lines(line: str, message: LogMessage) -> None:
    assert parse_log(line) == (message,)
    assert parse_log(f"{line}\n{line}\n\n{line}\n") == (message,), "each once"


@pytest.mark.parametrize(
    "log",
    [
        "",
        "\n\n",
        "ptxas info    : 0 bytes gmem\n",
        "nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated and may be removed in a future release\n",
        "ptxas fatal   : Ptx assembly aborted due to errors\n",
        "3 errors detected in the compilation of \"kbuild.cu\".\nCompilation terminated.\n",
    ],
)  # fmt: skip
def test_what_is_no_message(log: str) -> None:
    assert parse_log(log) == ()


VERBOSE = """ptxas info    : 43 bytes gmem
ptxas info    : Compiling entry function 'k2' for 'sm_90'
ptxas info    : Function properties for k2
ptxas         .     128 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 128 bytes cumulative stack size
ptxas info    : Compile time = 8.238 ms
ptxas info    : Function properties for helper
ptxas         .     0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
ptxas         .     120 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
"""


def test_spills_of_a_kernel_and_of_the_functions_compiled_for_it() -> None:
    assert spilled_bytes(VERBOSE) == {"k2": 40, "k": 0}
    assert parse_log(VERBOSE) == ()
    assert spilled_bytes("") == {}


@given(st.text(alphabet='ab(1): error#\n ^"ptxas.,;', max_size=200))
def test_no_log_breaks_the_parser(log: str) -> None:
    for message in parse_log(log):
        assert message.severity in ("error", "warning", "note")
    spilled_bytes(log)
