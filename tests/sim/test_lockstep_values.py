"""What kernels work on: structs, arrays in them, generic kernels, None, float16; and launches of every shape."""

from typing import Any

import numpy as np
import pytest

import kbuild as kb
from tests.helpers.faults import fault_of, line_of


@kb.struct
class Body:
    mass: float
    speed: kb.vec3


@kb.struct
class World:
    masses: kb.array(dtype=float)
    table: kb.array2d(dtype=int)
    gravity: kb.vec3
    n: int


@kb.kernel
def falls(bodies: kb.array(dtype=Body), dt: float):
    i = kb.tid()
    body = bodies[i]
    body.speed.y = body.speed.y - dt
    body.mass *= 2.0
    if i % 2 == 1:
        bodies[i] = body
    else:
        bodies[i].speed.x = body.mass


@kb.kernel
def of_world(world: World, out: kb.array(dtype=float)):
    i = kb.tid()
    inner = world
    inner.n = i
    out[i] = world.masses[i] + float(world.table[i, inner.n % 2]) + world.gravity[2] + float(world.n)


@kb.kernel
def past_world(world: World):
    i = kb.tid()
    world.table[i, world.n] = 1


@kb.kernel
def of_worlds(worlds: kb.array(dtype=World), out: kb.array(dtype=float)):
    i = kb.tid()
    world = worlds[i % 2]
    out[i] = world.masses[i] * float(world.n)


@kb.kernel
def generic(data: kb.array(dtype=Any), factor: Any):
    i = kb.tid()
    data[i] = data[i] * data.dtype(factor) + data.dtype(1)


def made(power: int, wanted: Any):
    @kb.kernel
    def powers(data: kb.array(dtype=wanted)):
        i = kb.tid()
        x = data[i]
        for _ in range(power - 1):
            x = x * data[i]
        data[i] = x

    return powers


@kb.kernel
def perhaps(data: kb.array(dtype=float), weights: kb.array(dtype=float)):
    i = kb.tid()
    if weights:
        data[i] = data[i] * weights[i]
    else:
        data[i] = -data[i]


@kb.kernel
def not_there(data: kb.array(dtype=float), weights: kb.array(dtype=float)):
    i = kb.tid()
    data[i] = weights[i]


@kb.kernel
def halves(data: kb.array(dtype=kb.float16), out: kb.array(dtype=kb.float16)):
    i = kb.tid()
    x = data[i] * kb.float16(3.0)
    out[i] = x + kb.float16(0.1) / data[i]


@kb.kernel
def numbered(out: kb.array(dtype=int)):
    i = kb.tid()
    out[i] = i * 2 + 1


@kb.kernel
def numbered2(out: kb.array2d(dtype=int)):
    i, j = kb.tid()
    out[i, j] = 10 * i + j


@kb.kernel
def numbered3(out: kb.array3d(dtype=int)):
    i, j, k = kb.tid()
    out[i, j, k] = 100 * i + 10 * j + k


@kb.kernel
def numbered4(out: kb.array4d(dtype=int)):
    i, j, k, m = kb.tid()
    out[i, j, k, m] = 1000 * i + 100 * j + 10 * k + m


@kb.kernel
def where(out: kb.array2d(dtype=int)):
    i = kb.tid()
    out[i, 0] = kb.block_idx().x
    out[i, 1] = kb.block_idx().y
    out[i, 2] = kb.thread_idx().x
    out[i, 3] = kb.thread_idx().y
    out[i, 4] = kb.block_idx() * kb.block_dim() + kb.thread_idx()
    out[i, 5] = kb.grid_dim().x * 100 + kb.block_dim().y


@kb.kernel
def summed(data: kb.array(dtype=float), total: kb.array(dtype=float), before: kb.array(dtype=float)):
    i = kb.tid()
    before[i] = kb.atomic_add(total, 0, data[i])


@kb.kernel
def summed_up(data: kb.array(dtype=float), total: kb.array(dtype=float)):
    total[0] += data[kb.tid()]


@kb.kernel
def tickets(counter: kb.array(dtype=int), out: kb.array(dtype=int)):
    out[kb.tid()] = kb.atomic_add(counter, 0, 1)


def on_sim(data: Any, dtype: Any = None) -> Any:
    return kb.array(data, dtype=dtype, device="sim")


# Composites


def test_arrays_of_structs() -> None:
    bodies = kb.array([Body(), Body(), Body()], dtype=Body, device="sim")
    kb.launch(falls, dim=3, inputs=[bodies, 0.5], device="sim")
    kb.launch(falls, dim=3, inputs=[bodies, 0.5], device="sim")
    assert [(b.mass, list(b.speed)) for b in bodies.tolist()] == [
        (0.0, [0.0, 0.0, 0.0]),
        (0.0, [0.0, -1.0, 0.0]),
        (0.0, [0.0, 0.0, 0.0]),
    ]
    host = np.zeros(2, [("mass", np.float32), ("speed", np.float32, 3)])
    host["mass"] = [1.0, 2.0]
    kb.sim.run(falls, 2, [kb.array(host, dtype=Body, device="sim", copy=False), 0.5])
    assert host["mass"].tolist() == [1.0, 4.0]
    assert host["speed"].tolist() == [[2.0, 0.0, 0.0], [0.0, -0.5, 0.0]]


def world(n: int, masses: int = 4) -> Any:
    made = World()
    made.masses = on_sim(np.arange(masses, dtype=np.float32))
    made.table = on_sim(np.arange(8, dtype=np.int32).reshape(4, 2))
    made.gravity = kb.vec3(0.0, 0.0, -10.0)
    made.n = n
    return made


def test_structs_with_arrays() -> None:
    out = np.zeros(4, np.float32)
    kb.sim.run(of_world, 4, [world(100), out])
    assert out.tolist() == [i + (2 * i + i % 2) - 10 + 100 for i in range(4)]
    fault = fault_of(kb.sim.OutOfBounds, past_world, 4, [world(2)])
    assert (fault.span.line, fault.thread) == (line_of(past_world, "world.table[i"), (0,))
    assert fault.variables["world"]["table"] == "array of int32, shape (4, 2)"
    assert fault.variables["world"]["n"] == 2


def test_arrays_of_structs_with_arrays() -> None:
    both = [world(2), world(3)]  # arrays in structs are the program's to keep
    worlds = kb.array(both, dtype=World, device="sim")
    out = np.zeros(4, np.float32)
    kb.sim.run(of_worlds, 4, [worlds, out])
    assert out.tolist() == [0.0, 3.0, 4.0, 9.0]
    both = [world(2), world(3, masses=2)]
    short = kb.array(both, dtype=World, device="sim")
    fault = fault_of(kb.sim.OutOfBounds, of_worlds, 4, [short, out])
    assert (fault.span.line, fault.thread) == (line_of(of_worlds, "out[i] = world"), (3,))
    assert fault.reason == "index 3 on axis 0 of an array of shape (2,)"


# Instances


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint8])
def test_generic_kernels(dtype: Any) -> None:
    data = np.arange(5, dtype=dtype)
    kb.sim.run(generic, 5, [data, 3])
    assert data.tolist() == [1, 4, 7, 10, 13]


def test_kernels_of_factories() -> None:
    cube, square = made(3, kb.int32), made(2, kb.float64)
    whole, half = np.arange(4, dtype=np.int32), np.array([0.5, 1.5])
    kb.sim.run(cube, 4, [whole])
    kb.sim.run(square, 2, [half])
    assert (whole.tolist(), half.tolist()) == ([0, 1, 8, 27], [0.25, 2.25])


def test_arrays_that_are_not_there() -> None:
    data = np.ones(3, np.float32)
    kb.sim.run(perhaps, 3, [data, np.array([1, 2, 3], np.float32)])
    kb.sim.run(perhaps, 3, [data, None])
    assert data.tolist() == [-1.0, -2.0, -3.0]
    with pytest.raises(kb.LaunchError, match="weights"):
        kb.sim.run(not_there, 3, [data, None])


def test_float16() -> None:
    data, out = np.array([1.0, 0.3333, 2000.0, 60000.0], np.float16), np.zeros(4, np.float16)
    kb.sim.run(halves, 4, [data, out])
    with np.errstate(over="ignore"):
        wanted = data * np.float16(3) + np.float16(0.1) / data
    assert out.tobytes() == wanted.tobytes()
    assert np.isinf(out[3])


# Shapes


@pytest.mark.parametrize("n", [1, 255, 65536, 65537, 200_001])
def test_launches_larger_than_what_runs_together(n: int) -> None:
    out = np.zeros(n, np.int32)
    kb.sim.run(numbered, n, [out])
    assert (out == np.arange(n) * 2 + 1).all()
    fault = fault_of(kb.sim.OutOfBounds, numbered, n + 1, [out])
    assert (fault.thread, fault.variables["i"], fault.span.line) == ((n,), n, line_of(numbered, "out[i] = "))


@pytest.mark.parametrize("block_dim", [32, 96, 1024])
def test_blocks_of_other_sizes(block_dim: int) -> None:
    out = np.zeros(70_001, np.int32)
    kb.sim.run(numbered, len(out), [out], block_dim=block_dim)
    assert (out == np.arange(len(out)) * 2 + 1).all()


def test_memory_that_may_only_be_read() -> None:
    """The bytes of a `bytes`, a file that is mapped for reading: to write there would end the process at best."""
    out = np.frombuffer(b"abcdefgh", np.int32)
    fault = fault_of(kb.sim.Fault, numbered, 2, [out])
    assert (fault.span.line, fault.thread) == (line_of(numbered, "out[i] = "), (0,))
    assert fault.reason == "out lies in memory that may only be read"
    data, total = np.ones(3, np.float32), np.zeros(1, np.float32)
    data.flags.writeable = False
    kb.sim.run(summed_up, 3, [data, total])
    assert total.tolist() == [3.0]
    total.flags.writeable = False
    fault = fault_of(kb.sim.Fault, summed_up, 3, [data, total])
    assert fault.span.line == line_of(summed_up, "total[0] +=")
    assert total.tolist() == [3.0]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            np.zeros(4, np.int64),
            r"parameter out: wanted array1\[int32\]: a buffer of format 'l', .* is no array of int32",
        ),
        ([1, 2, 3], "parameter out: wanted .* got list"),
        (np.zeros((4, 1), np.int32), "parameter out: .* shape \\(4, 1\\)"),
        (np.frombuffer(bytearray(17), np.uint8)[1:].view(np.int32), "parameter out: .*"),
        (3, "parameter out: .* got int 3"),
    ],
)
def test_arguments_that_do_not_fit(given: Any, reason: str) -> None:
    with pytest.raises(kb.LaunchError, match=reason) as caught:
        kb.sim.run(numbered, 2, [given])
    assert "GPU" not in str(caught.value)


@pytest.mark.parametrize("dim", [0, (0,)])
def test_empty_launches(dim: Any) -> None:
    out = np.full(3, 7, np.int32)
    assert kb.sim.run(numbered, dim, [out]).printed == ""
    kb.launch(numbered, dim=dim, inputs=[out], device="sim")
    assert out.tolist() == [7, 7, 7]
    kb.sim.run(numbered2, (3, 0), [np.zeros((3, 0), np.int32)])


def test_coordinates() -> None:
    for kernel, shape in ((numbered2, (3, 5)), (numbered3, (2, 3, 4)), (numbered4, (2, 3, 2, 5))):
        out = np.zeros(shape, np.int32)
        kb.sim.run(kernel, shape, [out])
        weights = [10**k for k in reversed(range(len(shape)))]
        assert (out == sum(w * n for w, n in zip(weights, np.indices(shape), strict=True))).all()


def test_coordinates_in_several_chunks() -> None:
    shape = (300, 7, 111)
    out = np.zeros(shape, np.int32)
    kb.sim.run(numbered3, shape, [out])
    i, j, k = np.indices(shape)
    assert (out == 100 * i + 10 * j + k).all()


def test_arrays_with_gaps() -> None:
    whole = np.zeros((6, 8), np.int32)
    kb.sim.run(numbered2, (3, 4), [whole[::2, 1::2]])
    assert whole[::2, 1::2].tolist() == [[10 * i + j for j in range(4)] for i in range(3)]
    assert whole.sum() == whole[::2, 1::2].sum()
    kb.sim.run(numbered, 8, [whole[0, ::-1]])
    assert whole[0].tolist() == [15, 13, 11, 9, 7, 5, 3, 1]


def test_grids() -> None:
    out = np.zeros((48, 6), np.int32)
    kb.launch(where, grid=(2, 3), block=(4, 2), inputs=[out], device="sim")
    n = np.arange(48)
    block, thread = n // 8, n % 8
    wanted = [block % 2, block // 2, thread % 4, thread // 4, n, np.full(48, 202)]
    assert (out == np.stack(wanted, axis=1)).all()


# The order of atomics


def test_atomics_come_in_the_order_of_threads() -> None:
    counter, out = np.zeros(1, np.int32), np.zeros(100_000, np.int32)
    kb.sim.run(tickets, len(out), [counter, out])
    assert counter.tolist() == [len(out)]
    assert (out == np.arange(len(out))).all()


def test_a_seed_shuffles_them() -> None:
    counter, out = np.zeros(1, np.int32), np.zeros(1000, np.int32)
    kb.sim.run(tickets, 1000, [counter, out], seed=3)
    assert sorted(out.tolist()) == list(range(1000))
    assert out.tolist() != list(range(1000))


def test_sums_of_floats_differ_between_seeds_and_repeat() -> None:
    data = np.random.default_rng(5).standard_normal(5000).astype(np.float32)

    def total(kernel: Any, seed: int | None) -> bytes:
        given = [data, np.zeros(1, np.float32), *([np.zeros(5000, np.float32)] if kernel is summed else [])]
        kb.sim.run(kernel, 5000, given, seed=seed)
        return b"".join(one.tobytes() for one in given[1:])

    for kernel in (summed, summed_up):
        found = [total(kernel, seed) for seed in (None, 0, 1, 2)]
        assert found == [total(kernel, seed) for seed in (None, 0, 1, 2)]
        assert len(set(found)) > 2
    wanted = np.float32(0)
    for x in data:
        wanted += x
    assert total(summed_up, None) == wanted.tobytes()
