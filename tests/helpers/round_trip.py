"""Source → IR → source again → IR again: the two must be the same."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from kbuild.errors import CompileError
from kbuild.intrinsics.table import has_effects
from kbuild.ir import nodes
from kbuild.ir.python import print_python
from kbuild.ir.same import difference
from tests.helpers import kernels

ROOT = Path(__file__).parents[2]


def lowered_again(text: str, folder: Path) -> nodes.Kernel:
    """The IR of a printed kernel. Raises CompileError."""
    path = folder / f"again_{next(kernels._numbers)}.py"
    path.write_text(text, encoding="utf-8")
    found, diagnostics = kernels.diagnose(kernels.load(path)[1])
    if diagnostics:
        raise CompileError(diagnostics)
    assert len(found) == 1
    return found[0]


def check(kernel: nodes.Kernel, folder: Path) -> str:
    """Fails unless the kernel's text lowers to the same IR, and that prints the same text again. The text."""
    text = print_python(kernel, has_effects)
    try:
        again = lowered_again(text, folder)
    except CompileError as error:
        raise AssertionError(f"{kernel.name}: {error}\n{text}") from None
    found = difference(kernel, again)
    assert found is None, f"{kernel.name}: {found}\n{text}"
    assert difference(again, kernel) is None
    return text


def own_modules() -> list[str]:
    """Names of the kernel modules in this repository that are right: the sample project's and those for the GPU."""
    found = []
    for source, package in (("sample_project/src", "robosim"), ("tests/gpu/project/src", "gpukernels")):
        if str(ROOT / source) not in sys.path:
            sys.path.append(str(ROOT / source))
        paths = sorted((ROOT / source / package).glob("*.py"))
        texts = {f"{package}.{path.stem}": path.read_text(encoding="utf-8") for path in paths}
        # What is in CUDA C++ has no spelling in Python.
        found += [name for name, text in texts.items() if "@kb.kernel" in text and "@kb.func_native" not in text]
    return found


def kernels_of(module: str) -> list[nodes.Kernel]:
    """The IR of the kernels that a module declares."""
    with kernels.declared() as declared:
        if module in sys.modules:
            importlib.reload(sys.modules[module])
        else:
            importlib.import_module(module)
    found, diagnostics = kernels.diagnose([k for k in declared if k.module == module])
    assert diagnostics == []
    return found
