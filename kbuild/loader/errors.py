"""What the loader raises. Every message names the thing, the place and the cure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable


class LoaderError(Exception):
    """Base of everything that the loader raises on purpose."""


class BundleError(LoaderError):
    """A bundle is missing, damaged, not what the application trusts, or holds nothing for this GPU."""


class LaunchError(LoaderError):
    """A launch that cannot be: an unknown kernel or instance, or arguments that do not fit."""


class DriverError(LoaderError):
    """The GPU driver is missing or refused. `call`, `code` and `name` say which call, and how."""

    def __init__(self, message: str, call: str = "", code: int = 0, name: str = "") -> None:
        super().__init__(message)
        self.call, self.code, self.name = call, code, name


class StaleBundle(BundleError):
    """The sources changed after an editable build wrote the bundle."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest of the known words, or nothing."""
    import difflib  # heavy, and wanted on the way to an error only

    near = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return "; did you mean %r?" % near[0] if near else ""


def describe(value: object) -> str:
    """A value for an error message: its type and its text, cut short."""
    if value is None:
        return "None"
    try:
        text = repr(value)
    except MemoryError:
        raise
    except Exception:  # the value is wrong already, and may be so in this too
        text = "that cannot show itself"
    return "%s %s" % (type(value).__name__, text if len(text) <= 60 else text[:57] + "...")
