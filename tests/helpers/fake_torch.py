"""As much of PyTorch as kbuild asks of it, over memory of the fake driver or of the host. Python 3.8, standard library.

`install(monkeypatch)` puts it where `import torch` finds it.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from kbuild.loader import abi, interface


class Dtype:
    """`str(torch.float32)` is `torch.float32`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return "torch." + self.name


class Stream:
    """A stream, by its handle alone."""

    def __init__(self, handle: int, device: int = 0) -> None:
        self.cuda_stream, self.device = handle, SimpleNamespace(type="cuda", index=device)


class Tensor:
    """A tensor of `dtype` over `ptr`; strides in elements, without gaps unless given."""

    def __init__(
        self, torch: Any, ptr: int, shape: tuple[int, ...], dtype: str = "float32", device: int | None = 0, **said: Any
    ) -> None:
        self.shape, self.dtype, self.layout = shape, getattr(torch, dtype), said.get("layout", torch.strided)
        self._strides = said.get("strides") or interface.contiguous_strides(shape, 1)
        self._ptr, self._is_neg, self.requires_grad = ptr, said.get("is_neg", False), said.get("requires_grad", False)
        kind = said.get("place") or ("cpu" if device is None else "cuda")
        self.device = _Place(kind, device)
        self.recorded: list[Stream] = []  # the streams that `record_stream` was told of
        self.owner = said.get("owner")
        self.asked: list[str] = []

    def data_ptr(self) -> int:
        if self._ptr < 0 or self.layout != "torch.strided":
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage\nmore")
        return self._ptr

    def stride(self) -> tuple[int, ...]:
        return tuple(self._strides)

    def get_device(self) -> int:
        return self.device.index if self.device.type == "cuda" and self.device.index is not None else -1

    def numel(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def is_neg(self) -> bool:
        return bool(self._is_neg)

    def is_conj(self) -> bool:
        return False

    def record_stream(self, stream: Stream) -> None:
        self.recorded.append(stream)

    @property
    def __cuda_array_interface__(self) -> Any:
        self.asked.append("__cuda_array_interface__")
        raise RuntimeError("Can't get __cuda_array_interface__ on Variable that requires grad")

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("a tensor's own methods are enough")


class _Place:
    def __init__(self, kind: str, index: int | None) -> None:
        self.type, self.index = kind, index

    def __str__(self) -> str:
        return self.type if self.index is None else "%s:%d" % (self.type, self.index)


class FakeTorch(ModuleType):
    """The module. `current` has the current stream's handle by device."""

    def __init__(self) -> None:
        super().__init__("torch")
        self.Tensor = type("Tensor", (Tensor,), {})
        self.Parameter = type("Parameter", (self.Tensor,), {})
        self.nn = SimpleNamespace(Parameter=self.Parameter)
        self.strided, self.sparse_coo = "torch.strided", "torch.sparse_coo"
        for name in [*abi.SCALARS, "bfloat16", "complex64"]:
            setattr(self, name, Dtype(name))
        self.current: dict[int, int] = {}
        self.consumed: list[Any] = []
        self._C = SimpleNamespace(_cuda_getCurrentRawStream=lambda index: self.current.get(index, 0))
        self.cuda = SimpleNamespace(
            Stream=Stream,
            ExternalStream=lambda handle, device: Stream(handle, device),
            current_device=lambda: 0,
            current_stream=lambda device=None: Stream(self.current.get(device or 0, 0), device or 0),
            default_stream=lambda device: Stream(0, device),
        )
        self.utils = SimpleNamespace(dlpack=SimpleNamespace(from_dlpack=self._consume))

    def _consume(self, capsule: Any) -> Any:
        from kbuild.loader import dlpack

        self.consumed.append(dlpack.from_dlpack(capsule))
        return SimpleNamespace(requires_grad_=lambda: "requires grad")

    def over(self, array: Any, **said: Any) -> Any:
        """A tensor over an array of kbuild's, whose numbers it shows."""
        inner = interface.inner_shape(array._type.element)
        scalar = interface.scalar_of(array._type.element)
        assert scalar is not None
        strides = array.strides + interface.contiguous_strides(inner, scalar.size)
        said.setdefault("strides", tuple(step // scalar.size for step in strides))
        device = array.device.ordinal if array.device.kind == "cuda" else None
        kind = said.pop("kind", self.Tensor)
        shape = array.shape + inner
        return kind(self, array.ptr, shape, said.pop("dtype", scalar.spelling), device, owner=array, **said)


def install(monkeypatch: Any) -> FakeTorch:
    """Makes it what `import torch` gives."""
    made = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", made)
    return made
