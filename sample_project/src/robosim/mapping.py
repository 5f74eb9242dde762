"""The map: how many points fell into each cell of a grid around the robot."""

import kbuild as kb
from robosim.geometry import cell


@kb.kernel(enable_backward=False)
def count_voxels(points: kb.array(dtype=kb.vec3), origin: kb.vec3, size: float, counts: kb.array3d(dtype=int)):
    """Adds each point [m] to the voxel it lies in, of edge `size` [m]; `counts[0, 0, 0]` begins at `origin` [m].

    Points outside the grid and points at the camera itself (z = 0: the pixel saw nothing) are left out.
    """
    point = points[kb.tid()]
    if point.z <= 0.0:
        return
    x = cell(point.x, origin.x, size)
    y = cell(point.y, origin.y, size)
    z = cell(point.z, origin.z, size)
    if 0 <= x < counts.shape[0] and 0 <= y < counts.shape[1] and 0 <= z < counts.shape[2]:
        kb.atomic_add(counts, x, y, z, 1)
