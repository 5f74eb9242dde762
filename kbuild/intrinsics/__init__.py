"""The functions of the kernel language: one row each, one file a family.

In: a name and argument types. Out: the row (signature, effects, CUDA spelling, docstring) from `table.ROWS`, or a
function written in the kernel language itself from `library.FUNCTIONS`.
"""
