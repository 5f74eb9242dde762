"""kbuild's wheel and the sample's, built as a stranger would: pip, build isolation, nothing but Python and a network.

kbuild is on no package index yet. So its own wheel is built first, under a local version that no index can hold, and
pip is told by `PIP_FIND_LINKS` where it lies and by a constraint that nothing else is meant by the name `kbuild`.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "sample_project"
GPU_PROJECTS = (ROOT / "tests" / "gpu" / "project", ROOT / "tests" / "gpu" / "clusters")
LOCAL = "+checkout"  # indexes refuse such versions (PEP 440, local version identifiers)
KBUILD_SOURCES = ("kbuild", "hooks", "pyproject.toml", "README.md", "LICENSE")


def build_kbuild(python: str | Path, folder: Path, *options: str) -> Path:
    """Builds kbuild's wheel from this checkout into a folder, and returns its path; options are pip's.

    From a copy: setuptools leaves its `build` folder where it builds, and takes what lies there for part of the next.
    """
    source = folder / "source"
    shutil.rmtree(folder, ignore_errors=True)
    source.mkdir(parents=True)
    for name in KBUILD_SOURCES:
        copy(ROOT / name, source / name)
    version = source / "kbuild" / "_version.py"
    version.write_text(version.read_text(encoding="utf-8").rstrip('"\n') + f'{LOCAL}"\n', encoding="utf-8")
    pip_wheel(python, source, folder, os.environ, *options)
    shutil.rmtree(source)
    return next(folder.glob("kbuild-*.whl"))


def pip_wheel(python: str | Path, project: Path, folder: Path, environment: Mapping[str, str], *options: str) -> None:
    """`pip wheel` of one project, without those that it depends on."""
    run([python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, *options, project], environment)


def with_kbuild(wheel: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which pip, and the pip inside build isolation, takes kbuild from a wheel file.

    What the environment or pip's configuration files say of other places and constraints stays.
    """
    constraints = wheel.parent / "constraints.txt"
    constraints.write_text(f"kbuild=={wheel.name.split('-')[1]}\n", encoding="utf-8")
    links = environment.get("PIP_FIND_LINKS") or _configured("find-links")
    constraint = f"{constraints.as_uri()} {environment.get('PIP_CONSTRAINT') or _configured('constraint')}".strip()
    return {
        **environment,
        "PIP_FIND_LINKS": f"{wheel.parent.as_uri()} {links}".strip(),
        "PIP_CONSTRAINT": constraint,
        "PIP_BUILD_CONSTRAINT": constraint,  # what pip reads inside build isolation from 25.3 on
    }


def copy(source: Path, target: Path) -> None:
    """Copies a file or the sources in a folder, with the folders above."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    else:
        shutil.copy(source, target)


def make_environment(folder: Path, python: str | Path = sys.executable) -> Path:
    """A fresh virtual environment of an interpreter, without a network; returns the interpreter in it."""
    shutil.rmtree(folder, ignore_errors=True)
    run([python, "-m", "venv", folder], os.environ)
    return folder / "bin" / "python"


def run(command: Sequence[str | Path], environment: Mapping[str, str]) -> None:
    """Runs a command; when it fails, this program ends with its status."""
    status = subprocess.call([str(part) for part in command], env=dict(environment))
    if status:
        sys.exit(status)


def _configured(option: str) -> str:
    """An option of pip's configuration files, which a variable of the same name would hide."""
    command = [sys.executable, "-m", "pip", "config", "list"]  # `config get` does not find all that this one lists
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    settings = dict(line.split("=", 1) for line in lines if "=" in line)
    return " ".join(str(ast.literal_eval(settings.get(f"global.{option}", "''"))).split())
