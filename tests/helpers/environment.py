"""The environment of programs that tests start."""

from __future__ import annotations

import os


def plain_environment() -> dict[str, str]:
    """This process's variables, without those that make a build differ from a user's."""
    left_out = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "SOURCE_DATE_EPOCH", "KBUILD_CACHE")
    return {name: value for name, value in os.environ.items() if name not in left_out}
