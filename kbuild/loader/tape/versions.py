"""What an array held at one point of a recording: the array itself, until it is overwritten, and then a copy."""

from __future__ import annotations

from .. import copying, interface
from ..array import empty
from ..array_class import array, wrap
from ..errors import LaunchError
from ..memory.books import amount
from . import overlap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Version:
    """`needed_by` says who wants it in the backward pass, `by` who has overwritten it."""

    __slots__ = ("_theirs", "by", "copy", "is_lost", "needed_by", "original")

    def __init__(self, original: array, needed_by: str) -> None:
        # An array of our own, which lives on when the program frees its one.
        self.original = wrap(original._alive(), original.dtype, original.device, original._owner)
        self.needed_by, self.by = needed_by, ""
        self.copy: array | None = None
        self.is_lost = False
        self._theirs: tuple[Any, int] | None = None
        owner = original._owner
        if interface.is_tensor(owner):
            self._theirs = owner, owner._version

    def save(self, by: str, stream: Any) -> None:
        """Copies it, before it is overwritten on a stream."""
        self._check_unseen()
        source = self.original
        self.copy = empty(source.shape, source.dtype, source.device)
        self.by = by
        self.save_again(stream)

    def save_again(self, stream: Any) -> None:
        """Copies what is there now into the copy that there is."""
        assert self.copy is not None
        copying.copy(self.copy, self.original, stream=stream)

    def lose(self, by: str) -> None:
        """It was overwritten when nobody was to need it any more."""
        self.is_lost, self.by = True, by

    def revive(self) -> None:
        """What the array holds now is the version."""
        self.copy, self.is_lost, self.by = None, False, ""
        if self._theirs is not None:
            self._theirs = self._theirs[0], self._theirs[0]._version

    def get(self) -> array:
        """The array or the copy. Raises LaunchError where it is gone."""
        if self.copy is not None:
            return self.copy
        if self.is_lost:
            raise LaunchError(
                "tape.backward: %s needs what %r held, and %s has overwritten it after an earlier backward pass\n"
                "  help: record anew, or call backward again before it is overwritten"
                % (self.needed_by, self.original, self.by)
            )
        self._check_unseen()
        return self.original

    def _check_unseen(self) -> None:
        if self._theirs is not None and self._theirs[0]._version != self._theirs[1]:
            raise LaunchError(
                "%s needs what a tensor of PyTorch's held (%r), and PyTorch has written to it since\n"
                "  help: let PyTorch write to another tensor, or copy this one before the launch"
                % (self.needed_by, self.original)
            )


class Live:
    """The versions that are what their arrays hold now."""

    def __init__(self) -> None:
        self._ranges = overlap.Ranges()

    def need(self, one: array, needed_by: str) -> Version:
        """The version of an array now; of one that has not been written to since it was last needed, the same."""
        low, high = overlap.span(one)
        for known in self._ranges.within(one.device, low, high):
            other = known.original
            if (other.ptr, other.shape, other.strides, other._type) == (one.ptr, one.shape, one.strides, one._type):
                return known  # type: ignore[no-any-return]
        made = Version(one, needed_by)
        self._ranges.add(one.device, low, high, made)
        return made

    def meeting(self, one: array) -> list[Version]:
        """Those that a write to an array changes."""
        found = self._ranges.within(one.device, *overlap.span(one))
        return [known for known in found if overlap.meet(known.original, one)]

    def drop(self, version: Version) -> None:
        """It is no longer what its array holds."""
        self._ranges.remove(version.original.device, overlap.span(version.original)[0], version)

    def add(self, version: Version) -> None:
        """It is what its array holds again."""
        self._ranges.add(version.original.device, *overlap.span(version.original), version)

    def __len__(self) -> int:
        return len(self._ranges)


class Saved:
    """One copy that a tape keeps."""

    __slots__ = ("bytes", "needed_by", "overwritten_by")

    def __init__(self, bytes: int, needed_by: str, overwritten_by: str) -> None:
        self.bytes, self.needed_by, self.overwritten_by = bytes, needed_by, overwritten_by

    def __repr__(self) -> str:
        return "%s for %s, overwritten by %s" % (amount(self.bytes), self.needed_by, self.overwritten_by)


class TapeMemory:
    """What a tape keeps beside the program's own arrays: `bytes` of `copies`, and `workspace`, the bytes that the
    largest launch of its backward passes has taken for a while.
    """

    __slots__ = ("copies", "workspace")

    def __init__(self) -> None:
        self.copies: list[Saved] = []
        self.workspace = 0

    @property
    def bytes(self) -> int:
        """Bytes of all copies together."""
        return sum([one.bytes for one in self.copies])

    def __repr__(self) -> str:
        lines = ["<kb.TapeMemory: %s in %d copies" % (amount(self.bytes), len(self.copies))]
        lines += ["  %r" % one for one in self.copies]
        return "\n".join(lines) + ">"
