"""Kernels run on NumPy: many threads at a time, all at one statement.

`run` is the way in. A value is an array with one number for each *lane* (a thread of those that run together), or one
NumPy number where all lanes have the same; `tree` has the composite ones. Where lanes part, those of each side go on in
a frame of their own (`frame`), side after side, and meet again behind the statement: no lane ever runs that is not
meant, so loads, stores, checks and counts need no masks.
"""
