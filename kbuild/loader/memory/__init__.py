"""Memory of arrays: where it comes from, when it goes back, and how bytes move.

allocation.py   memory that gives itself back, in the order of streams
pools.py        the stream-ordered pool of a GPU
books.py        who holds how much: the report, and what an out-of-memory error says
transfer.py     copies and fills, with strides, between hosts and GPUs
"""
