"""All rows by name."""

from __future__ import annotations

from kbuild.intrinsics import atomic, graph, scalar, warp
from kbuild.intrinsics.row import Row

ROWS: dict[str, Row] = {row.name: row for row in (*scalar.ROWS, *atomic.ROWS, *warp.ROWS)}

# With those that kbuild's own kernels use, and that have no name in `kb`.
ALL_ROWS: dict[str, Row] = {**ROWS, **{row.name: row for row in graph.ROWS}}

# Names that the front end turns into IR by itself: their arguments are not plain values, or a node says what they mean.
_FORMS = """
add assume bit_and bit_or bit_xor block_dim block_idx cluster_array cluster_dim cluster_rank cluster_sync cw_div cw_mul
diag div expect_eq expect_near expect_neq floordiv fma grid_dim grid_range identity invert lane_id load_readonly
load_streaming lshift matrix matrix_from_cols matrix_from_rows mod mul neg outer pos print printf quat_identity
quaternion rshift select shared_array skew static store_streaming sub syncthreads syncwarp thread_idx tid
transform_identity transformation unot vector warp_id where
"""
SPECIAL_FORMS = frozenset(_FORMS.split())


def has_effects(name: str) -> bool:
    """An intrinsic changes memory, or exchanges values with other lanes."""
    return ALL_ROWS[name].has_effects
