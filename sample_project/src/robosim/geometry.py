"""What kernels of several modules share: a camera, and functions compiled into each kernel that calls them."""

import kbuild as kb


@kb.struct
class Camera:
    """A pinhole camera: focal lengths and principal point, all in pixels."""

    fx: float
    fy: float
    cx: float
    cy: float


@kb.func
def unproject(camera: Camera, column: int, row: int, depth: float) -> kb.vec3:
    """The point [m] that a pixel sees at a depth [m], in the camera's frame: x right, y down, z forward."""
    x = (float(column) - camera.cx) / camera.fx
    y = (float(row) - camera.cy) / camera.fy
    return kb.vec3(x * depth, y * depth, depth)


@kb.func
def cell(coordinate: float, origin: float, size: float) -> int:
    """The index of the cell of edge `size` [m] that a coordinate [m] falls into; cell 0 begins at `origin` [m]."""
    return int(kb.floor((coordinate - origin) / size))
