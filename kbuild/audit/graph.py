"""The synchronisation graph of a kernel as Graphviz reads it: which barrier a thread may come to after which.

    entry → barrier at line 12 → barrier at line 17 → exit

A node is a barrier, of the block or of a warp, or an operation that the lanes of a warp do together; an edge is a way
from one to the next on which there is no other, with the conditions that it depends on. Edges that only some threads
may take are dashed: where two of them part a block before a barrier, its threads wait for one another in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kbuild.audit.dependence import Dependence
from kbuild.ir import nodes
from kbuild.ir.nodes import Expr, Function, Kernel, Stmt
from kbuild.ir.traverse import callees, walk

_ENTRY, _EXIT = "entry", "exit"


@dataclass(frozen=True, slots=True)
class _End:
    """A way that has not come to a node yet: where it began, the lines of the conditions on it, and whether one of them
    depends on the thread."""

    node: str
    lines: tuple[int, ...] = ()
    is_split: bool = False


@dataclass(slots=True)
class _Graph:
    dependence: dict[Function, Dependence]
    waiting: set[Function]
    labels: dict[str, str] = field(default_factory=dict)
    edges: dict[tuple[str, str], _End] = field(default_factory=dict)

    def arrive(self, ends: Iterable[_End], node: str) -> None:
        """Edges from where ways began to a node that they have come to. Of several ways the one that fewer may take is
        drawn as one for all."""
        for end in ends:
            key = (end.node, node)
            before = self.edges.get(key)
            if before is None:
                self.edges[key] = end
            else:
                lines = tuple(sorted({*before.lines, *end.lines}))
                self.edges[key] = _End(end.node, lines, before.is_split and end.is_split)

    def node(self, label: str, ends: Iterable[_End]) -> list[_End]:
        """A new node that these ways come to."""
        name = f"n{len(self.labels)}"
        self.labels[name] = label
        self.arrive(ends, name)
        return [_End(name)]


@dataclass(slots=True)
class _Frame:
    """A function that is walked through, with the ways that leave its loops and itself."""

    function: Function
    breaks: list[list[_End]] = field(default_factory=list)
    continues: list[list[_End]] = field(default_factory=list)
    returns: list[_End] = field(default_factory=list)


def synchronization(kernel: Kernel) -> str:
    """The graph of a kernel. Functions with barriers are walked through at every call."""
    functions = [kernel.function, *callees(kernel.function)]
    graph = _Graph({one: Dependence(one) for one in functions}, {one for one in functions if _waits(one)})
    ends = _function(graph, kernel.function, [_End(_ENTRY)])
    graph.arrive(ends, _EXIT)
    return _text(kernel.name, graph)


def _waits(function: Function) -> bool:
    return any(_label(node) for one in [function, *callees(function)] for node in walk(one.body))


def _label(node: nodes.Node) -> str:
    """What a node of the IR is called where threads wait at it; nothing for others."""
    if isinstance(node, nodes.Barrier):
        return "syncthreads" if node.mask is None else "syncwarp"
    return node.name if isinstance(node, nodes.Intrinsic) and node.name in nodes.COLLECTIVES else ""


def _function(graph: _Graph, function: Function, ends: list[_End]) -> list[_End]:
    frame = _Frame(function)
    ends = _block(graph, frame, function.body, ends)
    return _joined([*ends, *frame.returns])


def _block(graph: _Graph, frame: _Frame, body: Sequence[Stmt], ends: list[_End]) -> list[_End]:
    for statement in body:
        if not ends:
            break
        ends = _joined(_statement(graph, frame, statement, ends))
    return ends


def _statement(graph: _Graph, frame: _Frame, statement: Stmt, ends: list[_End]) -> list[_End]:
    if isinstance(statement, nodes.If):
        decided = _conditional(graph, frame, statement.condition, ends)
        then = _block(graph, frame, statement.then, decided)
        otherwise = _block(graph, frame, statement.otherwise, decided)
        both = {end.node for end in then} & {end.node for end in otherwise}
        together = [end for end in ends if end.node in both]  # whichever way: all threads are here again
        return [*together, *(end for end in (*then, *otherwise) if end.node not in both)]
    if isinstance(statement, nodes.For):
        bounds = [statement.start, statement.stop, statement.step]
        return _loop(graph, frame, statement.body, bounds, ends)
    if isinstance(statement, nodes.While):
        return _loop(graph, frame, statement.body, [statement.condition], ends)
    if isinstance(statement, nodes.Break):
        frame.breaks[-1] += ends
        return []
    if isinstance(statement, nodes.Continue):
        frame.continues[-1] += ends
        return []
    if isinstance(statement, nodes.Return):
        ends = _expressions(graph, frame, statement, ends)
        frame.returns += ends
        return []
    return _expressions(graph, frame, statement, ends)


def _expressions(graph: _Graph, frame: _Frame, statement: Stmt, ends: list[_End]) -> list[_End]:
    """What a statement waits at, in the order in which it comes to it."""
    for node in walk(statement):
        label = _label(node)
        if label:
            line = node.span.line if node.span is not None else 0
            ends = graph.node(f"{label}\\nline {line}", ends)
        elif isinstance(node, nodes.Call) and node.callee in graph.waiting:
            ends = _function(graph, node.callee, ends)
    return ends


def _loop(graph: _Graph, frame: _Frame, body: Sequence[Stmt], bounds: Sequence[Expr], ends: list[_End]) -> list[_End]:
    """A loop: its end leads back to its first nodes, which are found by walking through it a second time."""
    decided = ends
    for bound in bounds:
        decided = _conditional(graph, frame, bound, decided)
    frame.breaks.append([])
    frame.continues.append([])
    first, returns = len(graph.labels), len(frame.returns)
    back = [*_block(graph, frame, body, decided), *frame.continues[-1]]
    names = list(graph.labels)[first:]
    heads = {end.node: end for end in decided}
    entered = {
        node: (edge.lines, edge.is_split and not heads[start].is_split)
        for (start, node), edge in graph.edges.items()
        if node in names and start in heads
    }
    for bound in bounds:
        back = _conditional(graph, frame, bound, _joined(back))
    for node, (lines, is_split) in entered.items():
        again = [end for end in back if end.node in names]
        graph.arrive((_End(e.node, tuple(sorted({*e.lines, *lines})), e.is_split or is_split) for e in again), node)
    frame.continues.pop()
    left = frame.breaks.pop()
    if not names and len(frame.returns) == returns:
        return ends  # nobody waits or stays behind in it
    return [*decided, *back, *left]


def _conditional(graph: _Graph, frame: _Frame, condition: Expr, ends: list[_End]) -> list[_End]:
    if isinstance(condition, nodes.Const):
        return ends
    is_split = graph.dependence[frame.function].of(condition)
    line = (condition.span.line,) if condition.span is not None else ()
    return [_End(end.node, tuple(sorted({*end.lines, *line})), end.is_split or is_split) for end in ends]


def _joined(ends: Iterable[_End]) -> list[_End]:
    """One way from each node: one that all threads may take stands for the others."""
    found: dict[str, _End] = {}
    for end in ends:
        before = found.get(end.node)
        if before is None:
            found[end.node] = end
        else:
            lines = tuple(sorted({*before.lines, *end.lines}))
            found[end.node] = _End(end.node, lines, before.is_split and end.is_split)
    return list(found.values())


def _text(name: str, graph: _Graph) -> str:
    lines = [f"digraph {_quoted(name)} {{", f"    label={_quoted(name)};", "    node [shape=box];"]
    lines += [f"    {end} [shape=circle];" for end in (_ENTRY, _EXIT)]
    lines += [f'    {node} [label="{label}"];' for node, label in graph.labels.items()]
    for (start, node), end in graph.edges.items():
        attributes = []
        if end.lines:
            attributes.append(f'label="if, line {", ".join(map(str, end.lines))}"')
        if end.is_split:
            attributes.append("style=dashed")
        shown = f" [{', '.join(attributes)}]" if attributes else ""
        lines.append(f"    {start} -> {node}{shown};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
