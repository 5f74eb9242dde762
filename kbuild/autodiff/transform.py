"""The pass as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kbuild.autodiff.activity import Activity
from kbuild.autodiff.conditions import named
from kbuild.autodiff.flat import (
    NONE,
    Loop,
    Names,
    Set,
    Tree,
    all_arrays,
    every,
    float_arrays,
    fresh,
    in_memory,
    looks_at,
    path_of,
)
from kbuild.autodiff.inline import flatten
from kbuild.autodiff.needed import Slice, changed_by, is_atomic, looked_at, observable, overwritten, slice_of, stored
from kbuild.autodiff.owned import owned_arrays
from kbuild.autodiff.recorded import Recorded
from kbuild.autodiff.result import Adjoint, Undifferentiable
from kbuild.autodiff.reverse import Reverse
from kbuild.autodiff.rules import Adjoints
from kbuild.autodiff.saving import STACKS, Stacks
from kbuild.autodiff.stable import Stable
from kbuild.autodiff.sweeps import Forward, Plan, Reversal, amounts, read_in
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.contract import contract
from kbuild.ir.nodes import Function, Kernel, Stmt, Symbol
from kbuild.ir.traverse import callees, reached, rewrite, root_of, walk
from kbuild.ir.types import VOID

SUFFIX = ":adjoint"


def _bounds(kernel: Kernel) -> tuple[int, int | None] | None:
    """An adjoint is launched in blocks of the same size; how many of them fit is another question for other code."""
    return None if kernel.launch_bounds is None else (kernel.launch_bounds[0], 0)


def adjoint(kernel: Kernel, everything: bool = False) -> Adjoint:
    """The adjoint of a contracted kernel. Raises Undifferentiable.

    With `everything` all that is overwritten is saved, which is slow and simple: what the analyses spare is tested
    against it.
    """
    body = named(flatten(kernel))
    primal_body = body
    if any(one.replay is not None for one in reached(kernel.function)):
        primal_body = flatten(kernel, replays=False)
    arrays = _array_parameters(kernel.function)
    adjoints = Adjoints(arrays)
    owned = owned_arrays(body, kernel.ndim)
    reverse = Reverse(Activity(body), adjoints, owned)
    cores = {id(one): reverse.core(one) for one in every(body)}
    primal = _names_of(kernel.function, body)
    reads = {key: read_in([*core.before, *core.after]) & primal for key, core in cores.items() if core}
    later: Names = frozenset(reverse.after_launch)
    _refuse_mixed(body, later)
    left = _left(body, reads)
    later = later | _replayed(body, primal_body) | left

    kept = _kept(body, reads, later)
    _refuse_called_again(body, kept, left)
    _refuse_unknown_results(body, kept)
    written = frozenset(path for one in every(body) if kept.keeps(one) for path in stored(one))
    constants = frozenset(kernel.function.parameters)
    again = {} if everything else Stable(body, kept, reads, written, constants).again
    recorded = Recorded(body, kept, {k: v - later for k, v in reads.items()}, frozenset(again), everything)
    plan = Plan(body, cores, recorded.saved, again, kernel.max_iterations)
    stacks = Stacks(amounts(plan))
    reversal = Reversal(plan, stacks)
    backward = reversal.block(body)
    seeds = (read_in(backward) & primal) - later - _computed_in_loops(body, again)
    forward_kept = slice_of(
        body,
        lambda one: _saved_names(one) if id(one) in recorded.saved else None,
        kept.keeps,
        seeds,
    )
    forward = Forward(plan, forward_kept, stacks, reversal.alone).block(body)
    statements = [*stacks.begin(), *forward, *stacks.turn(), *backward]
    return _assembled(kernel, primal_body, arrays, stacks, statements, later, owned)


def _array_parameters(function: Function) -> dict[Symbol, Symbol]:
    """The adjoints of parameters that have floating-point numbers in arrays."""
    taken = {parameter.name for parameter in function.parameters}
    found: dict[Symbol, Symbol] = {}
    for parameter in function.parameters:
        if any(float_arrays(parameter.type, parameter.name)):
            name = f"adj_{parameter.name}"
            while name in taken:
                name = f"adj_{name}"
            taken.add(name)
            found[parameter] = fresh(name, parameter.type)
    return found


def _names_of(function: Function, body: list[Tree]) -> Names:
    """The kernel's own variables and arrays."""
    found: set[Symbol | str] = set(function.parameters)
    for one in every(body):
        found |= looked_at(one) | stored(one)
        if isinstance(one, Set):
            if isinstance(root := root_of(one.target), nodes.Read):
                found.add(root.symbol)
        elif isinstance(one, Loop):
            found |= {one.symbol} if one.symbol is not None else NONE
            found |= {one.trips} if one.trips is not None else NONE
    return frozenset(found)


def _kept(body: list[Tree], reads: dict[int, Names], later: Names) -> Slice:
    """What must run for the reverse of every statement, with the stores that a load may see."""
    stores = {id(one) for one in every(body) if stored(one)}
    while True:
        kept = slice_of(
            body,
            lambda one: reads[id(one)] - later if id(one) in reads else None,
            lambda one: id(one) in stores,  # noqa: B023 - called before the loop goes on
        )

        def loads(one: Tree) -> Names:
            own = reads.get(id(one), NONE) - later
            return own | looked_at(one) if kept.keeps(one) else own  # noqa: B023 - as above

        left = {key for key in stores & observable(body, loads) if key in kept.kept}
        if left == stores:
            return kept
        stores = left


def _replayed(body: list[Tree], primal_body: list[Tree]) -> Names:
    """Arrays that the launch writes and replays of functions look at: they have it from there."""
    written = frozenset(path for one in every(primal_body) for path in stored(one))
    again = frozenset(path for one in every(body) for path in stored(one))
    return (written - again) & frozenset(name for one in every(body) for name in looked_at(one))


def _left(body: list[Tree], reads: dict[int, Names]) -> Names:
    """Arrays that a call changes and its function's own gradient looks at: it sees them as the launch left them."""
    found: dict[Symbol | str, Tree] = {}
    others: set[Symbol | str] = set()
    for one in every(body):
        call = _own(one)
        if call is None:
            others |= looked_at(one) | stored(one)
        else:
            changes = changed_by(call)
            others |= looked_at(one) - changes
            found.update((path, one) for path in changes & reads.get(id(one), NONE))
    for path in found.keys() & others:
        raise Undifferentiable(
            f"this call changes {path}, the function's own gradient looks at it, and so does the rest of the kernel",
            found[path].span,
            "give the values back as results, or make the call in a kernel of its own",
        )
    return frozenset(found)


def _own(one: Tree) -> nodes.Call | None:
    """A call of a function with a gradient of its own."""
    value = getattr(one, "value", None)
    return value if isinstance(value, nodes.Call) and value.callee.gradient is not None else None


def _refuse_called_again(body: list[Tree], kept: Slice, left: Names) -> None:
    """What the launch left must stay so while the adjoint runs."""
    for one in every(body):
        if _own(one) is not None and kept.keeps(one) and stored(one) & left:
            raise Undifferentiable(
                "the adjoint needs what this call gives back, and an array that the call changes as the launch left it",
                one.span,
                "let a @kb.func_replay of the function read the result from where it was stored",
            )


def _refuse_mixed(body: list[Tree], later: Names) -> None:
    """The winner of a smallest or largest value is known only if nothing else happens to the array."""
    kinds: dict[str, str] = {}
    for one in every(body):
        value = getattr(one, "value", None)
        kind = value.name if isinstance(value, nodes.Intrinsic) and is_atomic(value) else "assignment"
        for path in stored(one) & later:
            assert isinstance(path, str)
            if kinds.setdefault(path, kind) != kind:
                _raise_mixed(path, kind, one)
        for path in looked_at(one) & later:
            assert isinstance(path, str)
            _raise_mixed(path, "load", one)


def _raise_mixed(path: str, what: str, one: Tree) -> None:
    raise Undifferentiable(
        f"{path} takes the smallest or largest value atomically, and here is another access to it ({what}), "
        "so that the result depends on the order of the threads",
        one.span,
        "put the other access into a kernel of its own",
    )


def _refuse_unknown_results(body: list[Tree], kept: Slice) -> None:
    for one in every(body):
        if isinstance(one, Set) and is_atomic(one.value):
            root = root_of(one.target)
            if not isinstance(root, nodes.Read) or root.symbol in kept.names:
                raise Undifferentiable(
                    "what this atomic operation gives back is needed by the adjoint, which runs the kernel again in "
                    "another order of threads",
                    one.span,
                    "find the position in a kernel of its own, and hand it on in an array",
                )


def _saved_names(one: Tree) -> Names:
    """What a saved statement assigns must be there, and it runs."""
    place = overwritten(one)
    assert place is not None
    root = root_of(place)
    if isinstance(root, nodes.Read):
        return frozenset([root.symbol])
    return stored(one)


def _computed_in_loops(body: list[Tree], again: dict[Symbol, Set]) -> Names:
    """Variables that the reverse sweep computes for itself."""
    inside: set[int] = set()
    for one in every(body):
        if isinstance(one, Loop):
            inside |= {id(inner) for inner in every(one.body)}
    return frozenset(symbol for symbol, one in again.items() if id(one) in inside)


def _assembled(
    kernel: Kernel,
    body: list[Tree],
    arrays: dict[Symbol, Symbol],
    stacks: Stacks,
    statements: Sequence[Stmt],
    later: Names,
    owned: Names,
) -> Adjoint:
    function = kernel.function
    own = {path for parameter in function.parameters for path in all_arrays(parameter.type, parameter.name)}
    with_floats = {path for parameter in function.parameters for path in float_arrays(parameter.type, parameter.name)}
    loaded, changed = _accesses(statements)
    made = Function(
        f"{function.name}_adjoint",
        function.module,
        (*function.parameters, *arrays.values(), *stacks.parameters),
        VOID,
        tuple(rewrite(one, _with_place) for one in statements),
        function.span,
        (),
        any(one.wraps for one in [*callees(function), function]),
    )
    primal_reads = frozenset(name for one in every(body) for name in looked_at(one)) & own
    writes = frozenset(path for one in every(body) for path in stored(one)) & own
    sums = frozenset(path for one in every(body) if _is_sum(one) for path in stored(one)) & own
    others = frozenset(path for one in every(body) if not _is_sum(one) for path in stored(one))
    return Adjoint(
        contract(replace(kernel, name=kernel.name + SUFFIX, function=made, launch_bounds=_bounds(kernel))),
        read=_sorted(primal_reads),
        written=_sorted(writes),
        accumulated=_sorted(sums - others),
        before=_sorted((loaded | changed) & own - later),
        after=_sorted(later & own & loaded),
        scratch=_sorted(changed & own),
        owned=_sorted(owned & with_floats),
        saved={} if stacks.in_thread else dict(sorted(stacks.words.items(), key=lambda pair: STACKS.index(pair[0]))),
    )


def _with_place(node: nodes.Node) -> nodes.Node:
    """An assignment whose target stands where the statement does: watches tell it by that."""
    if isinstance(node, nodes.Assign) and node.target.span is None and node.span is not None:
        return replace(node, target=replace(node.target, span=node.span))
    return node


def _sorted(paths: Names) -> tuple[str, ...]:
    return tuple(sorted(path for path in paths if isinstance(path, str)))


def _is_sum(one: Tree) -> bool:
    value = getattr(one, "value", None)
    return isinstance(value, nodes.Intrinsic) and value.name in ("atomic_add", "atomic_sub")


def _accesses(body: Sequence[Stmt]) -> tuple[Names, Names]:
    """The arrays that statements load from, and those that they change."""
    loaded: set[Symbol | str] = set()
    changed: set[Symbol | str] = set()
    targets: set[int] = set()
    for stmt in body:
        for node in walk(stmt):
            place = None
            if isinstance(node, nodes.Assign):
                place = in_memory(node.target)
            elif isinstance(node, nodes.Intrinsic) and has_effects(node.name):
                place = in_memory(node.arguments[0])
            if place is not None:
                targets.add(id(place))
                changed.add(path_of(place.array) or "")
            if isinstance(node, nodes.Index) and id(node) not in targets:
                loaded.add(path_of(node.array) or "")
            elif isinstance(node, nodes.Call):
                loaded |= looks_at(node)
    return frozenset(loaded), frozenset(changed)
