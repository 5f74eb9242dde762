"""The door through which setuptools comes in: adds `build_kbuild` to the build of a project with `[tool.kbuild]`.

setuptools calls this in every build of an environment that has kbuild, whatever the project and however old setuptools
is. So the text of pyproject.toml is looked at before anything is imported: a project without the table is untouched,
even by a kbuild that is broken. Python 3.8.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from setuptools import Command, Distribution

SUB_COMMAND = "build_kbuild"
OLDEST_SETUPTOOLS = 64  # the first with the SubCommand protocol, that is with editable wheels
_TOOL, _KBUILD = rb"[\"']?tool[\"']?", rb"[\"']?kbuild[\"']?"
_TABLE = re.compile(rb"\[\[?\s*" + _TOOL + rb"\s*\.\s*" + _KBUILD + rb"\s*[.\]]")
# The same without a header of its own: in [tool], or above all tables.
_IN_TOOL = re.compile(_KBUILD + rb"\s*[.=]")
_ON_TOP = re.compile(_TOOL + rb"\s*(\.\s*" + _KBUILD + rb"\s*[.=]|=\s*\{.*\b" + _KBUILD + rb"\s*[.=])")
_HEADER = re.compile(rb"\[\[?([^\[\]#]*)\]")


def finalize_distribution_options(distribution: Distribution) -> None:
    """Makes `build_kbuild` a sub-command of `build` where the project has kernels to compile.

    This runs before setuptools has applied pyproject.toml, and once for each distribution object of a build, so nothing
    is read from the distribution here: the command itself does, when setuptools finalizes it.
    """
    if not has_table(distribution):
        return
    _require_setuptools()
    known = distribution.get_command_class

    # Asked when a command is made: by then setup.py, pyproject.toml and other plugins have named their own `build`.
    # Making the command here instead would lose what setup.cfg and the command line say of it.
    def get_command_class(command: str) -> type[Command]:
        found: type[Command] = known(command)
        if command == "build":
            return with_kernels(found)
        if command == "build_py":
            from .setuptools_sources import with_listed_sources

            return with_listed_sources(found)
        if command == "bdist_wheel" and "SOURCE_DATE_EPOCH" in os.environ:
            from .setuptools_wheel import with_fixed_modes

            return with_fixed_modes(found)
        return found

    distribution.get_command_class = get_command_class  # type: ignore[assignment, method-assign]


def with_kernels(base: type[Command]) -> type[Command]:
    """A `build` class with `build_kbuild` as its last sub-command; the class itself where it has that already."""
    if any(name == SUB_COMMAND for name, _ in base.sub_commands):
        return base
    return type(base.__name__, (base,), {"sub_commands": [*base.sub_commands, (SUB_COMMAND, None)]})


def has_table(distribution: Distribution) -> bool:
    """Whether the text of the project's pyproject.toml opens a `[tool.kbuild]` table, or one inside it."""
    try:
        with open(os.path.join(distribution.src_root or os.curdir, "pyproject.toml"), "rb") as file:
            return _opens_table(file.read())
    except OSError:
        return False


def _opens_table(text: bytes) -> bool:
    """By the lines alone: nothing that reads TOML is there before Python 3.11, and most projects have no table."""
    table = b""
    for line in text.splitlines() if b"kbuild" in text else ():
        line = line.strip()
        header = _HEADER.match(line)
        if header:
            table = header.group(1).strip(b" \t\"'")
        pattern = _TABLE if header else {b"": _ON_TOP, b"tool": _IN_TOOL}.get(table)
        if pattern is not None and pattern.match(line):
            return True
    return False


def _require_setuptools() -> None:
    import setuptools

    if int(setuptools.__version__.split(".")[0]) < OLDEST_SETUPTOOLS:
        from distutils.errors import DistutilsSetupError

        raise DistutilsSetupError(
            "kbuild needs setuptools %d or newer to compile the kernels of [tool.kbuild], and this is %s; "
            'ask for it in pyproject.toml: requires = ["setuptools>=77", "kbuild[build]"]'
            % (OLDEST_SETUPTOOLS, setuptools.__version__)
        )
