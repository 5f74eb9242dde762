"""All rows by name."""

from __future__ import annotations

from kbuild.intrinsics import atomic, scalar
from kbuild.intrinsics.row import Row

ROWS: dict[str, Row] = {row.name: row for row in (*scalar.ROWS, *atomic.ROWS)}

# Names that the front end turns into IR by itself: their arguments are not plain values, or a node says what they mean.
_FORMS = """
cw_div cw_mul fma matrix matrix_from_cols matrix_from_rows quat_identity quaternion static tid transform_identity
transformation vector where
"""
SPECIAL_FORMS = frozenset(_FORMS.split())


def has_effects(name: str) -> bool:
    """An intrinsic changes memory."""
    return ROWS[name].has_effects
