"""What `canonical` does by `_json`, by Python's json package: for an interpreter that has no such module."""

from __future__ import annotations

from json import JSONDecoder, JSONEncoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


def scanner(parse_float: Callable[[str], Any], parse_int: Callable[[str], int]) -> Callable[[str, int], Any]:
    """A function (text, index) → (value, end); StopIteration where no value starts."""
    decoder: Any = JSONDecoder(parse_float=parse_float, parse_constant=parse_float, parse_int=parse_int)
    return decoder.scan_once  # type: ignore[no-any-return]


def encoder(default: Callable[[object], Any]) -> Callable[[object, int], Any]:
    """A function (value, level) → pieces of text; `default` is for what has no text."""
    made = JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, default=default)
    return lambda value, level: made.iterencode(value)
