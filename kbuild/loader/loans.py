"""Memory that other libraries have through DLPack capsules of ours, and how it comes back.

A consumer gives a tensor back by calling its deleter: from any thread, with Python's lock or without, while an
exception is on its way, after the interpreter's end. A Python function cannot serve that: it would wait for the lock,
and lose the exception. So the deleter is a function of the C library that writes eight zero bytes where it is pointed
to and does nothing else. Each tensor begins with eight bytes that are not zero, and `sweep` sees which have become
so. A capsule that nobody has consumed is told by its references: the only one is that of the books here.

`sweep` runs before kbuild allocates, lends or borrows memory, and with Python's garbage collection.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from ctypes import c_char_p, c_int, c_size_t, c_uint64, c_void_p, py_object

from .memory import allocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_api = ctypes.PyDLL(None)  # CPython's own functions, whose types are declared for this module alone
_api.PyMem_RawMalloc.restype, _api.PyMem_RawMalloc.argtypes = c_void_p, (c_size_t,)
_api.PyCapsule_New.restype, _api.PyCapsule_New.argtypes = py_object, (c_void_p, c_void_p, c_void_p)
_api.PyCapsule_IsValid.restype, _api.PyCapsule_IsValid.argtypes = c_int, (py_object, c_char_p)
_api.PyCapsule_GetPointer.restype, _api.PyCapsule_GetPointer.argtypes = c_void_p, (py_object, c_char_p)
_api.PyCapsule_SetName.restype, _api.PyCapsule_SetName.argtypes = c_int, (py_object, c_void_p)

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
BLOCK_SIZE = 256  # of a tensor with its shape and strides
_RESTING = 64


def _forever(text: bytes) -> int:
    """The address of a text that stays: capsules do not copy their names, and may outlive this module."""
    size = len(text) + 1
    address: int = _api.PyMem_RawMalloc(size)
    ctypes.memmove(address, text + b"\0", size)
    return address


_NAMES = {name: _forever(name) for one in (PLAIN, VERSIONED) for name in (one, b"used_" + one)}
# Writes an rwlock's default attributes, two ints of zero in glibc and in musl.
DELETER: int = ctypes.cast(ctypes.CDLL(None).pthread_rwlockattr_init, c_void_p).value or 0


def is_capsule(data: Any, name: bytes) -> bool:
    """Whether `data` is a capsule of that name."""
    return bool(_api.PyCapsule_IsValid(data, name))


def address_in(capsule: Any, name: bytes) -> int:
    """What a capsule of that name points to."""
    address: int = _api.PyCapsule_GetPointer(capsule, name)
    return address


def consume(capsule: Any, name: bytes) -> None:
    """Renames a capsule as the protocol wants it: its tensor is somebody's now."""
    _api.PyCapsule_SetName(capsule, _NAMES[b"used_" + name])


class Loan:
    """A tensor in its block of memory, and what it keeps alive."""

    __slots__ = ("address", "capsule", "held", "name")

    def __init__(self, address: int, name: bytes, held: Any) -> None:
        self.address, self.name, self.held = address, name, held
        self.capsule = _api.PyCapsule_New(address, _NAMES[name], None)

    def is_over(self) -> bool:
        """The consumer has called the deleter, or the capsule was dropped before anybody consumed it."""
        if self.capsule is not None and not is_capsule(self.capsule, self.name):
            self.capsule = None
        if self.capsule is not None:
            return self.references() <= _ALONE
        return c_uint64.from_address(self.address).value == 0

    def references(self) -> int:
        """How many there are to the capsule."""
        return sys.getrefcount(self.capsule)


_loans: dict[int, Loan] = {}
_blocks: list[int] = []  # free again, oldest first


def block() -> int:
    """The address of memory for a tensor. The C library's: consumers may look at it after the interpreter's end."""
    # Whoever has called the deleter without Python's lock may not have returned from it yet, so blocks rest a while.
    if len(_blocks) > _RESTING:
        return _blocks.pop(0)
    address: int = _api.PyMem_RawMalloc(BLOCK_SIZE)
    return address


def lend(address: int, name: bytes, held: Any) -> Any:
    """The capsule of a tensor that has been written into a block; `held` stays until the tensor is given back."""
    if sweep not in allocation.sweepers:
        allocation.sweepers.append(sweep)
        gc.callbacks.append(sweep)
    loan = _loans[address] = Loan(address, name, held)
    return loan.capsule


def sweep(*_: object) -> None:
    """Lets go what has been given back."""
    for address, loan in list(_loans.items()):
        if loan.is_over() and _loans.pop(address, None) is not None:
            _blocks.append(address)


def count() -> int:
    """How many tensors are out."""
    sweep()
    return len(_loans)


_ALONE = Loan(_NAMES[PLAIN], PLAIN, None).references()
