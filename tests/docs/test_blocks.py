"""The kernels of docs/blocks.md compute what the page says, and its table is complete."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from kbuild.loader.grids import Grid, Sized
from kbuild.sim.blocks import over
from kbuild.sim.threads import run_launch
from kbuild.sim.values import Memory
from tests.helpers import kernels
from tests.helpers.host_gpu import HostModule, device

PAGE = (Path(__file__).parents[2] / "docs" / "blocks.md").read_text(encoding="utf-8")
TEXT = "\n\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)).replace("import kbuild as kb\n", "")


def test_the_kernels_of_the_page(tmp_path: Path) -> None:
    lowered = {kernel.function.name: kernel for kernel in kernels.lower_text(tmp_path, TEXT)}
    assert set(lowered) == {
        "sums",
        "sums_by_hand",
        "transpose",
        "reversed_blocks",
        "sums_of_clusters",
        "scale",
        "total",
    }
    clustered = lowered.pop("sums_of_clusters")  # which no fibers run
    module = HostModule(list(lowered.values()), tmp_path)
    data, out = np.arange(1024, dtype=np.float32), np.zeros(4, np.float32)
    for name in ("sums", "sums_by_hand"):
        out[:] = 0.0
        module.launch(lowered[name].name, 1024, [device(data), device(out)], 256)
        assert out.tolist() == data.reshape(4, 256).sum(axis=1).tolist()
    types = [parameter.type.element for parameter in lowered["sums"].function.parameters]  # type: ignore[attr-defined]
    memories = [Memory(types[0], (1024,), data.tolist()), Memory(types[1], (4,), [0.0] * 4)]
    run_launch(lowered["sums"], over((1024,), 256), memories)
    assert memories[1].data == out.tolist()
    memories = [Memory(types[0], (1024,), data.tolist()), Memory(types[1], (2,), [0.0] * 2)]
    run_launch(clustered, over((1024,), 128), memories)
    assert memories[1].data == data.reshape(2, 512).sum(axis=1).tolist()
    a = np.arange(50 * 20, dtype=np.float32).reshape(50, 20)
    turned = np.zeros((20, 50), np.float32)
    module.launch(lowered["transpose"].name, Grid((20 // 16 + 1, 50 // 16 + 1), (16, 16)), [device(a), device(turned)])
    assert (turned == a.T).all()
    backwards = np.zeros(1024, np.float32)
    where = Sized(Grid(2, 512), 512 * 4)
    module.launch(lowered["reversed_blocks"].name, where, [device(data), device(backwards)])
    assert (backwards.reshape(2, 512) == data.reshape(2, 512)[:, ::-1]).all()
    module.launch(lowered["scale"].name, Grid(3, 64), [device(backwards), 0.5])
    assert (backwards.reshape(2, 512) == 0.5 * data.reshape(2, 512)[:, ::-1]).all()
    whole, parts, tickets, found = (np.arange(n, dtype=np.int32) * (n == 1024) for n in (1024, 16, 1, 1))
    given = [device(one) for one in (whole, parts, tickets, found)]
    module.launch(lowered["total"].name, 1024, given, 64)
    assert found.tolist() == [whole.sum()]


def test_every_function_is_on_the_page() -> None:
    from kbuild.intrinsics import collectives
    from kbuild.lang import blocks, clusters, hints, warps

    names = {*blocks.NAMES, *clusters.NAMES, *hints.NAMES, *warps.NAMES, *collectives.OVERLOADS}
    assert sorted(name for name in names if f"`kb.{name}(" not in PAGE and f" kb.{name}(" not in PAGE) == []
