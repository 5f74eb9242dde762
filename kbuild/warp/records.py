"""Records of Warp's own that kernels of projects take."""

from __future__ import annotations

from kbuild.loader import values

from .declarations import struct


@struct
class Sample:
    """`wp.fem.Sample`: where in an element a function is evaluated."""

    element_index: int
    element_coords: values.vec3
    qp_index: int
    qp_weight: float
    test_dof: values.vec2i
    trial_dof: values.vec2i
