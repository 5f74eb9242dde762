"""Gradients that a program writes itself: `@func_grad(f)`, `@func_replay(f)`, and `adjoint[x]` inside the former."""

from __future__ import annotations

from .types import Function, Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Adjoints:
    """`adjoint[x]`: the adjoint of the parameter x of the function that a gradient is for."""

    def __repr__(self) -> str:
        return "kb.adjoint"

    def __getitem__(self, _: object) -> Any:
        raise TypeError("kb.adjoint works inside functions made with kb.func_grad only")

    def __setitem__(self, _: object, value: object) -> None:
        self[_]


adjoint = Adjoints()


def func_grad(function: Any) -> Callable[[Any], Any]:
    """Declares how a function is differentiated, in place of what kbuild makes of its code: `@func_grad(f)`.

    The parameters are those of f, then the adjoint of each of its results. `adjoint[x] += …` adds to the adjoint of the
    parameter x, or of a part of it; `adjoint[a][i] += …` to that of an array's element, atomically, and does nothing
    where the array has no gradient. Of a function with overloads it is for the one with the same types of parameters.
    Raises TypeError.
    """
    return lambda definition: _declare(function, "gradient", definition)


def func_replay(function: Any) -> Callable[[Any], Any]:
    """Declares what stands in for a function where gradients run a kernel forward once more: `@func_replay(f)`.

    It has the parameters and results of f, and is for what must not happen twice: it reads back what f has stored.
    Raises TypeError.
    """
    return lambda definition: _declare(function, "replay", definition)


def _declare(function: Any, role: str, definition: Any) -> Any:
    """Gives a function its gradient or replay; what was decorated stays what it is."""
    what = "func_grad" if role == "gradient" else "func_replay"
    if not isinstance(function, Function) or isinstance(function, Kernel):
        raise TypeError("@%s wants a function made with @func, not %r" % (what, function))
    made = Function(definition)
    made.dialect = function.dialect
    setattr(_overload(function, made, what), role, made)
    return definition


def _overload(function: Function, made: Function, what: str) -> Function:
    """The one of a function's overloads that this is for."""
    if len(function.overloads) == 1:
        return function
    from . import overloading  # few functions have a second meaning

    wanted = overloading.signature(made)
    for one in function.overloads:
        own = overloading.signature(one)
        if wanted[: len(own)] == own:
            return one
    raise TypeError("@%s: no overload of %s has the parameters of %s" % (what, function.name, made.name))
