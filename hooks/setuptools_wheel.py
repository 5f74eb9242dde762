"""A `bdist_wheel` whose files have modes that neither the umask nor the checkout decides, for `SOURCE_DATE_EPOCH`.

A wheel records the mode of every file. setuptools takes those of the files that it copies and writes, so the same
sources give another wheel under another umask. Who sets SOURCE_DATE_EPOCH asks for the same bytes.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from setuptools import Command


def with_fixed_modes(base: type[Command]) -> type[Command]:
    """A project's `bdist_wheel` class, made to set the modes of what it has collected before it zips it."""

    class bdist_wheel(base):  # type: ignore[misc, valid-type]
        def write_wheelfile(self, *arguments: Any, **options: Any) -> None:
            super().write_wheelfile(*arguments, **options)  # the last file; the archive comes next
            fix_modes(self.bdist_dir)

    return bdist_wheel


def fix_modes(folder: str) -> None:
    """Sets every file below a folder to 0755 if its owner may execute it, else to 0644."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            os.chmod(path, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)
