"""Kernel modules of tests: imported from a file, lowered and emitted in this process."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import ModuleType

from kbuild.codegen.unit import Unit, emit
from kbuild.errors import CompileError, Diagnostic, Report
from kbuild.ir import nodes
from kbuild.loader import types as runtime
from kbuild.scan.data import Request
from kbuild.scan.units import Found, find, lower

_numbers = itertools.count()


@contextmanager
def declared() -> Iterator[list[runtime.Kernel]]:
    """Collects the kernels that are declared inside the block."""
    kernels: list[runtime.Kernel] = []
    before, runtime.on_declare = runtime.on_declare, kernels.append
    try:
        yield kernels
    finally:
        runtime.on_declare = before


def load(path: Path, name: str | None = None) -> tuple[ModuleType, list[runtime.Kernel]]:
    """The module of a file and the kernels that importing it declares."""
    name = name or path.stem
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        with declared() as kernels:
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        raise
    return module, kernels


def write(folder: Path, text: str) -> Path:
    """A new module file with this (dedented) text after `import kbuild as kb`; names never repeat in a process."""
    path = folder / f"case_{next(_numbers)}.py"
    path.write_text("import kbuild as kb\n" + dedent(text), encoding="utf-8")
    return path


def request(*, fmad: bool = True, asserts: bool = False) -> Request:
    """What a scan is asked for, as far as lowering looks at it."""
    return Request([], [], [], fmad, False, False, asserts=asserts)


def diagnose(
    kernels: Sequence[runtime.Kernel], *, fmad: bool = True, asserts: bool = False
) -> tuple[list[nodes.Kernel], list[Diagnostic]]:
    """The contracted, verified IR of the kernels that are right, and what is wrong with the others."""
    report = Report()
    lowered = [lower(one, request(fmad=fmad, asserts=asserts), report) for one in find(kernels, report)]
    return [kernel for kernel in lowered if kernel is not None], report.diagnostics


def lower_text(folder: Path, text: str, *, fmad: bool = True, asserts: bool = False) -> list[nodes.Kernel]:
    """The IR of the kernels in a text. Raises CompileError with what is wrong in it."""
    _, kernels = load(write(folder, text))
    lowered, diagnostics = diagnose(kernels, fmad=fmad, asserts=asserts)
    if any(diagnostic.severity == "error" for diagnostic in diagnostics):
        raise CompileError(diagnostics)
    return lowered


def emit_kernels(kernels: Sequence[nodes.Kernel]) -> Unit:
    """One unit of these kernels; entries are `entry_0`, `entry_1`, …"""
    return emit([(kernel, f"entry_{i}") for i, kernel in enumerate(kernels)])


def find_all(kernels: Sequence[runtime.Kernel]) -> list[Found]:
    """What a scan finds among them. Raises CompileError."""
    report = Report()
    found = find(kernels, report)
    report.raise_errors()
    return found
