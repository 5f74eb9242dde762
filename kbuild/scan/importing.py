"""Importing the user's modules: kernels noted as they are declared, faults told with their place."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from kbuild import warp
from kbuild.errors import Diagnostic, Span
from kbuild.loader import types as runtime
from kbuild.scan import recorded
from kbuild.scan.data import Request


def import_kernels(
    request: Request, importing: Callable[[str], None]
) -> tuple[list[runtime.Kernel], list[Diagnostic], list[str]]:
    """Every kernel that importing the modules and calling `instances` declares, wherever, what failed, and the
    modules that did.

    `importing(name)` is told of each module first: a module may end the process.
    """
    declared: list[runtime.Kernel] = []
    faults: list[Diagnostic] = []
    failed: list[str] = []
    runtime.on_declare = declared.append
    if not request.keep_going:  # that is a look at what is installed, which nobody edits
        _never_stale(request.roots)
    sys.path[:0] = request.roots
    sys.meta_path.append(_MockFinder(request.mock_imports))
    if request.dialect == "warp":
        warp.install()
    for name in request.modules:
        importing(name)
        try:
            importlib.import_module(name)
        except BaseException as error:  # SystemExit and KeyboardInterrupt of a module's own too
            faults.append(_import_fault(name, error, request.keep_going))
            failed.append(name)
    for name in request.instances if request.keep_going or not faults else ():
        importing(name)
        try:
            _call(name)
        except BaseException as error:
            faults.append(_instances_fault(name, error))
    return declared, faults, failed


def _never_stale(roots: Sequence[str]) -> None:
    """The project's own modules are compiled from their text: bytecode counts as fresh when a file was changed within
    the same second and kept its length, and then constants would come from before the change."""
    original = importlib.machinery.SourceFileLoader.get_code
    places = tuple(str(Path(root).resolve()) + os.sep for root in roots)

    def get_code(self: importlib.machinery.SourceFileLoader, fullname: str) -> Any:
        path = self.get_filename(fullname)
        if os.path.realpath(path).startswith(places):
            return self.source_to_code(self.get_data(path), path)
        return original(self, fullname)

    importlib.machinery.SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]


def _call(name: str) -> None:
    """Calls `package.module:function` or `path/file.py:function`, which calls the factories of kernels; or does what a
    recorded file says."""
    if name.endswith(".json"):
        recorded.replay(Path(name))
        return
    module, _, function = name.rpartition(":")
    getattr(_file(module) if module.endswith(".py") else importlib.import_module(module), function)()


def _file(path: str) -> ModuleType:
    """A Python file as a module of its own."""
    spec = importlib.util.spec_from_file_location("kbuild_instances", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _instances_fault(name: str, error: BaseException) -> Diagnostic:
    what = _in_a_line(error)
    if name.endswith(".json"):
        help = "where the sources have changed since it was recorded: python -m kbuild record --fresh -- PROGRAM"
    else:
        help = "a build calls it without arguments, and it calls the factories whose kernels the bundle shall hold"
    return Diagnostic("KB210", f"instances: {name} fails: {what}", _place(error), help=help)


def _import_fault(name: str, error: BaseException, is_check: bool) -> Diagnostic:
    what = _in_a_line(error)
    text = f"module {name} cannot be imported: {what}"
    return Diagnostic("KB201", text, _place(error), help=_cure(error, is_check))


def _in_a_line(error: BaseException) -> str:
    """`KeyError: 'x'`: the kind of an error and the first line of what it says; with several, the last one too."""
    text = traceback.format_exception_only(type(error), error)[-1].strip()  # a SyntaxError shows its place before
    lines = text.splitlines() or [type(error).__name__]
    return lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1].strip()}"


def _place(error: BaseException) -> Span | None:
    """The innermost line of the user's code in the traceback."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return Span(error.filename, error.lineno, error.offset or 1)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_machinery(f.filename)]
    return Span(frames[-1].filename, frames[-1].lineno or 1) if frames else None


_KBUILD = str(Path(__file__).parents[1]) + os.sep


def _is_machinery(path: str) -> bool:
    return path.startswith(("<frozen", _KBUILD)) or path == importlib.__file__


def _cure(error: BaseException, is_check: bool) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        name = error.name.partition(".")[0]
        if is_check:
            return f"install it; if kernels do not use it, add --mock {name}"
        return (
            f"if the build needs it, add it to `requires` of [build-system]; if kernels do not use it, "
            f'write mock-imports = ["{name}"] in [tool.kbuild]'
        )
    if isinstance(error, SystemExit):
        return 'guard what is a program with `if __name__ == "__main__":`'
    return "kernel modules are imported while building: they must import on a machine without a GPU"


class _Mock(ModuleType):
    """Stands for a module that is not installed: any attribute, any call."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Mock(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # As a decorator it must leave the decorated object alone.
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else self

    def __getitem__(self, item: Any) -> Any:
        return self

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return ()


class _MockFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Last in line: answers for the modules of `mock-imports` that nobody else has."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if any(name == mock or name.startswith(f"{mock}.") for mock in self.names):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Mock(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """A mock has no code."""
