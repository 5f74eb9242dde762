"""The door for setuptools: which projects it opens for, and that it touches no other."""

from __future__ import annotations

import pytest
import setuptools
from setuptools.command.build import build

from hooks import setuptools_plugin as plugin
from tests.helpers import projects

WITH_TABLE = [
    "[tool.kbuild]\nmodules = []",
    "[project]\nname = 'a'\n\n  [ tool . kbuild ]  # ours\n",
    '[tool."kbuild"]\n',
    "[tool.kbuild.targets]\n",
    "[build-system]\r\n[tool.kbuild]\r\n",
]
WITHOUT_TABLE = [
    "",
    "[project]\nname = 'tool.kbuild'\n",
    "# [tool.kbuild]\n",
    "[tool.kbuilder]\n",
    "[tool.kbuild-extras]\n",
    "[mytool.kbuild]\n",
    "description = 'see [tool.kbuild] below'\n",
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def distribution_of(project, text):
    projects.write(project, {"pyproject.toml": text})
    distribution = setuptools.Distribution()
    plugin.finalize_distribution_options(distribution)
    return distribution


def sub_commands(distribution):
    return distribution.get_command_obj("build").get_sub_commands()


@pytest.mark.parametrize("text", WITH_TABLE)
def test_a_project_with_the_table_gets_the_command(project, text):
    assert sub_commands(distribution_of(project, text))[-1] == "build_kbuild"


@pytest.mark.parametrize("text", WITHOUT_TABLE)
def test_a_project_without_the_table_is_left_alone(project, text):
    assert "build_kbuild" not in sub_commands(distribution_of(project, text))


def test_a_project_without_pyproject_is_left_alone(project):
    distribution = setuptools.Distribution()
    plugin.finalize_distribution_options(distribution)
    assert "build_kbuild" not in sub_commands(distribution)


def test_two_distributions_in_one_process_do_not_mix(project):
    distribution_of(project, "[tool.kbuild]\n")
    assert "build_kbuild" not in sub_commands(distribution_of(project, "[project]\n"))


def test_calling_it_again_changes_nothing(project):
    distribution = distribution_of(project, "[tool.kbuild]\n")
    plugin.finalize_distribution_options(distribution)
    assert sub_commands(distribution).count("build_kbuild") == 1


def test_setuptools_own_class_stays_as_it_is(project):
    distribution_of(project, "[tool.kbuild]\n").get_command_obj("build")
    assert "build_kbuild" not in dict(build.sub_commands)


def test_a_build_command_that_is_named_later_is_extended(project):
    """As pyproject.toml's `cmdclass` is: after the plugin ran, and in place of what stood there."""

    class own_build(build):
        sub_commands = [("build_py", None)]  # noqa: RUF012

    distribution = distribution_of(project, "[tool.kbuild]\n")
    distribution.cmdclass = {"build": own_build}
    assert sub_commands(distribution) == ["build_py", "build_kbuild"]
    assert isinstance(distribution.get_command_obj("build"), own_build)
    assert distribution.get_command_obj("build").get_command_name() == "own_build"


def test_a_setuptools_that_is_too_old_is_named(project, monkeypatch):
    monkeypatch.setattr(setuptools, "__version__", "59.6.0")
    with pytest.raises(setuptools.errors.SetupError, match=r"needs setuptools 64 or newer .* this is 59\.6\.0"):
        distribution_of(project, "[tool.kbuild]\n")


def test_a_setuptools_that_is_too_old_does_not_matter_without_the_table(project, monkeypatch):
    monkeypatch.setattr(setuptools, "__version__", "45.2.0")
    distribution_of(project, "[project]\n")
