"""Good kernels with one barrier, guard or atomic less: mutants on which the verdict of an audit must turn.

    for one in judged(case):  # the mutant, "faulty", "open" or "equivalent", and the launch at which it is

What is taken away, at every place of the kernel and of the functions it calls, one at a time:

- a barrier;
- a guard: `if c: …` becomes `…`, `if c: return` goes away, `x if c else y` becomes `x`; where `c` is several
  conditions, each of them alone, too;
- an atomic operation: a load and a store remain.

Not every mutant is wrong: a guard may be doubled, a barrier superfluous, an atomic on an element of one's own. The
simulator decides, at the launch of the case and, where the case is clean there too, at launches whose arrays are
shorter by one. `python -m tests.audit.mutations` prints how many there are of which kind.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Kernel, Stmt
from kbuild.ir.traverse import callees, rewrite, walk
from kbuild.ir.types import BOOL
from tests.audit import on_sim
from tests.audit.cases import At, Case, cases
from tests.audit.on_sim import Shown

Kind = Literal["barrier", "guard", "atomic"]
Judgement = Literal["faulty", "open", "equivalent"]
Body = tuple[Stmt, ...]

# What is left of an atomic operation: the value that is stored, of the one before and the operand.
_PLAIN: Final[dict[str, str]] = {
    "atomic_add": "add",
    "atomic_sub": "sub",
    "atomic_and": "and",
    "atomic_or": "or",
    "atomic_xor": "xor",
}
_CHOSEN: Final = {"atomic_min": "lt", "atomic_max": "gt"}


@dataclass(frozen=True)
class Mutant:
    """A kernel that lacks something of a case's, which stood on `line`."""

    case: Case
    kind: Kind
    line: int
    what: str
    kernel: Kernel

    @property
    def name(self) -> str:
        return f"{self.case.name}, line {self.line}: without {self.what}"


@dataclass(frozen=True)
class _Edit:
    """What becomes of one statement: others in its place, or the same with other parts."""

    kind: Kind
    what: str
    stmt: Stmt
    becomes: Body


def mutants(case: Case) -> Iterator[Mutant]:
    """All of a case."""
    kernel = case.ir
    for function in (*callees(kernel.function), kernel.function):
        if not function.module.startswith("kbuild."):
            for edit in _edits(function.body):
                span = edit.stmt.span
                line = span.line if span is not None else 0
                yield Mutant(case, edit.kind, line, edit.what, _edited(kernel, function, edit))


@dataclass(frozen=True)
class Judged:
    """What the simulator says of a mutant. `at` is the case with the launch at which it says so. "open" is what one of
    its two ways of running takes for a fault, an element that two threads store the same to, or what never ends."""

    mutant: Mutant
    judgement: Judgement
    at: Case
    shown: Shown | None = None


def judged(case: Case) -> Iterator[Judged]:
    """The mutants of a case with what is to be thought of them."""
    launches = [case, *(one for one in _shorter(case) if _is_clean(one))]
    for mutant in mutants(case):
        yield _judged(mutant, launches)


def _judged(mutant: Mutant, launches: Sequence[Case]) -> Judged:
    for at in launches:
        shown = on_sim.shown(mutant.kernel, at.launch, at.arguments())
        if shown is not None:
            # Of threads that wait for ever the audit has no check.
            return Judged(mutant, "open" if shown.check == on_sim.Endless.__name__ else "faulty", at, shown)
    for at in launches:
        in_turn = on_sim.shown_in_turn(mutant.kernel, at.launch, at.arguments())
        if in_turn is not None:
            return Judged(mutant, "open", at, in_turn)
    return Judged(mutant, "equivalent", mutant.case)


def _shorter(case: Case) -> Iterator[Case]:
    """The case with one array that is shorter by one along one axis; then with all of them."""
    given = {name: shape for name, shape in case.shapes.items() if not isinstance(case.at.given[name], list)}
    each = {
        name: [(*shape[:axis], n - 1, *shape[axis + 1 :]) for axis, n in enumerate(shape) if n > 1]
        for name, shape in given.items()
    }
    for name, shapes in each.items():
        for shape in shapes:
            yield _with(case, {name: shape})
    if len(each) > 1:
        yield _with(case, {name: tuple(max(n - 1, 1) for n in shape) for name, shape in given.items()})


def _with(case: Case, shapes: dict[str, tuple[int, ...]]) -> Case:
    return replace(case, at=At(case.at.dim, case.at.block, case.at.grid, **{**case.at.given, **shapes}))


def _is_clean(case: Case) -> bool:
    runs = (run(case.ir, case.launch, case.arguments()) for run in (on_sim.shown, on_sim.shown_in_turn))
    return all(shown is None for shown in runs)


# Places


def _edits(body: Body) -> Iterator[_Edit]:
    for stmt in body:
        yield from _of(stmt)
        for inner in _bodies(stmt):
            yield from _edits(inner)


def _bodies(stmt: Stmt) -> tuple[Body, ...]:
    match stmt:
        case nodes.If():
            return stmt.then, stmt.otherwise
        case nodes.For() | nodes.While():
            return (stmt.body,)
    return ()


def _of(stmt: Stmt) -> Iterator[_Edit]:
    match stmt:
        case nodes.Barrier():
            yield _Edit("barrier", "its barrier", stmt, ())
        case nodes.If(otherwise=()):
            left = () if isinstance(stmt.then[-1], nodes.Return) and len(stmt.then) == 1 else stmt.then
            yield _Edit("guard", "its guard", stmt, left)
            for number, condition in enumerate(_weaker(stmt.condition), 1):
                what = f"condition {number} of its guard"
                yield _Edit("guard", what, stmt, (replace(stmt, condition=condition),))
        case nodes.Assign(target, nodes.Intrinsic() as value) if value.name in _PLAIN or value.name in _CHOSEN:
            place = value.arguments[0]
            keep = nodes.Assign(target, place, stmt.span)
            yield _Edit("atomic", value.name, stmt, (keep, nodes.Assign(place, _stored(value), stmt.span)))
        case nodes.Evaluate(nodes.Intrinsic() as value) if value.name in _PLAIN or value.name in _CHOSEN:
            yield _Edit("atomic", value.name, stmt, (nodes.Assign(value.arguments[0], _stored(value), stmt.span),))
    if isinstance(stmt, (nodes.Assign, nodes.Evaluate)):
        for chosen in [node for node in walk(stmt.value) if isinstance(node, nodes.Select)]:
            yield _Edit("guard", "its `if … else`", stmt, (_without(stmt, chosen),))


def _weaker(condition: Expr) -> Iterator[Expr]:
    """A conjunction without one of its parts, for each of them."""
    if not isinstance(condition, nodes.Logical) or condition.op != "and":
        return
    left, right = condition.left, condition.right
    for weaker in _conjuncts_less(left):
        yield right if weaker is None else replace(condition, left=weaker)
    for weaker in _conjuncts_less(right):
        yield left if weaker is None else replace(condition, right=weaker)


def _conjuncts_less(part: Expr) -> Iterator[Expr | None]:
    """A part of a conjunction without one of its own parts; nothing, where it has none."""
    if isinstance(part, nodes.Logical) and part.op == "and":
        yield from _weaker(part)
    else:
        yield None


def _stored(value: nodes.Intrinsic) -> Expr:
    place, operand = value.arguments
    if value.name in _PLAIN:
        return nodes.Binary(_PLAIN[value.name], place, operand, value.type, value.span)
    is_chosen = nodes.Compare(_CHOSEN[value.name], operand, place, BOOL, value.span)
    return nodes.Select(is_chosen, operand, place, value.type, value.span)


def _without(stmt: Stmt, chosen: nodes.Select) -> Stmt:
    """The statement with the first alternative, whatever the condition says."""
    return rewrite(stmt, lambda node: chosen.then if node is chosen else node)


# The kernel with one edit


def _edited(kernel: Kernel, where: Function, edit: _Edit) -> Kernel:
    done: dict[Function, Function] = {}

    def redirect(node: nodes.Node) -> nodes.Node:
        return replace(node, callee=done.get(node.callee, node.callee)) if isinstance(node, nodes.Call) else node

    for function in (*callees(kernel.function), kernel.function):
        body = _replaced(function.body, edit) if function is where else function.body
        done[function] = replace(function, body=tuple(rewrite(stmt, redirect) for stmt in body))
    return replace(kernel, function=done[kernel.function])


def _replaced(body: Body, edit: _Edit) -> Body:
    found: list[Stmt] = []
    for stmt in body:
        if stmt is edit.stmt:
            found += edit.becomes
            continue
        match stmt:
            case nodes.If():
                then, otherwise = (_replaced(inner, edit) for inner in (stmt.then, stmt.otherwise))
                stmt = replace(stmt, then=then, otherwise=otherwise)
            case nodes.For() | nodes.While():
                stmt = replace(stmt, body=_replaced(stmt.body, edit))
        found.append(stmt)
    return tuple(found)


def every() -> Iterator[Judged]:
    """Those of all good cases."""
    for case in cases().values():
        if case.kind == "good":
            yield from judged(case)


def main() -> None:
    """Prints the table, and with `-v` each mutant."""
    table: Counter[tuple[str, str]] = Counter()
    for one in every():
        table[one.mutant.kind, one.judgement] += 1
        if "-v" in sys.argv:
            said = f" → {one.shown.check}, lines {one.shown.lines}" if one.shown else ""
            print(f"{one.judgement:10} {one.mutant.name}{said}")
    print("without a    faulty  open  equivalent")
    for kind in ("barrier", "guard", "atomic"):
        print(f"{kind:10} {table[kind, 'faulty']:8} {table[kind, 'open']:5} {table[kind, 'equivalent']:11}")


if __name__ == "__main__":
    main()
