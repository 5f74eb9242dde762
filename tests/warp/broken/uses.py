"""What kbuild does not have: the module imports, and its kernels are refused one by one."""

import warp as wp
import warp.fem as fem
from warp.sparse import bsr_mv


@fem.integrand
def form(s: fem.Sample):
    return 1.0


@wp.struct
class Holder:
    value: float
    texture: wp.Texture2D


@wp.func_native("return wp::sin(x);")
def snippet(x: float) -> float: ...


@wp.kernel
def tiles(a: wp.array(dtype=float)):
    t = wp.tile_load(a, shape=64)
    wp.tile_store(a, t)


@wp.kernel
def mesh(id: wp.uint64, out: wp.array(dtype=wp.vec3)):
    out[0] = wp.mesh_eval_position(id, 0, 0.5, 0.5)


@wp.kernel
def native(a: wp.array(dtype=float)):
    a[0] = snippet(a[0])


@wp.kernel
def elements(a: wp.array(dtype=float)):
    a[0] = form(a[0])


@wp.kernel
def texture(h: Holder, a: wp.array(dtype=float)):
    a[0] = 1.0


@wp.kernel
def captures(a: wp.array(dtype=float)):
    h = Holder()
    a[0] = h.value


@wp.kernel
def good(a: wp.array(dtype=float)):
    a[wp.tid()] = wp.PI


@wp.kernel
def misspelt(a: wp.array(dtype=float)):
    a[0] = wp.normalise(1.0)


def solve():
    return bsr_mv
