"""Blocks without `break`, `continue` and `return`.

What follows an `if` that may leave goes into the side that does not leave, where there is one; else it is guarded by a
flag. A loop that may be left asks its flags before each trip. Flags that nobody asks are left out by later passes.
"""

from __future__ import annotations

from kbuild.autodiff.flat import Branch, Jump, Loop, Set, Tree, fresh, read
from kbuild.ir import nodes
from kbuild.ir.nodes import Const, Expr, Symbol
from kbuild.ir.types import BOOL


def without_jumps(body: list[Tree]) -> list[Tree]:
    """The body of one function, whose result is in a variable."""
    if not _leaves(body):
        return _tidy(body, {})
    flag = fresh("returned", BOOL)
    return [_set(flag, False), *_tidy(body, {"return": flag})]


def _tidy(body: list[Tree], flags: dict[str, Symbol]) -> list[Tree]:
    """A block with `flags` that say what has been left, by kind of jump."""
    made: list[Tree] = []
    for position, one in enumerate(body):
        rest = body[position + 1 :]
        if isinstance(one, Jump):
            return [*made, _set(flags[one.kind], True)]
        if isinstance(one, Branch) and (_leaves(one.then) or _leaves(one.otherwise)):
            return [*made, *_branch(one, rest, flags)]
        if isinstance(one, Loop):
            kinds = _leaves([one])
            made += _loop(one, flags)
            if kinds:  # it may have returned
                return [*made, *_guarded(rest, kinds, flags)]
        elif isinstance(one, Branch):
            made.append(Branch(one.condition, _tidy(one.then, flags), _tidy(one.otherwise, flags), one.span))
        else:
            made.append(one)
    return made


def _branch(one: Branch, rest: list[Tree], flags: dict[str, Symbol]) -> list[Tree]:
    if _always_leaves(one.then):
        return [Branch(one.condition, _tidy(one.then, flags), _tidy([*one.otherwise, *rest], flags), one.span)]
    if _always_leaves(one.otherwise):
        return [Branch(one.condition, _tidy([*one.then, *rest], flags), _tidy(one.otherwise, flags), one.span)]
    kinds = _leaves(one.then) | _leaves(one.otherwise)
    made = Branch(one.condition, _tidy(one.then, flags), _tidy(one.otherwise, flags), one.span)
    return [made, *_guarded(rest, kinds, flags)]


def _guarded(rest: list[Tree], kinds: frozenset[str], flags: dict[str, Symbol]) -> list[Tree]:
    """What is done unless one of these jumps was taken."""
    if not rest:
        return []
    return [Branch(_none_of([flags[kind] for kind in sorted(kinds)]), _tidy(rest, flags), [], rest[0].span)]


def _loop(one: Loop, flags: dict[str, Symbol]) -> list[Tree]:
    kinds = _leaves(one.body)
    own = dict(flags)
    before: list[Tree] = []
    first: list[Tree] = []
    if "continue" in kinds:
        own["continue"] = fresh("continued", BOOL)
        first.append(_set(own["continue"], False))
    if "break" in kinds:
        own["break"] = fresh("broken", BOOL)
        before.append(_set(own["break"], False))
    stops = [own[kind] for kind in ("break", "return") if kind in kinds]
    body = [*first, *_tidy(one.body, own)]
    condition = one.condition
    if stops:
        goes_on = _none_of(stops)
        is_plain = condition is None or condition == Const(True, BOOL, condition.span)
        condition = goes_on if is_plain else nodes.Logical("and", goes_on, condition, BOOL)  # type: ignore[arg-type]
    return [*before, Loop(one.symbol, one.start, one.stop, one.step, condition, body, one.span)]


def _leaves(body: list[Tree]) -> frozenset[str]:
    """The jumps that may lead out of a block."""
    found: set[str] = set()
    for one in body:
        if isinstance(one, Jump):
            found.add(one.kind)
        elif isinstance(one, Branch):
            found |= _leaves(one.then) | _leaves(one.otherwise)
        elif isinstance(one, Loop):
            found |= _leaves(one.body) & {"return"}
    return frozenset(found)


def _always_leaves(body: list[Tree]) -> bool:
    """Every way through a block leaves it by a jump."""
    for one in body:
        if isinstance(one, Jump):
            return True
        if isinstance(one, Branch) and _always_leaves(one.then) and _always_leaves(one.otherwise):
            return True
    return False


def _set(flag: Symbol, value: bool) -> Set:
    return Set(read(flag), Const(value, BOOL))


def _none_of(flags: list[Symbol]) -> Expr:
    found: Expr = nodes.Unary("not", read(flags[0]), BOOL)
    for flag in flags[1:]:
        found = nodes.Logical("and", found, nodes.Unary("not", read(flag), BOOL), BOOL)
    return found
