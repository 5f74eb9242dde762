"""Where lanes stand: successive ones are counted without divisions."""

from __future__ import annotations

import itertools

import numpy as np

from kbuild.ir.types import INT64
from kbuild.sim.blocks import Launch
from kbuild.sim.lockstep.affine import Affine
from kbuild.sim.lockstep.lanes import Lanes, chunks


def test_successive_lanes_stand_where_they_do_one_by_one() -> None:
    launch = Launch((7, 2, 3), (4, 2, 1), (7, 6, 8))
    for start, count in itertools.product((0, 1, 5, 12, 31, 90), (1, 2, 7, 24, 200)):
        together = Lanes(launch, Affine(start, 1, count, INT64), count, 0)
        one_by_one = Lanes(launch, np.arange(start, start + count), count, 0)
        for what in ("block", "index", "warp", "slot"):
            found, expected = getattr(together, what), getattr(one_by_one, what)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
        for axis in range(3):
            found, expected = together.coordinate(axis), one_by_one.coordinate(axis)
            assert found.dtype == expected.dtype == np.int32
            np.testing.assert_array_equal(found, expected)
            for what in ("block_idx", "thread_idx"):
                np.testing.assert_array_equal(together.position(what, axis), one_by_one.position(what, axis))
        np.testing.assert_array_equal(one_by_one.block, np.arange(start, start + count) // 8)


def test_some_blocks_alone() -> None:
    launch = Launch((4, 1, 1), (8, 1, 1), (27,))
    for whole_blocks in (False, True):
        found = [lanes.dense.tolist() for lanes in chunks(launch, whole_blocks, only=(3, 1, 1))]
        assert found == [list(range(8, 16)), [24, 25, 26]]
        assert [lanes.origin for lanes in chunks(launch, whole_blocks, only=(1,))] == [8]
    in_clusters = Launch((4, 1, 1), (8, 1, 1), (32,), cluster=2)
    assert [lanes.dense.tolist() for lanes in chunks(in_clusters, True, only=(3,))] == [list(range(16, 32))]
