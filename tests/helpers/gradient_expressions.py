"""Random expressions for `tests.helpers.gradient_programs`, each made for the type that its place wants.

Kinds: `S` is the program's floating-point type, then `int`, `bool`, `vec3`, `quat`, `mat33`, the struct `P`, and
`ivec3` of integers.
Magnitudes stay small: denominators are squares and more than one, half of what is assigned goes through a sine.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

SPELLED = {
    "float64": {"S": "kb.float64", "vec3": "kb.vec3d", "quat": "kb.quatd", "mat33": "kb.mat33d"},
    "float32": {"S": "kb.float32", "vec3": "kb.vec3", "quat": "kb.quat", "mat33": "kb.mat33"},
}
FLOATING = ("S", "vec3", "quat", "mat33", "P")
SIZES = {"vec3": 3, "quat": 4, "mat33": 3}


@dataclass(frozen=True)
class Access:
    """An array as a kernel uses it. Roles:

    - `read`: any element is loaded, none is stored
    - `slots`: each thread loads and stores elements of its own, of which it has `slots`; `+=`, too
    - `own`: each thread has one element, and all accesses are at `[t]`
    - `rows`: each thread has a row of an array of two dimensions
    - `pair`: each thread has one element of an array of two dimensions, and all accesses are at `[i, j]`
    - `view`: that row under another name; `view read`: a row of an array that is only read
    - `add`, `min`, `max`: only that atomic, on any element
    - `cell`, `cell add`: a function's parameter, of which it may use the element `i`, or add to it
    """

    name: str
    kind: str
    role: str
    size: int
    slots: int = 1
    columns: int = 0  # of an array of two dimensions

    @property
    def is_loaded(self) -> bool:
        return self.role in ("read", "slots", "own", "rows", "pair", "view", "view read", "cell")

    @property
    def is_stored(self) -> bool:
        return self.role in ("slots", "own", "rows", "pair", "view", "cell")


@dataclass(frozen=True)
class Signature:
    """A function that programs may call. `effect` is the role of the array that comes first, or none."""

    name: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    effect: str = ""
    element: str = "S"


@dataclass
class Expressions:
    """Expressions over what is known where they stand."""

    random: random.Random
    precision: str
    kinds: tuple[str, ...]
    variables: dict[str, list[str]] = field(default_factory=dict)  # may be assigned to
    constants: dict[str, list[str]] = field(default_factory=dict)
    arrays: list[Access] = field(default_factory=list)
    functions: list[Signature] = field(default_factory=list)
    recent: dict[str, str] = field(default_factory=dict)  # what was assigned last, by kind

    def chance(self, likelihood: float) -> bool:
        return self.random.random() < likelihood

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def spelled(self, kind: str) -> str:
        return SPELLED[self.precision].get(kind, {"ivec3": "kb.vec3i"}.get(kind, kind))

    # Any kind

    def of(self, kind: str, depth: int) -> str:
        """An expression of a kind, at most so deep."""
        if depth <= 0 or self.chance(0.15):
            return self.leaf(kind)
        ways: list[Callable[[str, int], str]] = [self.loaded] * 2 if any(a.is_loaded for a in self.arrays) else []
        ways += [self.leaf]
        if kind != "bool":
            ways += [self.selected]
        if any(f.results == (kind,) and not f.effect for f in self.functions):
            ways += [self.called] * 2
        ways += [getattr(self, f"{kind.lower()}_of")] * 5
        return self.random.choice(ways)(kind, depth - 1)

    def leaf(self, kind: str, depth: int = 0) -> str:
        names = self.variables.get(kind, []) + self.constants.get(kind, [])
        if self.recent.get(kind) and self.chance(0.3):
            return self.recent[kind]
        if names and self.chance(0.85):
            return self.random.choice(names)
        return self.literal(kind)

    def literal(self, kind: str) -> str:
        number = self.random.choice(["0.5", "-0.75", "1.25", "2.0", "0.3", "-1.5"])
        match kind:
            case "S":
                return f"{self.spelled('S')}({number})"
            case "int":
                return self.pick("0", "1", "2", "3", "-1")
            case "bool":
                numbers = self.variables.get("S", []) + self.constants.get("S", [])
                if not numbers or self.chance(0.05):
                    return self.pick("True", "False")
                return f"({self.random.choice(numbers)} {self.pick('<', '>')} {self.leaf('S')})"
            case "P":
                return f"P({self.leaf('S')}, {self.leaf('vec3')}, {self.leaf('int')}, Q(u={self.leaf('vec3')}))"
            case "ivec3":
                return f"kb.vec3i({self.leaf('int')}, {self.leaf('int')}, {self.leaf('int')})"
            case "mat33":
                return f"kb.outer({self.leaf('vec3')}, {self.leaf('vec3')})"
        size = SIZES[kind]
        return f"{self.spelled(kind)}({', '.join(self.leaf('S') for _ in range(size))})"

    def selected(self, kind: str, depth: int) -> str:
        a, b, c = self.of(kind, depth), self.of(kind, depth), self.of("bool", min(depth, 1))
        return self.pick(f"({a} if {c} else {b})", f"kb.where({c}, {a}, {b})")

    def called(self, kind: str, depth: int) -> str:
        known = [f for f in self.functions if f.results == (kind,) and not f.effect]
        function = self.random.choice(known)
        return f"{function.name}({', '.join(self.of(p, min(depth, 1)) for p in function.parameters)})"

    def loaded(self, kind: str, depth: int) -> str:
        """An element of an array, or a part of one."""
        found = []
        for access in self.arrays:
            if access.is_loaded:
                parts = {
                    "P": {"S": self.pick(".x", ".q.y"), "vec3": self.pick(".v", ".q.u"), "int": ".n"},
                    "vec3": {"S": f"[{self.component(3)}]"},
                }
                if access.kind == kind:
                    found += [(access, "")] * 3
                elif kind in parts.get(access.kind, {}):
                    found.append((access, parts[access.kind][kind]))
        if not found:
            return self.leaf(kind)
        access, part = self.random.choice(found)
        return self.element(access, min(depth, 1)) + part

    # Elements

    def element(self, access: Access, depth: int) -> str:
        return f"{access.name}[{self.index(access, depth)}]"

    def index(self, access: Access, depth: int) -> str:
        """Where a thread may go in an array."""
        if access.role.startswith("cell"):
            return "i"
        if access.role in ("own", "pair"):
            return "t" if access.role == "own" else self.pick("i, j", "i][j")
        if access.role == "slots":
            if access.slots == 1:
                return "t"
            return f"t * {access.slots} + {self.below(access.slots, depth)}"
        if access.role == "read" and self.chance(0.08):
            from_end = self.pick("-1", "-2")
            return f"{from_end}, {from_end}" if access.columns else from_end
        first = "t" if access.role == "rows" else self.below(access.size, depth)
        if access.columns:
            return f"{first}{self.pick(', ', '][')}{self.below(access.columns, depth)}"
        return first

    def below(self, size: int, depth: int) -> str:
        """An integer from 0 to below a size."""
        if self.chance(0.3):
            return str(self.random.randrange(size))
        return f"kb.abs({self.of('int', depth)}) % {size}"

    def component(self, size: int) -> str:
        return self.below(size, 0)

    # Each kind

    def s_of(self, kind: str, depth: int) -> str:
        a, b = self.of("S", depth), self.of("S", depth)
        common = [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {b})", f"({a} / ({b} * {b} + {self.one()}))"]
        if "ivec3" in self.kinds and self.chance(0.3):
            return f"({a} * {self.spelled('S')}({self.of('int', depth)}))"
        if self.chance(0.55):
            return self.random.choice(common)
        return self.random.choice([self.function_of, self.function_of, self.mixed_of])(a, b, depth)

    def one(self) -> str:
        return f"{self.spelled('S')}(1.3)"

    def function_of(self, a: str, b: str, depth: int) -> str:
        square = f"({a} * {a} + {self.one()})"
        small = f"kb.{self.pick('sin', 'tanh')}({a})"
        half = f"{self.spelled('S')}(0.5)"
        return self.random.choice(
            [
                f"(-{a})",
                f"kb.sin({a})",
                f"kb.cos({a})",
                f"kb.tanh({a})",
                f"kb.exp({small})",
                f"kb.log({square})",
                f"kb.sqrt({square})",
                f"kb.rsqrt({square})",
                f"kb.atan({a})",
                f"kb.atan2({a}, {b})",
                f"kb.min({a}, {b})",
                f"kb.max({a}, {b})",
                f"kb.abs({a})",
                f"kb.clamp({a}, {self.spelled('S')}(-1.0), {b})",
                f"kb.pow({square}, {small})",
                f"kb.copysign({a}, {b})",
                f"kb.asin({half} * {small})",
                f"kb.acos({half} * {small})",
                f"kb.tan({half} * {small})",
                f"kb.cosh({small})",
                f"kb.sinh({small})",
                f"kb.erf({a})",
                f"kb.erfc({small})",
                f"kb.erfinv({half} * {small})",
                f"kb.exp2({small})",
                f"kb.log2({square})",
                f"kb.log10({square})",
                f"kb.cbrt({square})",
                f"kb.floor({a})",
                f"kb.fma({a}, {b}, {half})",
                f"kb.lerp({a}, {b}, {small})",
                f"(kb.frac({a}))",
                f"({a} % ({b} * {b} + {self.one()}))",
                f"kb.sign({a})",
            ]
        )

    def mixed_of(self, a: str, b: str, depth: int) -> str:
        """A number out of other kinds."""
        ways = [f"{self.spelled('S')}({self.of('int', depth)})"]
        if "vec3" in self.kinds:
            v, w = self.of("vec3", depth), self.of("vec3", min(depth, 1))
            ways += [f"kb.dot({v}, {w})", f"{v}[{self.component(3)}]", f"kb.length({v})"]
            if self.variables.get("vec3"):
                ways += [f"{self.random.choice(self.variables['vec3'])}.{self.pick('x', 'y', 'z')}"] * 2
        if "mat33" in self.kinds:
            m = self.of("mat33", min(depth, 1))
            ways += [f"kb.trace({m})", f"{m}[{self.component(3)}, {self.component(3)}]", f"kb.ddot({m}, {m})"]
        if "quat" in self.kinds:
            ways += [f"{self.of('quat', min(depth, 1))}[{self.component(4)}]"]
        if self.variables.get("P"):
            ways += [f"{self.random.choice(self.variables['P'])}.{self.pick('x', 'v.y', 'v[1]', 'q.y', 'q.u.x')}"] * 3
        return self.random.choice(ways)

    def int_of(self, kind: str, depth: int) -> str:
        a, b = self.of("int", depth), self.of("int", min(depth, 1))
        ways = [f"({a} {self.pick('+', '-', '*')} {b})", f"({a} {self.pick('%', '//')} {self.divisor()})"]
        ways += [f"kb.{self.pick('min', 'max')}({a}, {b})", f"kb.abs({a})", f"({a} {self.pick('&', '|', '^')} {b})"]
        if self.chance(0.3):
            ways.append(f"kb.int32({self.spelled('S')}(2.0) * {self.of('S', min(depth, 1))})")
        if self.variables.get("P"):
            ways.append(f"{self.random.choice(self.variables['P'])}.n")
        if self.variables.get("ivec3"):
            ways += [f"{self.random.choice(self.variables['ivec3'])}[{self.component(3)}]"] * 2
        return self.random.choice(ways)

    def ivec3_of(self, kind: str, depth: int) -> str:
        a, b, n = self.of(kind, depth), self.of(kind, min(depth, 1)), self.of("int", min(depth, 1))
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"({a} * {n})", f"kb.vec3i({n}, {self.of('int', 1)}, 1)")

    def divisor(self) -> str:
        """No literal zero, which the compiler sees."""
        names = self.variables.get("int", []) + self.constants.get("int", [])
        return self.random.choice([*names, "2", "3"])

    def bool_of(self, kind: str, depth: int) -> str:
        depth = min(depth, 1)
        ways = [
            f"{self.of('S', depth)} {self.pick('<', '>', '<=', '>=')} {self.of('S', depth)}",
            f"{self.of('S', depth)} {self.pick('<', '>')} {self.spelled('S')}({self.pick('0.0', '0.4', '-0.3')})",
            f"{self.of('int', depth)} {self.pick('<', '>', '==', '!=', '<=')} {self.of('int', depth)}",
            f"{self.of('int', depth)} % 2 == {self.pick('0', '1')}",
        ]
        if depth:
            ways += [
                f"{self.of('bool', 0)} {self.pick('and', 'or')} {self.of('bool', 1)}",
                f"not {self.of('bool', 1)}",
            ]
        return f"({self.random.choice(ways)})"

    def vec3_of(self, kind: str, depth: int) -> str:
        a, b, s = self.of(kind, depth), self.of(kind, min(depth, 1)), self.of("S", min(depth, 1))
        ways = [f"({a} + {b})", f"({a} - {b})", f"({a} * {s})", f"({s} * {a})", f"(-{a})", f"kb.cross({a}, {b})"]
        ways += [f"({a} / ({s} * {s} + {self.one()}))", f"kb.cw_mul({a}, {b})", f"kb.normalize({a})"]
        ways += [f"{self.spelled(kind)}({s}, {self.of('S', 1)}, {self.of('S', 1)})", f"kb.max({a}, {b})"]
        ways += [f"kb.cw_div({a}, kb.cw_mul({b}, {b}) + {self.spelled(kind)}({self.one()}))"]
        ways += [f"kb.fma({a}, {self.pick(s, b)}, {b})"]
        if "mat33" in self.kinds:
            m = self.of("mat33", min(depth, 1))
            ways += [f"({m} @ {a})", f"{m}[{self.component(3)}]", f"kb.get_diag({m})"]
        if "quat" in self.kinds:
            q = self.of("quat", min(depth, 1))
            rigid = self.spelled("quat").replace("quat", "transform")
            ways += [f"kb.quat_rotate({q}, {a})", f"kb.transform_point({rigid}({b}, {q}), {a})"]
        if self.variables.get("P"):
            ways.append(f"{self.random.choice(self.variables['P'])}.{self.pick('v', 'q.u')}")
        return self.random.choice(ways)

    def quat_of(self, kind: str, depth: int) -> str:
        a, b, s = self.of(kind, depth), self.of(kind, min(depth, 1)), self.of("S", min(depth, 1))
        v = self.of("vec3", min(depth, 1))
        ways = [f"({a} * {b})", f"({a} + {b})", f"kb.quat_inverse({a})", f"{self.spelled(kind)}({v}, {s})"]
        ways += [f"kb.normalize({a})", f"({a} * {s})", f"kb.quat_from_axis_angle({v}, {s})", f"(-{a})"]
        return self.random.choice(ways)

    def mat33_of(self, kind: str, depth: int) -> str:
        a, b, s = self.of(kind, depth), self.of(kind, min(depth, 1)), self.of("S", min(depth, 1))
        v, w = self.of("vec3", min(depth, 1)), self.of("vec3", min(depth, 1))
        ways = [f"({a} + {b})", f"({a} - {b})", f"({a} * {s})", f"({a} @ {b})", f"kb.transpose({a})"]
        ways += [f"kb.outer({v}, {w})", f"kb.skew({v})", f"kb.diag({v})", f"kb.matrix_from_rows({v}, {w}, {v})"]
        if "quat" in self.kinds:
            ways.append(f"kb.quat_to_matrix({self.of('quat', min(depth, 1))})")
        return self.random.choice(ways)

    def p_of(self, kind: str, depth: int) -> str:
        s, v, n = self.of("S", depth), self.of("vec3", min(depth, 1)), self.of("int", min(depth, 1))
        other = self.of("P", min(depth, 1))
        return self.pick(f"P({s}, {v}, {n} % 5, Q({s}, {v}))", f"P(x={s}, v={v})", f"P({s}, {v}, {n}, ({other}).q)")

    # What may be assigned

    def tame(self, kind: str, depth: int, likelihood: float = 0.5) -> str:
        """An expression that does not grow from one assignment to the next, most of the time."""
        text = self.of(kind, depth)
        match kind:
            case "int":
                return f"({text}) % {self.pick('5', '7', '4')}" if self.chance(0.8) else f"({text}) % 11"
            case "bool" | "P" | "ivec3":
                return text
        if not self.chance(likelihood):
            return text
        half = f"{self.spelled('S')}(0.5)"
        match kind:
            case "S":
                return self.pick(f"kb.sin({text})", f"kb.tanh({text})", f"{half} * {text}")
            case "mat33":
                return f"{text} * {half}"
        variables = self.variables.get(kind)
        if variables and self.chance(0.5):
            v = self.random.choice(variables)
            return f"{text} / ({self.spelled('S')}(1.0) + kb.dot({v}, {v}))"
        return self.pick(f"kb.normalize({text})", f"{text} * {half}")
