"""The hook beside an old Python and an old setuptools, as a Jetson with JetPack 5 has them."""

from __future__ import annotations

import subprocess
import types

import pytest
import setuptools

from hooks import setuptools_command
from tests.helpers import projects
from tests.helpers.environment import plain_environment
from tests.helpers.pythons import need_python

EGG_INFO = "import setuptools; print(setuptools.__version__); setuptools.setup(script_args=['egg_info'])"


@pytest.fixture(scope="module")
def egg_info(tmp_path_factory, installed):
    """Runs setuptools' `egg_info` on a project with the setuptools that this Python brings along."""
    python = need_python("3.8")
    folder = tmp_path_factory.mktemp("old")
    subprocess.run([str(python), "-m", "venv", str(folder)], check=True)

    def run(project):
        command = [str(folder / "bin" / "python"), "-c", EGG_INFO]
        environment = {**plain_environment(), "PYTHONPATH": str(installed)}
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)

    return run


def test_a_project_without_the_table_is_left_alone(tmp_path, egg_info):
    project = projects.src_project(tmp_path / "project")
    (project / "pyproject.toml").write_text(projects.pyproject())
    done = egg_info(project)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split(".")[0]) < 64, "this Python brings a setuptools that is not old"


def test_a_project_with_the_table_is_told_what_is_missing(tmp_path, egg_info):
    done = egg_info(projects.src_project(tmp_path / "project"))
    assert done.returncode == 1
    assert "kbuild needs setuptools 64 or newer" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_says_which_python_it_wants(monkeypatch):
    monkeypatch.setattr(setuptools_command, "sys", types.SimpleNamespace(version_info=(3, 8, 10)))
    command = setuptools_command.build_kbuild(setuptools.Distribution())
    with pytest.raises(setuptools_command.SetupError, match=r"on Python 3\.10 or newer, and this is 3\.8"):
        command.ensure_finalized()
