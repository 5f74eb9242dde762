"""A project's kernel modules → kernels → translation units, in a process of its own.

The parent (`client.Scanner`) never imports user code. It starts `child.main`, which imports the modules, finds the
kernels, and answers with plain data: first names, keys and capture plans, then, for the units that the cache does not
know, their CUDA C and manifest rows.
"""
