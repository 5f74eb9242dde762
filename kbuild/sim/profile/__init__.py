"""What each source line of a kernel costs: executions, divergence, memory traffic as an H200 counts it.

In: what the lockstep executor tells a watcher (`profiler`), and the kernel's IR for what its compiler does to atomics
(`atomics`, `uniform`). Out: `counts.Profile`, whose text (`listing`) is the annotated source.

Every number of a composite is a memory instruction of its own, as generated code has it. What compilers leave out is
counted: loads of one place twice, components that nobody reads. The arrays of a launch count as if each began at a
multiple of 2 MiB, as large device allocations do, and addresses in shared memory from the block's first byte.
"""
