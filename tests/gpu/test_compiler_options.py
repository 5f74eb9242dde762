"""Launch bounds, registers and fast mathematics, against the GPU and its driver."""

import ctypes

import pytest
from gpukernels import options

import kbuild as kb
from kbuild import loader
from kbuild.loader import context, driver

pytestmark = pytest.mark.gpu

N = 3000
_MAX_THREADS, _REGISTERS = 0, 4  # CUfunction_attribute


@pytest.fixture
def gpu():
    found = context.get_device()
    found.context  # noqa: B018 (retains it)
    return found


def attribute(gpu, kernel, number):
    bundle = loader.open("gpukernels")
    function, _ = bundle.code(bundle["gpukernels.options:%s" % kernel].index, gpu)
    value = ctypes.c_int()
    arguments = ctypes.byref(value), ctypes.c_int(number), function
    assert driver.get().library.cuFuncGetAttribute(*arguments) == 0
    return value.value


def test_the_driver_knows_the_bounds(gpu):
    assert attribute(gpu, "bounded", _MAX_THREADS) == 96
    assert attribute(gpu, "dense", _MAX_THREADS) == 128
    assert attribute(gpu, "found", _MAX_THREADS) == 128
    assert attribute(gpu, "few_registers", _REGISTERS) <= 32
    assert attribute(gpu, "dense", _REGISTERS) <= 40


@pytest.mark.parametrize("size", [None, 1, 32, 95, 96])
def test_blocks_within_the_bounds(size):
    sizes = kb.zeros(N, dtype=int)
    for _ in range(3):
        kb.launch(options.bounded, N, [sizes], block_dim=size)
    (threads,) = set(sizes.tolist())
    assert threads == size if size else 32 <= threads <= 96
    assert kb.get_grid(options.bounded, N, block_dim=size)[1] == threads


@pytest.mark.parametrize(
    "where", [{"dim": N, "block_dim": 97}, {"dim": N, "block_dim": 1024}, {"grid": 3, "block": 128}]
)
def test_larger_blocks_never_reach_the_driver(where):
    sizes = kb.zeros(N, dtype=int)
    for _ in range(3):
        kb.launch(options.bounded, N, [sizes])
    with pytest.raises(kb.LaunchError, match="launch_bounds in its decorator allows 96"):
        kb.launch(options.bounded, inputs=[sizes], **where)
    kb.launch(options.bounded, N, [sizes], block_dim=96)
    assert set(sizes.tolist()) == {96}


def test_all_codes_compute_the_same():
    start = [0.01 * (i % 100) for i in range(N)]
    results = []
    for kernel in (options.dense, options.found, options.few_registers):
        data, sizes = kb.array(start, dtype=float), kb.zeros(N, dtype=int)
        kb.launch(kernel, N, [data, sizes, 2])
        results.append(data.tolist())
    assert results[0] == results[1] == results[2]


def test_fast_results_are_near():
    x = [0.001 * i for i in range(N)]
    fast, precise = kb.zeros(N, dtype=float), kb.zeros(N, dtype=float)
    kb.launch(options.fast, N, [kb.array(x, dtype=float), fast])
    kb.launch(options.precise, N, [kb.array(x, dtype=float), precise])
    assert fast.tolist() == pytest.approx(precise.tolist(), rel=1e-4, abs=1e-5)
    assert fast.tolist() != precise.tolist()
