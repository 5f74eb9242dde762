"""Warp's devices, memory pools and peers, on a fake driver of two GPUs and without any GPU."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import kbuild as kb
import kbuild.warp as wp
from kbuild.loader import driver
from kbuild.loader.errors import DriverError, LaunchError
from kbuild.warp.absent import NotInKbuild
from tests.helpers.fake_cuda import FakeCuda, make_bundle


def test_names(gpus: FakeCuda) -> None:
    assert [str(device) for device in wp.get_devices()] == ["cpu", "cuda:0", "cuda:1"]
    assert wp.get_preferred_device() == wp.get_device() == "cuda:0"
    second = wp.get_device("cuda:1")
    assert second == "cuda:1"
    assert second != "cuda:0"
    assert second != "cuda"
    assert second != 1
    assert wp.get_device("cpu") == "cpu"
    assert wp.get_device("cpu") != "cuda"
    assert wp.get_cuda_device() == "cuda:0"
    assert all(isinstance(device, wp.Device) for device in wp.get_devices())
    assert not isinstance("cuda:0", wp.Device)
    assert {second: 1}[kb.get_device("cuda:1")] == 1
    assert copy.deepcopy({"device": second})["device"] is pickle.loads(pickle.dumps(second)) is second
    assert wp.is_device_available(second)
    assert wp.is_device_available("cpu")
    assert not wp.is_device_available("cuda:7")
    with wp.ScopedDevice("cuda:1"):
        assert wp.get_cuda_device() is wp.get_device("cuda") is second == "cuda"
        with wp.ScopedDevice("cpu") as host, wp.ScopedDevice(None) as same:
            assert same is host
            assert wp.get_device() is wp.zeros(1).device is host
            assert wp.get_cuda_device() == "cuda:0"
    wp.set_device("cuda:1")
    assert wp.get_device() == "cuda"
    wp.set_device("cpu")
    assert wp.get_device() == "cpu"
    assert wp.get_cuda_driver_version() == (13, 0)
    assert wp.get_cuda_toolkit_version() is None
    assert wp.get_cuda_supported_archs() == []


def test_what_a_gpu_says(gpus: FakeCuda) -> None:
    device = wp.get_device("cuda:1")
    assert (device.alias, device.ordinal, device.name, device.arch) == ("cuda:1", 1, "Fake GPU 1", 90)
    assert (device.is_cuda, device.is_cpu, device.is_primary, device.is_uva) == (True, False, True, True)
    assert (device.sm_count, device.max_shared_memory_per_block) == (132, 232448)
    assert device.is_mempool_supported
    assert device.is_mempool_enabled
    assert not device.is_ipc_supported
    assert device.uuid == "GPU-00112233-4455-6677-8899-aabbccddee01"
    assert device.pci_bus_id == "0000:1B:00"
    assert not device.has_context
    assert device.total_memory >= device.free_memory > 0
    assert device.stream.device is device
    assert device.null_stream.handle == 0
    with device.context_guard:
        assert device.has_context
    assert not device.is_capturing
    assert device.can_access("cuda:0")
    stream = wp.Stream(device)
    device.set_stream(stream)
    assert device.stream is wp.get_stream("cuda:1") is stream
    wp.set_stream(None, "cuda:1")
    with pytest.raises(
        AttributeError, match=r"the device cuda:1 has no attribute 'sm_cuont'; did you mean 'sm_count'\?"
    ):
        device.sm_cuont  # noqa: B018


def test_what_the_host_says() -> None:
    host: Any = wp.get_device("cpu")
    assert (host.alias, host.ordinal, host.arch, host.sm_count) == ("cpu", -1, 0, 0)
    assert (host.is_cuda, host.is_cpu, host.is_uva, host.is_mempool_supported) == (False, True, False, False)
    assert (host.uuid, host.pci_bus_id, host.has_context, host.has_stream) == (None, None, False, False)
    assert not host.is_capturing
    assert host.can_access("cpu")
    assert not host.can_access("sim")
    with host.context_guard:
        pass
    with pytest.raises(AttributeError, match="the device cpu has no attribute 'nonsense'"):
        host.nonsense  # noqa: B018


def test_no_gpu(no_gpu: None) -> None:
    """Programs run until they launch something."""
    assert [str(device) for device in wp.get_devices()] == ["cpu"]
    assert wp.get_device() == wp.get_preferred_device() == "cpu"
    assert not wp.is_cuda_available()
    assert not wp.is_conditional_graph_supported()
    assert wp.get_cuda_driver_version() is None
    a = wp.array([1.0, 2.0], dtype=float)
    assert a.device == "cpu"
    assert wp.clone(a).tolist() == [1.0, 2.0]
    assert wp.empty(3, dtype=wp.vec3).device == "cpu"
    with wp.ScopedDevice(None), wp.ScopedStream(None), wp.ScopedTimer("all", synchronize=True, print=False):
        wp.synchronize()
        wp.synchronize_device()
        wp.synchronize_stream()
    wp.set_device("cpu")
    kb.set_device(None)
    wp.record_event(wp.Event())
    with pytest.raises(DriverError, match="no CUDA driver on this machine"):
        wp.get_device("cuda:0")
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    for device, inputs in ((None, [a]), ("cpu", [a])):
        with pytest.raises(LaunchError, match=r"p\.kernels:k: nothing runs kernels on device 'cpu'"):
            wp.launch(kernel, dim=2, inputs=inputs, device=device)
    with pytest.raises(LaunchError, match="nothing runs kernels on device 'cpu'"):
        wp.launch(make_bundle([])["p.kernels:k"], dim=2)
    assert driver._driver is None


def test_pools(gpus: FakeCuda) -> None:
    assert wp.is_mempool_supported("cuda:0")
    assert wp.is_mempool_enabled("cuda:0")
    assert not wp.is_mempool_supported("cpu")
    wp.set_mempool_release_threshold("cuda:0", 1 << 20)
    assert wp.get_mempool_release_threshold("cuda:0") == 1 << 20
    wp.set_mempool_release_threshold("cuda:0", 0.5)
    assert wp.get_mempool_release_threshold() == wp.get_device().total_memory // 2
    a, b = wp.zeros(256, dtype=float), wp.zeros(256, dtype=float)
    used = wp.get_mempool_used_mem_current()
    assert used >= 2048
    del a, b
    wp.synchronize()
    assert wp.get_mempool_used_mem_current() == 0
    assert wp.get_mempool_used_mem_high() >= used
    wp.set_mempool_enabled("cuda:0", True)
    with wp.ScopedMempool("cuda:0", False):
        assert wp.is_mempool_enabled("cuda:0")
    with pytest.raises(ValueError, match="memory pools belong to GPUs, and cpu is none"):
        wp.get_mempool_used_mem_current("cpu")
    with pytest.raises(ValueError, match="a number of bytes, or a part from 0 to 1, not -1"):
        wp.set_mempool_release_threshold("cuda:0", -1)


def test_a_gpu_without_pools(library: Any) -> None:
    with FakeCuda(library, devices="8.7/Orin/1/pools=0") as fake:
        assert not wp.is_mempool_supported("cuda:0")
        assert not wp.is_mempool_access_supported("cuda:0", "cuda:0")
        wp.set_mempool_enabled("cuda:0", False)
        for use in (lambda: wp.get_mempool_used_mem_current("cuda:0"), lambda: wp.set_mempool_enabled("cuda:0", True)):
            with pytest.raises(RuntimeError, match=r"cuda:0 \(Orin\) has no memory pools"):
                use()
        assert fake.breaches == []


def test_peers(gpus: FakeCuda) -> None:
    for supported, enabled, enable, scoped in (
        (
            wp.is_peer_access_supported,
            wp.is_peer_access_enabled,
            wp.set_peer_access_enabled,
            wp.ScopedPeerAccess,
        ),
        (
            wp.is_mempool_access_supported,
            wp.is_mempool_access_enabled,
            wp.set_mempool_access_enabled,
            wp.ScopedMempoolAccess,
        ),
    ):
        assert supported("cuda:0", "cuda:1")
        assert not supported("cpu", "cuda:1")
        assert not enabled("cuda:0", "cuda:1")
        enable("cuda:0", "cuda:1", True)
        assert enabled("cuda:0", "cuda:1")
        assert not enabled("cuda:1", "cuda:0")
        enable("cuda:0", "cuda:1", False)
        with scoped("cuda:0", "cuda:1", True):
            assert enabled("cuda:0", "cuda:1")
        assert not enabled("cuda:0", "cuda:1")
    a = wp.zeros(2, dtype=float, device="cuda:0")
    assert wp.can_access("cuda:0", a)
    assert not wp.can_access("cuda:1", a)
    assert not wp.can_access("cpu", a)
    assert wp.can_access("cpu", wp.zeros(2, dtype=float, device="cpu"))
    with wp.ScopedPeerAccess("cuda:0", "cuda:1", True):
        assert wp.can_access("cuda:1", a)
    with pytest.raises(TypeError, match=r"wp.can_access wants an array, not \[1\]"):
        wp.can_access("cuda:0", [1])
    with pytest.raises(NotInKbuild, match="devices over contexts that are not primary"):
        wp.map_cuda_device("mine")


def test_the_report(gpus: FakeCuda) -> None:
    a = wp.zeros(1 << 20, dtype=float)
    out = io.StringIO()
    wp.print_memory_report(out)
    assert "cuda:0: in use 4.0 MiB" in out.getvalue()
    assert "test_host_devices.py" in out.getvalue()
    del a
