"""Every way to call a function of the language with floating-point numbers, from the signatures in `described`.

    for call in calls("dot"):    call.text    a kernel that calls it with elements of arrays, `kb.E` the element type
                                 call.words   {"a": "Vec3", "b": "Vec3"}, and the results {"out0": "E"}

In a word stands a type of one shape: `Vec3`, `Mat23`, `Quat`, `Transform`, `E` the scalar itself, or a type that is
not made of it, like `Int32`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from kbuild.intrinsics.catalogue import entry
from kbuild.intrinsics.described import Described, Parameter, parse

VECTORS = ("Vec2", "Vec3", "Vec4", "Vec5", "Quat", "Transform")
SQUARES = ("Mat22", "Mat33", "Mat44")
MATRICES = (*SQUARES, "Mat23", "Mat32")
# What a word stands for, one after the other; two words in one signature go together.
SHAPES: dict[tuple[str, ...], tuple[tuple[str, ...], ...]] = {
    ("Vec",): tuple((one,) for one in VECTORS),
    ("Mat",): tuple((one,) for one in MATRICES),
    ("Square",): tuple((one,) for one in SQUARES),
    ("Composite",): tuple((one,) for one in (*VECTORS, *MATRICES)),
    ("Value",): tuple((one,) for one in ("E", "Vec3", "Mat23", "Quat", "Transform")),
    ("Mat", "Vec"): tuple((f"Mat{n}{n}", f"Vec{n}") for n in (2, 3, 4)),
    ("Square", "Vec"): tuple((f"Mat{n}{n}", f"Vec{n}") for n in (2, 3, 4)),
    (): ((),),
}
# Signatures at shapes that differ from one argument or result to the other.
MORE = {
    "mul": (
        "(m: Mat23[Float], v: Vec3[Float]) -> Vec2[Float]",
        "(a: Mat23[Float], b: Mat34[Float]) -> Mat24[Float]",
    ),
    "outer": ("(a: Vec2[Float], b: Vec3[Float]) -> Mat23[Float]", "(a: Vec4[Float], b: Vec2[Float]) -> Mat42[Float]"),
    "transpose": ("(m: Mat23[Float]) -> Mat32[Float]", "(m: Mat42[Float]) -> Mat24[Float]"),
}
# Combinations that a signature in words has, and the compiler refuses.
REFUSED = (
    "mul(Mat23, Mat23) -> Mat23",
    "mul(Mat32, Mat32) -> Mat32",
    "transpose(Mat23) -> Mat23",
    "transpose(Mat32) -> Mat32",
)
ONE_TYPE = {"Float32": "kb.float32", "Int32": "kb.int32", "Uint32": "kb.uint32", "Bool": "bool"}
# What is not called with the elements of arrays alone: `operator_cases` has these, and `test_every_function` what no
# kernel with a gradient may hold.
_NAMES = """
all any assume atomic_add atomic_and atomic_cas atomic_exch atomic_max atomic_min atomic_or atomic_sub atomic_xor
ballot bit_and bit_count bit_or bit_xor block_dim block_idx block_max block_min block_scan_exclusive
block_scan_inclusive block_sum cluster_array cluster_dim cluster_rank cluster_sync expect_eq expect_near expect_neq
grid_dim grid_range identity invert lane_id load_readonly load_streaming lower_bound lshift match_any matrix
matrix_from_cols matrix_from_rows print printf quat_identity quaternion rshift sample_cdf shared_array shfl shfl_down
shfl_up shfl_xor static store_streaming syncthreads syncwarp thread_idx tid transform_identity transformation unot
vector warp_id warp_max warp_min warp_scan_exclusive warp_scan_inclusive warp_sum
"""
BY_HAND = frozenset(_NAMES.split())


@dataclass(frozen=True)
class Call:
    """A function called at types of one shape each. `is_single`: it exists in single precision only."""

    name: str
    words: Mapping[str, str]
    results: tuple[str, ...]
    text: str
    is_single: bool

    @property
    def title(self) -> str:
        return f"{self.name}({', '.join(self.words.values())}) -> {', '.join(self.results)}"


def calls(name: str) -> Iterator[Call]:
    """Every call of a function that is not among BY_HAND."""
    signatures = [use.signature for use in entry(name).uses] + [parse(text) for text in MORE.get(name, ())]
    for signature in signatures:
        for variant in _variants(signature):
            for one in _shaped(variant):
                yield _call(name, one)


def _variants(signature: Described) -> Iterator[Described]:
    """With and without what has a default; several of what may be any number."""
    plain = [p for p in signature.parameters if not p.name.startswith("*")]
    more = [p for p in signature.parameters if p.name.startswith("*") and p.word]
    if more:
        for count in (0, 2):
            extra = [Parameter(f"more{i}", more[0].word) for i in range(count)]
            yield replace(signature, parameters=(*plain, *extra))
        return
    for count in sorted({len([p for p in plain if not p.default]), len(plain)}):
        yield replace(signature, parameters=tuple(plain[:count]))


def _shaped(signature: Described) -> Iterator[Described]:
    text = str(signature)
    heads = tuple(head for head in ("Mat", "Square", "Vec", "Composite", "Value") if re.search(rf"\b{head}\b", text))
    for shapes in SHAPES[heads]:
        shape_of = dict(zip(heads, shapes, strict=True))
        parameters = tuple(Parameter(p.name, _shape(p.word, shape_of)) for p in signature.parameters)
        yield Described(parameters, tuple(_shape(word, shape_of) for word in signature.results))


def _shape(word: str, shape_of: Mapping[str, str]) -> str:
    """`Vec[Float]` as `Vec3`, `Float` as `E`, `vec3` as `Vec3` of what is single."""
    head = word.split("[")[0]
    if head in shape_of:
        return shape_of[head]
    if word in ("Float", "Number"):
        return "E"
    return head.capitalize() if word.startswith("vec") else head


def type_of(word: str) -> str:
    """A word as a type in a kernel."""
    if match := re.fullmatch(r"Vec(\d)", word):
        return f"kb.types.vector({match[1]}, kb.E)"
    if match := re.fullmatch(r"Mat(\d)(\d)", word):
        return f"kb.types.matrix(({match[1]}, {match[2]}), kb.E)"
    known = {"E": "kb.E", "Quat": "kb.types.quaternion(kb.E)", "Transform": "kb.types.transformation(kb.E)"}
    return (known | ONE_TYPE)[word]


def _call(name: str, signature: Described) -> Call:
    words = {p.name: p.word for p in signature.parameters}
    arrays = [f"{p}_: kb.array(dtype={type_of(word)})" for p, word in words.items()]
    arrays += [f"out{n}: kb.array(dtype={type_of(word)})" for n, word in enumerate(signature.results)]
    given = [f"{p}_[i]" for p in words]
    lines = [f"def call({', '.join(arrays)}):", "    i = kb.tid()"]
    if entry(name).is_stateful:
        lines.append(f"    state = {given[0]}")
        given[0] = "state"
    outs = ", ".join(f"out{n}[i]" for n in range(len(signature.results)))
    lines.append(f"    {outs} = kb.{name}({', '.join(given)})")
    text = "\n".join(["@kb.kernel", *lines, ""])
    signatures = [use.signature for use in entry(name).uses]
    described = [word for one in signatures for word in (*(p.word for p in one.parameters), *one.results)]
    is_single = any(word in ("Float32", "vec2", "vec3", "vec4") for word in described)
    return Call(name, words, signature.results, text.replace("kb.E", "kb.float32") if is_single else text, is_single)
