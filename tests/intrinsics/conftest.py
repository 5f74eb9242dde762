"""NVRTC as the judge of generated code."""

from __future__ import annotations

from tests.helpers.accept import accept

__all__ = ["accept"]
