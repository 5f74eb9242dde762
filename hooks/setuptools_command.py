"""`build_kbuild`, the setuptools command that compiles a project's kernels; a sub-command of `build`.

    [tool.kbuild] → <build_lib>/<import package>/_kbuild.kbundle       for a wheel
                  → <source folder>/<import package>/_kbuild.kbundle   for an editable install

Written for Python 3.8, so that what needs 3.10 can say so.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from pathlib import Path

from setuptools import Command
from setuptools.errors import SetupError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kbuild.config import BuildConfig

BUNDLE = "_kbuild.kbundle"
_log = logging.getLogger(__name__)  # setuptools shows it with its own


class build_kbuild(Command):
    """Compiles the project's kernels into one bundle beside each import package that has some.

    Implements setuptools' `SubCommand`: `get_source_files`, `get_outputs` and `get_output_mapping` answer from the
    configuration alone, whether or not `run` was called.
    """

    description = "compile GPU kernels written in Python, as [tool.kbuild] says"
    user_options = [("build-lib=", "b", "folder whose contents become the wheel")]  # noqa: RUF012  # setuptools' name
    editable_mode: bool
    build_lib: str
    config: BuildConfig | None

    def initialize_options(self) -> None:
        self.build_lib = None  # type: ignore[assignment]  # how setuptools marks an option that was not given
        self.editable_mode = False
        self.config = None

    def finalize_options(self) -> None:
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))
        if sys.version_info < (3, 10):
            raise SetupError(
                "kbuild compiles kernels on Python 3.10 or newer, and this is %d.%d" % sys.version_info[:2]
            )
        from kbuild import config

        with _faults_for_setuptools():
            self.config = config.load(Path(self.distribution.src_root or os.curdir).resolve())

    def run(self) -> None:
        """Builds, and leaves `build_lib` with these bundles and no others."""
        if self.config is None:
            return
        from kbuild import pipeline
        from kbuild.pipeline.gradients import brief

        output = None if self.editable_mode else Path(self.build_lib).resolve()
        with _faults_for_setuptools():
            self._require_packages()
            result = pipeline.build(self.config, output=output, editable=self.editable_mode, progress=_Lines())
        for diagnostic in brief(result.diagnostics, result.kernels):
            _log.warning("%s", diagnostic.render())
        for skipped in result.skipped:
            _log.info("kbuild: skipped %s", skipped)
        for bundle in result.bundles:
            _log.info("kbuild: wrote %s (%d bytes, %s)", bundle.path, bundle.size, bundle.digest)
        if output is not None:
            self._tidy(output)

    def _require_packages(self) -> None:
        """setuptools installs nothing at all, the bundle neither, for a project without packages or modules."""
        if self.distribution.has_pure_modules() or self.distribution.has_ext_modules():
            return
        from kbuild.errors import UsageError

        raise UsageError(
            "the project lists no packages, so that its wheel would not hold %s" % " and ".join(self._bundles()),
            code="KB208",
            help="list the packages with kernels in [tool.setuptools] packages, or leave the list out",
        )

    def _tidy(self, output: Path) -> None:
        # An earlier build with other packages, or build_py with an editable install's bundle, may have left one here.
        # So may a build that was killed while it wrote one.
        wanted = {output / bundle for bundle in self._bundles()}
        for pattern in (BUNDLE, "." + BUNDLE + ".*.tmp"):
            for found in output.rglob(pattern):
                if found not in wanted:
                    found.unlink()

    def get_source_files(self) -> list[str]:
        """The modules with kernels, relative to the project: they belong to the sdist whatever else does."""
        if self.config is None:
            return []
        from kbuild import pipeline

        with _faults_for_setuptools():
            return sorted(os.path.relpath(path, self.config.root) for path in pipeline.sources(self.config))

    def get_outputs(self) -> list[str]:
        """The bundles, as paths below `build_lib`."""
        return [os.path.join(self.build_lib, bundle) for bundle in self._bundles()]

    def get_output_mapping(self) -> dict[str, str]:
        """For an editable install each output's place in the source tree; nothing stands there for a wheel."""
        if self.config is None or not self.editable_mode:
            return {}
        root = self.config.root
        return {
            os.path.join(self.build_lib, bundle): os.path.relpath(_in_sources(self.config, bundle), root)
            for bundle in self._bundles()
        }

    def _bundles(self) -> list[str]:
        if self.config is None:
            return []
        from kbuild import pipeline

        with _faults_for_setuptools():
            return pipeline.bundle_paths(self.config)


def _in_sources(config: BuildConfig, bundle: str) -> Path:
    """Where an editable build writes a bundle: beside the package, in the source folder that holds it."""
    places = [root / bundle for root in config.source_roots]
    return next((place for place in places if place.parent.is_dir()), places[0])


@contextmanager
def _faults_for_setuptools() -> Iterator[None]:
    """Hands setuptools what the user can cure, so that it prints the message alone; our faults keep their traceback."""
    from kbuild.errors import InternalError, KbuildError

    try:
        yield
    except InternalError:
        raise
    except KbuildError as error:
        raise SetupError("kbuild cannot compile this project's kernels\n\n%s\n" % error) from error


class _Lines:
    """Progress as lines of the build's log."""

    def __init__(self) -> None:
        self.total = self.done = 0

    def start(self, total: int) -> None:
        self.total, self.done = total, 0

    def advance(self, label: str) -> None:
        self.done += 1
        _log.info("kbuild: [%d/%d] %s", self.done, self.total, label)

    def finish(self) -> None:
        _log.info("kbuild: compiled %d of %d", self.done, self.total)
