"""Adjoints of a project's kernels: which get one, and units of them in CUDA C.

An adjoint is a kernel of its own, in a unit of its own, with a row of its own behind those of all kernels. Whether a
kernel can be differentiated is known only when its unit is lowered: a unit has the adjoints of those that can, and says
of each other one why it cannot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, replace
from typing import Any

from kbuild.autodiff import Adjoint, Undifferentiable, adjoint
from kbuild.errors import InternalError, KbuildError, Report
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.presence import optional_parameters
from kbuild.ir.stated import rows
from kbuild.ir.types import Array, Struct, Type
from kbuild.ir.verify import verify
from kbuild.loader import format
from kbuild.loader import types as runtime
from kbuild.loader.backward import ADJOINT
from kbuild.scan.data import REQUIRED, LoweredUnit, Request, ScannedUnit, is_own
from kbuild.scan.units import Found, lower, lowered_unit
from kbuild.warp import modules

# The most bytes that an adjoint's parameters may take, and who says so.
Limit = tuple[int, str]

_LISTED = ("read", "written", "accumulated", "before", "after", "scratch", "owned")


def adjoints_of(found: Iterable[Found], request: Request) -> list[Found]:
    """A row for the adjoint of each kernel that is to have one."""
    wanted = []
    for one in found:
        asked = _asked(one, request)
        if asked:
            row = replace(
                one.row,
                name=one.row.name + ADJOINT,
                entry=f"{one.row.entry}_a",
                asserts=[],
                primal=one.row.name,
                backward=asked,
                launch_bounds=[*one.row.launch_bounds[:1], *([0] if one.row.launch_bounds else [])],
            )
            wanted.append(replace(one, row=row))
    return wanted


def _asked(one: Found, request: Request) -> str:
    """What is said of a kernel's adjoint: by the kernel itself, else by the project."""
    if is_own(one.kernel.module) or one.row.expression:
        return ""
    own = says(one.kernel)
    if own is None:
        return request.backward
    return REQUIRED if own else ""


def says(kernel: runtime.Kernel) -> bool | None:
    """What a kernel itself says of its adjoint, or in Warp's dialect its module."""
    own = kernel.options.get("enable_backward")
    if own is None and kernel.dialect == "warp" and not modules.wants_backward(kernel.module):
        return False
    return None if own is None else bool(own)


def lower_adjoints(
    unit: ScannedUnit,
    found: Sequence[Found],
    request: Request,
    limit: Limit | None = None,
    kept: dict[str, nodes.Kernel] | None = None,
) -> LoweredUnit | None:
    """A unit of adjoints in CUDA C; None when one of its kernels has errors, which that kernel's own unit reports.

    An adjoint with more parameters than the limit is refused. `kept` has kernels that were lowered already.
    """
    kernels = []
    backward: dict[str, dict[str, Any]] = {}
    for one in (found[i] for i in unit.kernels):
        primal = kept.pop(one.row.primal, None) if kept else None
        primal = primal or lower(one, request, Report(), asserts=False)
        if primal is None:
            return None
        try:
            made = adjoint_of(primal, one.row.primal)
            _refuse_what_is_too_large(made, limit)
        except Undifferentiable as error:
            place = error.span or one.row.span
            backward[one.row.primal] = {"refused": error.reason, "help": error.help, "place": list(astuple(place))}
            continue
        kernels.append((primal, made, one.row))
        backward[one.row.primal] = facts(made)
    if not kernels:
        return LoweredUnit(unit.name, "", {}, {}, {}, {}, {}, backward)
    lowered = lowered_unit(unit, [(made.kernel, row) for _, made, row in kernels], {}, request.show)
    for primal, made, row in kernels:
        lowered.rows[row.name]["optional"] = optional_arrays(primal, made)
        lowered.rows[row.name]["stated"] = [list(one) for one in rows(primal)]  # its first parameters are the primal's
    return replace(lowered, backward=backward)


def adjoint_of(kernel: nodes.Kernel, name: str) -> Adjoint:
    """The adjoint of a contracted kernel, verified. Raises Undifferentiable; what goes wrong inside is our fault."""
    try:
        made = adjoint(kernel)
        verify(made.kernel, has_effects)
        _refuse_repeated_names(made.kernel)
    except Undifferentiable:
        raise
    except (Exception, KbuildError) as error:
        text = f"the gradient of {name} cannot be made ({type(error).__name__}: {error}); please report it"
        raise InternalError(f"{text}. `enable_backward=False` builds the kernel without") from error
    return made


def _refuse_repeated_names(kernel: nodes.Kernel) -> None:
    names = [parameter.name for parameter in kernel.function.parameters]
    for name in names:
        if names.count(name) > 1:
            raise Undifferentiable(f"its adjoint has a parameter {name!r} of its own", None, "rename the kernel's")


def facts(made: Adjoint) -> dict[str, Any]:
    """What a manifest says of an adjoint, but for its place there."""
    listed: dict[str, Any] = {name: sorted(getattr(made, name)) for name in _LISTED}
    return {**listed, "saved": dict(made.saved)}


def optional_arrays(primal: nodes.Kernel, made: Adjoint) -> list[str]:
    """The arrays of an adjoint that may be None: those of its kernel, and all that the kernel does not have."""
    known = {p.name for p in primal.function.parameters}
    paths = [*optional_parameters(primal.function), *optional_parameters(made.kernel.function)]
    for parameter in made.kernel.function.parameters:
        if parameter.name not in known and parameter.name != "saved_words":
            paths += _arrays(parameter.name, parameter.type)
    return sorted(set(paths))


def _arrays(path: str, type: Type) -> list[str]:
    if isinstance(type, Array):
        return [path]
    fields = type.fields if isinstance(type, Struct) else ()
    return [found for field in fields for found in _arrays(f"{path}.{field.name}", field.type)]


def _refuse_what_is_too_large(made: Adjoint, limit: Limit | None) -> None:
    if limit is None:
        return
    ndim, function = made.kernel.ndim, made.kernel.function
    _, size = format.layout(ndim, [p.type for p in function.parameters], format.writes_origin(ndim))
    if size > limit[0]:
        text = f"its adjoint takes {size} bytes of parameters, launch header included, but {limit[1]}"
        raise Undifferentiable(text, None, "put what is large into an array, whose parameter takes 16 to 40 bytes")
