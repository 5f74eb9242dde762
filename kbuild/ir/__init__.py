"""The typed intermediate representation: the one form of a kernel that every later stage reads.

In: nothing (nodes are built by `kbuild.lang`). Out: frozen trees of `nodes`, printed by `printer`, held to their rules
by `verify`, walked by `traverse`, with multiply-adds made explicit by `contract`.
"""
