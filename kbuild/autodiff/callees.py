"""Which functions a kernel's adjoint leaves as calls, and which it refuses."""

from __future__ import annotations

from functools import cache

from kbuild.autodiff.flat import has_floats
from kbuild.autodiff.result import Undifferentiable
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.effects import changes_memory
from kbuild.ir.gradients import interface
from kbuild.ir.native import statement_of
from kbuild.ir.nodes import Function
from kbuild.ir.traverse import walk
from kbuild.ir.types import VOID, Array, Struct, Tuple, Type

_WITHOUT = "say `enable_backward=False` in the kernel's decorator, or give the function a gradient with @kb.func_grad"


def stays_a_call(function: Function) -> bool:
    """The call of a function is not looked into."""
    return function.gradient is not None or _has_no_gradient(function) or _is_text_of_integers(function)


def _is_text_of_integers(function: Function) -> bool:
    """CUDA C++ that deals in integers, such as a counter, with another text for where it runs once more."""
    if function.replay is None or statement_of(function) is None:
        return False
    about = interface(function)
    return not (about.arrays or about.values or _results_have_floats(function.result))


@cache
def _has_no_gradient(function: Function) -> bool:
    """No floating-point number goes in, or none comes out, nor an array, and nothing else happens."""
    if function.result == VOID or changes_memory(function, has_effects) or _has_arrays(function.result):
        return False
    return not _results_have_floats(function.result) or not any(_takes_floats(p.type) for p in function.parameters)


def _results_have_floats(type: Type) -> bool:
    if isinstance(type, Tuple):
        return any(_results_have_floats(item) for item in type.items)
    return has_floats(type)


def _has_arrays(type: Type) -> bool:
    if isinstance(type, Tuple):
        return any(_has_arrays(item) for item in type.items)
    if isinstance(type, Struct):
        return any(_has_arrays(one.type) for one in type.fields)
    return isinstance(type, Array)


def _takes_floats(type: Type) -> bool:
    if isinstance(type, Array):
        return _takes_floats(type.element)
    if isinstance(type, Struct):
        return any(_takes_floats(one.type) for one in type.fields)
    return has_floats(type)


def refuse_cooperation(function: Function) -> None:
    """Threads that work together are beyond the method."""
    for one in [*_reached(function), function]:
        if one.shared:
            raise Undifferentiable(
                f"{one.shared[0].name!r} is in shared memory, and a kernel whose threads work together has no adjoint",
                one.shared[0].span or one.span,
                _WITHOUT,
            )
        for node in walk(one.body):
            if isinstance(node, nodes.Barrier):
                raise Undifferentiable(
                    "threads wait for one another here, and a kernel whose threads work together has no adjoint",
                    node.span,
                    _WITHOUT,
                )
            if isinstance(node, nodes.Intrinsic) and node.order != nodes.ORDERS[0]:
                raise Undifferentiable(
                    f"threads tell one another of what they have done here (order={node.order!r}), and a kernel whose "
                    "threads work together has no adjoint",
                    node.span,
                    _WITHOUT,
                )
            if isinstance(node, nodes.Intrinsic) and node.name in nodes.COLLECTIVES:
                raise Undifferentiable(
                    f"the lanes of a warp do kb.{node.name} together here, and a kernel whose threads work together "
                    "has no adjoint",
                    node.span,
                    _WITHOUT,
                )


def _reached(function: Function) -> list[Function]:
    """Functions that are looked into."""
    found: dict[Function, None] = {}
    waiting = [function]
    while waiting:
        for node in walk(waiting.pop().body):
            if isinstance(node, nodes.Call) and not stays_a_call(node.callee):
                callee = node.callee.replay or node.callee
                if callee not in found:
                    found[callee] = None
                    waiting.append(callee)
    return list(found)
