"""Caps on blocks, the block size that a launch takes, code that is loaded ahead: against the GPU and its driver."""

import ctypes

import pytest
from gpukernels import options

import kbuild as kb
from kbuild import loader
from kbuild.loader import context, driver, geometry, occupancy, readiness
from kbuild.warp import launching

pytestmark = pytest.mark.gpu


@pytest.fixture
def gpu():
    return context.get_device()


@pytest.fixture
def library(gpu):
    gpu.context  # noqa: B018 (retains it)
    return driver.get().library


CAPS = [(0, None), (1, None), (3, None), (7, 32), (1, 1000), (100, 96), (10**6, None)]


@pytest.mark.parametrize(("max_blocks", "block_dim"), CAPS)
@pytest.mark.parametrize("n", [1, 255, 256, 257, 5000])
def test_one_coordinate_in_pieces(n, max_blocks, block_dim):
    out, sizes = kb.zeros(n + 3, dtype=int), kb.zeros(n + 3, dtype=int)
    for _ in range(3):
        kb.launch(options.count_along, n, [out, sizes], block_dim=block_dim, max_blocks=max_blocks)
    assert out.tolist() == [3 * (i + 1) for i in range(n)] + [0] * 3
    threads = block_dim or kb.get_grid(options.count_along, n)[1]
    assert sizes.tolist() == [threads] * n + [0] * 3


@pytest.mark.parametrize(("max_blocks", "block_dim"), CAPS)
@pytest.mark.parametrize("shape", [(1, 1, 1), (20, 3, 5), (2, 70, 9), (3, 2, 99)])
def test_several_coordinates_in_pieces(shape, max_blocks, block_dim):
    out = kb.zeros(shape, dtype=int)
    kb.launch(options.count_across, shape, [out], block_dim=block_dim, max_blocks=max_blocks)
    wanted = [
        [[10000 * i + 100 * j + k + 1 for k in range(shape[2])] for j in range(shape[1])] for i in range(shape[0])
    ]
    assert out.tolist() == wanted


@pytest.mark.parametrize(("max_blocks", "block_dim"), CAPS)
def test_threads_without_a_number_in_pieces(max_blocks, block_dim):
    counter = kb.zeros(1, dtype=int)
    kb.launch(options.unnumbered, 3333, [counter], block_dim=block_dim, max_blocks=max_blocks)
    assert counter.tolist() == [3333]


def test_whole_blocks_within_a_cap_and_beyond():
    data = kb.array(list(range(4 * options.BLOCK)), dtype=int)
    kb.launch(options.halves, len(data.tolist()), [data], block_dim=options.BLOCK, max_blocks=4)
    half = options.BLOCK // 2
    assert data.tolist() == [i + half if i % options.BLOCK < half else i for i in range(4 * options.BLOCK)]
    with pytest.raises(kb.LaunchError, match="never cut into several"):
        kb.launch(options.halves, 4 * options.BLOCK, [data], block_dim=options.BLOCK, max_blocks=3)


def of_all_kernels(gpu):
    """(name, function, registers, shared) of every kernel of the test project that runs here."""
    bundle = loader.open("gpukernels")
    for index, name in enumerate(bundle):
        function, row = bundle.code(index, gpu)
        (found,) = [one for one in row["resources"] if one["kernel"] == index]
        yield name, ctypes.c_uint64(function), found["registers"], found["shared"]


def test_occupancy_is_what_the_driver_says(gpu, library):
    """Every kernel, every size of a block, and dynamic shared memory on top, which counts like static."""
    limits, tried, least = occupancy.LIMITS[gpu.number], 0, 99
    for name, function, registers, shared in of_all_kernels(gpu):
        for more in (0, 1, 1024, 5000, 16384, 40000):
            if shared + more > 48 * 1024:
                continue
            for threads in (*range(32, 1025, 32), 1, 33, 100, 1000):
                count = ctypes.c_int()
                with gpu.current():
                    status = library.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                        ctypes.byref(count), function, ctypes.c_int(threads), ctypes.c_size_t(more)
                    )
                assert status == 0
                found = occupancy.resident_blocks(limits, registers, shared + more, threads)
                assert found == count.value, (name, registers, shared + more, threads)
                tried, least = tried + 1, min(least, count.value * threads)
    assert tried > 10000
    assert least < limits.threads  # registers and shared memory have decided in some


def test_the_largest_block_is_what_the_driver_says(gpu, library):
    bundle = loader.open("gpukernels")
    for name, function, registers, shared in of_all_kernels(gpu):
        grid, block = ctypes.c_int(), ctypes.c_int()
        with gpu.current():
            status = library.cuOccupancyMaxPotentialBlockSize(
                ctypes.byref(grid), ctypes.byref(block), function, None, ctypes.c_size_t(0), ctypes.c_int(0)
            )
        assert status == 0
        most = bundle[name].shape.max_threads
        if most < geometry.MAX_BLOCK:  # launch bounds, which the registers do not tell of
            assert block.value <= most, name
            continue
        threads, blocks = occupancy.largest_block(gpu.number, registers, shared)
        assert (threads, blocks * gpu.sm_count) == (block.value, grid.value), name


def test_what_the_driver_says_of_a_kernel(gpu):
    bundle = loader.open("gpukernels")
    for index, name in enumerate(bundle):
        _, row = bundle.code(index, gpu)
        (found,) = [one for one in row["resources"] if one["kernel"] == index]
        assert readiness.properties(bundle[name], gpu)[:2] == (found["registers"], found["shared"]), name
    properties = launching.get_cuda_kernel_properties(options.heavy)
    assert properties["register_count"] > 64
    assert set(properties) == {"register_count", "local_memory_size"}


def test_a_heavy_kernel_gets_blocks_of_its_own_size(gpu):
    """The block that a launch takes keeps more warps resident than one of 256 threads."""
    registers = launching.get_cuda_kernel_properties(options.heavy)["register_count"]
    blocks, threads = kb.get_grid(options.heavy, 1000)
    assert threads == occupancy.best_block(gpu.number, registers, 0)
    assert blocks == -(-1000 // threads)
    data, sizes = kb.ones(1000, dtype=float), kb.zeros(1000, dtype=int)
    for _ in range(3):
        kb.launch(options.heavy, 1000, [data, sizes, 0])
        assert sizes.tolist() == [threads] * 1000
        sizes.assign([0] * 1000)
    kb.launch(options.heavy, 1000, [data, sizes, 0], block_dim=96)
    assert sizes.tolist() == [96] * 1000


def test_preload_loads_all_there_is(gpu, library):
    """With lazy loading, too: the driver says that every function is loaded."""
    bundle = loader.open("gpukernels")
    assert bundle.preload() == len(bundle)
    if driver.get().version < (12, 4):
        pytest.skip("the driver is older than cuFuncIsLoaded")
    for name in bundle:
        state = ctypes.c_int(-1)
        with gpu.current():
            assert library.cuFuncIsLoaded(ctypes.byref(state), ctypes.c_uint64(bundle[name].load(gpu).function)) == 0
        assert state.value == 1, name


def test_a_first_launch_in_a_capture(gpu, library):
    out, stream, graph = kb.zeros(100, dtype=int), ctypes.c_uint64(), ctypes.c_uint64()
    executable = ctypes.c_uint64()
    assert kb.preload(options.launched_in_a_capture) == 1
    with gpu.current():
        assert library.cuStreamCreate(ctypes.byref(stream), 1) == 0
        assert library.cuStreamBeginCapture_v2(stream, 0) == 0  # the strictest: nothing may load meanwhile
        try:
            kb.launch(options.launched_in_a_capture, 100, [out], stream=stream.value)
        finally:
            assert library.cuStreamEndCapture(stream, ctypes.byref(graph)) == 0
        assert out.tolist() == [0] * 100
        assert library.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_uint64(0)) == 0
        for _ in range(2):
            assert library.cuGraphLaunch(executable, stream) == 0
        assert library.cuStreamSynchronize(stream) == 0
        assert out.tolist() == [2] * 100
        assert library.cuGraphExecDestroy(executable) == 0
        assert library.cuGraphDestroy(graph) == 0
        assert library.cuStreamDestroy_v2(stream) == 0


def test_what_is_there_and_what_is_not():
    bundle = loader.open("gpukernels")
    bundle.require(list(bundle))
    assert all(row["kind"] == "cubin" for row in bundle.coverage())
    with pytest.raises(kb.BundleError, match=r"gpukernels.options:lights: the bundle has no such kernel"):
        bundle.require([options.heavy, "gpukernels.options:lights"])


def test_events_of_a_load():
    told = []
    stop = kb.on_event(told.append)
    try:
        loader.open("gpukernels").preload()
    finally:
        stop()
    loads = [row for row in told if row["event"] == "loaded"]
    assert told[0]["event"] == "opened"
    assert loads
    assert all(row["seconds"] > 0 and row["bytes"] > 1000 and row["device"] == "cuda:0" for row in loads)
