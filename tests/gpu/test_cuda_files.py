"""Kernels in CUDA C++ from a bundle: arguments, geometry as CUDA has it, graphs, tensors, preloading.

`tests/loader/test_plain.py` has the errors.
"""

import struct

import pytest
from gpukernels import cuda_files

import kbuild as kb
from kbuild import loader
from kbuild.loader.errors import LaunchError

pytestmark = pytest.mark.gpu

COUNT = 1000


def numbers(count=COUNT):
    return [float(i % 37) for i in range(count)]


@pytest.mark.parametrize(
    "where", [{"dim": COUNT}, {"grid": 4}, {"grid": 8, "block": 128}, {"dim": COUNT, "block_dim": 64}]
)
def test_pointers(where):
    x, y = kb.array(numbers(), dtype=float), kb.zeros(COUNT, dtype=float)
    wanted = [0.0] * COUNT
    for _ in range(4):  # thorough launches, then the quick one
        kb.launch(cuda_files.saxpy, inputs=[COUNT, 0.5, x], outputs=[y], **where)
        wanted = [2.0 * (0.5 * a + b) + 3.0 for a, b in zip(numbers(), wanted)]
        assert y.tolist() == wanted


def test_parts_of_arrays():
    x, y = kb.array(numbers(), dtype=float), kb.zeros(COUNT, dtype=float)
    kb.launch(cuda_files.saxpy, dim=10, inputs=[10, 1.0, x[5:15], y[100:110]])
    assert y.tolist()[100:110] == [2.0 * a + 3.0 for a in numbers()[5:15]]
    assert y.tolist()[:100] == [0.0] * 100
    with pytest.raises(LaunchError, match="this array has gaps"):
        kb.launch(cuda_files.saxpy, dim=10, inputs=[10, 1.0, x[::2], y])


def test_an_array_that_need_not_be_there():
    image, mask = kb.zeros((4, 5), dtype=kb.uint8), kb.array([i % 2 for i in range(20)], dtype=int)
    for _ in range(3):
        kb.launch(cuda_files.fill, dim=20, inputs=[image, 20, 7, None])
        assert image.flatten().tolist() == [7] * 20
        kb.launch(cuda_files.fill, dim=20, inputs=[image, 20, 9, mask])
        assert image.flatten().tolist() == [7, 9] * 10


def test_structs_and_vectors():
    out = kb.zeros(8, dtype=cuda_files.Cell)
    kb.launch(
        cuda_files.cells, grid=1, block=8, inputs=[out, cuda_files.Cell(count=5, weight=0.25), kb.vec3(1.0, 2.0, 3.0)]
    )
    assert [(one.count, one.weight) for one in out.tolist()] == [(5 + i, 0.5) for i in range(8)]


def test_every_type():
    out = kb.zeros(10, dtype=kb.float64)
    given = [True, -7, -30000, -(1 << 40), 200, 60000, (1 << 32) - 1, 1 << 50, 0.1]
    kb.launch(cuda_files.every_type, dim=1, block_dim=1, inputs=[out, *given, 1.5])
    bits = struct.unpack("<H", struct.pack("<e", 1.5))[0]
    assert out.tolist() == [float(n) for n in given] + [float(bits)]


@pytest.mark.parametrize(
    ("kernel", "dtype", "block"), [(cuda_files.sum_of_floats, float, 256), (cuda_files.sum_of_doubles, kb.float64, 128)]
)
def test_templates(kernel, dtype, block):
    x, out = kb.array(numbers(), dtype=dtype), kb.zeros(1, dtype=dtype)
    kb.launch(kernel, dim=COUNT, inputs=[COUNT, x, out])
    assert out.tolist() == [2.0 * sum(numbers())]
    assert loader.open("gpukernels")[kernel.name].block_dim == block


@pytest.mark.parametrize(("kernel", "most"), [(cuda_files.sum_of_floats, 256), (cuda_files.sum_of_doubles, 128)])
def test_launch_bounds_of_the_file(kernel, most):
    dtype = float if most == 256 else kb.float64
    x, out = kb.array(numbers(), dtype=dtype), kb.zeros(1, dtype=dtype)
    for where in ({"dim": COUNT, "block_dim": most + 32}, {"grid": 4, "block": (most, 2)}):
        with pytest.raises(LaunchError, match="__launch_bounds__ in its file allows %d" % most):
            kb.launch(kernel, inputs=[COUNT, x, out], **where)
    kb.launch(kernel, grid=-(-COUNT // most), block=most, inputs=[COUNT, x, out])
    assert out.tolist() == [2.0 * sum(numbers())]
    with pytest.raises(LaunchError, match="__launch_bounds__ in its file"):
        kb.bind(kernel, dim=COUNT, block_dim=512, inputs=[COUNT, x, out])()


@pytest.mark.parametrize("shared", [None, 1024, 48 * 1024, 60 * 1024])
def test_dynamic_shared_memory(shared):
    """More than 48 KiB of it has to be allowed first, which loading the kernel does."""
    x, out = kb.array(list(range(512)), dtype=int), kb.zeros(512, dtype=int)
    more = {} if shared is None else {"shared_memory": shared}
    for _ in range(3):
        kb.launch(cuda_files.reverse_blocks, grid=2, block=256, inputs=[x, out], **more)
        assert out.tolist() == [*range(255, -1, -1), *range(511, 255, -1)]
    kb.synchronize()


def test_bound_launches_keep_their_shared_memory():
    x, out = kb.array(list(range(512)), dtype=int), kb.zeros(512, dtype=int)
    step = kb.bind(cuda_files.reverse_blocks, dim=256, inputs=[x, out], shared_memory=60 * 1024)
    with kb.capture() as graph:
        step()
    graph.launch()
    assert out.tolist() == [*range(255, -1, -1), *[0] * 256]
    step.set_dim(512)
    graph.update(step)
    graph.launch()
    assert out.tolist() == [*range(255, -1, -1), *range(511, 255, -1)]
    kb.synchronize()


def test_more_shared_memory_than_there_is():
    x = kb.zeros(256, dtype=int)
    with pytest.raises(LaunchError, match=r"shared_memory=1048576 is more than the [0-9]+ bytes that a block may have"):
        kb.launch(cuda_files.reverse_blocks, grid=1, block=256, shared_memory=1 << 20, inputs=[x, x])


def test_views():
    a, out = kb.array([[10.0 * i + j for j in range(7)] for i in range(5)], dtype=float), kb.zeros((7, 10), dtype=float)
    kb.launch(cuda_files.transpose, grid=(1, 1), block=(8, 8), inputs=[a, out[:, ::2]])
    found = out.tolist()
    assert [row[::2] for row in found] == [[10.0 * i + j for i in range(5)] for j in range(7)]
    assert all(row[1::2] == [0.0] * 5 for row in found)


def test_graphs_and_bound_launches():
    x, y = kb.array(numbers(), dtype=float), kb.zeros(COUNT, dtype=float)
    step = kb.bind(cuda_files.saxpy, dim=COUNT, inputs=[COUNT, 0.0, x], outputs=[y])
    with kb.capture() as graph:
        step()
        kb.launch(cuda_files.saxpy, dim=COUNT, inputs=[COUNT, 1.0, x], outputs=[y])
    y.zero_()
    graph.launch()
    assert y.tolist() == [2.0 * (a + 3.0) + 3.0 for a in numbers()]
    step.set(a=1.0)
    graph.update(step)
    y.zero_()
    graph.launch()
    assert y.tolist() == [2.0 * (a + 2.0 * a + 3.0) + 3.0 for a in numbers()]


def test_tensors():
    torch = pytest.importorskip("torch")
    x = torch.arange(COUNT, dtype=torch.float32, device="cuda")
    y = torch.zeros(COUNT, dtype=torch.float32, device="cuda")
    for _ in range(4):
        y.zero_()
        kb.launch(cuda_files.saxpy, dim=COUNT, inputs=[COUNT, 1.0, x, y])
        assert torch.equal(y, 2.0 * x + 3.0)
        with pytest.raises(LaunchError, match="this array has gaps"):
            kb.launch(cuda_files.saxpy, dim=10, inputs=[10, 1.0, x[::2], y])


def test_what_the_bundle_knows():
    bundle = loader.open("gpukernels")
    names = ["gpukernels.cuda_files:saxpy", "gpukernels.cuda_files:sum_of_floats"]
    bundle.require(names)
    assert bundle.preload(kernels=names) == 2
    bundle.verify()
    assert not any("nobody_declares_this" in name for name in bundle)


def test_no_gradient_passes():
    x, y = kb.zeros(3, dtype=float, requires_grad=True), kb.zeros(3, dtype=float, requires_grad=True)
    with kb.Tape(), pytest.raises(LaunchError, match="it is written in CUDA C"):
        kb.launch(cuda_files.saxpy, dim=3, inputs=[3, 1.0, x], outputs=[y])
