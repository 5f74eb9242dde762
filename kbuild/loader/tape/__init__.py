"""Gradients at run time: `kb.Tape` notes what a program launches, and runs the adjoint kernels in reverse order.

Imported when a program asks for a tape or for an array's gradient, and never by those that do not. What the rest of the
loader knows of it is one list, `uses.tapes`: while that is empty, nothing here is reached.
"""
