"""DLPack, both ways."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .array import array


def export(whole: array, **options: Any) -> Any:
    """A capsule over an array's memory."""
    raise NotImplementedError


def device_of(whole: array) -> tuple[int, int]:
    """(type, id) of the device."""
    raise NotImplementedError
