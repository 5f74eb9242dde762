"""Arrays, devices and launches with Warp's arguments, on a fake driver."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.loader import resolve
from kbuild.loader.errors import LaunchError
from kbuild.warp.absent import NotInKbuild
from tests.helpers.fake_cuda import FakeCuda


@pytest.fixture(autouse=True)
def cuda(gpus: FakeCuda) -> FakeCuda:
    return gpus


def test_arrays() -> None:
    a = wp.array([1.0, 2.0, 3.0], dtype=wp.float32)
    assert isinstance(a, kb.array)
    assert isinstance(a, wp.array)
    assert not isinstance(a, wp.array2d)
    assert wp.zeros_like(a).tolist() == [0.0, 0.0, 0.0]
    assert wp.ones_like(a).tolist() == [1.0, 1.0, 1.0]
    assert wp.full_like(a, 7.0).tolist() == [7.0, 7.0, 7.0]
    assert wp.empty_like(a).shape == (3,)
    copied = wp.clone(a)
    wp.copy(a, wp.full(3, 5.0, dtype=float))
    assert (copied.tolist(), a.tolist()) == ([1.0, 2.0, 3.0], [5.0, 5.0, 5.0])
    assert wp.zeros((2, 3), dtype=wp.vec3, requires_grad=False).shape == (2, 3)
    assert wp.zeros(shape=(2,), dtype=int, device="cuda:1").device is wp.get_device("cuda:1")
    assert wp.from_numpy(np.arange(4, dtype=np.int32), dtype=int).tolist() == [0, 1, 2, 3]
    assert wp.from_numpy(np.arange(4, dtype=np.float32), shape=(2, 2)).shape == (2, 2)
    assert wp.array(shape=(4,), dtype=float, copy=True).shape == (4,)
    assert wp.array2d(shape=(2, 2), dtype=float).ndim == 2


def test_indexed_arrays() -> None:
    data, rows = wp.array([[1.0, 2.0], [3.0, 4.0]], dtype=float), wp.array([1, 0, 1], dtype=int)
    seen = wp.indexedarray(data, [rows, None])
    assert isinstance(seen, kb.indexedarray)
    assert isinstance(seen, wp.indexedarray)
    assert isinstance(seen, wp.indexedarray2d)
    assert not isinstance(seen, (wp.array, wp.indexedarray1d))
    assert not isinstance(data, wp.indexedarray)
    assert wp.types.is_array(seen)
    assert (seen.shape, seen.size, seen.dtype) == ((3, 2), 6, wp.float32)
    assert wp.indexedarray2d(data, rows, dtype=float).tolist() == seen.tolist() == [[3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]
    assert wp.clone(seen).tolist() == seen.tolist()
    assert wp.zeros_like(seen).tolist() == [[0.0, 0.0]] * 3
    wp.copy(seen, wp.full((3, 2), 7.0, dtype=float))
    assert data.tolist() == [[7.0, 7.0]] * 2
    target = wp.zeros((3, 2), dtype=float)
    wp.copy(target, seen)
    assert target.tolist() == [[7.0, 7.0]] * 3
    wp.copy(wp.indexedarray(data, wp.array([1], dtype=int)), wp.indexedarray(target, wp.array([0], dtype=int)))
    with pytest.raises(ValueError, match="the data has 2 dimensions, not 1"):
        wp.indexedarray1d(data, rows)


def test_annotations_of_indexed_arrays() -> None:
    plain = wp.array[float]
    for annotation, spelling in (
        (wp.indexedarray(dtype=float), "indexedarray1[float32]"),
        (wp.indexedarray(dtype=wp.vec3, ndim=3), "indexedarray3[vec3[float32]]"),
        (wp.indexedarray[int], "indexedarray1[int32]"),
        (wp.indexedarray[float, Literal[2]], "indexedarray2[float32]"),
        (wp.indexedarray4d(dtype=int), "indexedarray4[int32]"),
        (wp.array[float, Literal[3]], "array3[float32]"),
    ):
        assert wp.types.type_repr(annotation) == spelling
        assert isinstance(annotation, wp.indexedarray) == spelling.startswith("indexed")
        assert isinstance(annotation, wp.array) != spelling.startswith("indexed")
        assert wp.types.type_is_array(annotation)
        assert wp.types.is_array(annotation)
    assert isinstance(wp.indexedarray3d[float], wp.indexedarray3d)
    assert not isinstance(wp.indexedarray3d[float], wp.indexedarray2d)
    assert not wp.types.types_equal(wp.indexedarray[float], plain)
    assert wp.indexedarray[float] | None  # annotates functions of the host


def test_devices() -> None:
    assert [str(device) for device in wp.get_cuda_devices()] == ["cuda:0", "cuda:1"]
    assert wp.get_cuda_device_count() == 2
    assert wp.is_cuda_available()
    assert not wp.is_cpu_available()
    assert wp.get_cuda_device(1) is wp.get_device("cuda:1")
    assert wp.is_device_available(wp.get_device())
    with wp.ScopedDevice("cuda:1") as device:
        assert wp.get_device() is device
        assert wp.zeros(1).device is device
        with wp.ScopedDevice("cuda:0"):
            assert str(wp.get_device()) == "cuda:0"
        assert wp.get_device() is device
    assert str(wp.get_device()) == "cuda:0"
    wp.set_device("cuda:1")
    assert str(wp.get_device()) == "cuda:1"
    wp.set_device("cuda:0")
    wp.synchronize_device()


def test_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    given = []
    monkeypatch.setattr(resolve, "launch", lambda *arguments, max_blocks: given.append((*arguments, max_blocks)))
    wp.launch("kernel", dim=4, inputs=[1], outputs=[2], device="cuda:1", record_tape=False, max_blocks=8, block_dim=64)
    wp.launch("kernel", 4, [1])
    wp.launch("kernel", 4, [1], max_blocks=-1)
    unbounded = ("kernel", 4, [1], (), None, None, None, 0)
    assert given == [("kernel", 4, [1], [2], "cuda:1", None, 64, 8), unbounded, unbounded]
    with pytest.raises(TypeError, match=r"wp\.launch has no argument 'dims'"):
        wp.launch("kernel", 4, [1], dims=3)
    with pytest.raises(NotInKbuild, match=r"wp\.launch_tiled\(kernel\) \(tiles\) is not in kbuild"):
        wp.launch_tiled("kernel", 4, [1], block_dim=64)
    assert len(given) == 3


def test_timers(capsys: pytest.CaptureFixture[str]) -> None:
    with wp.ScopedTimer("step", synchronize=True) as timer:
        pass
    assert timer.elapsed >= 0.0
    assert capsys.readouterr().out.startswith("step took ")
    with wp.ScopedTimer("quiet", active=False):
        pass
    with wp.ScopedTimer("silent", print=False):
        pass
    assert capsys.readouterr().out == ""


def test_numbers_of_numpy() -> None:
    assert wp.dtype_to_numpy(wp.vec3d) is np.float64
    assert wp.dtype_from_numpy(np.int16) is kb.int16


@wp.kernel
def rebound(x: Any):  # type: ignore[no-untyped-def]
    pass


KNOWN = rebound


def rebound(x: float) -> None: ...  # type: ignore[no-redef]


def test_stubs_of_kernels_by_their_place() -> None:
    assert wp.overload(rebound) is KNOWN

    def refused(x: float) -> float: ...

    with pytest.raises(TypeError, match=r"Return annotations are not allowed on @wp\.overload stubs"):
        wp.overload(refused)

    @wp.kernel(name="another")
    def named(x: Any):  # type: ignore[no-untyped-def]
        pass

    assert named.key == "another"

    def twice(x: Any):  # type: ignore[no-untyped-def]
        pass

    for key in "ab":
        wp.kernel(name=key)(twice)
    with pytest.raises(RuntimeError, match=r"Ambiguous kernel lookup: twice .*\(a, b\)"):
        wp.overload(twice)


def test_numbers_for_vectors_of_launches() -> None:
    @wp.kernel
    def moved(v: wp.vec3, x: float, y: Any):  # type: ignore[no-untyped-def]
        pass

    command = wp.Launch(moved, "cuda:0")
    for which in (0, "v"):
        with pytest.raises(LaunchError, match="argument 'v' expects vec3f but got a single value"):
            getattr(command, "set_param_at_index" if which == 0 else "set_param_by_name")(which, 123)
    command.set_params([wp.vec3(), 1.0, 2])
    assert command.bound.args == (wp.vec3(), 1.0, 2)
