"""What becomes of atomics in machine code: which instruction, and how many lanes of a warp execute it.

Where the address is the same in a whole warp, NVIDIA's compiler has the warp add its values up first, and one lane goes
to memory. Found in the machine code that NVRTC 13.0 makes for sm_90 of 59 small kernels:

    32 bits, result unused: add, sub, min, max, and, or, xor    one lane
    add or sub of a value that is the same in all lanes         one lane, with or without a result, 32 or 64 bits
    32 bits, add or sub of any value, result used               one lane in warps of 32 active lanes, else each lane
    everything else, floats above all                           each lane

Without a result, global memory has instructions that answer nothing (RED), but for exch and cas. In shared memory
floats, and 64 bits but for exch, are loops of compare-and-swap, and so is everywhere what the hardware has no operation
for. Trips of loops depend on how threads meet: one trip is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kbuild.ir import nodes
from kbuild.ir.nodes import Kernel
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import Scalar
from kbuild.sim.profile.uniform import Uniform

Together = Literal["never", "always", "in full warps"]

_COLLECTED = frozenset(f"atomic_{op}" for op in ("add", "sub", "min", "max", "and", "or", "xor"))
_SUMS = frozenset({"atomic_add", "atomic_sub"})
_ANSWERING = frozenset({"atomic_exch", "atomic_cas"})
_WORDS = frozenset({"int32", "uint32", "int64", "uint64"})


@dataclass(frozen=True)
class Form:
    """`has_result`: the instruction gives the value before. `increments`: it is the shared memory's that adds 1.
    `together`: when one lane goes to memory for its warp.
    """

    has_result: bool
    increments: bool
    together: Together


def forms(kernel: Kernel) -> dict[int, Form]:
    """The form of each atomic of a kernel, by the identity of its node."""
    found = {}
    uniform = Uniform(kernel.function)
    for function in [kernel.function, *callees(kernel.function)]:
        for stmt in walk(function.body):
            if isinstance(stmt, (nodes.Assign, nodes.Evaluate)):
                value = stmt.value
                if isinstance(value, nodes.Intrinsic) and value.name.startswith("atomic_"):
                    found[id(value)] = _form(value, isinstance(stmt, nodes.Assign), uniform)
    return found


def _form(expr: nodes.Intrinsic, is_used: bool, uniform: Uniform) -> Form:
    value = expr.arguments[1]
    increments = (
        not is_used
        and expr.name == "atomic_add"
        and expr.type.spelling in ("int32", "uint32")
        and isinstance(value, nodes.Const)
        and value.value == 1
    )
    return Form(is_used or expr.name in _ANSWERING, increments, _together(expr, is_used, uniform))


def _together(expr: nodes.Intrinsic, is_used: bool, uniform: Uniform) -> Together:
    if expr.type.spelling not in _WORDS or expr.name not in _COLLECTED or not uniform(expr.arguments[0]):
        return "never"
    is_word = expr.type.size == 4
    if is_word and not is_used:
        return "always"
    if expr.name in _SUMS and uniform(expr.arguments[1]):
        return "always"
    return "in full warps" if is_word and expr.name in _SUMS else "never"


def is_loop(name: str, type: Scalar, space: str) -> bool:
    """It is done by compare-and-swap until that succeeds."""
    op = name.removeprefix("atomic_")
    if op == "cas":
        return type.size < 4
    if type.kind == "float" and op != "exch":
        return type.size < 4 or op not in ("add", "sub") or space == "shared"
    if type.kind == "float":
        return type.size != 4
    if type.size < 4:
        return True
    return space == "shared" and type.size == 8 and op != "exch"
