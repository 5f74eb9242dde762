"""Functions whose body is CUDA C++: `@func_native(snippet, adj_snippet, replay_snippet)`.

    @kb.func_native("return __frcp_rn(x);", "adj_x -= adj_ret / (x * x);")
    def reciprocal(x: float) -> float: ...

The decorated function says what goes in and what comes out. Its body, unless it is `...`, is what the simulator runs,
and the host.
"""

from __future__ import annotations

from .types import Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ("NativeFunction", "func_native")


class Snippets:
    """Texts in CUDA C++: of the function, of its gradient, and of what stands in for it where it runs once more."""

    __slots__ = ("adjoint", "primal", "replay")

    def __init__(self, primal: str, adjoint: str | None, replay: str | None) -> None:
        self.primal, self.adjoint, self.replay = primal, adjoint, replay

    def texts(self) -> tuple[str | None, ...]:
        """All of them, in that order."""
        return self.primal, self.adjoint, self.replay


class NativeFunction(Function):
    """A function in CUDA C++, which kernels call like any other."""

    def __init__(self, function: Callable[..., Any], native: Snippets) -> None:
        super().__init__(function)
        self.native = native

    def __call__(self, *args: object, **kwargs: object) -> Any:
        if is_empty(self.function):
            text = "%s is CUDA C++, which the host cannot run: in place of `...`, write there what it does in Python"
            raise TypeError(text % self.name)
        return super().__call__(*args, **kwargs)


def func_native(
    snippet: str, adj_snippet: str | None = None, replay_snippet: str | None = None
) -> Callable[[Callable[..., Any]], NativeFunction]:
    """Declares a function by its body in CUDA C++, in which the parameters have their names.

    `adj_snippet` is its gradient: it adds to `adj_x` for each parameter x that holds floating-point numbers, and finds
    the adjoint of the result in `adj_ret`. `replay_snippet` stands in for the function where gradients run a kernel
    forward once more. What the function returns is what its annotation says. Raises TypeError.
    """
    given = (("snippet", snippet), ("adj_snippet", adj_snippet), ("replay_snippet", replay_snippet))
    for what, text in given:
        if not isinstance(text, str) and not (text is None and what != "snippet"):
            wanted = "@func_native: %s wants a text in CUDA C++, not %r"
            cure = ": write @func_native('…') above the function" if callable(text) else ""
            raise TypeError(wanted % (what, text) + cure)

    def declared(function: Callable[..., Any]) -> NativeFunction:
        return NativeFunction(function, Snippets(snippet, adj_snippet, replay_snippet))

    return declared


def is_empty(function: Any) -> bool:
    """Whether a Python function has the body `...`: no instruction but that it returns None."""
    return function.__code__.co_code in (_nothing.__code__.co_code, _documented.__code__.co_code)


def _nothing() -> None: ...


def _documented() -> None:
    """With a docstring."""
