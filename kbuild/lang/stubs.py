"""Functions without a body of their own: what they do is written in CUDA C++."""

from __future__ import annotations

import ast

from kbuild.lang.source import Definition


def is_stub(definition: Definition) -> bool:
    """The body is `...` or `pass`, perhaps behind a docstring."""
    body = definition.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:] if isinstance(body[0].value.value, str) else body
    return all(isinstance(one, ast.Pass) or _is_ellipsis(one) for one in body)


def _is_ellipsis(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and value.value is ...
