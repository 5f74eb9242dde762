"""From a decorated Python function to typed IR.

In: a `loader.types.Kernel` of an imported module. Out: `lower_kernel` gives an `ir.nodes.Kernel` or diagnostics;
`reach` gives, without typing anything, what the kernel's code depends on: sources, captured values, and from them the
capture plan and the key.
"""
