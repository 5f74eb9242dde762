"""Kernels that are measured; `benchmarks/handwritten` has the same ones in CUDA C."""
