"""Instances of the kernels in Warp's examples: sizes for its factories, types for its generic kernels."""

from __future__ import annotations

import importlib.metadata
from typing import Any

from support.making import Maker

import kbuild.warp as wp

VALUES: dict[str, Any] = {
    "block_dim": (64,),
    "block_size": (16,),
    "dtype": (wp.float32,),
    "k": (16,),
    "m": (16,),
    "n": (16,),
    "num_keys": (64,),
    "shared": (False, True),
    "size": (64,),
    "storage_type": ("register", "shared"),
    "tile_k": (16,),
    "tile_m": (16,),
    "tile_n": (16,),
    "tile_size": (16,),
}
_OVERLOADS: dict[str, dict[str, Any]] = {
    "scale_transposed_divergence_mat": {
        "tr_divergence_mat_values": wp.array(dtype=wp.types.matrix((3, 1), wp.float32))
    },
    "schur_inverse_diagonal_kernel": {"divergence_mat_values": wp.array(dtype=wp.types.matrix((1, 3), wp.float32))},
    "_compute_schur_inverse_diagonal": {name: wp.array(dtype=wp.mat33) for name in ("B_values", "A_diag", "P_diag")},
    "_block_diagonal_invert": {"values": wp.array(dtype=wp.mat33)},
}


def instances() -> None:
    """Makes them."""
    examples = str(importlib.metadata.distribution("warp-lang").locate_file("warp/examples"))
    maker = Maker(VALUES, {})
    maker.make(examples)
    maker.overloads(examples, _OVERLOADS)
    maker.report()
