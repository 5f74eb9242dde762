"""Findings in words: what happens, to what, in which threads, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kbuild.audit import barriers, bounds, initialization, models, narrow, patterns, races, repeats
from kbuild.audit.answers import Answer, Judge
from kbuild.audit.findings import Example, Finding, Thread, Verdict
from kbuild.audit.records import Fence
from kbuild.errors import Note, Span

_HELP: Final[dict[str, str]] = {
    "KB401": "keep the thread away by a condition on the array's extent, such as `if i < a.shape[0]:`",
    "KB402": "put `kb.syncthreads()` between the two lines, where all threads of the block pass, or use atomics",
    "KB403": "let each thread store to elements of its own, or use atomics such as `kb.atomic_add`",
    "KB404": "move it to where all threads pass: out of the branch or loop, and before any `return`",
    "KB414": "compute it in more bits, `kb.int64(…)`, or keep what goes into it small by a condition",
    "KB415": "store or assign on every way that leads here; of shared memory, put `kb.syncthreads()` behind it",
}


class Wording:
    """Findings in words."""

    def __init__(self, kernel: str, judge: Judge) -> None:
        self.kernel, self.judge = kernel, judge

    def beyond(self, beyond: bounds.Beyond) -> Iterator[Finding]:
        """An access beyond an array, or one that is not known to be inside."""
        answer = beyond.answer
        if answer.verdict == "proved":
            return
        name = beyond.what.removesuffix("[…]")
        verb = {"write": "stores", "atomic": "changes", "component": "takes"}.get(beyond.kind, "reads")
        example = models.example(self.judge, answer)
        if answer.verdict == "found" and answer.model is not None:
            index, extent = answer.model.value(beyond.index), answer.model.value(beyond.extent)
            where = f" along axis {beyond.axis}" if beyond.axis else ""
            message = f"{verb} element {index} of {name}, which has {extent}{where}{_of(example)}"
        else:
            message = f"{verb} an element of {name} of which it is not known that it is there"
        yield self._finding("KB401", "bounds", beyond.span, message, answer, name, example)

    def race(self, pair: races.Pair, check: str) -> Iterator[Finding]:
        """Two threads at one place."""
        answer = pair.answer
        if answer.verdict == "proved":
            return
        one, two = pair.one, pair.two
        if one.kind == "read":
            one, two = two, one
        name = one.memory.name
        example = models.example(self.judge, answer)
        verbs = {"write": "store to", "read": "read", "atomic": "change"}
        is_known = answer.verdict == "found"
        if one.kind == two.kind:
            what = f"two threads {'' if is_known else 'may '}{verbs[one.kind]} the same element of {name}"
        else:
            first = {"write": "stores to", "atomic": "changes"}[one.kind]
            second = {"read": "reads", "write": "stores to", "atomic": "changes"}[two.kind]
            may = "" if is_known else " perhaps"
            what = f"a thread {first} an element of {name} that another{may} {second}"
        message = what + (_of(example) if is_known else "")
        notes = (Note(f"the other thread {_verb(two.kind)} it here", two.span),) if two.span != one.span else ()
        code = "KB402" if check == "shared-races" else "KB403"
        yield self._finding(code, check, one.span, message, answer, name, example, notes)

    def barrier(self, reached: barriers.Reached) -> Iterator[Finding]:
        """A barrier that some threads miss."""
        answer = reached.answer
        if answer.verdict == "proved":
            return
        who = "threads of a block" if reached.reach.of == "block" else "lanes of a warp"
        example = models.example(self.judge, answer)
        if answer.verdict == "found":
            message = f"{reached.reach.what} is not reached by all {who}{_of(example, 'comes', 'does not')}"
        else:
            message = f"{reached.reach.what} may not be reached by all {who}"
        yield self._finding("KB404", "barriers", reached.reach.span, message, answer, reached.reach.what, example)

    def overflow(self, overflow: bounds.Overflow) -> Iterator[Finding]:
        """Arithmetic beyond its type."""
        if overflow.answer.verdict == "proved":
            return
        one, answer = overflow.arithmetic, overflow.answer
        example = models.example(self.judge, answer)
        if answer.verdict == "found":
            value = None if answer.model is None else answer.model.value(one.result)
            message = f"leaves {one.type}" + (f": {value}{_of(example)}" if value is not None else "")
        else:
            message = f"may leave {one.type}"
        yield self._finding("KB414", "overflow", one.span, message, answer, "", example)

    def unset(self, unset: initialization.Unset) -> Iterator[Finding]:
        """Shared memory that is read before anybody has stored there."""
        if unset.answer.verdict == "proved":
            return
        name = unset.memory.name
        if unset.answer.verdict == "unknown":
            message = f"reads {name}, of which it is not known that anybody has stored there"
        elif unset.element is None:
            message = f"reads {name} before anything is stored there"
        else:
            message = f"reads element {unset.element} of {name}, where nothing is stored before"
        yield self._finding("KB415", "initialization", unset.span, message, unset.answer, name, None)

    def unset_variable(self, unset: initialization.UnsetVariable) -> Iterator[Finding]:
        """A variable that is read before anything is assigned."""
        if unset.answer.verdict == "proved":
            return
        message = f"{unset.name} is read here, and not every way here assigns it (it is zero then)"
        yield self._finding("KB415", "initialization", unset.span, message, unset.answer, unset.name, None)

    def banks(self, banks: patterns.Banks) -> Iterator[Finding]:
        """Lanes that wait for one bank."""
        if banks.answer.verdict != "found":
            return
        name = banks.memory.name
        verb = {"read": "reads", "write": "stores to", "atomic": "changes"}[banks.kind]
        message = f"{verb} {name} with a {banks.degree}-way bank conflict: {banks.wavefronts} passes, not {banks.least}"
        figures = (("degree", banks.degree), ("wavefronts", banks.wavefronts), ("least", banks.least))
        yield self._cost("KB405", "banks", banks.span, message, name, figures, banks.cure)

    def sectors(self, sectors: patterns.Sectors) -> Iterator[Finding]:
        """Memory transactions for what nobody uses."""
        if sectors.answer.verdict != "found":
            return
        name = sectors.memory.name
        verb = {"read": "reads", "write": "stores to", "atomic": "changes"}[sectors.kind]
        apart = f", lanes {abs(sectors.stride)} bytes apart" if sectors.stride else ""
        message = f"{verb} {name} in {sectors.sectors} sectors for a warp, where {sectors.least} would do{apart}"
        figures = (("sectors", sectors.sectors), ("ideal", sectors.least))
        help = "let neighbouring threads use neighbouring elements: the last index should grow with the thread's number"
        yield self._cost("KB406", "coalescing", sectors.span, message, name, figures, help)

    def repeat(self, repeat: repeats.Repeat) -> Finding:
        """An element that is loaded again."""
        name, between, first = repeat.memory.name, repeat.between, repeat.first
        if isinstance(between, Fence):
            what = between.what
        else:
            what = f"the {'atomic on' if between.kind == 'atomic' else 'store to'} {between.memory.name}"
        where = f" in line {between.span.line}" if between.span else ""
        notes = [Note(f"no compiler carries what it has loaded past {what}", between.span)]
        if first is None or first.span == repeat.span:
            message = f"reads the same element of {name} in every trip, because of {what}{where}"
            help = f"load it before the loop: `x = {name}[…]`"
        else:
            verb = "loaded" if first.kind == "read" else "stored"
            line = f" in line {first.span.line}" if first.span else ""
            message = f"reads an element of {name} again that was {verb}{line}, because of {what}{where}"
            help = f"keep it in a variable, `x = {name}[…]`, and use that here"
            notes.insert(0, Note(f"it is {verb} here", first.span))
        figures = (("bytes", float(repeat.size)),)
        return self._cost("KB407", "coalescing", repeat.span, message, name, figures, help, tuple(notes))

    def narrow(self, found: narrow.Narrow) -> Finding:
        """What takes several instructions."""
        name = found.memory.name
        subject = f"the field {found.what!r} of elements of {name}" if found.why == "field" else f"an element of {name}"
        if found.why == "neighbours":
            subject = f"{found.pieces} numbers of {name} side by side"
        verb = {"read": "reads", "write": "stores"}[found.kind]
        one = f"one of {found.word}" if found.words == 1 else f"{found.words} of {found.word}"
        instructions = f"{found.pieces} instructions of {found.bytes} byte{'s' if found.bytes > 1 else ''}"
        message = f"{verb} {subject} by {instructions}, where {one} would do"
        if found.why == "again":
            message += ", since the function comes to it again"
        elif found.why == "hint":
            message += ", because of the hint for the caches"
        figures = (("instructions", float(found.pieces)), ("least", float(found.words)))
        return self._cost("KB408", "coalescing", found.span, message, name, figures, _wider(found))

    def split(self, split: patterns.Split) -> Iterator[Finding]:
        """Lanes of a warp that go different ways."""
        if split.answer.verdict != "found":
            return
        what = "loop goes on for some lanes of a warp and not for others" if split.is_loop else "branch splits warps"
        message = f"the {what}: {split.warps} of {split.of} warps, at most {split.lanes} of 32 lanes take it"
        figures = (("warps", split.warps), ("of", split.of), ("lanes", split.lanes), ("used", round(split.used, 3)))
        yield self._cost("KB409", "divergence", split.span, message, "", figures, None)

    def _cost(
        self,
        code: str,
        check: str,
        span: Span | None,
        message: str,
        subject: str,
        figures: tuple[tuple[str, float], ...],
        help: str | None,
        notes: tuple[Note, ...] = (),
    ) -> Finding:
        verdict: Verdict = "found"
        return Finding(
            code, check, verdict, message, span, self.kernel, subject=subject, help=help, notes=notes, figures=figures
        )

    def _finding(
        self,
        code: str,
        check: str,
        span: Span | None,
        message: str,
        answer: Answer,
        subject: str,
        example: Example | None,
        notes: tuple[Note, ...] = (),
    ) -> Finding:
        return Finding(
            code,
            check,
            answer.verdict,
            message,
            span,
            self.kernel,
            subject=subject,
            reason=answer.reason,
            help=_HELP[code] if answer.verdict == "found" else None,
            notes=notes,
            example=example if answer.verdict == "found" else None,
        )


def _wider(found: narrow.Narrow) -> str:
    """What lets an element be moved as a whole."""
    name = found.memory.name
    match found.why:
        case "neighbours":
            return f"let the elements of {name} be `{found.what}`: `v = {name}[…]` moves them at once"
        case "field":
            return (
                f"vectors in structs are aligned as their numbers are: an array of its own for {found.what!r} has words"
            )
        case "hint":
            return "leave the hint out: it moves elements number by number"
        case "again":
            return f"keep it in a variable, `v = {name}[…]`, and use that"
    if found.kind == "write":
        return f"put it together in a variable, and store it once: `{name}[…] = v`"
    return f"load it once, into a variable: `v = {name}[…]`"


def _verb(kind: str) -> str:
    return {"write": "stores to", "read": "reads", "atomic": "changes"}[kind]


def _of(example: Example | None, first: str = "", second: str = "") -> str:
    """The threads of an example, in words."""
    if example is None:
        return ""
    named = [_name(one, example) for one in example.threads]
    if len(named) == 1:
        return f" ({named[0]})"
    return f" ({named[0]} {first}, {named[1]} {second})" if first else f" ({named[0]} and {named[1]})"


def _name(thread: Thread, example: Example) -> str:
    if example.block is None:
        numbers = ", ".join(map(str, thread.coordinates))
        return f"thread {numbers}" if len(thread.coordinates) == 1 else f"thread ({numbers})"
    flat = example.block[1:] == (1, 1)
    inside = str(thread.thread[0]) if flat else str(thread.thread)
    is_flat = example.grid is not None and example.grid[1:] == (1, 1)
    block = str(thread.block[0]) if is_flat else str(thread.block)
    return f"thread {inside} of block {block}"
