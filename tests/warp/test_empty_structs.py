"""A struct without fields, which Warp's programs have: one byte, as in C++."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kbuild.loader import struct_table
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device

TEXT = """
import kbuild.warp as wp


@wp.struct
class Nothing:
    pass


@wp.struct
class Outer:
    x: float
    inner: Nothing
    y: float


@wp.func
def made(a: Nothing):
    b = Nothing()
    return b


@wp.kernel
def kernel(first: Nothing, x: float, outer: Outer, out: wp.array(dtype=float)):
    n = made(first)
    o = Outer(1.0, n, outer.y)
    out[wp.tid()] = x + o.y
"""


def test_an_empty_struct(tmp_path: Path) -> None:
    (kernel,) = kernels.lower_text(tmp_path, TEXT)
    module = HostModule([kernel], tmp_path)
    out = np.zeros(2, np.float32)
    module.launch(kernel.name, 2, [{}, 2.0, {"x": 0.0, "inner": {}, "y": 3.0}, device(out)])
    assert out.tolist() == [5.0, 5.0]
    (row,) = module.rows.values()
    assert [p["size"] for p in row["parameters"]] == [1, 4, 12, 16]
    rows = {struct.name: struct.to_json() for struct in kernel.structs}
    assert {name.rpartition(":")[2]: s.size for name, s in struct_table.parse(rows).items()} == {
        "Nothing": 1,
        "Outer": 12,
    }
