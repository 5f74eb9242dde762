"""`python -m tools.host_library`: writes the library of the kernel language in Python.

kbuild/loader/host_library.py has the functions of any floating-point type, host_random.py those that the language fixes
to float32 (random numbers, noise).

Functions that are written in the kernel language are lowered and contracted as a build does it, and their IR is written
down as Python. So each algorithm stands in one place, and the host computes what kernels compute: to the last bit in
float32, where the language fixes the type (random numbers, noise), and in double precision, with nothing fused, for
functions of any floating-point type.
"""

from __future__ import annotations

import importlib.util
import keyword
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kbuild.errors import Report
from kbuild.intrinsics import catalogue, described
from kbuild.ir import nodes
from kbuild.ir.contract import contract
from kbuild.ir.traverse import callees, walk
from kbuild.ir.types import Array, Matrix, Tuple, Vector, element_of, is_composite
from kbuild.lang.program import lower_kernel
from kbuild.sim.numbers import APPROXIMATE
from tools.signatures import Concrete, concrete

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kbuild.intrinsics.described import Described
    from kbuild.ir.nodes import Expr, Function, Stmt, Symbol
    from kbuild.ir.types import Scalar, Type

ROOT = Path(__file__).parents[1]
LOADER = ROOT / "kbuild" / "loader"
MODULES = {False: LOADER / "host_library.py", True: LOADER / "host_random.py"}  # by `is_exact`

# Groups whose functions are fixed to float32 and uint32, and groups of functions of any floating-point type.
EXACT_GROUPS = ("Random numbers", "Noise")
DOUBLE_GROUPS = ("Decompositions", "Quaternions", "Transforms", "Spatial vectors")
EXACT = ("closest_point_edge_edge",)
DOUBLE = ("determinant", "inverse")

HEAD = '''\
"""The library of the kernel language on the host. Made by `python -m tools.host_library`; change the functions there.

Each is a function of `kbuild.intrinsics` at fixed types: vectors are lists, matrices lists of rows. `TABLE` says which
of them a name stands for, by the types of its arguments, their last defaults, and the types of its results.
"""

# mypy: ignore-errors

from __future__ import annotations

'''
IMPORTS = [(name, name) for name in ("convert", "copied", "divide", "fused", "int32")]
IMPORTS += [("intrinsic", "of"), ("remainder", "remainder"), ("rounded", "rounded")]
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shr": ">>"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_TAKEN = {*keyword.kwlist, "range", "zip", "len", "float", "int"}


def main() -> None:
    """Writes the modules."""
    for exact, path in MODULES.items():
        path.write_text(module(exact), encoding="utf-8")
        print("written: %s" % path)


def module(exact: bool) -> str:
    """The text of one of the modules."""
    uses = [use for use in _uses() if is_exact(use[0]) == exact]
    reached: dict[Function, str] = {}
    roots = []
    for name, signature, one in uses:
        function = _lowered(name, one)
        roots.append((name, signature, function))
        for callee in [*callees(function), function]:
            reached.setdefault(callee, "")
    merged = _merged(reached)
    names = _names(merged.values())
    bodies = [_definition(one, names, merged) for one in dict.fromkeys(merged.values())]
    intrinsics = sorted({n.name for f in set(merged.values()) for n in _intrinsics(f)})
    lines = "".join('_%s = _of("%s")\n' % (name, name) for name in intrinsics)
    text = lines + "".join(bodies) + _table(roots, names, merged) + "IS_EXACT = %r\n" % exact
    imports = [one for one in IMPORTS if "_%s(" % one[1] in text]
    return HEAD + "".join("from .host_math import %s as _%s\n" % one for one in imports) + "\n" + text


def functions() -> list[str]:
    """Names of the public functions that the module has."""
    groups = catalogue.groups()
    names = [e.name for g in (*EXACT_GROUPS, *DOUBLE_GROUPS) for e in groups[g]]
    return [*names, *EXACT, *DOUBLE]


def is_exact(name: str) -> bool:
    """The language fixes its types, so that the host gives what kernels give, to the last bit."""
    return name in EXACT or described.LINES[name].group in EXACT_GROUPS


def _uses() -> Iterator[tuple[str, Described, Concrete]]:
    """Each signature of each function, at the types at which it is written down."""
    for name in functions():
        for use in catalogue.entry(name).uses:
            yield name, use.signature, at_types(name, use.signature)


def at_types(name: str, signature: Described) -> Concrete:
    """A signature at float32 where the language says so, else at float64."""
    found = list(concrete(signature))
    return found[0] if is_exact(name) else next(one for one in found if "float64" in str(one))


def _lowered(name: str, one: Concrete) -> Function:
    """The function that a call with such arguments means, as the compiler has it after contraction."""
    text = "import kbuild as kb\n\n" + one.kernel("one", name, is_stateful=catalogue.entry(name).is_stateful)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("one", path)
        assert spec is not None
        assert spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)
        report = Report()
        kernel = lower_kernel(loaded.one, is_exact(name), report)
        report.raise_errors()
    assert kernel is not None
    function = contract(kernel).function
    last = [one for one in callees(function) if _calls(function, one)]
    return last[-1]


def _calls(function: Function, callee: Function) -> bool:
    return any(isinstance(node, nodes.Call) and node.callee is callee for node in walk(function.body))


def _intrinsics(function: Function) -> Iterable[nodes.Intrinsic]:
    return (node for node in walk(function.body) if isinstance(node, nodes.Intrinsic))


def _key(function: Function) -> tuple[str, str, str]:
    return function.module, function.name, " ".join(p.type.spelling for p in function.parameters)


def _merged(reached: Iterable[Function]) -> dict[Function, Function]:
    """Each function by the first that is the same: kernels that are lowered apart have instances of their own."""
    first: dict[tuple[str, str, str], Function] = {}
    return {one: first.setdefault(_key(one), one) for one in reached}


def _names(functions: Iterable[Function]) -> dict[Function, str]:
    """A name for each function: its own where that is enough, else with its parameters' types."""
    several: dict[str, list[Function]] = {}
    for one in dict.fromkeys(functions):
        several.setdefault(one.name, []).append(one)
    names = {}
    for name, ones in several.items():
        for one in ones:
            tags = [_tag(p.type) for p in one.parameters]
            names[one] = "_".join([name, *(tags if len(ones) > 1 else ())])
    assert len(set(names.values())) == len(names)
    return names


def _tag(type: Type) -> str:
    """`vec3d`, `mat33`, `float32`."""
    suffix = {"float64": "d", "int32": "i"}.get(element_of(type).spelling, "")
    if isinstance(type, Vector):
        return "%s%s%s" % (type.kind, type.length if type.kind == "vec" else "", suffix)
    if isinstance(type, Matrix):
        return "mat%d%d%s" % (type.rows, type.columns, suffix)
    return type.spelling


# Statements


def _definition(function: Function, names: dict[Function, str], merged: dict[Function, Function]) -> str:
    writer = _Writer(names, merged)
    parameters = ", ".join(writer.name(symbol) for symbol in function.parameters)
    return "\n\ndef %s(%s):\n%s" % (names[function], parameters, writer.block(function.body, 1))


class _Writer:
    """Writes the body of one function."""

    def __init__(self, names: dict[Function, str], merged: dict[Function, Function]) -> None:
        self.functions, self.merged = names, merged
        self.symbols: dict[Symbol, str] = {}

    def name(self, symbol: Symbol) -> str:
        if symbol not in self.symbols:
            used, count = set(self.symbols.values()) | _TAKEN | set(self.functions.values()), 1
            name = symbol.name.replace(".", "_")
            while name in used:
                count += 1
                name = "%s_%d" % (symbol.name.replace(".", "_"), count)
            self.symbols[symbol] = name
        return self.symbols[symbol]

    def block(self, body: tuple[Stmt, ...], depth: int) -> str:
        lines = [line for statement in body for line in self.statement(statement, depth)]
        return "".join(lines) or "    " * depth + "pass\n"

    def statement(self, stmt: Stmt, depth: int) -> Iterator[str]:
        indent = "    " * depth
        if isinstance(stmt, nodes.Assign):
            yield "%s%s = %s\n" % (indent, self.place(stmt.target), self.own(stmt.value))
        elif isinstance(stmt, nodes.Return):
            assert stmt.value is not None
            yield "%sreturn %s\n" % (indent, self.value(stmt.value))
        elif isinstance(stmt, nodes.If):
            yield "%sif %s:\n%s" % (indent, self.value(stmt.condition), self.block(stmt.then, depth + 1))
            if stmt.otherwise:
                yield "%selse:\n%s" % (indent, self.block(stmt.otherwise, depth + 1))
        elif isinstance(stmt, nodes.For):
            bounds = ", ".join(self.value(bound) for bound in (stmt.start, stmt.stop, stmt.step))
            head = "%sfor %s in range(%s):\n" % (indent, self.name(stmt.symbol), bounds)
            yield head + self.block(stmt.body, depth + 1)
        elif isinstance(stmt, nodes.While):
            yield "%swhile %s:\n%s" % (indent, self.value(stmt.condition), self.block(stmt.body, depth + 1))
        elif isinstance(stmt, (nodes.Break, nodes.Continue)):
            yield "%s%s\n" % (indent, type(stmt).__name__.lower())
        else:
            raise TypeError(stmt)

    def place(self, place: Expr) -> str:
        if isinstance(place, nodes.Read):
            return self.name(place.symbol)
        assert isinstance(place, nodes.Component)
        return self.value(place)

    def own(self, expr: Expr) -> str:
        """A value that nothing else holds: kernels copy vectors and matrices, Python does not."""
        text = self.value(expr)
        is_place = isinstance(expr, (nodes.Read, nodes.Component, nodes.Item, nodes.Index, nodes.Select))
        return "_copied(%s)" % text if is_place and is_composite(expr.type) else text

    # Expressions

    def value(self, expr: Expr) -> str:
        if isinstance(expr, nodes.Const):
            return repr(expr.value)
        if isinstance(expr, nodes.Read):
            return self.name(expr.symbol)
        if isinstance(expr, nodes.Component):
            return self.value(expr.base) + "".join("[%s]" % self.value(index) for index in expr.indices)
        if isinstance(expr, nodes.Index):
            return "%s[%s]" % (self.value(expr.array), self.value(expr.indices[0]))
        if isinstance(expr, nodes.Extent):
            return "len(%s)" % self.value(expr.array)
        if isinstance(expr, nodes.Item):
            return "%s[%d]" % (self.value(expr.base), expr.index)
        if isinstance(expr, nodes.Select):
            parts = (expr.then, expr.condition, expr.otherwise)
            return "(%s if %s else %s)" % tuple(self.value(part) for part in parts)
        if isinstance(expr, nodes.Logical):
            return "(%s %s %s)" % (self.value(expr.left), expr.op, self.value(expr.right))
        if isinstance(expr, nodes.Compare):
            return "(%s %s %s)" % (self.value(expr.left), _COMPARE[expr.op], self.value(expr.right))
        if isinstance(expr, nodes.Convert):
            return self.converted(expr)
        if isinstance(expr, nodes.Build):
            return self.built(expr)
        if isinstance(expr, nodes.Call):
            arguments = ", ".join(map(self.own, expr.arguments))
            return "%s(%s)" % (self.functions[self.merged[expr.callee]], arguments)
        if isinstance(expr, nodes.Intrinsic):
            text = "_%s(%s)" % (expr.name, ", ".join(map(self.value, expr.arguments)))
            is_rounded = expr.name in APPROXIMATE or expr.name == "sqrt"  # the others give what the type holds
            return "_rounded(%s)" % text if is_rounded and expr.type.spelling == "float32" else text
        return self.arithmetic(expr)

    def converted(self, expr: nodes.Convert) -> str:
        text, source, target = self.value(expr.operand), expr.operand.type.spelling, expr.type.spelling
        if source == "uint32" and target == "int32":
            return "_int32(%s)" % text
        if source == "int32" and target == "uint32":
            return "(%s & 0xFFFFFFFF)" % text
        return "_convert(%r, %s)" % (target, text)

    def built(self, expr: nodes.Build) -> str:
        type = expr.type
        parts = [self.own(part) for part in expr.parts]
        if isinstance(type, Tuple):
            return "(%s)" % ", ".join(parts)
        if isinstance(type, Matrix):
            rows = [parts[i * type.columns : (i + 1) * type.columns] for i in range(type.rows)]
            return "[%s]" % ", ".join("[%s]" % ", ".join(row) for row in rows)
        return "[%s]" % ", ".join(parts)

    def arithmetic(self, expr: Expr) -> str:
        """Operations that go element by element where their type is composite."""
        if isinstance(expr, nodes.Unary):
            operands = [expr.operand]
        elif isinstance(expr, nodes.Binary):
            operands = [expr.left, expr.right]
        else:
            assert isinstance(expr, nodes.Fma)
            operands = [expr.a, expr.b, expr.c]
        element = element_of(expr.type)
        if not is_composite(expr.type):
            return _scalar(expr, [self.value(one) for one in operands], element)
        whole = {"_%s" % "abc"[i]: self.value(one) for i, one in enumerate(operands) if one.type == expr.type}
        texts = ["_%s" % "abc"[i] if one.type == expr.type else self.value(one) for i, one in enumerate(operands)]
        element_text = _scalar(expr, texts, element)
        if not isinstance(expr.type, Matrix):
            return "[%s for %s]" % (element_text, _over(list(whole), list(whole.values())))
        rows = ["%s_row" % name for name in whole]
        row_text = "[%s for %s]" % (element_text, _over(list(whole), rows))
        return "[%s for %s]" % (row_text, _over(rows, list(whole.values())))


def _over(names: list[str], values: list[str]) -> str:
    """`_a, _b in zip(x, y)`"""
    if len(names) == 1:
        return "%s in %s" % (names[0], values[0])
    return "%s in zip(%s)" % (", ".join(names), ", ".join(values))


def _scalar(expr: Expr, texts: list[str], type: Scalar) -> str:
    """An operation on scalars, rounded or wrapped to its type."""
    if isinstance(expr, nodes.Fma):
        assert type.spelling == "float32"
        return "_fused(%s)" % ", ".join(texts)
    assert isinstance(expr, (nodes.Unary, nodes.Binary))
    if isinstance(expr, nodes.Unary):
        text = {"neg": "-%s", "not": "(not %s)", "invert": "(~%s)"}[expr.op] % texts[0]
        return text if type.kind in ("float", "bool") else _wrapped(text, type)
    if expr.op == "div" or expr.op == "mod":
        text = "_%s(%s)" % ({"div": "divide", "mod": "remainder"}[expr.op], ", ".join(texts))
        return "_rounded(%s)" % text if type.spelling == "float32" else text
    assert expr.op != "shl", "no function needs it, and it must be cut to the width"
    text = "%s %s %s" % (texts[0], _SIGNS[expr.op], texts[1])
    if expr.op in ("and", "or", "xor", "shr") or type.spelling == "float64":
        return "(%s)" % text
    return "_rounded(%s)" % text if type.kind == "float" else _wrapped(text, type)


def _wrapped(text: str, type: Scalar) -> str:
    return {"int32": "_int32(%s)", "uint32": "(%s & 0xFFFFFFFF)"}[type.spelling] % (
        text if type.kind == "int" else "(%s)" % text
    )


# The table


def _table(
    roots: list[tuple[str, Described, Function]], names: dict[Function, str], merged: dict[Function, Function]
) -> str:
    """Which function a call means: types of parameters, defaults, types of results."""
    rows: dict[str, list[str]] = {}
    for name, signature, function in roots:
        kinds = ["%s: %s" % (p.name, _kind(p.type)) for p in function.parameters]
        if catalogue.entry(name).is_stateful:
            kinds[0] = "state: RandomState"
        defaults = [one.default for one in signature.parameters if one.default]
        results = function.result.items if isinstance(function.result, Tuple) else (function.result,)
        row = "(%s, %r, %r, (%s))" % (
            names[merged[function]],
            ", ".join(kinds),
            " ".join(map(_kind, results)),
            "".join(one + ", " for one in defaults).rstrip(),
        )
        rows.setdefault(name, []).append("        %s,\n" % row)
    lines = "".join("    %r: (\n%s    ),\n" % (name, "".join(several)) for name, several in rows.items())
    stateful = sorted(name for name in rows if catalogue.entry(name).is_stateful)
    return "\n\nTABLE = {\n%s}\nSTATEFUL = %r\n" % (lines, tuple(stateful))


def _kind(type: Type) -> str:
    """A type's word in the table: without its element type where that is the caller's choice."""
    if isinstance(type, Array):
        return "array"
    tag = _tag(type)
    return tag[:-1] if is_composite(type) and tag.endswith("d") else tag


if __name__ == "__main__":
    main()
