"""What pip, build and setuptools make of a project with kernels: real builds, real compilers."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from kbuild.loader import format
from tests.helpers import projects
from tests.helpers.environment import plain_environment
from tests.helpers.situations import happens
from tools import wheels

BUNDLE = "thing/_kbuild.kbundle"
OFFLINE = ("--no-build-isolation", "--no-deps", "--no-index")


OWN_BUILD = """\
from setuptools import setup
from setuptools.command.build import build


class own_build(build):
    sub_commands = [("build_py", None)]

    def run(self):
        super().run()
        open("own_build_ran", "w").close()


if __name__ == "__main__":
    setup(cmdclass={"build": own_build})
"""


def kernels_in(data):
    """Names of the kernels in a bundle, every digest checked; each has its adjoint beside it."""
    parsed = format.parse(data)
    for index in range(len(parsed.manifest["blobs"])):
        parsed.blob(index)
    rows = {kernel["name"]: kernel for kernel in parsed.manifest["kernels"]}
    names = sorted(name for name in rows if not name.endswith(":adjoint"))
    assert sorted(rows) == sorted([*names, *(name + ":adjoint" for name in names)])
    assert all("kernel" in rows[name]["backward"] for name in names)
    return names


def kernels_in_wheel(wheel, bundle=BUNDLE):
    return kernels_in(wheel.read(bundle))


def bundles_in(wheel):
    return sorted(name for name in wheel.namelist() if name.endswith(".kbundle"))


def only(folder, pattern):
    (found,) = Path(folder).glob(pattern)
    return found


class TestWheel:
    def test_pip_wheel_carries_the_bundle_and_fits_every_machine(self, tmp_path, python):
        project = projects.src_project(tmp_path / "project")
        python("-m", "pip", "wheel", *OFFLINE, "--wheel-dir", "wheels", project, cwd=tmp_path)
        path = only(tmp_path / "wheels", "*.whl")
        assert path.name == "thing-1.0-py3-none-any.whl"
        assert kernels_in_wheel(zipfile.ZipFile(path)) == ["thing.kernels:scale"]
        assert not list(project.glob("src/thing/*.kbundle")), "a wheel's build leaves the sources alone"

    def test_the_log_says_what_was_written(self, tmp_path, python):
        project = projects.src_project(tmp_path / "project")
        done = python("-m", "pip", "wheel", *OFFLINE, "--verbose", "-w", "wheels", project, cwd=tmp_path)
        assert "kbuild: wrote" in done.stdout + done.stderr

    def test_build_goes_through_an_sdist_without_the_checkout(self, tmp_path, python, build_wheel):
        project = projects.src_project(tmp_path / "project")
        python("-m", "build", "--no-isolation", "--sdist", "--outdir", tmp_path / "dist", project, cwd=tmp_path)
        shutil.rmtree(project)
        with tarfile.open(only(tmp_path / "dist", "*.tar.gz")) as sdist:
            sdist.extractall(tmp_path / "unpacked")
        source = only(tmp_path / "unpacked", "*")
        assert (source / "src" / "thing" / "kernels.py").read_text() == projects.KERNELS
        assert kernels_in_wheel(build_wheel(source)) == ["thing.kernels:scale"]

    def test_kernel_sources_are_in_the_sdist_whatever_else_is(self, tmp_path, python):
        """A package that `packages` leaves out still holds kernels that the build compiles."""
        tail = "[tool.setuptools]\npackages = []\n"
        project = projects.src_project(tmp_path / "project", tail=tail)
        python("-m", "build", "--no-isolation", "--sdist", "--outdir", tmp_path / "dist", project, cwd=tmp_path)
        with tarfile.open(only(tmp_path / "dist", "*.tar.gz")) as sdist:
            assert "thing-1.0/src/thing/kernels.py" in sdist.getnames()

    def test_flat_layout_with_two_packages(self, tmp_path, build_wheel):
        files = {
            "pyproject.toml": projects.pyproject(
                table=projects.table("one.kernels", "two.deep.kernels"),
                tail="[tool.setuptools]\npackages = ['one', 'two', 'two.deep']\n",
            ),
            "one/__init__.py": "",
            "one/kernels.py": projects.KERNELS,
            "two/__init__.py": "",
            "two/deep/__init__.py": "",
            "two/deep/kernels.py": projects.KERNELS,
        }
        wheel = build_wheel(projects.write(tmp_path, files))
        assert bundles_in(wheel) == ["one/_kbuild.kbundle", "two/_kbuild.kbundle"]
        assert kernels_in_wheel(wheel, "two/_kbuild.kbundle") == ["two.deep.kernels:scale"]

    @pytest.mark.parametrize(
        "tail",
        [
            "[tool.setuptools]\ninclude-package-data = false\n",
            "[tool.setuptools.exclude-package-data]\n'*' = ['*']\n",
            "[tool.setuptools.package-data]\n'*' = ['*.kbundle', '**/*']\n",
            "[tool.setuptools.packages.find]\nwhere = ['src']\n",
        ],
    )
    def test_settings_of_package_data_do_not_matter(self, tmp_path, build_wheel, tail):
        project = projects.src_project(tmp_path, tail=tail)
        assert kernels_in_wheel(build_wheel(project)) == ["thing.kernels:scale"]

    def test_what_earlier_builds_left_behind_does_no_harm(self, tmp_path, build_wheel):
        """Another package's bundle in build/lib, an editable install's in the sources, a damaged one of ours."""
        tail = "[tool.setuptools.package-data]\n'*' = ['*.kbundle']\n"
        project = projects.src_project(tmp_path, tail=tail)
        left = dict.fromkeys(("build/lib/gone/_kbuild.kbundle", f"build/lib/{BUNDLE}", f"src/{BUNDLE}"), "stale")
        wheel = build_wheel(projects.write(project, left))
        assert bundles_in(wheel) == [BUNDLE]
        assert kernels_in_wheel(wheel) == ["thing.kernels:scale"]

    def test_options_and_a_command_of_setup_py_stay(self, tmp_path, build_wheel):
        """setup.cfg's folder for `build` and a `build` of the project's own: both as they are without kbuild."""
        files = {"setup.cfg": "[build]\nbuild_base = elsewhere\n", "setup.py": OWN_BUILD}
        project = projects.write(projects.src_project(tmp_path), files)
        assert kernels_in_wheel(build_wheel(project)) == ["thing.kernels:scale"]
        assert (project / "own_build_ran").exists()
        assert (project / "elsewhere" / "lib" / BUNDLE).exists()
        assert not (project / "build").exists()

    def test_a_command_that_pyproject_names_stays(self, tmp_path, build_wheel):
        tail = "[tool.setuptools.cmdclass]\nbuild = 'commands.own_build'\n"
        project = projects.write(projects.src_project(tmp_path, tail=tail), {"src/commands.py": OWN_BUILD})
        assert kernels_in_wheel(build_wheel(project)) == ["thing.kernels:scale"]
        assert (project / "own_build_ran").exists()


class TestEditable:
    @pytest.mark.parametrize("mode", ["lenient", "strict"])
    def test_pip_install_editable(self, tmp_path, python, mode):
        project = projects.src_project(tmp_path / "project")
        site = tmp_path / "site"
        options = [*OFFLINE, "--target", site, "--config-settings", f"editable_mode={mode}"]
        python("-m", "pip", "install", *options, "--editable", project, cwd=tmp_path)
        assert kernels_in((project / "src" / BUNDLE).read_bytes()) == ["thing.kernels:scale"]
        code = f"import site; site.addsitedir({str(site)!r}); import thing; print(thing.__path__[0])"
        package = Path(python("-c", code, cwd=tmp_path).stdout.strip())
        assert (package / "_kbuild.kbundle").resolve() == (project / "src" / BUNDLE).resolve()

    def test_it_knows_its_sources_and_a_wheel_does_not(self, tmp_path, python, build_wheel):
        project = projects.src_project(tmp_path / "project")
        python("-m", "pip", "install", *OFFLINE, "--target", tmp_path / "site", "-e", project, cwd=tmp_path)
        editable = format.parse((project / "src" / BUNDLE).read_bytes())
        wheel = format.parse(build_wheel(project).read(BUNDLE))
        assert [row["module"] for row in editable.manifest["sources"]] == ["thing.kernels"]
        assert wheel.manifest["sources"] is None


ASK = """\
import json, sys
import setuptools

def ask():
    command = dist.get_command_obj("build_kbuild")
    command.ensure_finalized()
    return [sorted(command.get_outputs()), command.get_output_mapping(), command.get_source_files()]

editable = sys.argv[1] == "editable"
dist = setuptools.setup(script_args=["--quiet", "--name"])
if editable:
    dist.get_command_obj("build_kbuild").editable_mode = True
before = ask()
dist.run_command("build")
print(json.dumps([before, ask()]))
"""


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_what_the_command_announces_is_what_appears(tmp_path, python, kind):
    """`get_outputs`, `get_output_mapping` and `get_source_files` answer the same before and after `run`."""
    project = projects.src_project(tmp_path)
    done = python("-c", ASK, kind, cwd=project)
    before, after = json.loads(done.stdout.splitlines()[-1])
    assert before == after
    outputs, mapping, sources = before
    assert outputs == [f"build/lib/{BUNDLE}"]
    assert sources == ["src/thing/kernels.py"]
    assert mapping == ({} if kind == "wheel" else {f"build/lib/{BUNDLE}": f"src/{BUNDLE}"})
    places = outputs if kind == "wheel" else list(mapping.values())
    assert [str(path.relative_to(project)) for path in project.rglob("*.kbundle")] == places


class TestSameBytes:
    def test_source_date_epoch_gives_the_same_wheel(self, tmp_path, python, cache):
        """In another folder, under another umask, locale, time zone and hash seed, with nothing cached."""
        first = self.build(tmp_path / "a", python, 0o022, {"KBUILD_CACHE": str(tmp_path / "cache-a")})
        strange = {"PYTHONHASHSEED": "7", "LC_ALL": "C", "TZ": "Asia/Tokyo", "KBUILD_CACHE": str(tmp_path / "cache-b")}
        second = self.build(tmp_path / "deeper" / "b", python, 0o077, strange)
        assert hashlib.sha256(first).hexdigest() == hashlib.sha256(second).hexdigest()

    @staticmethod
    def build(folder, python, umask, extra):
        before = os.umask(umask)
        try:
            project = projects.src_project(folder / "project")
            (project / "LICENSE").write_text("yours")
            extra = {**extra, "SOURCE_DATE_EPOCH": "1700000000"}
            python("-m", "pip", "wheel", *OFFLINE, "--wheel-dir", folder, project, cwd=folder, extra=extra)
        finally:
            os.umask(before)
        return only(folder, "*.whl").read_bytes()


class TestWithoutTable:
    def test_nothing_changes(self, tmp_path, build_wheel):
        project = projects.src_project(tmp_path)
        (project / "pyproject.toml").write_text(projects.pyproject())
        assert bundles_in(build_wheel(project)) == []

    @happens(
        "Wheels, sdists and editable installs",
        "a project has no `[tool.kbuild]` table",
        "Its wheels, sdists and editable installs are the same to the byte, even where kbuild cannot be imported.",
    )
    def test_a_broken_kbuild_breaks_nothing(self, tmp_path, python, build_wheel, installed):
        """Not even one that cannot be imported, for wheels, sdists and editable installs."""
        broken = tmp_path / "broken"
        shutil.copytree(installed, broken)
        shutil.rmtree(broken / "kbuild")
        projects.write(broken, {"kbuild/__init__.py": "raise RuntimeError('broken on purpose')\n"})
        extra = {"PYTHONPATH": str(broken)}
        assert python("-c", "import kbuild", cwd=tmp_path, check=False, extra=extra).returncode == 1
        project = projects.src_project(tmp_path / "project")
        (project / "pyproject.toml").write_text(projects.pyproject())
        assert bundles_in(build_wheel(project, extra=extra)) == []
        python("-m", "build", "--no-isolation", "--sdist", project, cwd=tmp_path, extra=extra)
        options = [*OFFLINE, "--target", tmp_path / "site"]
        python("-m", "pip", "install", *options, "-e", project, cwd=tmp_path, extra=extra)

    def test_the_wheel_is_the_one_without_kbuild(self, tmp_path, build_wheel):
        built = []
        for name, extra in (("with", {}), ("without", {"PYTHONPATH": ""})):
            project = projects.src_project(tmp_path / name)
            (project / "pyproject.toml").write_text(projects.pyproject())
            wheel = build_wheel(project, extra={"SOURCE_DATE_EPOCH": "1700000000", **extra})
            built.append(Path(wheel.filename).read_bytes())
        assert built[0] == built[1]


class TestFaults:
    def test_a_kernel_that_cannot_be_compiled(self, tmp_path, python):
        """The diagnostic with its place and carets, no traceback, and pip fails."""
        project = projects.write(projects.src_project(tmp_path), {"src/thing/kernels.py": projects.BROKEN_KERNELS})
        done = python("-m", "pip", "wheel", *OFFLINE, project, cwd=tmp_path, check=False)
        log = done.stdout + done.stderr
        assert done.returncode == 1
        assert "kbuild cannot compile this project's kernels" in log
        assert "kernels.py:7:15: error: " in log
        assert "Traceback" not in log

    def test_a_wrong_option(self, tmp_path, python):
        wrong = projects.pyproject(table="modules = ['thing.kernels']\ntarget = ['sm_90']\n")
        project = projects.write(projects.src_project(tmp_path), {"pyproject.toml": wrong})
        done = python("-m", "pip", "wheel", *OFFLINE, project, cwd=tmp_path, check=False)
        log = done.stdout + done.stderr
        assert done.returncode == 1
        assert "did you mean 'targets'?" in log
        assert "Traceback" not in log

    def test_nothing_is_written_by_a_build_that_fails(self, tmp_path, python):
        project = projects.write(projects.src_project(tmp_path), {"src/thing/kernels.py": projects.BROKEN_KERNELS})
        python("-m", "pip", "install", *OFFLINE, "--target", "site", "-e", project, cwd=tmp_path, check=False)
        assert not list(tmp_path.rglob("*.kbundle*"))


def test_build_isolation_gets_this_kbuild(tmp_path, python, kbuild_wheel, cache):
    """What `make demo` does: pip makes the build's environment itself, from the index, with kbuild from one file."""
    text = projects.pyproject(table=projects.table("thing.kernels"))
    text = text.replace('["setuptools>=77"]', '["setuptools>=77", "kbuild[build]"]')
    project = projects.write(projects.src_project(tmp_path / "project"), {"pyproject.toml": text})
    extra = {**wheels.with_kbuild(kbuild_wheel, plain_environment()), "PYTHONPATH": "", "KBUILD_CACHE": str(cache)}
    python("-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, project, cwd=tmp_path, extra=extra)
    assert kernels_in_wheel(zipfile.ZipFile(only(tmp_path, "*.whl"))) == ["thing.kernels:scale"]
