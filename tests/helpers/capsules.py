"""Capsules of DLPack by hand: a consumer, and a producer that counts its deleter's calls. Python 3.8."""

from __future__ import annotations

import ctypes
from typing import Any

from kbuild.loader import dlpack, loans

DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Producer:
    """Lends a buffer of the host as any tensor one likes. `deleted`: the addresses that its deleter was called with."""

    def __init__(
        self, name: bytes = loans.PLAIN, version: tuple[int, int] = (1, 0), flags: int = 0, **said: Any
    ) -> None:
        self.deleted: list[int] = []
        self._deleter = DELETER(self.deleted.append)
        shape = said.pop("shape", (4,))
        strides = said.pop("strides", None)
        self.data = ctypes.create_string_buffer(1024)
        self.address = (ctypes.addressof(self.data) + 63) // 64 * 64
        self._numbers = [(ctypes.c_int64 * max(len(one), 1))(*one) for one in (shape, strides or ())]
        managed: Any = dlpack._Versioned() if name == loans.VERSIONED else dlpack._Plain()
        if name == loans.VERSIONED:
            (managed.major, managed.minor), managed.flags = version, flags
        managed.deleter = ctypes.cast(self._deleter, ctypes.c_void_p).value or 0
        wanted = {"data": self.address, "device": dlpack.CPU, "ndim": len(shape), "code": 2, "bits": 32, "lanes": 1}
        for field, value in {**wanted, **said}.items():
            setattr(managed.tensor, field, value)
        managed.tensor.shape = ctypes.addressof(self._numbers[0])
        managed.tensor.strides = ctypes.addressof(self._numbers[1]) if strides is not None else 0
        self.managed, self.name = managed, name

    def capsule(self) -> Any:
        """Names are kept by the module, and so is the tensor by this object."""
        return loans._api.PyCapsule_New(ctypes.addressof(self.managed), loans._NAMES[self.name], None)


class Consumer:
    """What a capsule of ours says; `give_back` calls the deleter, as libraries do."""

    def __init__(self, capsule: Any) -> None:
        self.name = next(one for one in (loans.PLAIN, loans.VERSIONED) if loans.is_capsule(capsule, one))
        self.address = loans.address_in(capsule, self.name)
        kind: Any = dlpack._Versioned if self.name == loans.VERSIONED else dlpack._Plain
        self.managed = kind.from_address(self.address)
        self.tensor = self.managed.tensor
        numbers = ctypes.c_int64 * self.tensor.ndim
        self.shape = tuple(numbers.from_address(self.tensor.shape))
        self.strides = tuple(numbers.from_address(self.tensor.strides))
        self.flags = self.managed.flags if self.name == loans.VERSIONED else 0
        self.device = (self.tensor.device, self.tensor.ordinal)
        loans.consume(capsule, self.name)

    def give_back(self, lock: bool = False) -> None:
        """With Python's lock or, as threads of C++ do, without."""
        kind: Any = ctypes.PYFUNCTYPE if lock else ctypes.CFUNCTYPE
        kind(None, ctypes.c_void_p)(self.managed.deleter)(self.address)
