"""Canonical JSON, read and written by the C halves of Python's json package without the package itself.

    encode({"b": [1, None], "a": "é"})  →  b'{"a":"\\u00e9","b":[1,null]}'      decode(…) gives it back

Importing `json` brings `re`, `enum`, `functools` and `collections` along: 6 to 10 ms of a start that has nothing else
to do with them (measured on Python 3.8, 3.11 and 3.13), against 0.3 ms for `_json`. That module is CPython's own
affair, so everything here falls back to `json`; the tests hold the two together.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

MAX_DIGITS = 20  # of a number; int() takes quadratic time


def encode(value: object) -> bytes:
    """The one text of a value: keys sorted, no blanks, ASCII. ValueError for NaN and infinities."""
    return "".join(_encoder(value, 0)).encode("ascii")


def decode(text: bytes) -> Any:
    """The value of a text that `encode` could have written, before it is known whether it did: compare for that.

    ValueError for what is not JSON, RecursionError for what is nested too deep. Numbers are integers of at most
    MAX_DIGITS digits.
    """
    characters = text.decode("ascii")
    try:
        value, end = _scanner(characters, 0)
    except StopIteration as stop:
        raise ValueError("no JSON value at character %s" % stop.value) from None
    except SystemError:  # Python 3.10 and 3.11 take the exception from the json package, if that is imported
        raise ValueError("not JSON") from None
    if end != len(characters):
        raise ValueError("the JSON value ends at character %d, and something follows" % end)
    return value


class _Rules:
    """What the scanner asks its context for."""

    def __init__(self) -> None:
        self.strict = True
        self.object_hook = self.object_pairs_hook = self.array_hook = None
        self.parse_float = self.parse_constant = _refuse_number
        self.parse_int = _integer
        self.memo: dict[str, str] = {}


def _refuse_number(text: str) -> None:
    raise ValueError("the number %s, where only integers are allowed" % text[:40])


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError("a number of %d digits" % len(text))
    return int(text)


def _make_scanner() -> Callable[[str, int], tuple[Any, int]]:
    """A function (text, index) → (value, end); StopIteration where no value starts."""
    try:
        from _json import make_scanner
    except ImportError:
        from . import slow_json

        return slow_json.scanner(_refuse_number, _integer)
    return make_scanner(_Rules())  # type: ignore[arg-type]


def _make_encoder() -> Callable[[object, int], Any]:
    """A function (value, level) → pieces of text."""
    try:
        from _json import encode_basestring_ascii, make_encoder

        # markers, default, encoder, indent, key_separator, item_separator, sort_keys, skipkeys, allow_nan
        return make_encoder(None, _refuse, encode_basestring_ascii, None, ":", ",", True, False, False)
    except (ImportError, TypeError):
        from . import slow_json

        return slow_json.encoder(_refuse)


def _refuse(value: object) -> None:
    raise TypeError("%s has no JSON text" % type(value).__name__)


_scanner = _make_scanner()
_encoder = _make_encoder()
