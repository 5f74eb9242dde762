"""`wp.ref[T]`: a parameter of a function that stands for a place of the caller's, and changes what is there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Reference:
    """The annotation of such a parameter; `dtype` is the type of what it stands for."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype

    @property
    def value_type(self) -> Any:
        """The same, by Warp's other name."""
        return self.dtype

    def __repr__(self) -> str:
        return "wp.ref[%s]" % getattr(self.dtype, "__name__", repr(self.dtype))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and bool(self.dtype == other.dtype)

    def __hash__(self) -> int:
        return hash((Reference, self.dtype))


class _Maker:
    """`ref` itself."""

    __iter__ = None  # no sequence

    def __getitem__(self, dtype: Any) -> Reference:
        return Reference(dtype)

    def __repr__(self) -> str:
        return "wp.ref"


ref = _Maker()
