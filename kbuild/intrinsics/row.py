"""What the compiler knows of one intrinsic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kbuild.intrinsics.signature import Signature


@dataclass(frozen=True, slots=True)
class Row:
    """One intrinsic.

    `cuda` maps the spelling of the first argument's type to the C++ function that computes it; float16 without an entry
    of its own computes in float32 and rounds. `is_atomic`: the first argument is a place in an array, which the
    intrinsic changes, and the result is the value before. `is_collective`: all lanes of a warp do it together, so that
    it keeps its place among the statements. A row without effects is a pure function of its arguments.

    `ptx` names the instructions of PTX at its heart, as the float32 or int32 version is to become them; `derivative`
    says where it has one: `yes`, `no` (it is zero wherever it is anything), or `parts` (everywhere but at isolated
    points). `partials` has a rule for each parameter, which makes of `g`, the adjoint of the result, what the parameter
    gets of it (see `derivatives`); atomics have none, since the pass knows them. `subgradient` says in words what the
    rules give at the points where there is no derivative.
    """

    name: str
    signature: Signature
    cuda: Mapping[str, str]
    doc: str
    is_atomic: bool = False
    is_collective: bool = False
    ptx: str = ""
    derivative: str = ""
    partials: tuple[str, ...] = ()
    subgradient: str = ""

    @property
    def has_effects(self) -> bool:
        return self.is_atomic or self.is_collective
