"""The rules of the pass that `gradient_mutants.py` breaks: what stands in a file, and what takes its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str  # in kbuild
    old: str
    new: str

    def apply(self, root: Path) -> None:
        """Breaks the rule in a copy. A text that is not there once says that the pass has changed since."""
        path = root / "kbuild" / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise SystemExit(f"{self.name}: this stands {text.count(self.old)} times in {self.file}:\n{self.old}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


_REVERSE, _SWEEPS, _TRANSFORM = "autodiff/reverse.py", "autodiff/sweeps.py", "autodiff/transform.py"
_EARLY = "autodiff/early.py"
_RECORDED, _STABLE, _NEEDED = "autodiff/recorded.py", "autodiff/stable.py", "autodiff/needed.py"
_JUMPS, _ACTIVITY, _SAVING, _INLINE = (f"autodiff/{name}.py" for name in ("jumps", "activity", "saving", "inline"))

MUTANTS = (
    Mutant(
        "a store leaves the element's adjoint",
        _REVERSE,
        "(nodes.Assign(read(g), place, span), clear)",
        "(nodes.Assign(read(g), place, span),)",
    ),
    Mutant(
        "an assignment leaves the variable's adjoint",
        _REVERSE,
        "        out.append(nodes.Assign(place, zero(place.type), span))\n        return read(g)",
        "        return read(g)",
    ),
    Mutant(
        "a constant assigned leaves the variable's adjoint",
        _REVERSE,
        "made.before.append(nodes.Assign(place, zero(place.type), span))",
        "pass",
    ),
    Mutant(
        "a constant stored leaves the element's adjoint",
        _REVERSE,
        "made.before.append(nodes.If(asked, (nodes.Assign(place, zero(place.type), span),), (), span))",
        "pass",
    ),
    Mutant("atomic_sub propagates like atomic_add", _REVERSE, '"atomic_sub": "neg"', '"atomic_sub": ""'),
    Mutant(
        "all that tie for a smallest value win",
        _REVERSE,
        'nodes.Intrinsic("atomic_exch", (target, zero(g.type)), g.type)',
        "target",
    ),
    Mutant(
        "a smallest value's adjoint goes to everybody",
        _REVERSE,
        'nodes.Compare("eq", operand, place, BOOL)',
        "nodes.Const(True, BOOL)",
    ),
    Mutant(
        "what is subtracted in place is added",
        _REVERSE,
        "return [(right, True)]\n            inner",
        "return [(right, False)]\n            inner",
    ),
    Mutant(
        "added to in place, the element's adjoint is taken",
        _REVERSE,
        "made.before.append(nodes.If(asked, (nodes.Assign(read(g), place, span),), (), span))",
        "made.before.append(nodes.If(asked, (nodes.Assign(read(g), place, span), "
        "nodes.Assign(place, zero(g.type), span)), (), span))",
    ),
    Mutant(
        "added to in place, the variable's adjoint is taken",
        _REVERSE,
        "made.before.append(nodes.Assign(read(g), place, span))",
        "made.before.extend([nodes.Assign(read(g), place, span), nodes.Assign(place, zero(g.type), span)])",
    ),
    Mutant(
        "a statement's own reads come after its overwriting: variables",
        _RECORDED,
        "if symbol in needed or self.everything:",
        "if symbol in needed - (self.reads.get(id(one), NONE)) or self.everything:",
    ),
    Mutant(
        "a statement's own reads come after its overwriting: arrays",
        _RECORDED,
        "if changed and (changed & needed or self.everything):",
        "if changed and (changed & (needed - self.reads.get(id(one), NONE)) or self.everything):",
    ),
    Mutant(
        "loops are looked at once",
        _RECORDED,
        "                if inner == head:\n                    break\n                head = inner\n",
        "                head = inner\n                break\n",
    ),
    Mutant(
        "after a branch only the first side counts",
        _RECORDED,
        "inner = self.block(one.then, needed) | self.block(one.otherwise, needed)",
        "inner, _ = self.block(one.then, needed), self.block(one.otherwise, needed)",
    ),
    Mutant(
        "integers are not saved",
        _RECORDED,
        "if symbol in needed or self.everything:",
        'if (symbol in needed or self.everything) and symbol.type.spelling != "int32":',
    ),
    Mutant(
        "conditions are not saved",
        _RECORDED,
        "if symbol in needed or self.everything:",
        'if (symbol in needed or self.everything) and symbol.name != "condition":',
    ),
    Mutant(
        "counts of trips are not saved",
        _RECORDED,
        "bounds = looks_at(one.start, one.stop) | ({one.trips} if one.trips is not None else NONE)",
        "bounds = looks_at(one.start, one.stop)",
    ),
    Mutant(
        "bounds of loops are not saved",
        _RECORDED,
        "bounds = looks_at(one.start, one.stop) | (",
        "bounds = NONE | (",
    ),
    Mutant(
        "conditions are not needed",
        _RECORDED,
        "return inner | looks_at(one.condition) - self.again if asks else inner",
        "return inner",
    ),
    Mutant(
        "conditions are needed for one side only",
        _RECORDED,
        "asks = self.goes_back(one.then) or self.goes_back(one.otherwise)",
        "asks = self.goes_back(one.then)",
    ),
    Mutant(
        "what finds a saved component is not needed",
        _RECORDED,
        "needed = needed | (looks_at_in_target(one.target) - self.again)",
        "pass",
    ),
    Mutant(
        "what finds a saved element is not needed",
        _RECORDED,
        "needed = needed | (looks_at_in_target(place) - self.again)",
        "pass",
    ),
    Mutant(
        "a component assigned is the whole vector assigned",
        _RECORDED,
        "if isinstance(one.target, nodes.Read):\n                needed",
        "if True:\n                needed",
    ),
    Mutant(
        "an element stored is the whole array stored",
        _RECORDED,
        "            needed = needed | (looks_at_in_target(place) - self.again)\n        return needed\n",
        "            needed = needed | (looks_at_in_target(place) - self.again)\n        return needed - changed\n",
    ),
    Mutant(
        "propagated before what was overwritten is put back",
        _SWEEPS,
        "return [*core.before, *self._restore(one, depth), *core.after]",
        "return [*core.before, *core.after, *self._restore(one, depth)]",
    ),
    Mutant(
        "loops by one are not turned round",
        _SWEEPS,
        "return [nodes.For(symbol, first, last, int_const(-one.step, type), tuple(body), one.span)]",
        "return [nodes.For(symbol, one.start, one.stop, int_const(one.step, type), tuple(body), one.span)]",
    ),
    Mutant("loops of constant steps are not turned round", _SWEEPS, "one.step)[::-1]", "one.step)"),
    Mutant(
        "loops that were left go back from the first trip",
        _SWEEPS,
        "    return nodes.For(trip, last, int_const(-1), int_const(-1), tuple(body), one.span)",
        "    return nodes.For(trip, int_const(0), count, int_const(1), tuple(body), one.span)",
    ),
    Mutant(
        "what is computed again comes in reverse order",
        _SWEEPS,
        "        return found[::-1]",
        "        return found",
    ),
    Mutant(
        "a trip is left out",
        _SWEEPS,
        'last = nodes.Binary("sub", count, int_const(1), INT32)',
        'last = nodes.Binary("sub", count, int_const(2), INT32)',
    ),
    Mutant(
        "computed again though assigned twice",
        _STABLE,
        "if self.counts[symbol] == 1 and symbol not in self.outside",
        "if symbol not in self.outside",
    ),
    Mutant(
        "computed again though read elsewhere",
        _STABLE,
        "if self.counts[symbol] == 1 and symbol not in self.outside and",
        "if self.counts[symbol] == 1 and",
    ),
    Mutant(
        "computed again from elements that change",
        _STABLE,
        "(name not in self.written)",
        "True",
    ),
    Mutant(
        "computed again from variables that change",
        _STABLE,
        "else (name in self.constants or name in self.loops or name in self.again)",
        "else True",
    ),
    Mutant(
        "a store is not seen by the next trip",
        _NEEDED,
        "                if inner == live:\n                    break\n                live = inner\n",
        "                live = inner\n                break\n",
    ),
    Mutant("stores are not run again", _NEEDED, "            if stored(one) & live:", "            if False:"),
    Mutant("a second choice carries nothing", _ACTIVITY, "            yield from sources_of(otherwise)\n", ""),
    Mutant(
        "what was continued stays so",
        _JUMPS,
        '        first.append(_set(own["continue"], False))\n',
        "",
    ),
    Mutant(
        "what was broken stays so",
        _JUMPS,
        '        before.append(_set(own["break"], False))\n',
        "",
    ),
    Mutant("a return does not end loops", _JUMPS, 'for kind in ("break", "return")', 'for kind in ("break",)'),
    Mutant(
        "what follows an early exit is done",
        _JUMPS,
        "return [Branch(_none_of([flags[kind] for kind in sorted(kinds)]), _tidy(rest, flags), [], rest[0].span)]",
        "return _tidy(rest, flags)",
    ),
    Mutant(
        "words of a vector come back in another order",
        _SAVING,
        "            word = self._word(name, _plus(top, number))\n",
        "            word = self._word(name, _plus(top, len(targets) - 1 - number))\n",
    ),
    Mutant(
        "a stack is taken for longer than it is",
        _SAVING,
        "last = _plus(top, len(words) - 1)",
        "last = _plus(top, len(words) - 2)",
    ),
    Mutant(
        "indices of stores look at memory",
        _INLINE,
        "        if isinstance(index, (Const, nodes.Read, nodes.ThreadIndex)):\n            return index\n",
        "        return index\n",
    ),
    Mutant(
        "bounds of loops may change while they run",
        _INLINE,
        "        if self.is_constant(bound):\n            return bound\n        made = fresh(name, bound.type)",
        "        return bound\n        made = fresh(name, bound.type)",
    ),
    Mutant(
        "all arrays are the thread's own",
        _TRANSFORM,
        "reverse = Reverse(Activity(body), adjoints, owned)",
        "every_one = frozenset(p for s in arrays for p in float_arrays(s.type, s.name))\n"
        "    reverse = Reverse(Activity(body), adjoints, every_one)",
    ),
    Mutant(
        "a sum is loaded before another one of the same array is stored",
        _EARLY,
        "path in self._sums or used & self._assigned:\n            return False\n        self._sums[path] = ",
        "used & self._assigned:\n            return False\n        self._sums[f'{path} {len(self._all)}'] = ",
    ),
    Mutant(
        "an array that is loaded is not kept",
        _TRANSFORM,
        "before=_sorted((loaded | changed) & own - later)",
        "before=_sorted(changed & own - later)",
    ),
)
