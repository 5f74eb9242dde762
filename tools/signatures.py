"""Signatures of `kbuild.intrinsics.described` at concrete types, and kernels that call them.

for one in concrete(signature): one.parameters == {"a": "kb.vec3d", "t": "kb.float64"}, one.results == ["kb.vec3d"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kbuild.intrinsics.described import Described

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int8", "uint16", "int32", "uint64")
SETS = {"Float": FLOATS, "Integer": INTEGERS, "Number": (*FLOATS, *INTEGERS)}
# Types of a kind, as expressions of their element type E; at one position they fit together.
SHAPES = {
    "Vec": ("kb.types.vector(3, E)", "kb.types.vector(2, E)", "kb.types.vector(5, E)"),
    "Mat": ("kb.types.matrix((3, 3), E)", "kb.types.matrix((2, 2), E)"),
    "Square": ("kb.types.matrix((3, 3), E)", "kb.types.matrix((2, 2), E)"),
    "Composite": ("kb.types.vector(3, E)", "kb.types.matrix((2, 3), E)"),
    **{f"Vec{n}": (f"kb.types.vector({n}, E)",) for n in (2, 3, 4, 6)},
    **{f"Mat{n}{n}": (f"kb.types.matrix(({n}, {n}), E)",) for n in (2, 3, 4, 6)},
    "Quat": ("kb.types.quaternion(E)",),
    "Transform": ("kb.types.transformation(E)",),
    "Array": ("kb.array(dtype=E)",),
}
FIXED = {"Bool": "bool", "Int32": "kb.int32", "Uint32": "kb.uint32", "Float32": "kb.float32"}


@dataclass(frozen=True)
class Concrete:
    """A signature at types: texts that stand for them in a kernel module."""

    parameters: dict[str, str]
    results: list[str]

    def kernel(self, name: str, function: str, *, is_stateful: bool = False) -> str:
        """A kernel that calls the function with elements of arrays, and stores every result at its exact type."""
        arrays = {p: t if t.startswith("kb.array") else f"kb.array(dtype={t})" for p, t in self.parameters.items()}
        parameters = [f"{p}_: {t}" for p, t in arrays.items()]
        parameters += [f"out{i}: kb.array(dtype={t})" for i, t in enumerate(self.results)]
        given = [f"{p}_" if t.startswith("kb.array") else f"{p}_[0]" for p, t in self.parameters.items()]
        first = ""
        if is_stateful:
            first, given[0] = f"    state = {given[0]}\n", "state"
        outs = ", ".join(f"out{i}[0]" for i in range(len(self.results)))
        body = f"{first}    {outs} = kb.{function}({', '.join(given)})\n"
        return f"@kb.kernel\ndef {name}({', '.join(parameters)}):\n{body}\n\n"


def concrete(signature: Described) -> Iterator[Concrete]:
    """The signature at every element type of its set, and at some shapes."""
    words = [p.word for p in signature.parameters] + list(signature.results)
    text = " ".join(words)
    elements = next((SETS[s] for s in SETS if re.search(rf"\b{s}\b", text)), ("float32",))
    shapes = [SHAPES[s] for s in ("Mat", "Composite", "Vec", "Square") if re.search(rf"\b{s}\b", text)]
    for element in elements:
        for position in range(min(map(len, shapes), default=1)):
            types = [_type(word, f"kb.{element}", position) for word in words]
            names = [p.name.lstrip("*") for p in signature.parameters]
            count = len(names)
            yield Concrete(dict(zip(names, types[:count], strict=True)), types[count:])


def _type(word: str, element: str, position: int) -> str:
    head = word.split("[")[0]
    if word in FIXED:
        return FIXED[word]
    if word in SETS or word == "Value":
        return element
    if head in SHAPES:
        inner = FIXED.get(word[len(head) + 1 : -1], element)
        several = SHAPES[head]
        return several[position % len(several)].replace("E", inner)
    return f"kb.{word}"
