"""What kernels state of their launches: shapes, the launch, assumptions."""

import kbuild as kb


@kb.kernel(launch_dim="n")
def weighed(
    points: kb.array(dtype=float, shape=("n", 3)),
    weights: kb.array(dtype=float, shape=("n",)),
    out: kb.array(dtype=float, shape=("n",)),
    factor: float,
):
    kb.assume(factor > 0.0)
    i = kb.tid()
    out[i] = factor * weights[i] * (points[i, 0] + points[i, 1] + points[i, 2])


@kb.kernel(launch_dim=("rows", "columns"))
def turned(
    data: kb.array(dtype=int, shape=("rows", "columns")),
    out: kb.array(dtype=int, shape=("columns", "rows")),
    mask: kb.array(dtype=int, shape=("rows",)),
):
    i, j = kb.tid()
    out[j, i] = data[i, j]
    if mask:
        out[j, i] *= mask[i]
