"""What comes from the cameras: a colour frame for a neural network, a depth image as points."""

import kbuild as kb
from robosim.geometry import Camera, unproject

# ITU-R BT.709, limited range: luma 16…235, chroma 16…240 around 128.
BLACK = 16.0
GREY = 128.0
LUMA = 1.0 / 219.0
RED_FROM_V = 1.5748 / 224.0
GREEN_FROM_U = -0.1873 / 224.0
GREEN_FROM_V = -0.4681 / 224.0
BLUE_FROM_U = 1.8556 / 224.0

METRES_A_STEP = 0.001  # depth cameras count millimetres


@kb.func
def yuv_to_rgb(y: float, u: float, v: float) -> kb.vec3:
    """Red, green and blue in 0…1 of a pixel whose luma and chroma are bytes."""
    grey = (y - BLACK) * LUMA
    u = u - GREY
    v = v - GREY
    red = grey + v * RED_FROM_V
    green = grey + u * GREEN_FROM_U + v * GREEN_FROM_V
    blue = grey + u * BLUE_FROM_U
    return kb.vec3(kb.clamp(red, 0.0, 1.0), kb.clamp(green, 0.0, 1.0), kb.clamp(blue, 0.0, 1.0))


@kb.kernel(enable_backward=False)
def nv12_to_rgb(
    frame: kb.array(dtype=kb.uint8), pitch: int, mean: kb.vec3, scale: kb.vec3, rgb: kb.array3d(dtype=float)
):
    """A camera's NV12 frame to planar RGB, `(colour - mean) * scale`, shape [3, height, width]; one thread a pixel.

    The frame is one buffer as the camera gives it: `height` rows of luma, then `height / 2` rows of interleaved u and v
    for every 2 x 2 pixels, each row `pitch` bytes long (at least `width`).
    """
    row, column = kb.tid()
    height = rgb.shape[1]
    pair = (height + row // 2) * pitch + column // 2 * 2
    color = yuv_to_rgb(float(frame[row * pitch + column]), float(frame[pair]), float(frame[pair + 1]))
    rgb[0, row, column] = (color.x - mean.x) * scale.x
    rgb[1, row, column] = (color.y - mean.y) * scale.y
    rgb[2, row, column] = (color.z - mean.z) * scale.z


@kb.kernel(enable_backward=False)
def depth_to_points(depth: kb.array2d(dtype=kb.uint16), camera: Camera, points: kb.array(dtype=kb.vec3)):
    """A depth image [mm], shape [height, width], to points [m], shape [height * width]; one thread a pixel.

    A pixel that saw nothing has depth 0, and its point is the origin.
    """
    row, column = kb.tid()
    metres = float(depth[row, column]) * METRES_A_STEP
    points[row * depth.shape[1] + column] = unproject(camera, column, row, metres)
