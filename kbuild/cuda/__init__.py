"""CUDA C++ files of a project as translation units: the text with everything that it includes, and what is checked of
the declared signatures while NVRTC compiles it. Knows no compiler, and nothing of kernels in Python.
"""
