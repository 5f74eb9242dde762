"""`python -m kbuild` on small projects, as its users run it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

from tests.helpers.environment import plain_environment

ROOT = Path(__file__).parents[2]
BUNDLE = "thing/_kbuild.kbundle"


def project(
    folder: Path, kernels: str | bytes, *, targets: Iterable[str] = ("sm_90",), table: str = "", **more: str | bytes
) -> Path:
    """A project whose module `thing.kernels` is this text; further files by path, `__` standing for a slash."""
    text = f"[tool.kbuild]\nmodules = ['thing.kernels']\ntargets = {list(targets)!r}\n{table}"
    files = {"pyproject.toml": text, "thing/__init__.py": "", "thing/kernels.py": kernels}
    files.update({name.replace("__", "/") + ".py": content for name, content in more.items()})
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else dedent(content).encode())
    return folder


@dataclass(frozen=True)
class Kbuild:
    """Runs kbuild of this checkout with a cache; `extra` is added to the environment."""

    cache: Path
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [self.extra.get("PYTHONPATH"), str(ROOT)]))
        return {**plain_environment(), **self.extra, "KBUILD_CACHE": str(self.cache), "PYTHONPATH": path}

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "kbuild", *map(str, arguments)]

    def run(
        self, *arguments: str | Path, status: int = 0, stdin: int | None = subprocess.DEVNULL
    ) -> subprocess.CompletedProcess[str]:
        """The finished command, which must end with this status, and with no traceback unless that is 70."""
        done = subprocess.run(
            self.command(*arguments),
            env=self.environment,
            stdin=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=120,
            check=False,
        )
        assert done.returncode == status, f"status {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def with_site(self, folder: Path, text: str) -> Kbuild:
        """The same with a `sitecustomize` in every Python process of the build: to play a machine that misbehaves."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sitecustomize.py").write_text(dedent(text))
        return Kbuild(self.cache, {**self.extra, "PYTHONPATH": str(folder)})
