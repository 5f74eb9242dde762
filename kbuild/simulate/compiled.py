"""Live kernels as the IR that the simulator runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from kbuild.errors import KbuildError, Report
from kbuild.ir import nodes
from kbuild.ir.native import by_their_bodies
from kbuild.ir.presence import optional_parameters
from kbuild.ir.stated import rows as stated_rows
from kbuild.lang.source import definition_of, head
from kbuild.lang.stubs import is_stub
from kbuild.loader import abi, dispatch, foreign, generic, overloading, pack
from kbuild.loader.cuda_files import CudaKernel
from kbuild.loader.errors import LaunchError
from kbuild.loader.stated import Stated
from kbuild.loader.types import Kernel
from kbuild.scan.data import Request
from kbuild.scan.units import Found, find, lower


@dataclass(frozen=True)
class Compiled:
    """A kernel's IR, and where its arguments lie in a parameter block.

    `shared_memory`: it is the body of a kernel in CUDA C++, whose launches give as many bytes unless they say so.
    `stated` is what launches are held against.
    """

    kernel: nodes.Kernel
    name: str
    parameters: list[tuple[str, abi.Type]]
    offsets: dict[str, int]
    size: int
    optional: frozenset[str]
    block_dim: int
    shared_memory: int | None = None
    stated: Stated | None = None

    @cached_property
    def format(self) -> str:
        """The parameter block as `struct` has it."""
        return "<" + pack.fields_format([(t, self.offsets[n]) for n, t in self.parameters], 0, self.size)


_compiled: dict[int, tuple[Kernel, Compiled]] = {}


def compiled(kernel: Any, args: Any) -> Compiled:
    """The IR that a launch of a kernel with these arguments runs. Raises LaunchError with what is wrong with it."""
    if isinstance(kernel, Compiled):
        return kernel
    live = _live(kernel)
    known = _compiled.get(id(live))
    if known is None:
        live = instance_of(live, args)
        known = _compiled.get(id(live))
    if known is None:
        try:
            known = _compiled[id(live)] = live, _lowered(live)
        except KbuildError as error:
            raise LaunchError(f"{live.name} cannot be compiled for the simulator:\n{error}") from None
    return known[1]


def instance_of(kernel: Any, args: Any) -> Kernel:
    """The kernel with its source; of a generic one the instance for these arguments. Raises LaunchError."""
    live = _live(kernel)
    return _instance(live, args) if not live.bound and generic.open_parameters(live.function) else live


def _live(kernel: Any) -> Kernel:
    """The kernel with its source: of a bundle's, the one that its module declares."""
    if isinstance(kernel, CudaKernel):
        return _twin(kernel)
    if isinstance(kernel, Kernel):
        return kernel
    name = getattr(kernel, "name", None)
    if isinstance(name, str) and ":" in name and "[" not in name:
        module, _, path = name.partition(":")
        found: Any = sys.modules.get(module) or __import__(module, None, None, ["*"])
        for part in path.split("."):
            found = getattr(found, part, None)
        if isinstance(found, Kernel):
            return _live(found)
    raise LaunchError(
        f"{kernel!r} has no source here, which the simulator needs: launch the kernel that its module has"
    )


class _Twin(Kernel):
    """The body of a declaration, as a kernel in Python."""

    def __init__(self, kernel: CudaKernel) -> None:
        super().__init__(kernel.function, dict(kernel.options))
        self.shared_memory = kernel.cuda.shared_memory


_twins: dict[int, tuple[CudaKernel, _Twin]] = {}


def _twin(kernel: CudaKernel) -> Kernel:
    """What the simulator runs for a kernel in CUDA C++: the body of its declaration. Raises LaunchError."""
    known = _twins.get(id(kernel))
    if known is None:
        try:
            file, definition = definition_of(kernel.function)
        except KbuildError as error:
            raise LaunchError(str(error)) from None
        if is_stub(definition):
            raise LaunchError(
                f"{kernel.name} is written in CUDA C++ ({kernel.cuda.file}), which the simulator cannot run: it is "
                f"declared at {head(file, definition)} without a body\n"
                "  help: in place of `...`, write there what it does as a kernel in Python: the simulator runs that"
            )
        known = _twins[id(kernel)] = kernel, _Twin(kernel)
    return known[1]


def _instance(live: Kernel, args: Any) -> Kernel:
    names = generic.parameter_names(live.function)
    if not pack.is_sequence(args) or len(args) != len(names):
        raise LaunchError(f"{live.name} takes {len(names)} arguments ({', '.join(names)})")
    given = dict(zip(names, args, strict=True))
    types: dict[str, abi.Type] = {}
    binding: generic.Binding = {}
    for name in generic.open_parameters(live.function):
        type = _type_of(given[name])
        if type is None:
            raise LaunchError(f"{live.name}: the type of {name} is not known: {given[name]!r:.100}")
        annotation = generic.annotation_of(live.function, name)
        if not generic.match(annotation, type, binding):
            raise LaunchError(f"{live.name}: parameter {name}: wanted {generic.spell(annotation)}, got {type}")
        types[name] = type
    return overloading.of_types(live, types)


def _type_of(value: Any) -> abi.Type | None:
    found = dispatch.type_of(value)
    if found is None:
        try:
            found = foreign.asarray(value)._type  # NumPy's
        except (TypeError, ValueError):
            return None
    return found


def _lowered(live: Kernel) -> Compiled:
    one, kernel = lowered(live, asserts=True)
    made = stating(placed(kernel, one.row.name, optional_parameters(kernel.function), one.row.block_dim), kernel, one)
    return replace(made, shared_memory=live.shared_memory) if isinstance(live, _Twin) else made


def lowered(live: Kernel, asserts: bool) -> tuple[Found, nodes.Kernel]:
    """A kernel's IR. Raises CompileError."""
    request = Request([], [live.module], [], fmad=True, lineinfo=False, per_kernel=True, asserts=asserts)
    report = Report()
    found = find([live], report)
    report.raise_errors()
    kernel = lower(found[0], request, report, asserts=None if asserts else False)
    report.raise_errors()
    assert kernel is not None  # a kernel without errors is lowered
    return found[0], by_their_bodies(kernel)


def stating(made: Compiled, primal: nodes.Kernel, one: Found) -> Compiled:
    """The same with what the kernel, whose adjoint it may be, says of its launches."""
    said = stated_rows(primal)
    if not said:
        return made
    fields = [(name, type, made.offsets[name]) for name, type in made.parameters]
    return replace(made, stated=Stated(made.name, one.row.span.line, said, primal.ndim, fields, made.optional))


def placed(kernel: nodes.Kernel, name: str, optional: Iterable[str], block_dim: int) -> Compiled:
    """A kernel, ready to be run; `optional` are the arrays that may be None."""
    parameters = [(p.name, p.type) for p in kernel.function.parameters]
    offsets, end = {}, 0
    for parameter, type in parameters:
        offsets[parameter] = end = abi.align_up(end, type.align)
        end += type.size
    return Compiled(kernel, name, parameters, offsets, end, frozenset(optional), block_dim)
