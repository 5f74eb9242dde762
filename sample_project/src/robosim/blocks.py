"""What the threads of a block do together: a centre of mass, a product of matrices, a blur, a map, a filter of points.

Each kernel is launched in whole blocks; `robosim.block_checks` shows how.
"""

import kbuild as kb
from robosim.geometry import cell

BLOCK = 128  # threads of a block where they stand in a row
TILE = 16  # rows and columns of a tile of a matrix, and of the block that works on it
WIDE, HIGH = 32, 8  # pixels of a block's part of an image
RADIUS = 4  # pixels to each side that a blurred pixel looks at


@kb.kernel(block_dim=BLOCK, enable_backward=False)
def moments(points: kb.array(dtype=kb.vec3), masses: kb.array(dtype=float), parts: kb.array(dtype=kb.vec4)):
    """For each block the sums over its points [m] of mass times place [kg m] and of mass [kg], shape [blocks].

    The blocks share all points out among them, however many there are.
    """
    own = kb.vec4()
    for i in kb.grid_range(len(points)):
        own += kb.vec4(points[i].x, points[i].y, points[i].z, 1.0) * masses[i]
    total = kb.block_sum(own)
    if kb.thread_idx() == 0:
        parts[kb.block_idx()] = total


@kb.kernel(block_dim=32, enable_backward=False)
def centre(parts: kb.array(dtype=kb.vec4), result: kb.array(dtype=kb.vec3)):
    """The centre of mass [m] into `result[0]`, from what `moments` has given; one warp, and more would do nothing.

    No float is added atomically: the result has the same bits each time.
    """
    if kb.block_idx() > 0:
        return
    own = kb.vec4()
    for i in range(kb.lane_id(), len(parts), 32):
        own += parts[i]
    total = kb.warp_sum(own)
    if kb.lane_id() == 0:
        result[0] = kb.vec3(total.x, total.y, total.z) / total.w


@kb.kernel(enable_backward=False)
def matrix_product(a: kb.array2d(dtype=float), b: kb.array2d(dtype=float), product: kb.array2d(dtype=float)):
    """`product` = a b, of any sizes; blocks of TILE x TILE threads, one for each tile of the product.

    A tile of each factor at a time lies in shared memory, where every number is used TILE times.
    """
    of_a = kb.shared_array((TILE, TILE), float)
    of_b = kb.shared_array((TILE, TILE), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    row = kb.block_idx().y * TILE + y
    column = kb.block_idx().x * TILE + x
    total = 0.0
    for start in range(0, a.shape[1], TILE):
        of_a[y, x] = a[row, start + x] if row < a.shape[0] and start + x < a.shape[1] else 0.0
        of_b[y, x] = b[start + y, column] if start + y < b.shape[0] and column < b.shape[1] else 0.0
        kb.syncthreads()
        for k in range(TILE):
            total += of_a[y, k] * of_b[k, x]
        kb.syncthreads()  # before the next tiles take the place of these
    if row < product.shape[0] and column < product.shape[1]:
        product[row, column] = total


@kb.kernel(enable_backward=False)
def blur_rows(image: kb.array2d(dtype=float), weights: kb.array(dtype=float), blurred: kb.array2d(dtype=float)):
    """Each pixel is the weighted sum of 2 RADIUS + 1 pixels of its row; those at the edge repeat.

    Blocks of WIDE x HIGH threads; each loads its pixels once, with RADIUS more to the left and to the right.
    """
    tile = kb.shared_array((HIGH, WIDE + 2 * RADIUS), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    row = kb.block_idx().y * HIGH + y
    first = kb.block_idx().x * WIDE
    for place in range(x, WIDE + 2 * RADIUS, WIDE):
        column = kb.clamp(first + place - RADIUS, 0, image.shape[1] - 1)
        tile[y, place] = image[kb.min(row, image.shape[0] - 1), column]
    kb.syncthreads()
    total = 0.0
    for k in range(2 * RADIUS + 1):
        total += weights[k] * tile[y, x + k]
    if row < blurred.shape[0] and first + x < blurred.shape[1]:
        blurred[row, first + x] = total


@kb.kernel(enable_backward=False)
def blur_columns(image: kb.array2d(dtype=float), weights: kb.array(dtype=float), blurred: kb.array2d(dtype=float)):
    """The same for columns: both, one after the other, blur an image with a filter that is a product of two."""
    tile = kb.shared_array((HIGH + 2 * RADIUS, WIDE), float)
    x = kb.thread_idx().x
    y = kb.thread_idx().y
    first = kb.block_idx().y * HIGH
    column = kb.block_idx().x * WIDE + x
    for place in range(y, HIGH + 2 * RADIUS, HIGH):
        row = kb.clamp(first + place - RADIUS, 0, image.shape[0] - 1)
        tile[place, x] = image[row, kb.min(column, image.shape[1] - 1)]
    kb.syncthreads()
    total = 0.0
    for k in range(2 * RADIUS + 1):
        total += weights[k] * tile[y + k, x]
    if first + y < blurred.shape[0] and column < blurred.shape[1]:
        blurred[first + y, column] = total


@kb.kernel(block_dim=BLOCK, enable_backward=False)
def count_voxels(
    points: kb.array(dtype=kb.vec3), origin: kb.vec3, size: float, extents: kb.vec3i, counts: kb.array(dtype=int)
):
    """What `robosim.mapping.count_voxels` does, for a grid that fits into shared memory; the launch gives it.

    Each block counts in a grid of its own, of four bytes a voxel, and adds it to `counts` in the end, which has the
    voxels one after the other, as many along x, y and z as `extents` says. Where many points fall into few voxels, the
    atomics of one block no longer wait for those of all others.
    """
    own = kb.shared_array(None, int)
    for v in range(kb.thread_idx(), len(counts), BLOCK):
        own[v] = 0
    kb.syncthreads()
    for i in kb.grid_range(len(points)):
        x = cell(points[i].x, origin.x, size)
        y = cell(points[i].y, origin.y, size)
        z = cell(points[i].z, origin.z, size)
        is_inside = 0 <= x < extents.x and 0 <= y < extents.y and 0 <= z < extents.z
        if points[i].z > 0.0 and is_inside:
            kb.atomic_add(own, (x * extents.y + y) * extents.z + z, 1)
    kb.syncthreads()
    for v in range(kb.thread_idx(), len(counts), BLOCK):
        if own[v] > 0:
            kb.atomic_add(counts, v, own[v])


@kb.func
def is_near(points: kb.array(dtype=kb.vec3), i: int, distance: float) -> bool:
    """Whether there is a point i, and the camera saw it not farther than a distance [m] away."""
    if i >= len(points):
        return False
    return points[i].z > 0.0 and kb.length(points[i]) <= distance


@kb.kernel(block_dim=BLOCK, enable_backward=False)
def count_near(points: kb.array(dtype=kb.vec3), distance: float, counts: kb.array(dtype=int)):
    """First of three launches that pick the near points [m]: how many each block has, shape [blocks]."""
    count = kb.block_sum(int(is_near(points, kb.tid(), distance)))
    if kb.thread_idx() == 0:
        counts[kb.block_idx()] = count


@kb.kernel(block_dim=BLOCK, enable_backward=False)
def place_blocks(counts: kb.array(dtype=int), total: kb.array(dtype=int)):
    """Second: from how many each block has to where its first one goes, in place; `total[0]` is their sum.

    One block, and more would do nothing.
    """
    if kb.block_idx() > 0:
        return
    before = 0
    for start in range(0, len(counts), BLOCK):
        i = start + kb.thread_idx()
        count = counts[i] if i < len(counts) else 0
        place = kb.block_scan_exclusive(count)
        if i < len(counts):
            counts[i] = before + place
        before += kb.block_sum(count)
    if kb.thread_idx() == 0:
        total[0] = before


@kb.kernel(block_dim=BLOCK, enable_backward=False)
def pick_near(
    points: kb.array(dtype=kb.vec3), distance: float, places: kb.array(dtype=int), near: kb.array(dtype=kb.vec3)
):
    """Third: the near points one after the other, in their order; `near` has room for all points."""
    i = kb.tid()
    is_picked = is_near(points, i, distance)
    place = places[kb.block_idx()] + kb.block_scan_exclusive(int(is_picked))
    if is_picked:
        near[place] = points[i]
