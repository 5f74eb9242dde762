"""The gradient of an array: memory as the array's own, which all views of the array share.

An array that requires a gradient has a `Root`, and so have the views made of it. The root knows how far its memory lies
from the array's, so that the gradient of any view is found by its address; it knows no array, so that none keeps the
other alive in a circle.
"""

from __future__ import annotations

from .. import abi, interface
from ..array import zeros
from ..array_class import array, put_gradient, wrap
from ..errors import describe
from ..values import uint8
from . import overlap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_differentiable: dict[str, bool] = {}


def is_differentiable(type: abi.Type) -> bool:
    """Whether values of a type have floating-point numbers in them; of arrays, their elements."""
    known = _differentiable.get(type.spelling)
    if known is None:
        known = _has_floats(type)
        if "struct:" not in type.spelling:  # two structs of one name may differ in their fields
            _differentiable[type.spelling] = known
    return known


def _has_floats(type: abi.Type) -> bool:
    if isinstance(type, abi.Array):
        return is_differentiable(type.element)
    if isinstance(type, abi.Struct):
        return any(not isinstance(one.type, abi.Array) and is_differentiable(one.type) for one in type.fields)
    scalar = interface.scalar_of(type)
    return scalar is not None and scalar.kind == "float"


class Root:
    """The gradient of what lies in bytes `low` to `high` of a device. Memory is taken when it is first asked for.

    `is_retained`: the backward pass does not use it up. `is_hidden`: of an array that depends on others that require a
    gradient, and requires none itself.
    """

    __slots__ = ("_known", "_owner", "_shift", "device", "element", "high", "is_hidden", "is_retained", "low", "within")

    def __init__(self, device: Any, low: int, high: int, element: abi.Type | None) -> None:
        self.device, self.low, self.high, self.element = device, low, high, element
        self.is_hidden, self.is_retained = element is None, False
        self.within: Root | None = None  # whose memory this one shares
        self._owner: Any = None
        self._shift = 0
        self._known: tuple[Any, array] | None = None  # the gradient that was asked for last, and of which array

    @property
    def has_memory(self) -> bool:
        """Whether anybody has asked for the gradient yet."""
        return self._owner is not None if self.within is None else self.within.has_memory

    def fits(self, element: abi.Type) -> bool:
        """Whether elements of a type are what this gradient is for: in a view, the same numbers."""
        own = self.element
        if own is None or own == element:
            return True
        return interface.scalar_of(own) is not None and interface.scalar_of(own) == interface.scalar_of(element)

    def of(self, one: array) -> array:
        """The gradient of an array that lies here."""
        key = one.ptr, one.shape, one.strides, one._type
        if self._known is not None and self._known[0] == key:
            return self._known[1]
        view = interface.View(one.ptr + self._distance() if one.ptr else 0, one.shape, one.strides, one._type.element)
        made = wrap(view, one.dtype, self.device, self._memory())
        self._known = key, made
        return made

    def _memory(self) -> Any:
        if self.within is not None:
            return self.within._memory()
        if self._owner is None:
            made = zeros(self.high - self.low, uint8, self.device)
            self._owner, self._shift = made._owner, made.ptr - self.low
        return self._owner

    def _distance(self) -> int:
        self._memory()
        return self._shift if self.within is None else self.within._distance()

    def whole(self) -> array | None:
        """All of the gradient as bytes; None while it is zero for want of memory."""
        if not self.has_memory or self.low == self.high:
            return None
        view = interface.View(self.low + self._distance(), (self.high - self.low,), (1,), abi.UINT8)
        return wrap(view, uint8, self.device, self._memory())

    def set(self, one: array, given: array) -> None:
        """Makes an array's memory the gradient of another one."""
        owner = given if given._owner is None else given._owner
        self.within, self._owner, self._shift = None, owner, given.ptr - one.ptr
        self._known = (one.ptr, one.shape, one.strides, one._type), given


def require(one: array, value: Any) -> None:
    """What `array.requires_grad = value` does. Raises TypeError."""
    if not value:
        if hasattr(one, "_gradient"):
            del one._gradient
        return
    if hasattr(one, "_gradient"):
        return
    _check_type(one)
    give(one)


def give(one: array) -> Root:
    """Gives an array a gradient of its own."""
    made = Root(one.device, *overlap.span(one), one._type.element)
    put_gradient(one, made)
    return made


def _check_type(one: array) -> None:
    one._alive()
    if not is_differentiable(one._type.element):
        raise TypeError(
            "%r cannot require a gradient: that is for floating-point numbers, and vectors, matrices and structs of "
            "them" % one
        )


def retain(one: array, value: Any) -> None:
    """What `array.retain_grad = value` does. Raises ValueError."""
    if hasattr(one, "_gradient"):
        one._gradient.is_retained = bool(value)
    elif value:
        raise ValueError("%r requires no gradient that could be retained: set requires_grad" % one)


def assign(one: array, value: Any) -> None:
    """What `array.grad = value` does; None: the array requires no gradient any more. Raises TypeError, ValueError."""
    if value is None:
        require(one, False)
        return
    _check_type(one)
    if not isinstance(value, array):
        raise TypeError("the gradient of %r is a kb.array, not %s" % (one, describe(value)))
    value._alive()
    for what, own, other in (
        ("type", one._type.element, value._type.element),
        ("shape", one.shape, value.shape),
        ("strides", one.strides, value.strides),
        ("device", one.device, value.device),
    ):
        if own != other:
            raise ValueError("the gradient of %r needs the %s %s, not %s" % (one, what, own, other))
    known: Root | None = getattr(one, "_gradient", None)
    if known is None or (known.low, known.high) != overlap.span(one):  # of a part of what requires one
        give(one).set(one, value)
    elif known.within is None:
        known.set(one, value)  # tapes that have recorded the array, and its views, see the new one
    else:
        known.of(one).assign(value)  # which is a part of what a tape keeps
