"""Who copies between arrays of one GPU: the driver, or a kernel that a bundle of the program has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import kbuild as kb
from kbuild.loader import context, providers, types
from kbuild.loader.errors import BundleError, LaunchError
from kbuild.loader.interface import View
from kbuild.primitives import catalogue, copies
from tests.helpers.fake_cuda import FakeCuda, make_bundle


class Asked:
    """A provider that copies nothing, or says so."""

    def __init__(self, answer: bool) -> None:
        self.answer, self.calls = answer, 0

    def __call__(self, to: View, source: View, device: Any, stream: int) -> bool:
        self.calls += 1
        assert (device, stream) == (context.get_device("cuda:0"), 0)
        return self.answer


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    made = Asked(False)
    find = providers.find
    monkeypatch.setattr(providers, "find", lambda kind: made if kind == providers.STRIDED_COPY else find(kind))
    return made


def test_copies_of_many_pieces_ask(cuda: FakeCuda, asked: Asked) -> None:
    data = np.arange(70 * 20, dtype=np.float32).reshape(70, 20)
    source, square = kb.array(data), kb.zeros((20, 70))
    before = asked.calls
    kb.copy(square, source.transpose())
    assert asked.calls == before + 1
    np.testing.assert_array_equal(square.numpy(), data.T)
    asked.answer = True
    kb.copy(square.transpose(), kb.zeros((70, 20)))  # is believed
    np.testing.assert_array_equal(square.numpy(), data.T)
    assert asked.calls == before + 2


def test_copies_that_the_driver_does_well_ask_nobody(cuda: FakeCuda, asked: Asked) -> None:
    whole = kb.zeros((200, 20))
    kb.copy(kb.zeros((200, 8)), whole[:, :8])  # rows of 32 bytes
    kb.copy(kb.zeros((64, 1)), whole[:64, :1])  # few rows
    kb.copy(kb.zeros((16, 4)), kb.zeros((4, 16)).transpose())  # 16 pieces of few rows
    kb.copy(kb.zeros((20, 200), device="cpu"), whole.transpose())
    kb.copy(kb.zeros(0), kb.zeros(4)[::2][:0])
    assert asked.calls == 0
    kb.copy(kb.zeros((65, 1)), whole[:65, :1])
    kb.copy(kb.zeros((17, 2)), kb.zeros((2, 17)).transpose())
    assert asked.calls == 2


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that bundles were looked through for; no kernel has been found, none is known to be missing."""
    names: list[str] = []
    monkeypatch.setattr(copies, "_missing", {})
    find = copies.in_a_bundle

    def spy(kernel: types.Kernel) -> Any:
        names.append(kernel.name)
        return find(kernel)

    monkeypatch.setattr(copies, "in_a_bundle", spy)
    return names


def transposed(count: int = 3) -> None:
    data = np.arange(40 * 30, dtype=np.float32).reshape(40, 30)
    source = kb.array(data)
    for _ in range(count):
        out = kb.zeros((30, 40))
        kb.copy(out, source.transpose())
        np.testing.assert_array_equal(out.numpy(), data.T)


def test_without_a_bundle_it_is_looked_for_once(
    cuda: FakeCuda, looked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    transposed()
    assert len(looked) == 1
    monkeypatch.setattr(types, "declared", {*types.declared, "another.module"})
    transposed()
    assert len(looked) == 2


@pytest.mark.parametrize("error", [BundleError, LaunchError])
def test_nobody_hears_why_there_is_no_kernel(
    cuda: FakeCuda, looked: list[str], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(kernel: object) -> None:
        looked.append("")
        raise error("nothing here")

    monkeypatch.setattr(copies, "in_a_bundle", fail)
    transposed()
    assert looked == [""]


def test_an_installation_without_the_kernels(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(providers.registry, providers.STRIDED_COPY, "kbuild.no_such_module:copy")
    transposed()
    monkeypatch.delitem(providers.registry, providers.STRIDED_COPY)
    transposed()


@pytest.fixture
def bundled(cuda: FakeCuda, looked: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bundle with a kernel that does nothing, in the place of what turns words of 4 bytes."""
    kernel = catalogue.copy_kernels(4)[1]
    parameters = [("source", "array4[uint32]"), ("out", "array4[uint32]")]
    found = make_bundle(parameters, name=kernel.name)[kernel.name]
    found.shape.whole = True
    monkeypatch.setattr(copies, "in_a_bundle", lambda kernel: looked.append(kernel.name) or found)
    before = kernel.target
    yield found
    kernel.target = before


def test_with_a_bundle_one_launch_copies(cuda: FakeCuda, bundled: Any, looked: list[str]) -> None:
    out, source = kb.zeros((30, 40)), kb.zeros((40, 30))
    stream = kb.Stream()
    for _ in range(3):
        before, calls = cuda.launches, len(cuda.calls)
        kb.copy(out, source.transpose(), stream=stream)
        assert cuda.launches == before + 1
        assert not [call for call in cuda.calls[calls:] if "Memcpy" in call]
    assert cuda.records[-1].stream == stream.handle
    assert cuda.records[-1].grid == 2
    assert looked == [catalogue.copy_kernels(4)[1].name]
    kb.synchronize()


def test_the_first_copy_may_be_captured(cuda: FakeCuda, bundled: Any) -> None:
    out, source = kb.zeros((30, 40)), kb.zeros((40, 30))
    stream = kb.Stream()
    with kb.capture(stream=stream) as graph:
        kb.copy(out, source.transpose(), stream=stream)
    before = len(cuda.records)
    for _ in range(2):
        graph.launch(stream=stream)
    kb.synchronize()
    assert len(cuda.records) == before + 2
