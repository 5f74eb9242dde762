"""Kernels for tests/gpu/test_clusters.py."""
