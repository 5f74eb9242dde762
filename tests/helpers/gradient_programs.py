"""Random programs to be differentiated: kernels in the kernel language, arrays, and one or two launches over them.

    make(7, "arrays") → Program

Within a launch no element is stored by one thread and touched by another: each array has one role in a kernel (see
`gradient_expressions.Access`). The same seed gives the same program.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.helpers.gradient_expressions import SPELLED, Access, Signature
from tests.helpers.gradient_statements import WEIGHTS, Statements

PROFILES = tuple(WEIGHTS)
_KINDS = {
    "integers": ("S", "int", "bool", "ivec3"),
    "composites": ("S", "int", "bool", "vec3", "quat", "mat33", "P"),
    "functions": ("S", "int", "bool", "vec3"),
}


@dataclass(frozen=True)
class Given:
    """An array of a program: its kind of element and its extents."""

    name: str
    kind: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """One launch: all arrays of the program, then the scalars."""

    kernel: str
    dim: tuple[int, ...]
    scalars: tuple[float, int]


@dataclass(frozen=True)
class Program:
    """Text after `import kbuild as kb`, the arrays that all of its kernels take in this order, and the launches.

    An array named `model.a` is in the struct that is the first parameter.
    """

    text: str
    precision: str
    arrays: tuple[Given, ...]
    steps: tuple[Step, ...]
    seed: int
    profile: str


def make(seed: int, profile: str) -> Program:
    """A program of a profile."""
    source = random.Random(f"{profile} {seed}")
    precision = "float32" if source.random() < 0.12 else "float64"
    dim = (source.randint(2, 3), 2) if source.random() < 0.15 else (source.randint(3, 5),)
    slots = source.randint(1, 3)
    given = _arrays(source, profile, math.prod(dim) * slots)
    helpers = _Helpers(source, profile, precision)
    for _ in range(source.randint(2, 4) if profile == "functions" else source.choice([0, 0, 1, 2])):
        helpers.add()
    kernels = [_kernel(source, profile, precision, given, helpers, f"kernel_{n}", slots, len(dim)) for n in range(2)]
    names = source.choice([["kernel_0"], ["kernel_0"], ["kernel_0", "kernel_1"], ["kernel_0", "kernel_0"]])
    scalars = [(round(source.uniform(-1.5, 1.5), 3), source.randint(-2, 4)) for _ in names]
    steps = tuple(Step(name, dim, s) for name, s in zip(names, scalars, strict=True))
    used = [text for number, text in enumerate(kernels) if f"kernel_{number}" in names]
    text = "\n".join([_head(profile, precision, given), *helpers.texts, *used])
    return Program(text, precision, given, steps, seed, profile)


def initial(program: Program) -> dict[str, dict[str, Any]]:
    """Numbers for the arrays, by array and part: `{"a": {"": …}, "p": {"x": …, "v": …, "n": …}}`."""
    source = np.random.default_rng(program.seed)
    return {one.name: _numbers(one.kind, one.shape, source) for one in program.arrays}


def _numbers(kind: str, shape: tuple[int, ...], source: np.random.Generator) -> dict[str, Any]:
    match kind:
        case "P":
            parts = {"x": "S", "v": "vec3", "n": "int", "q.y": "S", "q.u": "vec3"}
            return {name: _numbers(part, shape, source)[""] for name, part in parts.items()}
        case "int":
            return {"": source.integers(-4, 9, shape)}
    behind = {"S": (), "vec3": (3,), "quat": (4,), "mat33": (3, 3)}[kind]
    return {"": source.uniform(-1.5, 1.5, (*shape, *behind))}


def _head(profile: str, precision: str, given: tuple[Given, ...]) -> str:
    spelled = SPELLED[precision]
    text = ""
    if profile == "composites":
        text += f"@kb.struct\nclass Q:\n    y: {spelled['S']}\n    u: {spelled['vec3']}\n"
        text += f"@kb.struct\nclass P:\n    x: {spelled['S']}\n    v: {spelled['vec3']}\n    n: int\n    q: Q\n"
    fields = [one for one in given if one.name.startswith(MODEL)]
    if fields:
        text += "@kb.struct\nclass Model:\n"
        text += "".join(f"    {one.name.removeprefix(MODEL)}: {_array_type(one, spelled)}\n" for one in fields)
    return text


MODEL = "model."


def _array_type(one: Given, spelled: dict[str, str]) -> str:
    return f"kb.array{'2d' if len(one.shape) == 2 else ''}(dtype={spelled.get(one.kind, one.kind)})"


def _arrays(source: random.Random, profile: str, size: int) -> tuple[Given, ...]:
    kinds = {
        "mixed": ["S", "S", "S", "S", "int", "SS"],
        "arrays": ["S", "S", "S", "S", "int", "SS"],
        "integers": ["S", "S", "S", "int", "int", "int"],
        "composites": ["S", "S", "vec3", "vec3", "P", "P", "quat", "mat33", "int"],
        "functions": ["S", "S", "S", "S", "int", "vec3"],
    }[profile]
    in_model = source.sample(range(len(kinds)), source.randint(1, 3)) if source.random() < 0.25 else []
    kinds = [kinds[n] for n in in_model] + [kind for n, kind in enumerate(kinds) if n not in in_model]
    names = [(MODEL if n < len(in_model) else "") + "abcdefghpq"[n] for n in range(len(kinds))]
    return tuple(
        Given(name, "S" if kind == "SS" else kind, (size, 3) if kind == "SS" else (size,))
        for name, kind in zip(names, kinds, strict=True)
    )


def _access(source: random.Random, profile: str, one: Given, slots: int, ndim: int) -> Access:
    """The role of an array in one kernel."""
    if one.kind == "int":
        roles = ["read", "slots", "slots", "slots"] if profile == "integers" else ["read", "read", "slots", "add"]
    elif len(one.shape) == 2:
        roles = ["read", "add", "rows", "rows"] if ndim == 1 else ["read", "add", "rows", "pair", "pair"]
    elif one.kind == "S":
        roles = ["read", "slots", "slots", "own", "add", "add", "min", "max"]
        roles += ["slots"] * 4 if profile == "arrays" else []
    else:
        roles = ["read", "slots", "slots", "own", "add"]
        roles = [r for r in roles if r != "add" or one.kind in ("vec3", "P")]
    role = source.choice(roles)
    columns = one.shape[1] if len(one.shape) == 2 else 0
    return Access(one.name, one.kind, role, one.shape[0], slots if role == "slots" else 1, columns)


def _variables(source: random.Random, profile: str) -> dict[str, list[str]]:
    kinds = _KINDS.get(profile, ("S", "int", "bool"))
    counts = {"S": 3, "int": 2, "bool": 1, "vec3": 2, "quat": 1, "mat33": 1, "P": 1, "ivec3": 1}
    return {kind: [f"{kind.lower()}_{n}" for n in range(counts[kind])] for kind in kinds}


def _kernel(
    source: random.Random,
    profile: str,
    precision: str,
    given: tuple[Given, ...],
    helpers: _Helpers,
    name: str,
    slots: int,
    ndim: int,
) -> str:
    kinds = _KINDS.get(profile, ("S", "int", "bool"))
    writer = Statements(source, precision, kinds, weights=WEIGHTS[profile])
    writer.arrays = [_access(source, profile, one, slots, ndim) for one in given]
    writer.functions = helpers.known
    writer.constants = {"S": ["s"], "int": ["n", "t"]}
    writer.line("t = kb.tid()" if ndim == 1 else "i, j = kb.tid()")
    if ndim == 2:
        writer.line("t = i * 2 + j")
    for access in [a for a in writer.arrays if a.role in ("read", "rows") and a.columns and source.random() < 0.6]:
        role = "view" if access.role == "rows" else "view read"
        place = "t" if role == "view" else writer.below(access.size, 0)
        name_of_row = f"row_{access.name.removeprefix(MODEL)}"
        writer.line(f"{name_of_row} = {access.name}[{place}]")
        writer.arrays.append(Access(name_of_row, access.kind, role, access.columns))
    if source.random() < 0.2:
        writer.line(f"if t >= {source.randint(2, 4)}:")
        writer.line("    return")
    for kind, names in _variables(source, profile).items():
        for one in names:
            start = writer.loaded(kind, 1) if source.random() < 0.5 else writer.literal(kind)
            writer.line(f"{one} = {start if kind != 'int' else f'int({start})'}")
            writer.variables.setdefault(kind, []).append(one)
    writer.body(source.randint(3, 6), source.choice([2, 3, 3]))
    _write_out(source, writer)
    spelled = SPELLED[precision]
    parameters = [f"{one.name}: {_array_type(one, spelled)}" for one in given if not one.name.startswith(MODEL)]
    if len(parameters) < len(given):
        parameters.insert(0, "model: Model")
    parameters += [f"s: {writer.spelled('S')}", "n: int"]
    return "\n".join(["@kb.kernel", f"def {name}({', '.join(parameters)}):", *writer.lines]) + "\n"


def _write_out(source: random.Random, writer: Statements) -> None:
    """What was computed goes somewhere: the variables all together into one place, and more of it elsewhere."""
    places = [a for a in writer.arrays if a.kind == "S" and (a.is_stored or a.role == "add")]
    if places and source.random() < 0.9:
        access = source.choice(places)
        terms = [text for kind, names in writer.variables.items() for one in names for text in _number_of(kind, one)]
        scale = writer.spelled("S")
        text = " + ".join(f"{scale}({round(source.uniform(-1, 1), 2)}) * {term}" for term in terms)
        text = text.replace("kb.as_number", scale)
        if access.role == "add":
            writer.line(f"kb.atomic_add({access.name}, {writer.index(access, 0).replace('][', ', ')}, {text})")
        else:
            writer.line(f"{writer.element(access, 0)} = {text}")
    for access in writer.arrays:
        if source.random() < 0.7:
            continue
        if access.is_stored:
            writer.line(f"{writer.element(access, 0)} = {writer.of(access.kind, 1)}")
        elif access.role == "add" and access.kind in ("S", "vec3"):
            index = writer.index(access, 0).replace("][", ", ")
            writer.line(f"kb.atomic_add({access.name}, {index}, {writer.of(access.kind, 1)})")


def _number_of(kind: str, name: str) -> list[str]:
    """Numbers in which a variable can be seen."""
    match kind:
        case "S":
            return [name]
        case "int":
            return [f"kb.as_number({name})"]
        case "vec3" | "quat":
            return [f"{name}[0]", f"{name}[1] * {name}[2]"]
        case "ivec3":
            return [f"kb.as_number({name}[{n}])" for n in range(3)]
        case "mat33":
            return [f"kb.trace({name})", f"{name}[0, 2] * {name}[2, 1]"]
        case "P":
            return [f"{name}.x", f"{name}.v[1]"]
    return []


@dataclass
class _Helpers:
    """The functions of a program; later ones call earlier ones."""

    random: random.Random
    profile: str
    precision: str

    def __post_init__(self) -> None:
        self.known: list[Signature] = []
        self.texts: list[str] = []

    def add(self) -> None:
        source = self.random
        kinds = [k for k in _KINDS.get(self.profile, ("S", "int")) if k not in ("bool", "P", "ivec3")]
        name = f"helper_{len(self.known)}"
        parameters = tuple(source.choice([*kinds, "S", "S"]) for _ in range(source.randint(1, 3)))
        results = tuple(source.choice([*kinds, "S", "S"]) for _ in range(source.choice([1, 1, 1, 2])))
        effect = source.choice(["", "", "cell", "cell add", "few"])
        element = source.choice([k for k in kinds if k in ("S", "vec3")])
        if effect.startswith("cell") and source.random() < 0.2:
            results = ()
        signature = Signature(name, parameters, results, effect, element)
        self.texts.append(self.text(signature))
        self.known.append(signature)

    def text(self, signature: Signature) -> str:
        source = self.random
        kinds = _KINDS.get(self.profile, ("S", "int", "bool"))
        weights = {"assign": 4, "augment": 2, "integer": 2, "call": 2}
        if signature.effect.startswith("cell"):
            weights |= {"store": 4, "update": 4, "atomic": 6}
        writer = Statements(source, self.precision, kinds, weights=weights, results=signature.results)
        writer.functions = list(self.known)
        heads = []
        if signature.effect:
            heads = [f"arr: kb.array(dtype={writer.spelled(signature.element)})"]
            role = "read" if signature.effect == "few" else signature.effect
            writer.arrays = [Access("arr", signature.element, role, 3)]
        if signature.effect.startswith("cell"):
            heads.append("i: int")
            writer.constants["int"] = ["i"]
        for number, kind in enumerate(signature.parameters):
            heads.append(f"p{number}: {writer.spelled(kind)}")
            writer.constants.setdefault(kind, []).append(f"p{number}")
        for kind in dict.fromkeys(("S", *signature.results)):
            for number in range(2):
                local = f"{kind.lower()}_{number}"
                start = writer.of(kind, 1)
                writer.line(f"{local} = {start if kind != 'int' else f'int({start})'}")
                writer.variables.setdefault(kind, []).append(local)
        if source.random() < 0.4:
            writer.leave()
        writer.body(source.randint(1, 4), source.choice([0, 1, 2]))
        if signature.effect == "cell":
            writer.make_update(0)
        elif signature.effect == "cell add":
            writer.make_atomic(0)
        if signature.results:
            writer.line(f"return {', '.join(writer.tame(kind, 2, 0.5) for kind in signature.results)}")
        head = f"def {signature.name}({', '.join(heads)}):"
        return "\n".join(["@kb.func", head, *writer.lines]) + "\n"
