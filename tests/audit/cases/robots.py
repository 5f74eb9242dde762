"""Kernels as robots, cameras and simulations have them: bodies, joints, springs, rays, images, contacts."""

from __future__ import annotations

import kbuild as kb
from tests.audit.cases import At, case

Floats = kb.array(dtype=float)
Ints = kb.array(dtype=int)
Plane = kb.array2d(dtype=float)
Points = kb.array(dtype=kb.vec3)

DOF = 7
NEAREST = 4


@kb.struct
class Camera:
    width: int
    height: int
    focal: float


@kb.func
def pixel_of(camera: Camera, point: kb.vec3) -> kb.vec2i:
    x = int(kb.floor(camera.focal * point.x / point.z))
    y = int(kb.floor(camera.focal * point.y / point.z))
    return kb.vec2i(x + camera.width // 2, y + camera.height // 2)  # may overflow


@case("bounds", "own", At(12, block=12, points=12, image=(6, 8)))
@kb.kernel
def points_projected_good(points: Points, image: Plane):
    i = kb.tid()
    if i >= points.shape[0]:
        return
    camera = Camera(image.shape[1], image.shape[0], 4.0)
    if points[i].z > 0.1:
        pixel = pixel_of(camera, points[i])
        if 0 <= pixel.x < camera.width and 0 <= pixel.y < camera.height:
            kb.atomic_min(image, pixel.y, pixel.x, points[i].z)


@case("bounds", "own", At(12, block=12, points=[[1.9, 0.1, 2.0]] * 12, image=(6, 8)))
@kb.kernel
def points_projected_bad(points: Points, image: Plane):
    i = kb.tid()
    if i >= points.shape[0]:
        return
    camera = Camera(image.shape[1], image.shape[0], 4.0)
    if points[i].z > 0.1:
        pixel = pixel_of(camera, points[i])
        if 0 <= pixel.x < camera.width and 0 <= pixel.y < camera.height:
            kb.atomic_min(image, pixel.x, pixel.y, points[i].z)  # finds bounds


@case("global-races", "own", At(6, block=6, first=[0, 1, 2, 3, 4, 5], second=[1, 2, 3, 4, 5, 0], place=6, force=6))
@kb.kernel
def springs_pull_good(first: Ints, second: Ints, place: Points, force: Points):
    s = kb.tid()
    if s < first.shape[0] and s < second.shape[0]:
        a = first[s]
        b = second[s]
        if 0 <= a < place.shape[0] and 0 <= b < place.shape[0] and place.shape[0] == force.shape[0]:
            pull = 0.5 * (place[b] - place[a])
            kb.atomic_add(force, a, pull)
            kb.atomic_sub(force, b, pull)


@case("global-races", "own", At(6, block=6, first=[0, 1, 2, 3, 4, 5], second=[1, 2, 3, 4, 5, 0], place=6, force=6))
@kb.kernel
def springs_pull_bad(first: Ints, second: Ints, place: Points, force: Points):
    s = kb.tid()
    if s < first.shape[0] and s < second.shape[0]:
        a = first[s]
        b = second[s]
        if 0 <= a < place.shape[0] and 0 <= b < place.shape[0] and place.shape[0] == force.shape[0]:
            pull = 0.5 * (place[b] - place[a])
            force[a] = force[a] + pull  # finds global-races
            force[b] = force[b] - pull  # finds global-races


@case("global-races", "own", At(8, block=8, q=8 * DOF, speed=8 * DOF, dt=0.01), symbolic="any")
@kb.kernel
def joints_of_a_world_good(q: Floats, speed: Floats, dt: float):
    world = kb.tid()
    for j in range(DOF):
        k = world * DOF + j
        q[k] = q[k] + speed[k] * dt


@case("global-races", "own", At(8, block=8, q=8 * DOF + 1, speed=8 * DOF + 1, dt=0.01), symbolic="any")
@kb.kernel
def joints_of_a_world_bad(q: Floats, speed: Floats, dt: float):
    world = kb.tid()
    for j in range(DOF + 1):
        k = world * DOF + j
        q[k] = q[k] + speed[k] * dt  # finds global-races


@case("bounds", "own", At(10, block=10, heights=(9, 7), origin=10, out=10, size=0.5))
@kb.kernel
def rays_over_a_map_good(heights: Plane, origin: Points, out: Floats, size: float):
    r = kb.tid()
    if r >= origin.shape[0] or r >= out.shape[0]:
        return
    p = origin[r]
    hit = -1.0
    for k in range(20):
        p = p + kb.vec3(0.1, 0.2, -0.1)
        i = int(kb.floor(p.x / size))
        j = int(kb.floor(p.y / size))
        if i < 0 or j < 0 or i >= heights.shape[0] or j >= heights.shape[1]:
            break
        if p.z < heights[i, j]:
            hit = float(k)
            break
    out[r] = hit


@case("bounds", "own", At(10, block=10, heights=(9, 7), origin=10, out=10, size=0.5))
@kb.kernel
def rays_over_a_map_bad(heights: Plane, origin: Points, out: Floats, size: float):
    r = kb.tid()
    if r >= origin.shape[0] or r >= out.shape[0]:
        return
    p = origin[r]
    hit = -1.0
    for k in range(20):
        i = int(kb.floor(p.x / size))
        j = int(kb.floor(p.y / size))
        if i >= heights.shape[0] and j >= heights.shape[1]:
            break
        if p.z < heights[i, j]:  # finds bounds
            hit = float(k)
            break
        p = p + kb.vec3(0.1, 0.2, -0.1)
    out[r] = hit


@case("bounds", "own", At((6, 8), block=48, image=(6, 8), out=(6, 8), shift=0.75))
@kb.kernel
def between_pixels_good(image: Plane, out: Plane, shift: float):
    y, x = kb.tid()
    if y >= out.shape[0] or x >= out.shape[1] or image.shape[0] < 2 or image.shape[1] < 2:
        return
    u = float(x) + shift
    left = kb.clamp(int(kb.floor(u)), 0, image.shape[1] - 2)
    row = kb.min(y, image.shape[0] - 1)
    part = u - float(left)
    out[y, x] = (1.0 - part) * image[row, left] + part * image[row, left + 1]


@case("bounds", "own", At((6, 8), block=48, image=(6, 8), out=(6, 8), shift=0.75))
@kb.kernel
def between_pixels_bad(image: Plane, out: Plane, shift: float):
    y, x = kb.tid()
    if y >= out.shape[0] or x >= out.shape[1] or image.shape[0] < 2 or image.shape[1] < 2:
        return
    u = float(x) + shift
    left = kb.clamp(int(kb.floor(u)), 0, image.shape[1] - 1)
    row = kb.min(y, image.shape[0] - 1)
    part = u - float(left)
    out[y, x] = (1.0 - part) * image[row, left] + part * image[row, left + 1]  # finds bounds


@case("bounds", "own", At((4, 20), block=40, left=(4, 20), right=(4, 20), out=(4, 20), most=6))
@kb.kernel
def disparities_good(left: Plane, right: Plane, out: Plane, most: int):
    y, x = kb.tid()
    if y >= out.shape[0] or x >= out.shape[1]:
        return
    if y >= left.shape[0] or x >= left.shape[1] or y >= right.shape[0] or x >= right.shape[1]:
        return
    best = 1.0e30
    for d in range(kb.min(most, x + 1)):
        cost = kb.abs(left[y, x] - right[y, x - d])
        if cost < best:
            best = cost
            out[y, x] = float(d)


@case("bounds", "own", At((4, 20), block=40, left=(4, 20), right=(4, 20), out=(4, 20), most=6))
@kb.kernel
def disparities_bad(left: Plane, right: Plane, out: Plane, most: int):
    y, x = kb.tid()
    if y >= out.shape[0] or x >= out.shape[1]:
        return
    if y >= left.shape[0] or x >= left.shape[1] or y >= right.shape[0] or x >= right.shape[1]:
        return
    best = 1.0e30
    for d in range(kb.min(most, x + 2)):
        cost = kb.abs(left[y, x] - right[y, x - d])  # finds bounds
        if cost < best:
            best = cost
            out[y, x] = float(d)


@case("global-races", "own", At((6, 8), block=48, image=(6, 8), out=(6, 8)))
@kb.kernel
def eroded_good(image: Plane, out: Plane):
    y, x = kb.tid()
    if y < image.shape[0] and x < image.shape[1] and y < out.shape[0] and x < out.shape[1]:
        least = image[y, x]
        if y > 0:
            least = kb.min(least, image[y - 1, x])
        if x > 0:
            least = kb.min(least, image[y, x - 1])
        out[y, x] = least


@case("global-races", "own", At((6, 8), block=48, image=(6, 8), out=(6, 8)))
@kb.kernel
def eroded_bad(image: Plane, out: Plane):
    y, x = kb.tid()
    if y < image.shape[0] and x < image.shape[1] and y < out.shape[0] and x < out.shape[1]:
        least = image[y, x]
        if y > 0:
            least = kb.min(least, out[y - 1, x])  # finds global-races
        if x > 0:
            least = kb.min(least, image[y, x - 1])
        out[y, x] = least  # finds global-races


@case("bounds", "own", At(16, block=16, place=16, near=(16, NEAREST), count=16, reach=6.0))
@kb.kernel
def list_of_the_near_good(place: Points, near: kb.array2d(dtype=int), count: Ints, reach: float):
    i = kb.tid()
    if i >= place.shape[0] or i >= near.shape[0] or i >= count.shape[0] or near.shape[1] != NEAREST:
        return
    found = 0
    for j in range(place.shape[0]):
        if j != i and kb.length(place[j] - place[i]) < reach:
            if found < NEAREST:
                near[i, found] = j
                found += 1
    count[i] = found


@case("bounds", "own", At(16, block=16, place=16, near=(16, NEAREST), count=16, reach=60.0))
@kb.kernel
def list_of_the_near_bad(place: Points, near: kb.array2d(dtype=int), count: Ints, reach: float):
    i = kb.tid()
    if i >= place.shape[0] or i >= near.shape[0] or i >= count.shape[0] or near.shape[1] != NEAREST:
        return
    found = 0
    for j in range(place.shape[0]):
        if j != i and kb.length(place[j] - place[i]) < reach:
            if found <= NEAREST:
                near[i, found] = j  # finds bounds
                found += 1
    count[i] = found


@case("bounds", "own", At(16, block=16, depth=16, count=[0], contacts=4))
@kb.kernel
def contacts_kept_good(depth: Floats, count: Ints, contacts: Ints):
    i = kb.tid()
    if i < depth.shape[0] and count.shape[0] == 1 and depth[i] > 0.0:
        slot = kb.atomic_add(count, 0, 1)
        if slot >= 0 and slot < contacts.shape[0]:
            contacts[slot] = i


@case("bounds", "own", At(16, block=16, depth=16, count=[0], contacts=4))
@kb.kernel
def contacts_kept_bad(depth: Floats, count: Ints, contacts: Ints):
    i = kb.tid()
    if i < depth.shape[0] and count.shape[0] == 1 and depth[i] > 0.0:
        slot = kb.atomic_add(count, 0, 1)
        if slot <= contacts.shape[0]:
            contacts[slot] = i  # finds bounds


PARENT = [-1, 0, 1, 1]


@case("global-races", "own", At((3, 4), block=12, parent=PARENT, local=(3, 4), world=(3, 4)))
@kb.kernel
def down_the_tree_good(parent: Ints, local: Plane, world: Plane):
    e, j = kb.tid()
    if e >= local.shape[0] or e >= world.shape[0] or j >= world.shape[1]:
        return
    total = 0.0
    k = int(j)
    for _ in range(parent.shape[0]):
        if k < 0 or k >= parent.shape[0] or k >= local.shape[1]:
            break
        total += local[e, k]
        k = parent[k]
    world[e, j] = total


@case("global-races", "own", At((3, 4), block=12, parent=PARENT, local=(3, 4), world=(3, 4)), symbolic="unknown")
@kb.kernel
def down_the_tree_bad(parent: Ints, local: Plane, world: Plane):
    e, j = kb.tid()
    if e >= local.shape[0] or e >= world.shape[0] or j >= world.shape[1]:
        return
    if j >= parent.shape[0] or j >= local.shape[1]:
        return
    p = parent[j]
    above = 0.0
    if 0 <= p < world.shape[1]:
        above = world[e, p]  # finds global-races
    world[e, j] = above + local[e, j]  # finds global-races


@case("bounds", "own", At(6, block=6, inertia=6, out=6))
@kb.kernel
def rows_of_a_matrix_good(inertia: kb.array(dtype=kb.mat33), out: Points):
    b = kb.tid()
    if b < inertia.shape[0] and b < out.shape[0]:
        m = inertia[b]
        v = kb.vec3()
        for r in range(3):
            total = 0.0
            for c in range(r, 3):
                total += m[r, c] + m[c, r]
            v[r] = total
        out[b] = v


@case("bounds", "own", At(6, block=6, inertia=6, out=6))
@kb.kernel
def rows_of_a_matrix_bad(inertia: kb.array(dtype=kb.mat33), out: Points):
    b = kb.tid()
    if b < inertia.shape[0] and b < out.shape[0]:
        m = inertia[b]
        v = kb.vec3()
        for r in range(3):
            total = 0.0
            c = int(r)
            while c <= 3:
                total += m[r, c] + m[c, r]  # finds bounds
                c += 1
            v[r] = total
        out[b] = v


@case("bounds", "own", At(30, block=30, x=30, f=30, width=6), symbolic="any")
@kb.kernel
def cloth_good(x: Floats, f: Floats, width: int):
    i = kb.tid()
    n = x.shape[0]
    if i >= n or n != f.shape[0] or width <= 0 or width > 1000:
        return
    total = 0.0
    if (i + 1) % width != 0 and i + 1 < n:
        total += x[i + 1] - x[i]
    if i % width != 0:
        total += x[i - 1] - x[i]
    if i + width < n:
        total += x[i + width] - x[i]
    if i >= width:
        total += x[i - width] - x[i]
    f[i] = total


@case("bounds", "own", At(30, block=30, x=30, f=30, width=6), symbolic="any")
@kb.kernel
def cloth_bad(x: Floats, f: Floats, width: int):
    i = kb.tid()
    n = x.shape[0]
    if i >= n or n != f.shape[0] or width <= 0 or width > 1000:
        return
    total = 0.0
    if (i + 1) % width != 0 and i + 1 < n:
        total += x[i + 1] - x[i]
    if i + width < n:
        total += x[i + width] - x[i]
    if i > 0:
        total += x[i - width] - x[i]  # finds bounds
    f[i] = total


@case("global-races", "own", At((5, 6), block=30, cells=(5, 6), flow=(5, 6)))
@kb.kernel
def water_flows_good(cells: Plane, flow: Plane):
    y, x = kb.tid()
    if y < cells.shape[0] and x + 1 < cells.shape[1] and y < flow.shape[0] and x + 1 < flow.shape[1]:
        moved = 0.25 * (cells[y, x] - cells[y, x + 1])
        flow[y, x] += -moved
        flow[y, x + 1] += moved


@case("global-races", "own", At((5, 6), block=30, cells=(5, 6), flow=(5, 6)))
@kb.kernel
def water_flows_bad(cells: Plane, flow: Plane):
    y, x = kb.tid()
    if y < cells.shape[0] and x + 1 < cells.shape[1] and y < flow.shape[0] and x + 1 < flow.shape[1]:
        moved = 0.25 * (cells[y, x] - cells[y, x + 1])
        flow[y, x] = flow[y, x] - moved  # finds global-races
        flow[y, x + 1] = flow[y, x + 1] + moved  # finds global-races
