"""A `build_py` that takes kernel modules for what they are: sources, which belong to a wheel if their package does.

`build_kbuild` names them as sources, so that every sdist has them. With `include_package_data`, the default, setuptools
takes whatever an sdist holds below a package for that package's data, modules of packages that the project does not
list included: they would get into the wheel.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from setuptools import Command


def with_listed_sources(base: type[Command]) -> type[Command]:
    """A project's `build_py` class, made to leave kernel modules out of the data that the manifest adds."""

    class build_py(base):  # type: ignore[misc, valid-type]
        manifest_files: dict[str, list[str]]

        def analyze_manifest(self) -> None:
            super().analyze_manifest()
            kernels = {os.path.normpath(path) for path in self.get_finalized_command("build_kbuild").get_source_files()}
            self.manifest_files = {
                package: [path for path in files if os.path.normpath(path) not in kernels]
                for package, files in self.manifest_files.items()
            }

    return build_py
