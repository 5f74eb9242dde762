"""Tensors of PyTorch as arguments: how they are read, on which stream they run, and what is waited for."""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Any, ClassVar

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import bound, context, current, driver, graphs, naming, recent, streams
from kbuild.loader.errors import LaunchError
from kbuild.loader.foreign import asarray
from kbuild.loader.memory import allocation, pools
from kbuild.loader.values import float32, int16, mat22, vec3
from tests.helpers import fake_torch
from tests.helpers.fake_cuda import FakeCuda, make_bundle
from tests.helpers.fake_torch import FakeTorch

WAITING = ["cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuEventDestroy_v2"]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    return fake_torch.install(monkeypatch)


def descriptor(cuda: FakeCuda, ndim: int = 1, offset: int = 8) -> tuple[int, ...]:
    return struct.unpack_from("<Q%di" % (2 * ndim), bytes(cuda.records[-1].bytes), offset)


def waits(cuda: FakeCuda, before: int) -> int:
    return sum(call == "cuStreamWaitEvent" for call in cuda.calls[before:])


@pytest.mark.parametrize("kind", ["Tensor", "Parameter"])
def test_a_tensor_is_read_by_its_own_methods(cuda: FakeCuda, torch: FakeTorch, kind: str) -> None:
    """Thoroughly, then quickly; also one that requires gradients, whose interface refuses."""
    kernel = make_bundle([("a", "array2[float32]"), ("n", "int32")])["p.kernels:k"]
    block = arrays.zeros((4, 6))
    tensor = torch.over(block[::2, 1:], requires_grad=True, kind=getattr(torch, kind))
    for _ in range(5):
        kernel.launch(1, (tensor, 3))
        assert descriptor(cuda, 2) == (block.ptr + 4, 2, 5, 48, 4)
        assert cuda.records[-1].stream == 0
    assert tensor.asked == []
    assert kernel._takes_tensors
    asked = cuda.calls.count("cuPointerGetAttribute")
    kernel.launch(1, (tensor, 3))
    assert cuda.calls.count("cuPointerGetAttribute") == asked == 0


@pytest.mark.parametrize(
    ("spelling", "shape", "wanted"),
    [
        ("array1[vec3[float32]]", (10, 3), (10, 12)),
        ("array2[vec3[float32]]", (5, 2, 3), (5, 2, 24, 12)),
        ("array1[mat2x2[float32]]", (4, 2, 2), (4, 16)),
        ("array1[quat[float32]]", (4, 4), (4, 16)),
        ("array3[float32]", (2, 3, 4), (2, 3, 4, 48, 16, 4)),
    ],
)
def test_inner_axes_are_components(cuda: FakeCuda, torch: FakeTorch, spelling: str, shape: Any, wanted: Any) -> None:
    kernel = make_bundle([("a", spelling)])["p.kernels:k"]
    block = arrays.zeros(60)
    for _ in range(4):
        kernel.launch(1, (torch.Tensor(torch, block.ptr, shape),))
        assert descriptor(cuda, len(wanted) // 2) == (block.ptr, *wanted)


REFUSED = [
    ({"layout": "torch.sparse_coo"}, "a tensor of layout torch.sparse_coo: use its to_dense"),
    ({"dtype": "bfloat16"}, "a tensor of torch.bfloat16, which kernels here do not know"),
    ({"dtype": "complex64"}, "a tensor of torch.complex64, which kernels here do not know"),
    ({"dtype": "int16"}, r"wanted array1\[float32\], got a foreign int16 array of shape \(4,\)"),
    ({"is_neg": True}, r"memory holds the negative or conjugate of its values: use its clone\(\)"),
    ({"place": "meta"}, "a tensor on device 'meta"),
    ({"ptr": -1}, "a tensor without memory: Cannot access data pointer of Tensor that doesn't have storage$"),
    ({"ptr": 0}, r"a tensor without memory \(Tensor\)"),
    ({"shape": (2, 2)}, r"wanted array1\[float32\], got a foreign float32 array of shape \(2, 2\)"),
    ({"strides": (2**31,)}, "stride along axis 0 is"),
    ({"odd": True}, "not aligned to the 4 bytes of float32"),
    ({"device": None}, r"in host memory: copy it to the GPU with kb.array\(…\) first"),
]


@pytest.mark.parametrize(("said", "message"), REFUSED)
def test_what_is_refused(cuda: FakeCuda, torch: FakeTorch, said: dict[str, Any], message: str) -> None:
    """By a first launch, and by one after quick ones; nothing is launched."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    said = dict(said)
    ptr = said.pop("ptr", block.ptr) + said.pop("odd", 0) * 2
    bad = torch.Tensor(torch, ptr, said.pop("shape", (4,)), said.pop("dtype", "float32"), said.pop("device", 0), **said)
    for _ in range(3):
        launches = cuda.launches
        with pytest.raises(LaunchError, match="^p.kernels:k: parameter a: .*" + message):
            kernel.launch(1, (bad,))
        assert cuda.launches == launches
        kernel.launch(1, (torch.over(block),))
        kernel.launch(1, (torch.over(block),))


@pytest.mark.parametrize(("shape", "strides"), [((3, 3), (1, 3)), ((4, 3), (6, 2)), ((3, 4), (4, 1))])
def test_components_that_are_not_side_by_side(cuda: FakeCuda, torch: FakeTorch, shape: Any, strides: Any) -> None:
    """Or are too many: also by the quick launch."""
    kernel = make_bundle([("a", "array1[vec3[float32]]")])["p.kernels:k"]
    block = arrays.zeros(60)
    for _ in range(3):
        kernel.launch(1, (torch.Tensor(torch, block.ptr, (5, 3)),))
        with pytest.raises(LaunchError, match=r"parameter a: wanted array1\[vec3\[float32\]\], got a foreign float32"):
            kernel.launch(1, (torch.Tensor(torch, block.ptr, shape, strides=strides),))


def test_a_subclass_takes_the_thorough_way(cuda: FakeCuda, torch: FakeTorch) -> None:
    """It may mean something else by its methods; those answer here, so it is taken."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    tensor = torch.over(block, kind=type("Mine", (torch.Tensor,), {}))
    for _ in range(4):
        kernel.launch(1, (tensor,))
        assert descriptor(cuda) == (block.ptr, 4, 4)


def test_launches_in_pieces(cuda: FakeCuda, torch: FakeTorch) -> None:
    """`max_blocks` and `block_dim`, by launches that are quick else."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    tensor = torch.over(block)
    for _ in range(4):
        kernel.launch(1000, (tensor,))
    for options, pieces in (({"max_blocks": 1, "block_dim": 250}, 4), ({"block_dim": 32}, 1), ({"max_blocks": 0}, 1)):
        before = cuda.launches
        kernel.launch(1000, (tensor,), **options)
        assert cuda.launches - before == pieces


def test_own_arrays_and_none_beside_tensors(cuda: FakeCuda, torch: FakeTorch) -> None:
    """Every mixture, in a kernel whose quick launch knows tensors."""
    kernel = make_bundle([("a", "array1[float32]"), ("b", "array1[float32]")], optional=["b"])["p.kernels:k"]
    mine, block = arrays.zeros(4), arrays.zeros(5)
    tensor = torch.over(block)
    for _ in range(3):
        for a in (tensor, mine):
            for b in (tensor, mine, None):
                kernel.launch(1, (a, b))
                wanted = (block.ptr if a is tensor else mine.ptr), (b and (block.ptr if b is tensor else mine.ptr)) or 0
                assert (descriptor(cuda)[0], descriptor(cuda, 1, 24)[0]) == wanted
    with pytest.raises(LaunchError, match=r"parameter a: wanted .*, got None"):
        kernel.launch(1, (None, None))


def test_structs_with_tensors(cuda: FakeCuda, torch: FakeTorch) -> None:
    structs = {"m:S": {"size": 24, "align": 8, "fields": [["x", "array1[float32]", 0], ["n", "int32", 16]]}}
    kernel = make_bundle([("s", "struct:m:S")], structs=structs)["p.kernels:k"]
    block = arrays.zeros(4)

    class S:
        x, n = torch.over(block), 7

    for _ in range(4):
        kernel.launch(1, (S,))
        assert struct.unpack_from("<Qiii", bytes(cuda.records[-1].bytes), 8) == (block.ptr, 4, 4, 7)


def test_pytorchs_current_stream_is_used(cuda: FakeCuda, torch: FakeTorch) -> None:
    """Of the device; whatever it is at each launch, and for tensors alone. Nothing is waited for."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block = arrays.zeros(4)
    tensor, other = torch.over(block), cuda.make_stream()
    before = len(cuda.calls)
    for handle in (0, 0, other, other, 0, other):
        torch.current[0] = handle
        kernel.launch(1, (tensor,))
        assert cuda.records[-1].stream == handle
        kernel.launch(1, (block,))
        assert cuda.records[-1].stream == 0
    assert waits(cuda, before) == 0
    assert tensor.recorded == []
    torch.current.clear()


def test_without_the_quick_question(cuda: FakeCuda, torch: FakeTorch) -> None:
    """Builds of PyTorch without it answer by a stream object."""
    del torch._C._cuda_getCurrentRawStream
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, other = arrays.zeros(4), cuda.make_stream()
    torch.current[0] = other
    for _ in range(4):
        kernel.launch(1, (torch.over(block),))
        assert cuda.records[-1].stream == other


def test_our_memory_notes_pytorchs_stream(cuda: FakeCuda, torch: FakeTorch) -> None:
    """An array of ours beside a tensor: PyTorch's stream waits for what made it, once, and its memory knows."""
    kernel = make_bundle([("a", "array1[float32]"), ("b", "array1[float32]")])["p.kernels:k"]
    block, theirs = arrays.zeros(4), cuda.make_stream()
    tensor = torch.over(block)
    torch.current[0] = theirs
    for _ in range(4):
        mine = arrays.zeros(4)
        before = len(cuda.calls)
        for _ in range(3):
            kernel.launch(1, (tensor, mine))
            assert cuda.records[-1].stream == theirs
        assert theirs in mine._owner.users
        assert waits(cuda, before) == 1
    del mine
    pools.trim_memory()


def test_a_stream_that_was_named_wins_and_waits(cuda: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, theirs, named = arrays.zeros(4), cuda.make_stream(), streams.Stream()
    tensor = torch.over(block)
    torch.current[0] = theirs
    for count in range(1, 5):
        before = len(cuda.calls)
        kernel.launch(1, (tensor,), stream=named)
        assert cuda.records[-1].stream == named.handle
        assert waits(cuda, before) == 1
        assert [stream.cuda_stream for stream in tensor.recorded] == [named.handle] * count
        with current.ScopedStream(named, sync_enter=False):
            before = len(cuda.calls)
            kernel.launch(1, (torch.over(block),))
            assert cuda.records[-1].stream == named.handle
            assert waits(cuda, before) == 1
    before = len(cuda.calls)
    for _ in range(3):
        kernel.launch(1, (tensor,), stream=fake_torch.Stream(theirs))
        assert cuda.records[-1].stream == theirs
    assert waits(cuda, before) == 0
    context.synchronize()


def test_the_default_stream_named_waits_too(cuda: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, theirs = arrays.zeros(4), cuda.make_stream()
    tensor = torch.over(block)
    torch.current[0] = theirs
    before = len(cuda.calls)
    kernel.launch(1, (tensor,), stream=0)
    assert (cuda.records[-1].stream, waits(cuda, before)) == (0, 1)
    assert [stream.cuda_stream for stream in tensor.recorded] == [0]


def test_pytorchs_stream_waits_for_the_other_libraries(cuda: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("b", "array1[float32]")])["p.kernels:k"]
    block, theirs, cupys = arrays.zeros(4), cuda.make_stream(), cuda.make_stream()
    torch.current[0] = theirs

    class Cupy:
        __cuda_array_interface__: ClassVar = {**block.__cuda_array_interface__, "stream": cupys}

    for _ in range(3):
        before = len(cuda.calls)
        kernel.launch(1, (torch.over(block), Cupy))
        assert (cuda.records[-1].stream, waits(cuda, before)) == (theirs, 1)


def test_a_stream_that_is_being_captured_waits_for_nothing_outside(cuda: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, theirs, named = arrays.zeros(4), cuda.make_stream(), streams.Stream()
    torch.current[0] = theirs
    tensor = torch.over(block)
    kernel.launch(1, (tensor,), stream=named)
    call, graph, before = driver.get().call, ctypes.c_uint64(), len(cuda.calls)
    call("cuStreamBeginCapture_v2", named.handle, 2)
    for _ in range(3):
        kernel.launch(1, (tensor,), stream=named)
    call("cuStreamEndCapture", named.handle, graph)
    call("cuGraphDestroy", graph.value)
    assert (waits(cuda, before), len(tensor.recorded)) == (0, 1)
    context.synchronize()


def test_the_interface_names_a_stream_that_stands_for_all(cuda: FakeCuda) -> None:
    """Whoever reads it waits for one stream only."""
    block, theirs = arrays.zeros(4), cuda.make_stream()
    before = len(cuda.calls)
    assert block.__cuda_array_interface__["stream"] == 1
    assert waits(cuda, before) == 0
    block._owner.used_on(theirs, None)
    before = len(cuda.calls)
    assert block.__cuda_array_interface__["stream"] == 1
    assert waits(cuda, before) == 1
    del block
    pools.trim_memory()


def test_captures_keep_the_tensors(cuda: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, theirs = arrays.zeros(4), cuda.make_stream()
    torch.current[0] = theirs
    for _ in range(3):
        kernel.launch(1, (torch.over(block),))
    tensor = torch.over(block)
    with graphs.capture(stream=theirs):
        before = sys.getrefcount(tensor)
        kernel.launch(1, (tensor,))
        assert sys.getrefcount(tensor) == before + 1


def test_tensors_of_another_gpu(two_gpus: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]"), ("b", "array1[float32]")])["p.kernels:k"]
    here, there = arrays.zeros(4, device=0), arrays.zeros(4, device=1)
    for _ in range(4):
        for block in (here, there):
            kernel.launch(1, (torch.over(block), torch.over(block)))
            assert descriptor(two_gpus)[0] == block.ptr
    with pytest.raises(LaunchError, match="parameter b: the array is on cuda:1, but parameter a is on cuda:0"):
        kernel.launch(1, (torch.over(here), torch.over(there)))
    with pytest.raises(LaunchError, match="parameter a: the array is on cuda:1, but the launch is on cuda:0"):
        kernel.launch(1, (torch.over(there), torch.over(there)), device=0)


def test_bound_launches(cuda: FakeCuda, torch: FakeTorch) -> None:
    """The stream is PyTorch's when the launch is bound, unless one is named; the tensors are kept."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, theirs = arrays.zeros(4), cuda.make_stream()
    torch.current[0] = theirs
    made = bound.bind(kernel, 1, [torch.over(block)])
    torch.current[0] = 0
    made()
    assert cuda.records[-1].stream == theirs
    named = bound.bind(kernel, 1, [torch.over(block)], stream=0)
    named()
    assert cuda.records[-1].stream == 0
    assert descriptor(cuda)[0] == block.ptr


def test_a_bound_launch_waits_once_for_pytorch_which_learns_of_its_stream(cuda: FakeCuda, torch: FakeTorch) -> None:
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, named = arrays.zeros(4), streams.Stream()
    torch.current[0] = cuda.make_stream()
    first, second = torch.over(block), torch.over(block)
    before = len(cuda.calls)
    made = bound.bind(kernel, 1, [first], stream=named)
    assert (waits(cuda, before), [stream.cuda_stream for stream in first.recorded]) == (1, [named.handle])
    made()
    made()
    assert (waits(cuda, before), len(first.recorded)) == (1, 1)
    made.set(a=second)
    assert (waits(cuda, before), [stream.cuda_stream for stream in second.recorded]) == (2, [named.handle])
    made()
    assert (cuda.records[-1].stream, waits(cuda, before)) == (named.handle, 2)
    context.synchronize()


def test_asarray_takes_tensors(cuda: FakeCuda, torch: FakeTorch) -> None:
    block, theirs = arrays.array([[1, 2, 3], [4, 5, 6]], dtype=float), cuda.make_stream()
    torch.current[0] = theirs
    tensor = torch.over(block)
    before = len(cuda.calls)
    made = asarray(tensor)
    assert (made.ptr, made.shape, made.dtype, made._owner) == (block.ptr, (2, 3), float32, tensor)
    assert waits(cuda, before) == 1  # the stream that is meant here, for PyTorch's
    assert asarray(tensor, vec3).tolist() == [vec3(1, 2, 3), vec3(4, 5, 6)]
    assert arrays.array(tensor).tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(TypeError, match=r"wanted an array of mat2x2\[float32\], got a foreign float32 array of shape"):
        asarray(tensor, mat22)
    with pytest.raises(TypeError, match=r"wanted an array, got a tensor of torch\.bfloat16"):
        asarray(torch.over(block, dtype="bfloat16"))


def test_tensors_of_the_host(cuda: FakeCuda, torch: FakeTorch) -> None:
    """Stand for arrays on `cpu`; a copy goes to the GPU, as NumPy's do."""
    block = arrays.array([[1, 2], [3, 4]], dtype=int16, device="cpu")
    tensor = torch.over(block.transpose())
    made = asarray(tensor)
    assert (made.device.kind, made.ptr, made.tolist()) == ("cpu", block.ptr, [[1, 3], [2, 4]])
    copied = arrays.array(tensor)
    assert (copied.device.kind, copied.tolist()) == ("cuda", [[1, 3], [2, 4]])
    copied.assign(torch.over(block))
    assert copied.tolist() == [[1, 2], [3, 4]]


def test_five_axes(cuda: FakeCuda, torch: FakeTorch) -> None:
    block = arrays.zeros(32)
    with pytest.raises(TypeError, match="1 to 4 dimensions, not the 5 of shape"):
        asarray(torch.Tensor(torch, block.ptr, (2, 2, 2, 2, 2)))


def test_generic_kernels_know_the_type(cuda: FakeCuda, torch: FakeTorch) -> None:
    from kbuild.loader import dispatch

    block = arrays.zeros((2, 3))
    tensor = torch.over(block, requires_grad=True)
    assert str(dispatch.type_of(tensor)) == "array2[float32]"
    assert dispatch._key_of(tensor) == ("<f4", 2, (3,))
    assert tensor.asked == []


def test_a_stream_that_pytorch_has_seen_is_kept_for_the_next(cuda: FakeCuda, torch: FakeTorch) -> None:
    """PyTorch's allocator keeps handles, and uses them when its memory goes, which may be later than the stream."""
    kernel = make_bundle([("a", "array1[float32]")])["p.kernels:k"]
    block, mine = arrays.zeros(4), streams.Stream()
    torch.current[0] = cuda.make_stream()
    for _ in range(3):
        kernel.launch(1, (torch.over(block),), stream=mine)
    handle = mine.handle
    del mine
    for kept in recent.logs.values():
        kept.clear()
    block.free()
    allocation.reclaim(naming.gpu(), wait=True)
    assert "cuStreamDestroy_v2" not in cuda.calls
    assert streams.Stream(priority=-1).handle != handle
    again = streams.Stream()
    assert again.handle == handle
    assert streams.Stream().handle != handle
