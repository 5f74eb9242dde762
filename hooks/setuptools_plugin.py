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
    from setuptools.command.build import build

SUB_COMMAND = "build_kbuild"
OLDEST_SETUPTOOLS = 64  # the first with the SubCommand protocol, that is with editable wheels
_TABLE = re.compile(rb"^[ \t]*\[[ \t]*tool[ \t]*\.[ \t]*[\"']?kbuild[\"']?[ \t]*[.\]]", re.MULTILINE)


def finalize_distribution_options(distribution: Distribution) -> None:
    """Makes `build_kbuild` a sub-command of `build` where the project has kernels to compile.

    This runs before setuptools has applied pyproject.toml, and once for each distribution object of a build, so nothing
    is read from the distribution here: the command itself does, when setuptools finalizes it.
    """
    if not has_table(distribution):
        return
    _require_setuptools()
    from setuptools.command.build import build

    # The classes, not an object: making one now would lose the options of setup.cfg and of the command line. A `build`
    # that setup.py brings along is there already; one that pyproject.toml names will inherit from setuptools' own.
    extend(build)
    extend(distribution.get_command_class("build"))
    if "SOURCE_DATE_EPOCH" in os.environ:
        from .setuptools_wheel import with_fixed_modes

        distribution.cmdclass["bdist_wheel"] = with_fixed_modes(distribution.get_command_class("bdist_wheel"))


def extend(command_class: type[build]) -> None:
    """Appends `build_kbuild` to the sub-commands of a command; `is_wanted` decides for each distribution."""
    if all(name != SUB_COMMAND for name, _ in command_class.sub_commands):
        command_class.sub_commands = [*command_class.sub_commands, (SUB_COMMAND, is_wanted)]


def is_wanted(command: Command) -> bool:
    """Whether the distribution that a `build` command works for has kernels to compile."""
    return has_table(command.distribution)


def has_table(distribution: Distribution) -> bool:
    """Whether the text of the project's pyproject.toml opens a `[tool.kbuild]` table, or one inside it."""
    try:
        with open(os.path.join(distribution.src_root or os.curdir, "pyproject.toml"), "rb") as file:
            return _TABLE.search(file.read()) is not None
    except OSError:
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
