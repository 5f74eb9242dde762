"""Findings as JSON and back: they are made where the IR is, and reported where it is not.

decode(KernelAudit, json.loads(json.dumps(dataclasses.asdict(audit)))) == audit
"""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decode(kind: type[T], data: dict[str, Any]) -> T:
    """The dataclass whose `asdict` went through JSON: lists are tuples again, objects the dataclasses they were."""
    hints = _hints(cast(Any, kind))
    return kind(**{name: _value(hints[name], value) for name, value in data.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    assert is_dataclass(kind)
    found = get_type_hints(kind)
    return {field.name: found[field.name] for field in fields(kind)}


def _value(hint: Any, value: Any) -> Any:
    if value is None:
        return None
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [one for one in arguments if one is not type(None)]
        return _value(inner[0], value) if len(inner) == 1 else value
    if origin is tuple:
        repeated = len(arguments) == 2 and arguments[1] is Ellipsis
        each = [arguments[0]] * len(value) if repeated else arguments
        return tuple(_value(one, item) for one, item in zip(each, value, strict=True))
    if isinstance(hint, type) and is_dataclass(hint):
        return decode(hint, value)
    return value
