"""Names that Warp's annotations use for "some type": `Any`-like, also with parameters (`Matrix[Any, 3, 3]`)."""

from __future__ import annotations

from typing import Any, TypeVar


class Generic:
    """Stands for any type of a family; `Generic[…]` narrows it for people and type checkers only."""

    def __class_getitem__(cls, _: object) -> Any:
        return Any


_VARIABLES = ("Capacity", "Cols", "DType", "DTypeFloat", "DTypeScalar", "Float", "Int", "Length", "NDim", "Rows")


def make(name: str) -> Any:
    """What stands for one of Warp's names."""
    if name in (*_VARIABLES, "Scalar", "Shape"):
        return TypeVar(name)
    return Any if name == "DeviceLike" else type(name, (Generic,), {})
