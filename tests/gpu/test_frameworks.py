"""PyTorch, CuPy and JAX in one process with kbuild: the same memory, each on its stream, nothing of theirs changed."""

import ctypes
import gc
import os
import signal
import subprocess
import sys
import threading
import warnings

import pytest
from gpukernels import launching, shapes

import kbuild as kb
from kbuild.loader import context, driver, loans
from kbuild.loader.errors import LaunchError

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("default")]  # their warnings are their own

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the GPU's memory is not JAX's alone here
SLEEP = 20_000_000  # cycles: some 10 ms


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


@pytest.fixture
def jax():
    return library("jax")


def current_context():
    return driver.get().query("cuCtxGetCurrent")


# PyTorch's stream


def test_launches_run_on_pytorchs_current_stream(torch):
    """No wait anywhere: what stands on the stream before and after is in order with the launch."""
    stream = torch.cuda.Stream()
    source, target = torch.zeros((64, 64), device="cuda"), torch.zeros((64, 64), device="cuda")
    torch.cuda.synchronize()
    waited = []
    with torch.cuda.stream(stream):
        for value in range(1, 7):  # the third launch and those after it are quick ones
            torch.cuda._sleep(SLEEP)
            source.fill_(float(value))
            kb.launch(shapes.copy2, dim=(64, 64), inputs=[source, target])
            waited.append(stream.query())
            seen = target.clone()
            source.fill_(-1.0)
            assert seen.unique().tolist() == [value + 1.0]
    assert not all(waited)  # the first may have, for the code to be loaded


def test_a_named_stream_waits_for_pytorchs(torch):
    theirs, mine = torch.cuda.Stream(), kb.Stream()
    source, target = torch.zeros((64, 64), device="cuda"), torch.zeros((64, 64), device="cuda")
    torch.cuda.synchronize()
    for value in range(1, 5):
        with torch.cuda.stream(theirs):
            torch.cuda._sleep(SLEEP)
            source.fill_(float(value))
            kb.launch(shapes.copy2, dim=(64, 64), inputs=[source, target], stream=mine)
        mine.synchronize()
        assert target.unique().tolist() == [value + 1.0]


def test_memory_that_pytorch_frees_too_early(torch):
    """The tensor goes while a launch on another stream still waits to read it; its memory is not given to the next."""
    mine, target = kb.Stream(), torch.zeros((64, 64), device="cuda")
    slow = kb.zeros(1, dtype=kb.int64)
    torch.cuda.synchronize()
    kb.launch(launching.spin, dim=1, inputs=[slow, 50_000_000], stream=mine)
    source = torch.full((64, 64), 5.0, device="cuda")
    kb.launch(shapes.copy2, dim=(64, 64), inputs=[source, target], stream=mine)
    address = source.data_ptr()
    del source
    other = torch.full((64, 64), 9.0, device="cuda")
    assert not mine.is_complete
    assert other.data_ptr() != address
    mine.synchronize()
    assert target.unique().tolist() == [6.0]


def test_streams_to_and_fro(torch):
    mine, out = kb.Stream(), torch.zeros(100, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(kb.stream_to_torch(mine)):
        assert torch.cuda.current_stream().cuda_stream == mine.handle
        torch.cuda._sleep(SLEEP)
        kb.launch(launching.fill, dim=100, inputs=[out, 3.0])
        assert not mine.is_complete
    mine.synchronize()
    assert out.sum().item() == 300.0
    theirs = torch.cuda.Stream()
    with kb.ScopedStream(kb.stream_from_torch(theirs)):
        kb.launch(launching.fill, dim=100, inputs=[out, 4.0])
    theirs.synchronize()
    assert out.sum().item() == 400.0


def test_pytorchs_graphs(torch):
    """A launch within a capture of PyTorch's is a part of the graph."""
    source, target = torch.zeros((8, 8), device="cuda"), torch.zeros((8, 8), device="cuda")
    kb.launch(shapes.copy2, dim=(8, 8), inputs=[source, target])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kb.launch(shapes.copy2, dim=(8, 8), inputs=[source, target])
        kb.launch(shapes.copy2, dim=(8, 8), inputs=[target, source])
    for round in range(1, 4):
        graph.replay()
        torch.cuda.synchronize()
        assert source.unique().tolist() == [2.0 * round]


# Tensors


def test_tensors_that_require_gradients(torch):
    source = torch.rand((4, 5), device="cuda", requires_grad=True)
    parameter = torch.nn.Parameter(torch.zeros((4, 5), device="cuda"))
    for _ in range(3):
        kb.launch(shapes.copy2, dim=(4, 5), inputs=[source], outputs=[parameter])
    assert torch.equal(parameter.detach(), source.detach() + 1.0)


def test_tensors_that_are_refused(torch):
    good = torch.zeros((4, 5), device="cuda")
    kb.launch(shapes.copy2, dim=(4, 5), inputs=[good, good])
    for bad, message in (
        (torch.zeros((4, 5)), r"in host memory: copy it to the GPU with kb\.array"),
        (good.double(), "got a foreign float64 array"),
        (good.bfloat16(), r"a tensor of torch\.bfloat16"),
        (good.to_sparse(), r"layout torch\.sparse_coo"),
        (torch.zeros((4, 5), device="meta"), "a tensor on device 'meta'"),
        (torch.zeros((4, 5), dtype=torch.complex64, device="cuda").conj().imag, "negative or conjugate"),
        (torch.zeros(4, device="cuda"), r"got a foreign float32 array of shape \(4,\)"),
    ):
        with pytest.raises(LaunchError, match=message):
            kb.launch(shapes.copy2, dim=(4, 5), inputs=[bad, good])


DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]


@pytest.mark.parametrize("name", DTYPES)
def test_every_type_there_and_back(torch, name):
    tensor = torch.tensor([0, 1, 1, 0], device="cuda").to(getattr(torch, name))
    for made in (kb.from_torch(tensor), kb.from_dlpack(tensor), kb.asarray(tensor)):
        assert (made.ptr, [int(x) for x in made.tolist()]) == (tensor.data_ptr(), [0, 1, 1, 0])
        for back in (kb.to_torch(made), torch.from_dlpack(made)):
            assert (back.dtype, back.device, back.data_ptr()) == (tensor.dtype, tensor.device, tensor.data_ptr())


def test_to_pytorch_without_a_copy(torch):
    """Of a side stream: PyTorch waits for what is under way here; the memory lives as long as the tensor."""
    mine = kb.Stream()
    with kb.ScopedStream(mine):
        data = kb.zeros(1000, dtype=kb.vec3)
        kb.launch(launching.spin, dim=1, inputs=[kb.zeros(1, dtype=kb.int64), 20_000_000])
        data.fill_(2.0)
        tensor = kb.to_torch(data)
    assert (tensor.shape, tensor.data_ptr()) == ((1000, 3), data.ptr)
    assert tensor.sum().item() == 6000.0
    address = data.ptr
    del data
    gc.collect()
    again = [kb.zeros(1000, dtype=kb.vec3) for _ in range(20)]
    assert address not in [one.ptr for one in again]
    assert tensor.sum().item() == 6000.0
    before = loans.count()
    del tensor
    gc.collect()
    assert loans.count() == before - 1


def test_pinned_and_mapped_memory(torch):
    pinned = kb.array([1.0, 2.0], dtype=float, device="cpu", memory="pinned")
    assert kb.to_torch(pinned).tolist() == [1.0, 2.0]
    mapped = kb.zeros(4, memory="mapped")
    kb.launch(launching.fill, dim=4, inputs=[kb.to_torch(mapped), 3.0])
    kb.synchronize()
    assert mapped.host.tolist() == [3.0] * 4


# What is theirs stays as it was


def act(torch):
    """What a program does with kbuild, a thing at a time."""
    tensor = torch.zeros((4, 5), device="cuda")
    stream = kb.Stream()

    def refused():
        with pytest.raises(LaunchError):
            kb.launch(shapes.copy2, dim=(4, 5), inputs=[tensor.double(), tensor])

    data = kb.zeros((4, 5))
    yield lambda: kb.launch(shapes.copy2, dim=(4, 5), inputs=[tensor, tensor])
    yield lambda: kb.launch(shapes.copy2, dim=(4, 5), inputs=[tensor, tensor])
    yield lambda: kb.launch(shapes.copy2, dim=(4, 5), inputs=[tensor, data])
    yield lambda: kb.launch(shapes.copy2, dim=(4, 5), inputs=[data, tensor], stream=stream)
    yield lambda: kb.launch(launching.fill, dim=20, inputs=[data.flatten(), 1.0])
    yield refused
    yield lambda: kb.zeros(1000).fill_(2.0)
    yield lambda: kb.array([1.0, 2.0]).tolist()
    yield lambda: kb.copy(data, tensor)
    yield lambda: data.numpy()
    yield lambda: kb.to_torch(data).sum().item()
    yield lambda: kb.from_dlpack(tensor)
    yield lambda: kb.bind(shapes.copy2, dim=(4, 5), inputs=[tensor, data])()
    yield lambda: kb.Event(enable_timing=True).record()
    yield stream.synchronize
    yield kb.synchronize
    yield gc.collect


def state(torch):
    return torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream, current_context()


def test_context_device_and_stream_of_pytorch(torch):
    stream = torch.cuda.Stream()
    torch.zeros(1, device="cuda")
    for where in (torch.cuda.default_stream(), stream):
        with torch.cuda.stream(where):
            before = state(torch)
            for number, one in enumerate(act(torch)):
                one()
                assert state(torch) == before, number


def test_with_another_gpu_current(torch):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU only")
    kb.get_devices()
    for current, other in ((0, 1), (1, 0)):
        torch.cuda.set_device(current)
        try:
            there = torch.zeros((4, 5), device="cuda:%d" % other)
            before = state(torch)
            for round in range(1, 5):
                kb.launch(shapes.copy2, dim=(4, 5), inputs=[there, there])
                assert state(torch) == before
                assert there.unique().tolist() == [float(round)]
            data = kb.zeros(10, device="cuda:%d" % other)
            kb.launch(launching.fill, dim=10, inputs=[data, 2.0])
            assert data.tolist() == [2.0] * 10
            assert kb.to_torch(data).sum().item() == 20.0
            assert state(torch) == before
        finally:
            torch.cuda.set_device(0)


@pytest.fixture
def tensor(torch):
    return torch.zeros(100, device="cuda")


@pytest.fixture
def foreign_context(tensor):
    """A context of somebody else's, current while the test runs."""
    cuda, made = driver.get(), ctypes.c_void_p()
    kb.zeros(1)
    before = current_context()
    assert cuda.library.cuCtxCreate_v2(ctypes.byref(made), 0, context.get_device(0).handle) == 0
    yield made.value
    assert current_context() == made.value
    assert cuda.library.cuCtxDestroy_v2(made) == 0
    assert current_context() == before


def test_another_context_is_pushed_in_between(tensor, foreign_context):
    """First launches and quick ones, of tensors and of arrays; allocations and copies. All go on in our own context."""
    data = kb.zeros(100)
    for value in range(1, 5):
        kb.launch(launching.fill, dim=100, inputs=[data, float(value)])
        kb.launch(launching.add, dim=100, inputs=[data, 1.0, tensor])
        assert current_context() == foreign_context
        assert data.tolist() == [float(value)] * 100
        assert kb.asarray(tensor).tolist() == [value + 1.0] * 100
        assert current_context() == foreign_context
    made = kb.array([1.0, 2.0])
    made.fill_(4.0)
    with kb.ScopedStream(kb.Stream()) as stream:
        kb.launch(launching.fill, dim=2, inputs=[made, 5.0])
        stream.synchronize()
    assert made.tolist() == [5.0, 5.0]


def test_launches_before_the_other_context_and_after():
    data = kb.zeros(100)
    for value in range(4):
        kb.launch(launching.fill, dim=100, inputs=[data, float(value)])
    cuda, made = driver.get(), ctypes.c_void_p()
    assert cuda.library.cuCtxCreate_v2(ctypes.byref(made), 0, context.get_device(0).handle) == 0
    kb.launch(launching.fill, dim=100, inputs=[data, 7.0])
    assert cuda.library.cuCtxDestroy_v2(made) == 0
    assert data.tolist() == [7.0] * 100
    kb.launch(launching.fill, dim=100, inputs=[data, 8.0])
    assert data.tolist() == [8.0] * 100


def test_a_thread_without_a_context(torch):
    tensor, found = torch.zeros(100, device="cuda"), []
    torch.cuda.synchronize()

    def work():
        for value in range(4):
            kb.launch(launching.fill, dim=100, inputs=[tensor, float(value)])
        torch.cuda.synchronize()
        found.append((tensor.sum().item(), torch.cuda.current_device()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(300.0, 0)]


DESTROYED = """
import ctypes
from gpukernels import launching
import kbuild as kb
from kbuild.loader import driver
data = kb.zeros(100)
cuda, made = driver.get(), ctypes.c_uint64()
assert cuda.library.cuStreamCreate(ctypes.byref(made), 1) == 0
for _ in range(3):
    kb.launch(launching.fill, dim=100, inputs=[data, 3.0], stream=made.value)
assert cuda.library.cuStreamSynchronize(ctypes.c_uint64(made.value)) == 0
assert cuda.library.cuStreamDestroy_v2(ctypes.c_uint64(made.value)) == 0
assert data.tolist() == [3.0] * 100
kb.launch(launching.fill, dim=100, inputs=[data, 4.0])
assert data.tolist() == [4.0] * 100
del data
kb.trim_memory()
print("went on")
"""


def test_a_stream_that_its_owner_has_destroyed():
    """In a process of its own: a handle that is gone is the driver's affair. Mostly the driver says that there is no
    such stream, and kbuild goes on; or the driver crashes; nothing else, and above all no wrong number."""
    done = subprocess.run([sys.executable, "-c", DESTROYED], capture_output=True, text=True, timeout=120)
    crashes = (-signal.SIGSEGV, -signal.SIGABRT)
    assert (done.returncode, done.stdout) == (0, "went on\n") or done.returncode in crashes, done.stderr


# CuPy


def test_cupy_there_and_back(cupy):
    stream = cupy.cuda.Stream(non_blocking=True)
    mine = kb.Stream()
    with kb.ScopedStream(mine), stream:
        data = kb.zeros((50, 3))
        kb.launch(launching.spin, dim=1, inputs=[kb.zeros(1, dtype=kb.int64), 20_000_000])
        data.fill_(2.0)
        theirs = kb.to_cupy(data)
        assert (theirs.shape, theirs.data.ptr, theirs.dtype.name) == ((50, 3), data.ptr, "float32")
        assert theirs.get().sum() == 300.0
        back = kb.from_cupy(theirs, dtype=kb.vec3)
        assert (back.ptr, back.shape) == (data.ptr, (50,))
        assert cupy.from_dlpack(data).data.ptr == data.ptr
        assert kb.from_dlpack(theirs).ptr == data.ptr
    assert cupy.cuda.get_current_stream().ptr == 0


def test_streams_of_cupy(cupy):
    out, stream = kb.zeros(100), cupy.cuda.Stream(non_blocking=True)
    kb.launch(launching.fill, dim=100, inputs=[out, 2.0], stream=stream)
    stream.synchronize()
    assert out.tolist() == [2.0] * 100


def test_streams_of_cuda_core():
    """Both ways by `__cuda_stream__`."""
    core = library("cuda.core")
    device = core.Device()
    device.set_current()
    out, theirs, mine = kb.zeros(100), device.create_stream(), kb.Stream()
    kb.launch(launching.fill, dim=100, inputs=[out, 3.0], stream=theirs)
    theirs.sync()
    assert out.tolist() == [3.0] * 100
    assert int(device.create_stream(mine).handle) == mine.handle


# JAX


def test_jax_arrays(jax):
    """Read in place, in the order of JAX's work; never written to."""
    theirs = jax.numpy.arange(20, dtype=jax.numpy.float32).reshape(4, 5)
    out = kb.zeros((4, 5))
    for _ in range(4):
        theirs = jax.jit(lambda x: (x @ x.T @ x) * 0 + x + 1)(theirs)  # still on its way when it is handed over
        kb.launch(shapes.copy2, dim=(4, 5), inputs=[theirs], outputs=[out])
        assert out.tolist() == (theirs + 1).tolist()
    made = kb.asarray(theirs)
    assert (made.ptr, made.device) == (theirs.unsafe_buffer_pointer(), kb.get_device(0))
    with pytest.raises(LaunchError, match="output 0 is read-only"):
        kb.launch(shapes.copy2, dim=(4, 5), inputs=[out], outputs=[theirs])
    with pytest.raises(ValueError, match="read-only"):
        made.zero_()


def test_to_jax_without_a_copy(jax):
    with kb.ScopedStream(kb.Stream()):
        data = kb.zeros(1000)
        kb.launch(launching.spin, dim=1, inputs=[kb.zeros(1, dtype=kb.int64), 20_000_000])
        data.fill_(2.0)
        theirs = kb.to_jax(data)
    assert theirs.unsafe_buffer_pointer() == data.ptr
    assert float(theirs.sum()) == 2000.0
    address = data.ptr
    del data
    gc.collect()
    assert address not in [kb.zeros(1000).ptr for _ in range(20)]
    assert float(theirs.sum()) == 2000.0


# All in one process


def test_all_three(torch, cupy, jax):
    """An array goes from hand to hand; PyTorch's context, device and stream stay as they were."""
    before = state(torch)
    with torch.cuda.stream(torch.cuda.Stream()):
        tensor = torch.full((6, 7), 1.0, device="cuda")
        mine = kb.zeros((6, 7))
        for _ in range(3):
            kb.launch(shapes.copy2, dim=(6, 7), inputs=[tensor, mine])
        theirs = kb.to_cupy(mine)
        kb.launch(shapes.copy2, dim=(6, 7), inputs=[theirs, tensor])
        of_jax = kb.to_jax(kb.clone(kb.asarray(tensor)))
        out = kb.zeros((6, 7))
        kb.launch(shapes.copy2, dim=(6, 7), inputs=[of_jax + 1.0], outputs=[out])
        assert kb.to_torch(out).unique().tolist() == [5.0]
        assert theirs.get().tolist() == mine.tolist() == [[2.0] * 7] * 6
    assert state(torch) == before
