"""Where the kernels' machine code is found, and what is said where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import kbuild as kb
from kbuild import config, pipeline, targets
from kbuild.loader import driver, providers, resolve, standin, types
from kbuild.loader.errors import BundleError, LaunchError, StaleBundle
from kbuild.primitives import catalogue, finding, runs
from tests.helpers import projects
from tests.helpers.environment import plain_environment
from tests.helpers.once import once
from tests.helpers.pythons import need_python

ROOT = str(Path(__file__).parents[2])
PACKAGE = "has_primitives"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package whose bundle holds the kernels of two functions, and one of another."""

    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("KBUILD_CACHE", str(folder / "cache"))
            patch.setenv("PYTHONPATH", ROOT)
            for name, table in ((PACKAGE, "primitives = ['runlength_encode', 'array_scan']\n"), ("has_none", "")):
                project = projects.write(
                    folder / name,
                    {
                        "pyproject.toml": projects.pyproject(table=projects.table(f"{name}.kernels") + table),
                        f"{name}/__init__.py": "",
                        f"{name}/kernels.py": projects.KERNELS,
                    },
                )
                found = config.load(project)
                assert found is not None
                pipeline.build(found, editable=False)

    return once(tmp_path_factory, "with_primitives", make)


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No package is known to the process, and none has been imported."""
    monkeypatch.setattr(types, "declared", set())
    monkeypatch.setattr(resolve, "_opened", {})
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in (PACKAGE, "has_none"):
            del sys.modules[name]


@pytest.fixture
def there(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages can be imported."""
    for name in (PACKAGE, "has_none"):
        monkeypatch.syspath_prepend(str(installed / name))


def calling_from(module: str, kernel: types.Kernel) -> Any:
    """What `find` gives to the code of a module."""
    code = ModuleType(module)
    exec("def call(find, kernel):\n    return find(kernel)\n", vars(code))
    return code.call(finding.find, kernel)


@pytest.mark.usefixtures("there")
def test_in_the_bundle_of_a_package_that_has_declared_kernels() -> None:
    types.declared.update({"has_none.kernels", f"{PACKAGE}.kernels", "of_no_package"})
    scan = catalogue.scan_kernels(kb.float64)[1]
    for kernel in (runs.count_heads, scan):
        found = finding.find(kernel)
        assert found.name.partition("[")[0] == kernel.name
        assert found.bundle.manifest["package"] == PACKAGE
    assert [str(type) for _, type in found.parameters[:3]] == ["array2[float64]"] * 3


@pytest.mark.usefixtures("there")
def test_in_the_bundle_of_the_package_that_calls() -> None:
    assert calling_from(f"{PACKAGE}.app", runs.count_heads).bundle.manifest["package"] == PACKAGE


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("name", ["__main__", "", "<stdin>", "no such.module", "has_no_package"])
def test_programs_and_texts_have_no_bundle(name: str) -> None:
    with pytest.raises(LaunchError, match="looked into no bundle"):
        calling_from(name, runs.count_heads)


@pytest.mark.usefixtures("there")
def test_in_no_bundle() -> None:
    types.declared.add("has_none.kernels")
    with pytest.raises(LaunchError) as caught:
        finding.find(runs.count_heads)
    text = str(caught.value)
    assert text.startswith("kbuild.primitives.runs:count_heads is a kernel of kbuild's own, and nothing here holds it")
    assert "has_none/_kbuild.kbundle" in text
    assert "write `primitives = true` into [tool.kbuild]" in text
    assert "KBUILD_JIT=1" in text


@pytest.mark.usefixtures("there")
def test_a_function_that_was_not_asked_for() -> None:
    types.declared.add(f"{PACKAGE}.kernels")
    with pytest.raises(LaunchError, match=r"kbuild\.primitives\.casting:.* is a kernel of kbuild's own, and nothing"):
        finding.find(catalogue.cast_kernel(kb.int32, kb.float32))


def test_without_any_bundle() -> None:
    with pytest.raises(LaunchError, match="looked into no bundle: no package of this program has one"):
        finding.find(runs.count_heads)


@pytest.mark.usefixtures("there")
def test_a_bundle_of_another_kbuild_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that each kernel captures is part of what its machine code is found by."""
    types.declared.add(f"{PACKAGE}.kernels")
    monkeypatch.setattr(runs, "PROTOCOL", runs.PROTOCOL + 1)
    wanted = r"count_heads: .*_kbuild\.kbundle.*\(kbuild .*\) was built by a kbuild whose kernels are not those of this"
    with pytest.raises(LaunchError, match=wanted):
        finding.find(runs.count_heads)
    finding.find(catalogue.scan_kernels(kb.int32)[0])  # whose module has the number it was built with


@pytest.mark.usefixtures("there")
def test_a_stale_bundle_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: object) -> None:
        raise StaleBundle("changed")

    types.declared.add(f"{PACKAGE}.kernels")
    monkeypatch.setattr("kbuild.loader.bundle.Bundle.check_sources", refuse)
    with pytest.raises(BundleError, match="changed"):
        finding.find(runs.count_heads)


def test_a_compiler_where_one_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KBUILD_JIT", "1")
    monkeypatch.setattr(providers, "find", lambda kind: lambda kernel: (kind, kernel.name))
    assert finding.find(runs.count_heads) == ("missing kernel", runs.count_heads.name)
    assert providers.registry[providers.MISSING_KERNEL] == "kbuild.jit:missing_kernel"


def test_what_a_compiler_makes_at_launch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KBUILD_JIT", "1")
    monkeypatch.setenv("KBUILD_CACHE", str(tmp_path))
    monkeypatch.setattr("kbuild.jit._targets", lambda: (targets.parse("sm_90"),))
    found = finding.find(runs.count_heads)
    assert (found.name, found.block_dim, found.shape.whole) == (runs.count_heads.name, 256, True)


def test_while_a_program_is_recorded_nothing_is_launched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a GPU, or before the machine code is built; and nothing is written for `instances`."""

    def noted(kernel: object, args: object) -> bool:
        raise AssertionError("recorded")

    monkeypatch.setattr(types, "on_launch", noted)
    for library in (standin.open(), object()):
        monkeypatch.setattr(driver, "get", lambda library=library: SimpleNamespace(library=library))
        finding.Carried(runs.count_heads).launch(3, (), None, None, None)


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_on_another_python(version: str, installed: Path) -> None:
    """What 3.10 or a later one has built is found by what 3.8 makes of the same factories."""
    program = (
        "from kbuild.loader import types, values\n"
        "from kbuild.primitives import catalogue, finding, runs\n"
        f"types.declared.add('{PACKAGE}.kernels')\n"
        "kernels = [runs.write_runs, *catalogue.scan_kernels(values.float64)]\n"
        "print(*[finding.find(kernel).bundle.manifest['package'] for kernel in kernels])\n"
    )
    environment = {**plain_environment(), "PYTHONPATH": os.pathsep.join([ROOT, str(installed / PACKAGE)])}
    done = subprocess.run(
        [need_python(version), "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout.split(), done.stderr) == ([PACKAGE] * 3, "")


def test_a_launch_finds_once(monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[object] = []
    found = SimpleNamespace(launch=lambda *args: launched.append(args))
    kernel = SimpleNamespace(name="k")
    monkeypatch.setattr(finding, "find", lambda kernel: found)
    finding.Carried(kernel).launch(3, (), None, None, None)  # type: ignore[arg-type]
    assert kernel.target is found
    assert launched == [(3, (), None, None, None, 0)]
