"""Ends while it is imported, after its first kernel."""

import warp as wp


@wp.kernel
def first(a: wp.array(dtype=float)):
    a[0] = 1.0


import nothing_of_this_name  # noqa: E402, F401


@wp.kernel(enable_backward=False)
def second(a: wp.array(dtype=float)):
    a[0] = 2.0


@wp.kernel
def third(a: wp.array(dtype=float)):
    a[0] = 3.0
