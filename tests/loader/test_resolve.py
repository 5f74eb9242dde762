"""`kb.launch`: from a live kernel object to its instance in its package's bundle."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbuild.loader import array as arrays
from kbuild.loader import format, identity, providers, resolve
from kbuild.loader.errors import LaunchError, StaleBundle
from kbuild.loader.types import Kernel, kernel
from tests.helpers.fake_cuda import FakeCuda, code, cubin_row, kernel_rows, make_manifest

MODULE = """
from kbuild.loader.types import kernel

SCALE = 0.5

@kernel
def plain(x: float):
    pass

@kernel
def scaled(x: float):
    x * SCALE

@kernel
def forgotten(x: float):
    pass

def make(n):
    @kernel
    def inner(x: float):
        x * n
    return inner
"""

PLANS = {"plain": [], "scaled": ["global:SCALE"], "make.<locals>.inner": ["closure:n"]}


class Package:
    """An imported package `NAME.kernels` with a bundle of three definitions."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        (self.folder / "__init__.py").write_text("")
        self.source = self.folder / "kernels.py"
        self.source.write_text(textwrap.dedent(MODULE))
        __import__(name + ".kernels")
        self.kernels: Any = sys.modules[name + ".kernels"]

    def write(self, **changes: Any) -> None:
        """The bundle for SCALE = 0.5 and n in (1, 2)."""
        instances = [("plain", self.kernels.plain), ("scaled", self.kernels.scaled)]
        instances += [("make.<locals>.inner", self.kernels.make(n)) for n in (1, 2)]
        rows: list[Any] = []
        definitions: dict[str, Any] = {}
        for qualname, live in instances:
            name = "%s.kernels:%s" % (self.name, qualname)
            plan = PLANS[qualname]
            found = identity.identity(live.function, plan)
            values = identity.describe(identity.evaluate(live.function, plan))
            row = {"identity": found, "values": values, "kernel": len(rows)}
            definitions.setdefault(name, {"plan": plan, "instances": []})["instances"].append(row)
            made = kernel_rows("%s[%s]" % (name, found[:8]) if plan else name, [("x", "float32")], 1, {}, 256)
            rows.append(dict(made, entry="entry_%d" % len(rows)))
        manifest = make_manifest(
            rows, [cubin_row("sm_90", range(len(rows)), 0)], package=self.name, definitions=definitions
        )
        (self.folder / "_kbuild.kbundle").write_bytes(format.dump(dict(manifest, **changes), [code(rows)]))

    def source_row(self, **changes: Any) -> dict[str, Any]:
        import hashlib

        found = self.source.stat()
        row = {"module": self.name + ".kernels", "path": str(self.source), "size": found.st_size}
        row.update(mtime_ns=found.st_mtime_ns, sha256=hashlib.sha256(self.source.read_bytes()).hexdigest())
        return dict(row, **changes)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Package]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    name = "pkg_%s" % abs(hash(request.node.nodeid))
    yield Package(tmp_path, name)
    for module in (name, name + ".kernels"):
        sys.modules.pop(module, None)
    resolve._opened.clear()


def entries(cuda: FakeCuda) -> list[str]:
    return [cuda.library.fake_record_name(i).decode() for i in range(len(cuda.records))]


def test_each_kernel_finds_its_instance(cuda: FakeCuda, package: Package) -> None:
    package.write()
    first, second = package.kernels.make(1), package.kernels.make(2)
    for live in (package.kernels.plain, package.kernels.scaled, second, first, second):
        resolve.launch(live, dim=5, inputs=[1.0])
    assert entries(cuda) == ["entry_0", "entry_1", "entry_3", "entry_2", "entry_3"]
    assert cuda.calls.count("cuModuleLoadData") == 1


def test_outputs_follow_inputs(cuda: FakeCuda, package: Package) -> None:
    package.write()
    resolve.launch(package.kernels.plain, 5, outputs=[1.0])
    package.kernels.plain.launch(5, (1.0,))
    assert entries(cuda) == ["entry_0"] * 2
    with pytest.raises(LaunchError, match="takes 1 arguments"):
        resolve.launch(package.kernels.plain, 5, inputs=[1.0], outputs=[2.0])


def test_read_only_memory_is_no_output(cuda: FakeCuda, package: Package) -> None:
    package.write()

    class ReadOnly:
        __cuda_array_interface__ = {"shape": (1,), "typestr": "<f4", "data": (0, True), "version": 3}  # noqa: RUF012

    with pytest.raises(LaunchError, match="output 0 is read-only"):
        resolve.launch(package.kernels.plain, 5, outputs=[ReadOnly()])


@pytest.mark.parametrize("wrong", [b"x", {1.0: 2}, {1.0}, 1.0, None, iter([1.0])])
def test_inputs_and_outputs_are_lists(cuda: FakeCuda, package: Package, wrong: Any) -> None:
    package.write()
    for options in ({"inputs": wrong, "outputs": [1.0]}, {"outputs": wrong}, {"inputs": wrong}):
        for _ in range(3):
            with pytest.raises(
                LaunchError, match=r":plain: (inputs|outputs|args) wants a tuple or a list of arguments"
            ):
                resolve.launch(package.kernels.plain, 5, **options)
            resolve.launch(package.kernels.plain, 5, outputs=(1.0,))
    assert len(cuda.records) == 9
    with pytest.raises(LaunchError, match=r"kb.launch wants a function decorated"):
        resolve.launch(len, 5, outputs=[1.0])


def test_an_output_that_is_none_is_named(cuda: FakeCuda, package: Package) -> None:
    package.write()
    freed = arrays.zeros(3)
    freed.free()

    class Malformed:
        __cuda_array_interface__ = {"shape": (1,)}  # noqa: RUF012

    for wrong in (freed, Malformed()):
        with pytest.raises(LaunchError, match=r":plain: parameter x: wanted float32"):
            resolve.launch(package.kernels.plain, 5, outputs=[wrong])


def test_a_bundles_kernel_can_be_launched_too(cuda: FakeCuda, package: Package) -> None:
    from kbuild import loader

    package.write()
    bundle = loader.open(package.name)
    resolve.launch(bundle[package.name + ".kernels:plain"], 3, [1.0])
    assert entries(cuda) == ["entry_0"]
    with pytest.raises(LaunchError, match=r"kb.launch wants a function decorated with @kernel"):
        resolve.launch(len, 3, [1.0])


def test_values_are_looked_at_once(cuda: FakeCuda, package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    package.write()
    resolve.launch(package.kernels.scaled, 1, [1.0])
    monkeypatch.setattr(package.kernels, "SCALE", 0.75)
    resolve.launch(package.kernels.scaled, 1, [1.0])
    assert entries(cuda) == ["entry_1"] * 2


def test_no_instance_for_these_values(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    package.write()
    monkeypatch.setattr(package.kernels, "SCALE", 0.75)
    with pytest.raises(LaunchError) as caught:
        resolve.launch(package.kernels.scaled, 1, [1.0])
    for part in (":scaled for global:SCALE = float 0.75", "it holds:\n    global:SCALE = float 0.5", "KBUILD_JIT=1"):
        assert part in str(caught.value)
    with pytest.raises(LaunchError) as caught:
        resolve.launch(package.kernels.make(3), 1, [1.0])
    assert "closure:n = int 3" in str(caught.value)
    assert "    closure:n = int 1\n    closure:n = int 2\n" in str(caught.value)
    monkeypatch.delattr(package.kernels, "SCALE")
    with pytest.raises(LaunchError, match=r":scaled: global:SCALE: .*no such name"):
        resolve.launch(package.kernels.scaled, 1, [1.0])


def test_no_bundle(package: Package) -> None:
    with pytest.raises(LaunchError) as caught:
        resolve.launch(package.kernels.plain, 1, [1.0])
    for part in (":plain: package", f"there is no {package.folder}/_kbuild.kbundle", "pip install .", "KBUILD_JIT=1"):
        assert part in str(caught.value)
    package.write()  # built meanwhile
    assert resolve.find(package.kernels.plain).name.endswith(":plain")


def test_no_definition(package: Package) -> None:
    package.write()
    with pytest.raises(LaunchError, match=r"has no kernel 'pkg_.*:forgotten'") as caught:
        resolve.launch(package.kernels.forgotten, 1, [1.0])
    assert "`modules` in [tool.kbuild]" in str(caught.value)


def test_outside_any_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def lonely(x: float) -> None: ...

    monkeypatch.setattr(lonely, "__module__", "no_such_module")
    with pytest.raises(LaunchError, match=r"no_such_module:.*lies in no regular package"):
        resolve.launch(Kernel(lonely), 1, [1.0])
    monkeypatch.setattr(lonely, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    with pytest.raises(LaunchError, match="is defined in the program itself"):
        resolve.launch(Kernel(lonely), 1, [1.0])


def test_a_module_that_is_run(cuda: FakeCuda, package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    package.write()
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", package.kernels.__spec__)
    run = package.kernels.plain.function
    monkeypatch.setattr(run, "__module__", "__main__")
    resolve.launch(kernel(run), 1, [1.0])
    assert entries(cuda) == ["entry_0"]


# Editable installs


def test_unchanged_sources(cuda: FakeCuda, package: Package) -> None:
    package.write(sources=[package.source_row()])
    resolve.launch(package.kernels.plain, 1, [1.0])
    package.source.write_text("# changed after the first launch\n")
    resolve.launch(package.kernels.plain, 1, [1.0])
    assert len(cuda.records) == 2


def test_touched_sources_are_compared_by_content(cuda: FakeCuda, package: Package) -> None:
    package.write(sources=[package.source_row()])
    os.utime(package.source, (1, 1))
    resolve.launch(package.kernels.plain, 1, [1.0])
    assert len(cuda.records) == 1


@pytest.mark.parametrize("change", ["content", "size", "gone"])
def test_changed_sources(cuda: FakeCuda, package: Package, change: str) -> None:
    package.write(sources=[package.source_row()])
    text = package.source.read_text()
    if change == "gone":
        package.source.unlink()
    else:
        package.source.write_text(text.replace("0.5", "0.6") if change == "content" else text + "#\n")
        os.utime(package.source, (1, 1))
    from kbuild import loader

    opened = loader.open(package.name)[package.name + ".kernels:plain"]
    for launch in (lambda: resolve.launch(package.kernels.plain, 1, [1.0]), lambda: opened.launch(1, (1.0,))):
        with pytest.raises(StaleBundle) as caught:
            launch()
        assert str(package.source) in str(caught.value)
        assert "python -m kbuild build" in str(caught.value)
        assert ("cannot be read" if change == "gone" else "has changed") in str(caught.value)
    assert cuda.records == []


def test_a_wheel_never_looks(cuda: FakeCuda, package: Package) -> None:
    package.write()
    package.source.unlink()
    resolve.launch(package.kernels.plain, 1, [1.0])
    assert len(cuda.records) == 1


# Providers


class Compiler:
    """Stands for kbuild.jit."""

    asked: list[Any] = []  # noqa: RUF012
    launches: list[Any] = []  # noqa: RUF012

    def __init__(self, kernel: Any) -> None:
        self.asked.append(kernel)

    def launch(self, *arguments: Any) -> None:
        self.launches.append(arguments)


def simulate(*arguments: Any) -> None:
    Compiler.launches.append(arguments)


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch) -> type[Compiler]:
    monkeypatch.setattr(providers, "registry", {})
    monkeypatch.setattr(providers, "_jit", False)
    monkeypatch.delenv("KBUILD_JIT", raising=False)
    Compiler.asked, Compiler.launches = [], []
    providers.register(providers.MISSING_KERNEL, __name__ + ":Compiler")
    providers.register("sim", __name__ + ":simulate")
    return Compiler


def test_nothing_is_compiled_by_accident(package: Package, compiler: type[Compiler]) -> None:
    with pytest.raises(LaunchError, match="has no bundle"):
        resolve.launch(package.kernels.plain, 1, [1.0])
    assert compiler.asked == []


@pytest.mark.parametrize("how", ["environment", "call"])
def test_compiled_when_asked(
    package: Package, compiler: type[Compiler], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "call":
        providers.enable_jit()
    else:
        monkeypatch.setenv("KBUILD_JIT", "1")
    for _ in range(2):
        resolve.launch(package.kernels.plain, 4, [1.0], stream=9)
    assert compiler.asked == [package.kernels.plain]
    assert compiler.launches == [(4, [1.0], 9, None, None, 0)] * 2


def test_stale_bundles_are_compiled_when_asked(package: Package, compiler: type[Compiler]) -> None:
    package.write(sources=[package.source_row()])
    package.source.write_text("#\n")
    providers.enable_jit()
    resolve.launch(package.kernels.plain, 1, [1.0])
    assert compiler.asked == [package.kernels.plain]


def test_what_a_bundle_holds_is_not_compiled(cuda: FakeCuda, package: Package, compiler: type[Compiler]) -> None:
    package.write()
    providers.enable_jit()
    resolve.launch(package.kernels.plain, 1, [1.0])
    assert (compiler.asked, len(cuda.records)) == ([], 1)


def test_jit_without_a_compiler(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "registry", {})
    monkeypatch.setenv("KBUILD_JIT", "1")
    with pytest.raises(LaunchError, match="has no bundle"):
        resolve.launch(package.kernels.plain, 1, [1.0])


def test_other_devices(cuda: FakeCuda, package: Package, compiler: type[Compiler]) -> None:
    live = package.kernels.plain
    resolve.launch(live, 4, [1.0], device="sim")  # no bundle is needed for it
    package.write()
    resolve.launch(live, 4, [1.0])
    resolve.launch(live, 4, [1.0], device="sim:1", block_dim=32, max_blocks=5)
    assert compiler.launches[0] == (live, 4, [1.0], None, "sim", None, 0)
    assert compiler.launches[1][0] is live  # with its source, also after it was found in the bundle
    assert compiler.launches[1][1:] == (4, [1.0], None, "sim:1", 32, 5)
    with pytest.raises(LaunchError, match="nothing runs kernels on device 'cpu'; this installation knows cuda, sim"):
        resolve.launch(live, 4, [1.0], device="cpu")


def test_a_device_whose_needs_are_not_installed(package: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployed program has neither NumPy nor the compiler's Python."""
    monkeypatch.setattr(providers, "registry", {"sim": "kbuild.simulate.launches:launch"})
    for module in [name for name in sys.modules if name.startswith(("kbuild.simulate", "kbuild.sim.lockstep"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(LaunchError, match=r"launches cannot be used here: it needs numpy\n  help: pip install 'kbuild"):
        resolve.launch(package.kernels.plain, 4, [1.0], device="sim")
