"""Gradients of kernels held against finite differences, and whole Jacobians: for development and tests, on NumPy."""
