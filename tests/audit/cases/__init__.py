"""Kernels with what an audit must say of them: what it is measured on.

    @case("bounds", "GPUVerify", At(64, data=64, out=64, n=64))
    @kb.kernel
    def last_one_bad(data: kb.array(dtype=float), out: kb.array(dtype=float), n: int):
        i = kb.tid()
        if i < n:
            out[i] = data[i + 1]  # finds bounds

They stand in modules by what they are about, in pairs that differ as little as may be: `…_good` has nothing wrong,
`…_bad` has (with a word behind where there are several: `…_bad_first`), `…_open` is what nobody is to be sure of. A
pattern that a public suite has is written anew here; `suite` says in a word which suite knows patterns of this class.

Comments say what must be found where:

| comment | means |
|---|---|
| `# finds CHECK` | a finding of that check on this line; on one of them, where several lines have it (a race has two) |
| `# finds banks 8` | the same, with its figure: the degree of the bank conflict |
| `# finds coalescing 32 of 4` | sectors a request, and as many as would do |
| `# finds source KB416` | a finding with this code, where the check has several |
| `# unknown CHECK` | the audit must not be sure: the verdict is "unknown" |
| `# may CHECK` | there is more than one opinion: every verdict will do |

What no comment speaks of is right. So each label is one of two readings:

- **launch**: the launch `At(…)` is what is known: sizes of the launch and the block, shapes of arrays, values of
  scalars; not what arrays hold, but for those of which it stands there. Every check of SAFETY that no comment of a good
  case names must be "proved", and the check that the case is about must find nothing. Of a bad case only what it is
  marked for is held against the audit: what else follows from its mistake is open.
- **symbolic**: only the block's size is known, and what the source says. This has a label for the check that the case
  is about: the same verdict as at the launch, or the one that `symbolic` names; "any" where every verdict will do.

The modules from "flattened" on are a second set (241 cases), written by somebody who knew the documentation and this
format, and neither the analyses nor what they say of the first set, on which they had been tuned. The first score on
it, before anything was repaired: at the launch found 81.1 % of the bad cases, a false alarm on 1.7 % of the good ones,
5.3 % of the labels not known; symbolic 81.9 %, 2.8 %, 12.9 %. Nothing faulty was proved. Twelve labels have been put
right since: orders by flags and a size that are not for every launch, the other line of a race, overflows that nobody
can rule out.

`tests/audit/test_cases_on_sim.py` holds the labels of the first reading against the simulator. `unseen` says why it has
nothing to show of a bad case; the test then holds it to that.
"""

from __future__ import annotations

import importlib
import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np

from kbuild.audit.findings import CHECKS, SAFETY, Verdict
from kbuild.errors import CompileError
from kbuild.ir import nodes
from kbuild.ir.traverse import callees
from kbuild.ir.types import Array, Matrix, Scalar, Type, Vector, element_of
from kbuild.loader.types import Kernel
from kbuild.sim.blocks import Launch, over
from tests.helpers import kernels

MODULES: Final = (
    "bounds_elements",
    "bounds_loops",
    "bounds_parts",
    "overflow",
    "shared_races",
    "shared_patterns",
    "global_races",
    "barriers",
    "initialization",
    "banks",
    "coalescing",
    "repeats",
    "narrow",
    "divergence",
    "source",
    "captured",
    "orders",
    "graphs",
    "nested",
    "declared",
    "flattened",
    "guards",
    "cooperation",
    "staging",
    "messages",
    "networks",
    "robots",
    "waiting",
    "ranges",
    "traffic",
)
NOMINAL: Final = 256  # threads of a block, where a kernel does not say
SUITES: Final = frozenset({"GPUVerify", "ScoR", "Indigo", "own"})

Reading = Literal["launch", "symbolic"]
READINGS: Final[tuple[Reading, ...]] = ("launch", "symbolic")


class At:
    """A launch. `given` are arguments by parameter: of an array its shape (a number or a tuple), or nested lists of
    what it holds; of a scalar its value. `block` is the block's size where the kernel has not declared it; with `grid`,
    both along x, y and z. `shared` are bytes of shared memory for an array whose size the launch gives."""

    def __init__(self, dim: Any = None, /, block: Any = None, grid: Any = None, shared: int = 0, **given: Any) -> None:
        self.dim, self.block, self.grid, self.shared, self.given = dim, block, grid, shared, given


@dataclass(frozen=True)
class Mark:
    """A comment. `figure` are its numbers: the degree, or sectors and how many would do; `code` that of the finding, ""
    where any will do."""

    verdict: Literal["found", "unknown", "any"]
    check: str
    line: int
    figure: tuple[float, ...] = ()
    code: str = ""


_KINDS: Final[dict[str, Literal["found", "unknown", "any"]]] = {"finds": "found", "unknown": "unknown", "may": "any"}
_MARK = re.compile(r"\b(finds|unknown|may) ([a-z-]+)( KB\d+)?((?: (?:\d+(?:\.\d+)?|of))*)")
_NAME = re.compile(r"(.+?)_(good|bad|open)(_\w+)?")


@dataclass(frozen=True)
class Case:
    """A kernel with what is expected of it. `about` is the check it is written for."""

    kernel: Kernel
    about: str
    suite: str
    at: At
    symbolic: Verdict | Literal["any"] | None = None
    unseen: str = ""
    module: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        return self.kernel.function.__name__

    @property
    def pair(self) -> str:
        """What it has in common with its twins."""
        return self._parts[0]

    @property
    def kind(self) -> str:
        """good, bad or open."""
        return self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        found = _NAME.fullmatch(self.name)
        assert found is not None, f"{self.name} is neither good, bad nor open"
        return found[1], found[2]

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """Its comments, and those of the functions that it calls."""
        return tuple(mark for function in (self.ir.function, *callees(self.ir.function)) for mark in _marks(function))

    def lines(self, check: str, verdict: str = "found") -> tuple[int, ...]:
        """Lines that are marked for a check."""
        return tuple(mark.line for mark in self.marks if mark.check == check and mark.verdict == verdict)

    @cached_property
    def ir(self) -> nodes.Kernel:
        """The kernel, lowered. Raises CompileError."""
        lowered, diagnostics = kernels.diagnose([self.kernel])
        if not lowered:
            raise CompileError(diagnostics)
        return lowered[0]

    @property
    def declared(self) -> int:
        """Threads of a block as the kernel declares them, or a nominal number."""
        found = self.kernel.options.get("block_dim")
        return found if isinstance(found, int) else NOMINAL

    @cached_property
    def launch(self) -> Launch:
        """The launch as the simulator takes it."""
        if self.at.grid is not None:
            grid, block = _triple(self.at.grid), _triple(self.at.block)
            return Launch(grid, block, (_product(grid) * _product(block),), self.at.shared)
        dim = self.at.dim if isinstance(self.at.dim, tuple) else (self.at.dim,)
        return replace(over(dim, self.at.block or self.declared), shared=self.at.shared)

    @property
    def types(self) -> dict[str, Type]:
        """Types of the parameters."""
        return {symbol.name: symbol.type for symbol in self.ir.function.parameters}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays, by parameter."""
        return {
            name: _shape(self.at.given[name])[: type.ndim]
            for name, type in self.types.items()
            if isinstance(type, Array)
        }

    @property
    def scalars(self) -> dict[str, int | float | bool]:
        """Values of the scalars, by parameter."""
        return {name: self.at.given[name] for name, type in self.types.items() if isinstance(type, Scalar)}

    @property
    def contents(self) -> dict[str, list[Any]]:
        """What arrays hold, by parameter, where the launch says so."""
        return {name: given for name, given in self.at.given.items() if isinstance(given, list)}

    def arguments(self) -> list[Any]:
        """NumPy arrays, made anew, and values, by position."""
        return [argument(self.at.given[name], type) for name, type in self.types.items()]

    def expected(self, check: str, reading: Reading = "launch") -> Verdict | None:
        """The verdict on a check; None where nothing is said of it, or every verdict will do."""
        if reading == "symbolic" and check != self.about:
            return None
        verdicts = {mark.verdict for mark in self.marks if mark.check == check}
        if "any" in verdicts:
            return None
        if reading == "symbolic" and self.symbolic is not None:
            return None if self.symbolic == "any" else self.symbolic
        if "found" in verdicts:
            return "found"
        if "unknown" in verdicts:
            return "unknown"
        return "proved" if self.kind == "good" and (check in SAFETY or check == self.about) else None


def _marks(function: nodes.Function) -> Iterator[Mark]:
    if function.span is None or function.module.startswith("kbuild."):
        return
    for number in range(function.span.line, function.span.end_line + 1):
        _, _, comment = linecache.getline(function.span.path, number).partition("# ")
        for word, check, code, figure in _MARK.findall(comment):
            assert check in CHECKS, f"{function.name}, line {number}: {check} is no check"
            numbers = tuple(float(part) for part in figure.split() if part != "of")
            yield Mark(_KINDS[word], check, number, numbers, code.strip())


_cases: list[Case] = []


def case(
    about: str, suite: str, at: At, *, symbolic: Verdict | Literal["any"] | None = None, unseen: str = ""
) -> Callable[[Kernel], Kernel]:
    """Says what is expected of the kernel below: see the module."""
    assert about in CHECKS
    assert suite in SUITES

    def declare(kernel: Kernel) -> Kernel:
        _cases.append(Case(kernel, about, suite, at, symbolic, unseen, kernel.function.__module__.rpartition(".")[2]))
        return kernel

    return declare


def cases() -> dict[str, Case]:
    """All of them, by name, but for those about machine code."""
    return _of_modules(MODULES)


def machine_cases() -> dict[str, Case]:
    """Those about machine code, which need a compiler."""
    return _of_modules(("machine",))


def _of_modules(names: Sequence[str]) -> dict[str, Case]:
    for name in names:
        importlib.import_module(f"{__name__}.{name}")
    wanted = [one for one in _cases if one.module in names]
    found = {one.name: one for one in wanted}
    assert len(found) == len(wanted), "two cases of one name"
    return found


def pairs() -> Mapping[str, list[Case]]:
    """Twins, by what their names have in common."""
    found: dict[str, list[Case]] = {}
    for one in cases().values():
        found.setdefault(one.pair, []).append(one)
    return found


def _triple(extents: Any) -> tuple[int, int, int]:
    given = extents if isinstance(extents, tuple) else (extents,)
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def _product(extents: tuple[int, int, int]) -> int:
    return extents[0] * extents[1] * extents[2]


def _shape(given: Any) -> tuple[int, ...]:
    if isinstance(given, list):
        return (len(given), *(_shape(given[0]) if isinstance(given[0], list) else ()))
    return given if isinstance(given, tuple) else (given,)


def argument(given: Any, type: Type) -> Any:
    """An argument of a launch: an array of this shape, or that holds these lists, or the value of a scalar. The numbers
    of a shape are all different."""
    if not isinstance(type, Array):
        return given
    element = element_of(type.element)
    assert isinstance(element, Scalar), f"{type}: cases have arrays of numbers, vectors and matrices"
    kind = np.dtype(element.spelling)
    if isinstance(given, list):
        return np.array(given, kind)
    inner: tuple[int, ...] = ()
    if isinstance(type.element, Vector):
        inner = (type.element.length,)
    elif isinstance(type.element, Matrix):
        inner = (type.element.rows, type.element.columns)
    shape = (*_shape(given), *inner)
    return np.arange(1, 1 + int(np.prod(shape))).astype(kind).reshape(shape)
