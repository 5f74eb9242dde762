"""The meaning of the IR, run without a GPU.

In: a contracted kernel, a launch and host arrays. Out: the arrays changed, or a fault with the Python line. `numbers`
is arithmetic to the last bit, `values` the memory, `threads` runs one thread after another on Python numbers: slow,
exact, and the oracle that everything faster is held against. `access` is what memory accesses cost.
"""
