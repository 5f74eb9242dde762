"""From IR to CUDA C.

In: the contracted kernels of one translation unit with their entry names. Out: `unit.emit` gives one text that NVRTC
compiles without any header. Decisions fall in the IR; here lines are written, the same for the same input.
"""
