"""What a kernel says over how many threads it is launched."""

import kbuild as kb


@kb.kernel(launch_dim="m")  # E: KB184 names 'm'
def of_nothing(a: kb.array(dtype=float, shape=("n",)), x: float):
    a[kb.tid()] = x


@kb.kernel(launch_dim=("n", 3))  # E: KB184 launch_dim has 2 axes, and tid() in
def of_too_many(a: kb.array(dtype=float, shape=("n",)), x: float):
    a[kb.tid()] = x
