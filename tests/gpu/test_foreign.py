"""Arrays and streams of other libraries, and memory given by address."""

import warnings

import pytest
from gpukernels import launching, shapes

import kbuild as kb

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]  # their warnings are their own


def library(name):
    """Another library, or a skip where it is not installed; its warnings at import are its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.fixture
def torch():
    return library("torch")


@pytest.fixture
def cupy():
    return library("cupy")


def test_torch_tensors_are_used_in_place(torch):
    source = torch.arange(12, dtype=torch.float32, device="cuda").reshape(3, 4)
    target = torch.zeros((3, 4), dtype=torch.float32, device="cuda")
    torch.cuda.synchronize()
    kb.launch(shapes.copy2, dim=(3, 4), inputs=[source, target])
    kb.synchronize()
    assert torch.equal(target, source + 1.0)


def test_torch_tensors_that_are_not_contiguous(torch):
    block = torch.arange(240, dtype=torch.float32, device="cuda").reshape(12, 20)
    for source in (block.T, block[::3, 1::2], block[2:5], block[:, 7:8].expand(12, 9)):
        target = torch.zeros((source.shape[1], source.shape[0]), dtype=torch.float32, device="cuda").T
        torch.cuda.synchronize()
        kb.launch(shapes.copy2, dim=tuple(source.shape), inputs=[source, target])
        kb.synchronize()
        assert torch.equal(target, source + 1.0)


def test_a_tensor_with_a_last_axis_of_three_is_an_array_of_vectors(torch):
    source = torch.rand((4, 5, 3), dtype=torch.float32, device="cuda")
    target = torch.zeros((5, 4, 3), dtype=torch.float32, device="cuda").transpose(0, 1)
    torch.cuda.synchronize()
    kb.launch(shapes.scale_vectors, dim=(4, 5), inputs=[source, 2.0, target])
    kb.synchronize()
    assert torch.equal(target, source * 2.0)


def test_torch_streams(torch):
    """Work on a stream of torch's waits for what stands there before."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        source = torch.full((1000, 1000), 1.0, device="cuda")
        target = torch.empty_like(source)
        for _ in range(20):
            kb.launch(shapes.copy2, dim=(1000, 1000), inputs=[source, target], stream=stream)
            source.copy_(target)
        result = source.double().sum()
    stream.synchronize()
    assert result.item() == 21.0 * 1000 * 1000


def test_torch_stream_handles(torch):
    stream = torch.cuda.Stream()
    out = torch.zeros(100, device="cuda")
    torch.cuda.synchronize()
    kb.launch(launching.fill, dim=100, inputs=[out, 3.0], stream=stream.cuda_stream)
    stream.synchronize()
    assert out.sum().item() == 300.0


def test_cupy_arrays(cupy):
    """Compared on the host: CuPy's own kernels would want a compiler here."""
    numpy = library("numpy")
    host = numpy.arange(60, dtype=numpy.int16).reshape(3, 1, 4, 5)
    source = cupy.asarray(host)[:, :, ::2, ::-1]
    target = cupy.zeros((3, 1, 2, 5), dtype=cupy.int16)
    cupy.cuda.Device().synchronize()
    kb.launch(shapes.copy4, dim=source.shape, inputs=[source, target])
    kb.synchronize()
    assert (target.get() == 2 * host[:, :, ::2, ::-1]).all()


def test_cupy_streams(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        out = cupy.zeros(1000, dtype=cupy.float32)
        kb.launch(launching.fill, dim=1000, inputs=[out, 2.5], stream=stream)
        found = out.get()
    assert (found == 2.5).all()


def test_other_libraries_read_kbuild_arrays(torch):
    mine = kb.array([[1.0, 2.0], [3.0, 4.0]], dtype=float)
    assert torch.as_tensor(mine, device="cuda").tolist() == [[1.0, 2.0], [3.0, 4.0]]
    vectors = kb.array([kb.vec3(1.0, 2.0, 3.0)], dtype=kb.vec3)
    assert torch.as_tensor(vectors, device="cuda").shape == (1, 3)


def test_copies_of_foreign_arrays(torch):
    tensor = torch.arange(6, dtype=torch.int32, device="cuda").reshape(2, 3).T
    torch.cuda.synchronize()
    assert kb.array(tensor).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert kb.asarray(tensor).ptr == tensor.data_ptr()


def test_numpy_arrays_are_copied_in_and_out():
    numpy = library("numpy")
    data = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)[:, ::2]
    array = kb.array(data)
    assert (array.numpy() == data).all()
    target = kb.zeros((4, 3), dtype=float)
    kb.launch(shapes.copy2, dim=(4, 3), inputs=[array, target])
    assert (target.numpy() == data + 1).all()


def test_numpy_numbers_are_numbers():
    numpy = library("numpy")
    out = kb.zeros(3, dtype=float)
    kb.launch(launching.fill, dim=numpy.int64(3), inputs=[out, numpy.float32(0.1)])
    assert out.tolist() == [kb.float32(0.1)] * 3


def test_memory_by_address():
    owner = kb.array([1.0, 2.0, 3.0, 4.0], dtype=float)
    view = kb.array(ptr=owner.ptr + 8, shape=2, dtype=float, owner=owner)
    kb.launch(launching.fill, dim=2, inputs=[view, 9.0])
    assert owner.tolist() == [1.0, 2.0, 9.0, 9.0]
    assert view.device is owner.device
    address = view.ptr
    del owner
    assert view.tolist() == [9.0, 9.0]
    assert view.ptr == address
