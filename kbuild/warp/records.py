"""Records of Warp's own that kernels of projects take."""

from __future__ import annotations

from kbuild.loader.values import vec2i, vec3

from .declarations import struct


@struct
class Sample:
    """`wp.fem.Sample`: where in an element a function is evaluated."""

    element_index: int
    element_coords: vec3  # type: ignore[valid-type]
    qp_index: int
    qp_weight: float
    test_dof: vec2i  # type: ignore[valid-type]
    trial_dof: vec2i  # type: ignore[valid-type]
