"""Kernels for tests/gpu. The modules whose first line says so are written by `generate.py`."""
