"""A program as users write them: type checkers accept it, and kbuild lowers its kernels."""

from __future__ import annotations

from typing import Any

import kbuild as kb


@kb.struct
class Body:
    mass: float
    velocity: kb.vec3
    forces: kb.array[kb.vec3]


@kb.func
def damped(v: kb.vec3, k: float) -> kb.vec3:
    return v * (1.0 - k) + kb.vec3(0.0, -9.81, 0.0)


@kb.func
def anything(x: Any) -> Any:
    return x


@kb.kernel
def integrate(
    pos: kb.array[kb.vec3],
    grid: kb.array2d[float],
    bodies: kb.array[Body],
    rotations: kb.array[kb.quatd],
    counts: kb.array[kb.int32],
    dt: float,
    n: int,
) -> None:
    i, j = kb.tid()
    k: int = kb.thread_idx().x + kb.block_idx() * kb.block_dim()
    kb.syncwarp(mask=0xFF)
    kb.assume(n > 0)
    kb.store_streaming(counts, i, kb.load_readonly(counts, j) + kb.load_streaming(counts, i))
    kb.atomic_add(counts, i, 1, order="release", scope="block")
    for turn in kb.grid_range(0, n, 2):
        k += turn + kb.shfl(k, lane=3, width=8) + kb.warp_sum(k) + kb.int32(kb.ballot(kb.any(k > 3)))
    k += i + j
    row = grid[i]
    total = row[j] + grid[i, j] * dt
    for step in range(n):
        total += kb.sqrt(kb.abs(total)) * kb.float32(step)
    v = pos[i]
    v.x = kb.max(v.x, 0.0, total)
    v[1] = kb.dot(v, kb.normalize(v))
    pos[i] = damped(v, 0.5) + kb.cross(v, bodies[k].velocity)
    bodies[k].mass = kb.length(v) if total > 0.0 else kb.clamp(total, 0.0, 1.0)
    q = rotations[i] * kb.quat_inverse(rotations[i])
    rotations[i] = kb.quat_slerp(q, kb.quatd(0.0, 0.0, 0.0, 1.0), 0.5)
    m = kb.quat_to_matrix(q)
    w = m @ kb.vec3d(1.0, 2.0, 3.0)
    a: float = kb.float32(w.x + m[0, 1] + m[2].y + kb.determinant(m))
    u, sigma, _ = kb.svd3(kb.inverse(m) * 2.0)
    kb.atomic_add(grid, i, j, a + kb.float32(sigma.x + u[0, 0]))
    kb.atomic_add(pos, i, kb.vec3(1.0))
    before: int = kb.atomic_cas(counts, 0, 1, 2)
    state = kb.rand_init(before, k)
    grid[i, j] = kb.randf(state) + kb.randf(state, -1.0, 1.0) + kb.noise(state, v)
    t = kb.transform(v, kb.quat_identity())
    pos[i] = kb.transform_point(t, t.p) + kb.where(n > 3, v, -v) + kb.lerp(v, 2.0 * v, 0.25)
    six = kb.spatial_vector(v, v)
    pos[k] = kb.spatial_top(six) + kb.velocity_at_point(six, v) + anything(v)
    counts[0] += kb.int32(a) + kb.int32(kb.argmax(v)) + kb.bit_count(n) + kb.lower_bound(grid[0], 0.5)
    counts[1] = kb.static(3 * 2)
    if kb.isnan(v) or kb.isfinite(a):
        return


@kb.kernel
def generic(a: kb.array[Any], n: int) -> None:
    a[n] = a[0]
    kb.printf("%d %f\n", n, 1.0)
    print(n, a[0])
    kb.expect_near(kb.vec2(1.0), kb.vec2(1.0), tolerance=0.1)


of_floats = kb.overload(generic, {"a": kb.array[float]})


@kb.kernel(fmad=False, block_dim=128, asserts=True)
def other(a: kb.array3d[float], vec5: kb.array4d[kb.vec2i]) -> None:
    a[0, 0, 0] = float(vec5[0, 0, 0, 0].x) + a[0][1, 2] + a[0][1][2]


@kb.kernel
def through_indices(a: kb.indexedarray[float], b: kb.indexedarray3d[kb.vec3], out: kb.array[float]) -> None:
    i = kb.tid()
    row = b[i][0]
    out[i] = a[i] + b[i, 0, 1].x + row[1].y + float(len(a) + a.shape[0])
    a[i] += 1.0
    kb.atomic_add(a, i, 2.0)


def seen() -> list[Any]:
    data, rows = kb.zeros((3, 2), float), kb.array([1, 0], dtype=int)
    some = kb.indexedarray(data, [rows, None])
    some.fill_(1.0)
    some.assign(kb.indexedarray2d(data, rows).contiguous())
    return [some.tolist(), some.shape, some.data, some.indices[0], some.size]


def program() -> list[Any]:
    pos = kb.zeros(10, kb.vec3)
    speeds = kb.array([1.0, 2.0], dtype=float)
    anything_else = kb.array([[1, 2], [3, 4]])
    kb.launch(integrate, dim=(10, 2), inputs=[pos, speeds], outputs=[anything_else], device="cuda:0")
    integrate.launch(10, [pos])
    kb.copy(pos, [kb.vec3(1.0)] * 10)
    kb.synchronize()
    first: float = pos.tolist()[0].x + kb.sin(0.5) + kb.vec3(1, 2, 3).y + kb.length(kb.vec2(1.0, 2.0))
    vec9 = kb.types.vector(9, kb.float64)
    print(
        first, vec9(), kb.get_devices(), pos.shape, kb.vec3((1.0, 2.0, 3.0)), kb.full(3, kb.vec2(1.0)), kb.__version__
    )
    try:
        kb.enable_jit()
    except (kb.LaunchError, kb.BundleError, kb.StaleBundle, kb.DriverError) as error:
        print(error)
    return list(kb.to_host(kb.ones((2, 2))))


vec9: Any = kb.types.vector(9, float)


@kb.struct
class Spring:
    stiffness: float
    axis: kb.vec3


@kb.kernel
def of_other_sizes(a: kb.array[vec9], springs: kb.array[Spring]) -> None:
    spring = Spring()
    spring.stiffness = a[0][8]
    spring.axis.x = spring.stiffness
    springs[0] = spring


@kb.func_native("return __frcp_rn(x);", "adj_x -= adj_ret / (x * x);")
def reciprocal(x: float) -> float:
    return 1.0 / x


@kb.cuda_kernel("cuda/blur.cu", "blur<2>", block_dim=128, arrays="views")
def blur(n: int, scale: float, image: kb.array[float]) -> None: ...


@kb.kernel
def of_reciprocals(a: kb.array[float]) -> None:
    a[0] = reciprocal(a[1])


def launched_as_cuda_does(image: kb.array[float]) -> None:
    kb.launch(blur, grid=(2, 2), block=(16, 16), shared_memory=1024, inputs=[4, 0.5, image])
    blur.launch(4, [4, reciprocal(0.5), image])


def on_the_simulator(data: Any) -> str:
    before = kb.sim.configure(races=False, seed=3)
    names: list[str] = kb.devices()
    try:
        result: kb.sim.Result = kb.sim.run(integrate, 4, [data], threads=True)
    except kb.sim.Race as race:
        return f"{race.other_thread} {race.thread} {race.variables} {race.span}"
    except kb.sim.Fault as fault:
        return fault.reason + names[0] + str(before.seed)
    return result.printed
