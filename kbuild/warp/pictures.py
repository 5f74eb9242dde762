"""`tape.visualize`: what a tape has recorded as a picture, in GraphViz's language.

Launches and copies are boxes, arrays ellipses; an arrow leads from what is read and to what is written.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    Scope = Tuple[int, Optional[str], Optional[Dict[str, Any]]]
    Arrays = List[Tuple[str, Any]]


class Drawn:
    """A step as it is drawn: its name, and what it reads and writes, with the names of the parameters."""

    def __init__(self, name: str, reads: Arrays, writes: Arrays) -> None:
        self.name, self.reads, self.writes = name, reads, writes

    def key(self) -> Any:
        """Steps of the same key in a row are one step that is repeated."""
        return self.name, [id(one) for _, one in self.reads], [id(one) for _, one in self.writes]


def dot(
    steps: list[Drawn | None],
    scopes: list[Scope],
    simplify: bool,
    labels: dict[Any, str],
    longest: bool,
    hides_read: bool,
    direction: str,
) -> str:
    """The picture. `steps` has None where a step is not drawn."""
    names = _names(steps, labels, longest)
    written = {id(one) for step in steps if step is not None for _, one in step.writes}
    shown = [key for key in names if not hides_read or key in written]
    lines = ["digraph tape {", "  rankdir=%s;" % direction]
    arrays = {id(one): one for step in steps if step is not None for _, one in (*step.reads, *step.writes)}
    for number, key in enumerate(shown):
        lines.append("  a%d [label=%s, tooltip=%s];" % (number, _quoted(names[key]), _quoted(_about(arrays[key]))))
    node_of = {key: "a%d" % number for number, key in enumerate(shown)}
    edges: list[str] = []
    for number, (step, begins) in enumerate(_events(steps, scopes, simplify)):
        if step is None:
            lines.append("  subgraph cluster_%d { label=%s;" % (number, _quoted(begins)) if begins else "  }")
            continue
        lines.append("  s%d [shape=box, label=%s];" % (number, _quoted(begins)))
        edges += ["  %s -> s%d;" % (node_of[id(one)], number) for _, one in step.reads if id(one) in node_of]
        edges += ["  s%d -> %s;" % (number, node_of[id(one)]) for _, one in step.writes if id(one) in node_of]
    return "\n".join([*lines, *dict.fromkeys(edges), "}"]) + "\n"


def _events(steps: list[Drawn | None], scopes: list[Scope], simplify: bool) -> list[tuple[Drawn | None, str]]:
    """Steps with their labels, and between them beginnings of scopes, with their names, and ends, with none."""
    found: list[tuple[Drawn | None, str]] = []
    marks = list(scopes)
    at = 0
    while at < len(steps) or marks:
        while marks and marks[0][0] <= at:
            _, name, _ = marks.pop(0)
            found.append((None, name or ""))
        if at >= len(steps):
            at += 1
            continue
        step, count = steps[at], 1
        end = min([mark[0] for mark in marks] + [len(steps)])
        while simplify and step is not None and at + count < end and _same(step, steps[at + count]):
            count += 1
        at += count
        if step is not None:
            found.append((step, step.name if count == 1 else "%s\nrepeated %dx" % (step.name, count)))
    return found


def _same(one: Drawn, other: Drawn | None) -> bool:
    return other is not None and one.key() == other.key()


def _names(steps: list[Drawn | None], labels: dict[Any, str], longest: bool) -> dict[int, str]:
    """The names of arrays, by identity: those that are given, else a parameter's."""
    names: dict[int, str] = {}
    for step in steps:
        for path, one in () if step is None else (*step.reads, *step.writes):
            known = names.get(id(one))
            if known is None or (longest and len(path) > len(known)):
                names[id(one)] = path
    names.update({id(one): name for one, name in labels.items() if id(one) in names})
    return names


def _about(one: Any) -> str:
    name = getattr(one.dtype, "__name__", one.dtype)
    return "array: dtype=%s, shape=%s, requires_grad=%s" % (name, tuple(one.shape), one.requires_grad)


def _quoted(text: str) -> str:
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
