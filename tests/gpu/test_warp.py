"""The Warp dialect on a GPU: Warp's names and arguments, on the host and in kernels."""

import struct

import pytest
from gpukernels import warpish

import kbuild.warp as wp

pytestmark = pytest.mark.gpu


def as_float(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def test_struct_parameters_are_copies():
    geom = warpish.Geom(size=wp.vec3(1.0, 2.0, 3.0), margin=2.0, index=wp.array([7], dtype=int))
    out, sizes = wp.zeros(4, dtype=float), wp.zeros(4, dtype=wp.vec3)
    wp.launch(warpish.copies, dim=4, inputs=[geom], outputs=[out, sizes])
    assert out.tolist() == [2.0 + i + 2000.0 + 3.5 for i in range(4)]
    assert [tuple(v) for v in sizes.tolist()] == [(i * 1.0, i * 2.0, i * 3.0) for i in range(4)]
    assert geom.margin == 2.0


def test_fuse_fp_of_module_options():
    numbers = [as_float(1.0 + 2.0**-13 * k) for k in range(8)]
    a = wp.array(numbers, dtype=float)
    out = wp.zeros_like(a)
    wp.launch(warpish.unfused, dim=8, inputs=[a, out])
    assert out.tolist() == [as_float(as_float(x * x) - 1.0) for x in numbers]


def test_sparse_matrices():
    offsets, columns = [0, 2, 2, 5, 6], [1, 3, 0, 2, 3, 1]
    rows, found = wp.full(7, -7, dtype=int), wp.full((7, 4), -7, dtype=int)
    inputs = [wp.array(offsets, dtype=int), wp.array(columns, dtype=int), rows, found]
    wp.launch(warpish.sparse, dim=(7, 4), inputs=inputs)
    assert rows.tolist() == [0, 0, 2, 2, 2, 3, -1]
    stored = {(r, columns[i]): i for r in range(4) for i in range(offsets[r], offsets[r + 1])}
    assert found.tolist() == [[stored.get((row, column), -1) for column in range(4)] for row in rows.tolist()]


def test_eigenvalues():
    a = [
        wp.mat33d(2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 5.0),
        wp.mat33d(4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 1.0),
    ]
    given = wp.array(a, dtype=wp.mat33d)
    p, d = wp.zeros_like(given), wp.zeros(2, dtype=wp.vec3d)
    wp.launch(warpish.eigen, dim=2, inputs=[given, p, d])
    assert sorted(d.tolist()[0]) == pytest.approx([1.0, 3.0, 5.0], abs=1e-12)
    for matrix, rows, values in zip(a, p.tolist(), d.tolist()):
        for i in range(3):
            for j in range(3):
                again = sum(rows[k][i] * values[k] * rows[k][j] for k in range(3))
                assert again == pytest.approx(matrix[i][j], abs=1e-12)


def test_rotations_between_vectors():
    a = [wp.vec3(1.0, 0.0, 0.0), wp.vec3(0.0, 0.0, 1.0), wp.vec3(0.6, 0.8, 0.0), wp.vec3(0.0, 1.0, 0.0)]
    b = [wp.vec3(0.0, 1.0, 0.0), wp.vec3(0.0, 0.0, -1.0), wp.vec3(-0.6, -0.8, 0.0), wp.vec3(0.0, 1.0, 0.0)]
    out = wp.zeros(4, dtype=wp.vec3)
    wp.launch(warpish.between, dim=4, inputs=[wp.array(a, dtype=wp.vec3), wp.array(b, dtype=wp.vec3), out])
    for found, wanted in zip(out.tolist(), b):
        assert tuple(found) == pytest.approx(tuple(wanted), abs=1e-6)


def test_vectors_by_another_name():
    a = wp.array([warpish.vec5(1.0, 2.0, 3.0, 4.0, 5.0), warpish.vec5()], dtype=warpish.vec5)
    out = wp.zeros(2, dtype=float)
    wp.launch(warpish.fives, dim=2, inputs=[a], outputs=[out])
    assert out.tolist() == [65.0, -1.0]


# The host's side


def test_devices_say_who_they_are():
    device = wp.get_device()
    assert device == "cuda:0"
    assert device in wp.get_cuda_devices()
    assert (device.is_cuda, device.is_uva, device.is_primary) == (True, True, True)
    assert device.arch == 10 * device.major + device.minor
    assert device.sm_count > 0
    assert device.max_shared_memory_per_block >= 48 * 1024
    assert device.uuid.startswith("GPU-")
    assert len(device.uuid) == 40
    assert device.pci_bus_id.count(":") == 2
    assert 0 < device.free_memory <= device.total_memory
    assert wp.get_cuda_driver_version() >= (11, 4)


def test_arrays_go_both_ways():
    numpy = pytest.importorskip("numpy")
    data = numpy.arange(12.0)
    a = wp.array(data, dtype=wp.vec3)
    assert a.shape == (4,)
    assert a.numpy().reshape(-1).tolist() == data.tolist()
    pinned = wp.zeros(4, dtype=wp.vec3, device="cpu", pinned=True)
    wp.copy(pinned, a)
    wp.synchronize()
    assert pinned.tolist() == a.tolist()
    larger = wp.zeros(6, dtype=wp.vec3)
    wp.copy(larger, a)
    wp.copy(larger, a, dest_offset=4, src_offset=1, count=2)
    assert larger.tolist() == [*a.tolist(), *a.tolist()[1:3]]


def test_recorded_launches_streams_and_graphs():
    a, out = wp.array([2.0, 3.0], dtype=float), wp.zeros(2, dtype=float)
    command = wp.launch(warpish.unfused, dim=2, inputs=[a, out], record_cmd=True)
    command.launch()
    assert out.tolist() == [3.0, 8.0]
    other = wp.array([4.0, 5.0], dtype=float)
    command.set_param_at_index(0, other)
    stream, start, end = wp.Stream(), wp.Event(enable_timing=True), wp.Event(enable_timing=True)
    with wp.ScopedStream(stream):
        wp.record_event(start)
        command.launch()
        wp.record_event(end)
    assert wp.get_event_elapsed_time(start, end) > 0.0
    assert out.tolist() == [15.0, 24.0]
    with wp.ScopedCapture() as capture:
        wp.launch(warpish.unfused, dim=2, inputs=[a, out])
    out.zero_()
    wp.capture_launch(capture.graph)
    assert out.tolist() == [3.0, 8.0]


def test_a_loop_on_the_gpu():
    if not wp.is_conditional_graph_supported():
        pytest.skip("a driver for CUDA 12.4 is needed")
    left, out = wp.array([3], dtype=int), wp.zeros(1, dtype=int)
    wp.launch(warpish.countdown, dim=1, inputs=[wp.array([1], dtype=int), out])  # its code is there before the capture
    out.zero_()

    def body():
        wp.launch(warpish.countdown, dim=1, inputs=[left, out])

    with wp.ScopedCapture() as capture:
        wp.capture_while(left, body)
    assert out.tolist() == [0]
    wp.capture_launch(capture.graph)
    assert (left.tolist(), out.tolist()) == ([0], [3])
    left.assign([2])
    wp.capture_while(left, body)
    assert (left.tolist(), out.tolist()) == ([0], [5])


def test_the_pool():
    before = wp.get_mempool_used_mem_current()
    a = wp.zeros(1 << 20, dtype=float)
    assert wp.get_mempool_used_mem_current() >= before + (4 << 20)
    del a
    wp.synchronize()
    assert wp.get_mempool_used_mem_high() >= before + (4 << 20)
    kept = wp.get_mempool_release_threshold()
    wp.set_mempool_release_threshold("cuda:0", 0.25)
    assert wp.get_mempool_release_threshold() == int(0.25 * wp.get_device().total_memory)
    wp.set_mempool_release_threshold("cuda:0", kept)


def test_timers_wait_for_the_gpu():
    a = wp.zeros(1 << 20, dtype=float)
    with wp.ScopedTimer("fill", synchronize=True, print=False) as timer:
        for _ in range(10):
            a.fill_(1.0)
    assert timer.elapsed > 0.0


def test_suggested_blocks():
    threads, blocks = wp.get_suggested_block_size(warpish.unfused)
    assert threads % 32 == 0
    assert blocks % wp.get_device().sm_count == 0
    assert wp.get_cuda_kernel_properties(warpish.unfused)["register_count"] > 0


def test_arrays_of_another_gpu():
    if wp.get_cuda_device_count() < 2 or not wp.is_peer_access_supported("cuda:0", "cuda:1"):
        pytest.skip("two GPUs with a way to each other are needed")
    a, out = wp.array([2.0, 3.0], dtype=float, device="cuda:0"), wp.zeros(2, dtype=float, device="cuda:1")
    with wp.ScopedPeerAccess("cuda:0", "cuda:1", True):
        wp.launch(warpish.unfused, dim=2, inputs=[a, out], device="cuda:1")
        assert out.tolist() == [3.0, 8.0]
    wp.copy(out, a)
    assert out.tolist() == [2.0, 3.0]
