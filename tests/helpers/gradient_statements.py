"""Random statements for `tests.helpers.gradient_programs`: what a kernel's or a function's body is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.helpers.gradient_expressions import FLOATING, Access, Expressions

Maker = Callable[[int], bool]

# How often each statement stands in a program of a profile, where it can stand at all.
WEIGHTS: dict[str, dict[str, int]] = {
    "mixed": {"assign": 5, "augment": 2, "integer": 3, "truth": 1, "store": 3, "update": 2, "atomic": 2, "call": 1},
    "arrays": {"assign": 2, "augment": 1, "integer": 1, "store": 6, "update": 8, "atomic": 1, "swap": 2},
    "integers": {"assign": 3, "integer": 6, "truth": 2, "store": 4, "update": 3, "table": 6, "atomic": 1, "part": 4},
    "composites": {"assign": 6, "part": 6, "integer": 1, "store": 4, "part in memory": 5, "update": 2, "atomic": 2},
    "functions": {"assign": 3, "augment": 1, "integer": 2, "store": 2, "update": 1, "call": 8, "atomic": 1},
}
FLOW = {"branch": 3, "loop": 4, "while": 2}


@dataclass
class Statements(Expressions):
    """The body of a kernel (`results` None) or function, written line by line."""

    weights: dict[str, int] = field(default_factory=dict)
    results: tuple[str, ...] | None = None
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    loops: int = 0
    names: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def body(self, count: int, depth: int) -> None:
        for _ in range(count):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        """One statement; where a way has nothing to work on another one is tried."""
        weights = self.weights | {"fresh": 2} | (FLOW if depth > 0 else {})
        if self.loops and self.chance(0.25):
            return self.jump()
        if self.chance(0.03):
            return self.leave()
        for _ in range(20):
            (kind,) = self.random.choices(list(weights), list(weights.values()))
            maker: Maker = getattr(self, "make_" + kind.replace(" ", "_"))
            if maker(depth):
                return None
        self.make_assign(depth)
        return None

    def taming(self) -> float:
        return 0.85 if self.loops else 0.5

    def variable(self, kind: str) -> str:
        return self.random.choice(self.variables[kind])

    def any_array(self, *roles: str, kind: str = "") -> Access | None:
        found = [a for a in self.arrays if a.role in roles and (not kind or a.kind == kind)]
        return self.random.choice(found) if found else None

    # Plain statements

    def make_assign(self, depth: int) -> bool:
        kind = self.random.choice([k for k in FLOATING if self.variables.get(k)])
        name = self.variable(kind)
        self.line(f"{name} = {self.tame(kind, 2, self.taming())}")
        self.recent[kind] = name
        return True

    def make_fresh(self, depth: int) -> bool:
        """A variable assigned here alone, and read from here on in the text, wherever that is."""
        kind = self.random.choice([k for k in ("S", "S", "int", "vec3") if k in self.kinds])
        name = self.fresh("u")
        text = self.tame(kind, 2, self.taming())
        self.line(f"{name} = {f'int({text})' if kind == 'int' else text}")
        self.constants.setdefault(kind, []).append(name)
        self.recent[kind] = name
        return True

    def make_augment(self, depth: int) -> bool:
        if not self.variables.get("S"):
            return False
        name, value = self.variable("S"), self.tame("S", 2, 0.9)
        way = self.pick("{v} += {e}", "{v} -= {e}", "{v} *= {e}", "{v} *= {e}", "{v} /= {e} * {e} + {one}")
        self.line(way.format(v=name, e=f"({value})", one=self.one()))
        self.recent["S"] = name
        return True

    def make_integer(self, depth: int) -> bool:
        if not self.variables.get("int"):
            return False
        name = self.recent["int"] = self.variable("int")
        self.line(self.pick(f"{name} = {self.tame('int', 2)}", f"{name} = {self.tame('int', 2)}", f"{name} += 1"))
        return True

    def make_truth(self, depth: int) -> bool:
        if not self.variables.get("bool"):
            return False
        self.line(f"{self.variable('bool')} = {self.of('bool', 2)}")
        return True

    def make_store(self, depth: int) -> bool:
        access = self.any_array(*STORED)
        if access is None:
            return False
        self.line(f"{self.element(access, 1)} = {self.tame(access.kind, 2, self.taming())}")
        return True

    def make_update(self, depth: int) -> bool:
        """An element changed in place."""
        access = self.any_array(*STORED)
        if access is None or access.kind in ("int", "P"):
            return False
        place = self.element(access, 1)
        factor = self.of("S", 1)
        square = f"(({factor}) * ({factor}) + {self.one()})"
        ways = [f"{place} *= {self.tame('S', 2, 0.9)}", f"{place} /= {square}"]
        if access.kind in ("quat", "mat33"):
            ways = [f"{place} = {place} * ({self.tame('S', 2, 0.9)})", f"{place} = {place} / {square}"]
        ways.append(f"{place} = {place} + {self.tame(access.kind, 1, 0.9)}")
        ways.append(f"{place} = {place} * ({self.tame('S', 1, 0.9)})")
        if access.kind == "S":
            ways += [f"{place} = kb.sin({place}) * {self.element(access, 1)}"]
        if access.kind in ("S", "vec3"):
            ways += [f"{place} {self.pick('+', '-')}= {self.tame(access.kind, 2, 0.9)}"] * 2
        self.line(self.random.choice(ways))
        return True

    def make_swap(self, depth: int) -> bool:
        """Elements that move within an array, or from one to another."""
        a, b = self.any_array("slots", kind="S"), self.any_array("slots", "read", kind="S")
        if a is None or b is None or not self.variables.get("S"):
            return False
        here, there, name = self.element(a, 1), self.element(b, 1), self.variable("S")
        self.line(f"{name} = {here}")
        self.line(f"{here} = {there}")
        if b.role == "slots":
            self.line(f"{there} = {name}")
        return True

    def make_table(self, depth: int) -> bool:
        """Integers changed in memory, at places that integers in memory say."""
        access = self.any_array("slots", "cell", kind="int")
        if access is None:
            return False
        place = self.element(access, 1)
        if access.role == "slots" and access.slots > 1 and self.chance(0.5):
            place = f"{access.name}[t * {access.slots} + kb.abs({self.element(access, 1)}) % {access.slots}]"
        self.line(
            self.pick(
                f"{place} = {self.tame('int', 2)}",
                f"{place} = ({place} * 3 + {self.of('int', 1)}) % 7",
                f"{place} = ({place} + 1) % 5",
                f"{place} += {self.of('int', 1)} % 3",
            )
        )
        return True

    def make_atomic(self, depth: int) -> bool:
        access = self.any_array("add", "min", "max", "cell add")
        if access is None:
            return False
        place = self.element(access, 1)
        if access.role in ("min", "max"):
            self.line(f"kb.atomic_{access.role}({access.name}, {self.index(access, 1)}, {self.of(access.kind, 2)})")
        elif access.kind == "P":
            self.line(
                f"{place}.{self.pick('x', 'v[1]', 'v.z', 'q.y', 'q.u[2]')} {self.pick('+', '-')}= {self.tame('S', 2)}"
            )
        elif self.chance(0.4) and access.kind in ("S", "int", "vec3"):
            self.line(f"{place} {self.pick('+', '-')}= {self.tame(access.kind, 2)}")
        else:
            name, index = self.pick("add", "add", "sub"), self.index(access, 1).replace("][", ", ")
            self.line(f"kb.atomic_{name}({access.name}, {index}, {self.tame(access.kind, 2)})")
        return True

    def make_part(self, depth: int) -> bool:
        """Part of a variable assigned."""
        kinds = [k for k in ("vec3", "quat", "mat33", "P", "ivec3") if self.variables.get(k)]
        if not kinds:
            return False
        kind = self.random.choice(kinds)
        place, wanted = self.part_of(self.variable(kind), kind)
        if wanted == "S" and self.chance(0.4):
            op = self.pick("+", "-", "*")
            self.line(f"{place} {op}= {self.tame('S', 2, 0.9)}")
        else:
            self.line(f"{place} = {self.tame(wanted, 2, self.taming())}")
        return True

    def part_of(self, name: str, kind: str) -> tuple[str, str]:
        """A place inside a value, and its kind."""
        if kind == "P":
            return self.random.choice(
                [
                    (f"{name}.x", "S"),
                    (f"{name}.v", "vec3"),
                    (f"{name}.v[{self.component(3)}]", "S"),
                    (f"{name}.n", "int"),
                ]
            )
        if kind == "ivec3":
            return f"{name}[{self.component(3)}]", "int"
        if kind == "mat33":
            row, column = self.component(3), self.component(3)
            return self.random.choice(
                [(f"{name}[{row}, {column}]", "S"), (f"{name}[{row}, {column}]", "S"), (f"{name}[{row}]", "vec3")]
            )
        if self.chance(0.3):
            return f"{name}.{self.pick('x', 'y', 'z')}", "S"
        return f"{name}[{self.component(SIZES_OF[kind])}]", "S"

    def make_part_in_memory(self, depth: int) -> bool:
        accesses = [a for a in self.arrays if a.is_stored and a.kind in ("vec3", "quat", "mat33", "P")]
        if not accesses:
            return False
        access = self.random.choice(accesses)
        place, wanted = self.part_of(self.element(access, 1), access.kind)
        if wanted == "S" and self.chance(0.4):
            self.line(
                self.pick(f"{place} *= {self.tame('S', 2, 0.9)}", f"{place} = {place} + {self.tame('S', 1, 0.9)}")
            )
        else:
            self.line(f"{place} = {self.tame(wanted, 2, self.taming())}")
        return True

    def make_call(self, depth: int) -> bool:
        """A function called for its results, and for what it does to an array."""
        if not self.functions:
            return False
        function = self.random.choice(self.functions)
        arguments = [self.of(kind, 1) for kind in function.parameters]
        if function.effect:
            roles = {"cell add": ("add",), "cell": ("slots", "own", "view"), "few": ("read",)}[function.effect]
            roles += (function.effect,)
            access = self.any_array(*roles, kind=function.element)
            if access is None or access.columns:
                return False
            arguments = [access.name, *([] if function.effect == "few" else [self.index(access, 1)]), *arguments]
        call = f"{function.name}({', '.join(arguments)})"
        if not all(self.variables.get(kind) for kind in function.results):
            return False
        has_effect = function.effect.startswith("cell")
        if function.results and not (has_effect and self.chance(0.2)):
            targets = [self.variable(kind) for kind in function.results]
            if len(set(targets)) < len(targets):
                return False
            call = f"{', '.join(targets)} = {call}"
        elif not has_effect:
            return False
        self.line(call)
        return True

    # Flow

    def block(self, depth: int) -> None:
        self.depth += 1
        self.body(self.random.randint(1, 4 if self.loops else 3), depth - 1)
        self.depth -= 1

    def make_branch(self, depth: int) -> bool:
        self.line(f"if {self.of('bool', 2)}:")
        self.block(depth)
        if self.chance(0.2):
            self.line(f"elif {self.of('bool', 1)}:")
            self.block(depth)
        if self.chance(0.5):
            self.line("else:")
            self.block(depth)
        return True

    def make_loop(self, depth: int) -> bool:
        integers = self.variables.get("int", [])
        is_fresh = not integers or self.chance(0.6)
        name = self.fresh("k") if is_fresh else self.random.choice(integers)
        some, other = self.of("int", 1), f"({self.of('int', 1)}) % 3"
        small = self.pick(f"({some}) % 5", f"kb.abs({some}) % 4 + 1", f"kb.abs({some}) % 3 + 2")
        bounds = [small, f"{self.random.randint(2, 4)}", f"{other}, {small}", f"{small}, {other}, -1"]
        bounds += [f"0, {small}, 2", f"3, -1, {self.pick('-1', '-2')}", f"{small}, -2, -2"]
        if integers:
            bounds.append(f"-1, 3, {self.random.choice(integers)} % 3")
        known = name
        if is_fresh and self.chance(0.15):
            bounds, known = [self.narrow_range(small, other)], f"kb.int32({name})"
        self.line(f"for {name} in range({self.random.choice(bounds)}):")
        if is_fresh:
            self.constants.setdefault("int", []).append(known)
        self.inside(depth)
        if is_fresh:
            self.constants["int"].remove(known)
        return True

    def narrow_range(self, small: str, other: str) -> str:
        """A range of integers of another type."""
        kind = self.pick("kb.int64", "kb.int16", "kb.uint32", "kb.uint8")
        if "uint" in kind:
            small, other = f"kb.abs({small})", f"kb.abs({other})"
            return self.pick(
                f"{kind}({small})", f"{kind}({other}), {kind}({small})", f"{kind}(1), {kind}(6), {kind}(2)"
            )
        return self.pick(
            f"{kind}({small})", f"{kind}({small}), {kind}({other}), {kind}(-1)", f"{kind}(4), {kind}(-2), {kind}(-3)"
        )

    def make_while(self, depth: int) -> bool:
        name = self.fresh("w")
        self.line(f"{name} = int(0)")
        condition = self.of("bool", 1)
        condition = self.pick(condition, f"({condition} or {name} < 2)")
        self.line(f"while {name} < {self.pick('2', '3', '4', '5')} and {condition}:")
        self.line(f"    {name} += 1")
        self.constants.setdefault("int", []).append(name)
        self.inside(depth)
        self.constants["int"].remove(name)
        return True

    def inside(self, depth: int) -> None:
        self.loops += 1
        self.block(depth)
        self.loops -= 1

    def jump(self) -> None:
        """Leaves a loop or a trip, half of the time from an `if` inside one that does not leave itself."""
        if self.chance(0.5):
            self.line(f"if {self.of('bool', 1)}:")
            self.depth += 1
            self.statement(0)
            self.leaving()
            self.depth -= 1
            self.statement(0)
        else:
            self.leaving()

    def leaving(self) -> None:
        self.line(f"if {self.of('bool', 1)}:")
        if self.chance(0.3):
            self.depth += 1
            self.statement(0)
            self.depth -= 1
        self.line("    " + (self.pick("break", "continue", "break", "continue") if self.chance(0.8) else self.exit()))

    def leave(self) -> None:
        self.line(f"if {self.of('bool', 1)}:")
        self.line("    " + self.exit())

    def exit(self) -> str:
        if not self.results:
            return "return"
        return f"return {', '.join(self.of(kind, 1) for kind in self.results)}"


STORED = ("slots", "own", "rows", "pair", "view", "cell")
SIZES_OF = {"vec3": 3, "quat": 4}
