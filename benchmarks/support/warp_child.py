"""Runs one file of Warp's tests, and writes a line of JSON for each test as it ends.

    python warp_child.py FOLDER FILE RESULTS --seconds 60

Ids that RESULTS has already are passed over: who started this process starts it again after a test that ended it.
The first line lists all ids of the file.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import sys
import time
import traceback
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import Any, TextIO

import warp_raises
from warp_mount import TESTS, Asked, mount

from kbuild.loader import types as kb_types

NAMES_OF_TAPES = {"Tape", "ScopedTape"}
# `wp.grad` in kernels and an array's gradient, one that is kept, launches for adjoints: names, and names of arguments.
NAMES_OF_GRADIENTS = {"grad", "retain_grad"}
ARGUMENTS_OF_GRADIENTS = {"adjoint", "adj_inputs", "adj_outputs", "retain_grad"}


class TooSlow(BaseException):
    """A test ran past its time."""


def main() -> None:
    """Runs the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("file")
    parser.add_argument("results", type=Path)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--only", default="", help="ids that contain this")
    parser.add_argument("--trace", action="store_true", help="print the tracebacks")
    arguments = parser.parse_args()
    mount(arguments.folder)
    warp_raises.patch()
    known = written(arguments.results)
    with arguments.results.open("a", encoding="utf-8", buffering=1) as out:
        module = importlib.import_module(f"{TESTS}.{arguments.file}")
        tests = [
            one for one in flat(unittest.defaultTestLoader.loadTestsFromModule(module)) if arguments.only in one.id()
        ]
        if not known:
            out.write(json.dumps({"ids": [one.id() for one in tests]}) + "\n")
        signal.signal(signal.SIGALRM, out_of_time)
        unittest.TestSuite([one for one in tests if one.id() not in known]).run(Result(out, arguments))
    os._exit(0)  # whatever threads and finalizers the tests have left


def written(path: Path) -> dict[str, dict[str, Any]]:
    """Ids with what is known of them."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row for row in rows if "id" in row}


def flat(suite: Any) -> Iterator[unittest.TestCase]:
    """The tests of a suite."""
    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for one in suite:
        yield from flat(one)


def out_of_time(_: int, __: FrameType | None) -> None:
    """The alarm."""
    raise TooSlow


class Result(unittest.TestResult):
    """Writes down how each test ends."""

    def __init__(self, out: TextIO, arguments: argparse.Namespace) -> None:
        super().__init__()
        self.out, self.arguments = out, arguments
        self.row: dict[str, Any] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        """See unittest."""
        super().startTest(test)
        self.row = {"id": test.id(), "status": "passed"}
        self.out.write(json.dumps({"started": test.id()}) + "\n")
        warp_raises.accepted.clear()
        self.asked, self.start = Asked.tapes, time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, self.arguments.seconds)

    def stopTest(self, test: unittest.TestCase) -> None:
        """See unittest."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.row["seconds"] = round(time.perf_counter() - self.start, 2)
        if warp_raises.accepted and self.row["status"] == "passed":
            self.row["other_words"] = list(warp_raises.accepted)
        self.row["tape"] = Asked.tapes > self.asked or says_tape(test)
        self.row["gradients"] = says_gradients(test)
        self.out.write(json.dumps(self.row) + "\n")
        super().stopTest(test)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        """See unittest."""
        self.note(test, err)

    def addError(self, test: Any, err: Any) -> None:
        """See unittest; also for what fails around a class's tests."""
        if not self.row or not isinstance(test, unittest.TestCase):
            traceback.print_exception(*err)
            return
        self.note(test, err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        """See unittest."""
        if err is not None:
            self.note(test, err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        """See unittest."""
        self.row.update(status="skipped", reason=reason)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        """See unittest."""
        self.row.update(status="failed", reason="it should fail, and does not")

    def note(self, test: unittest.TestCase, err: tuple[type[BaseException], BaseException, TracebackType]) -> None:
        """A test that fails; the first fault counts."""
        if self.row["status"] != "passed":
            return
        if self.arguments.trace:
            print(f"== {test.id()}", file=sys.stderr)
            traceback.print_exception(*err)
        kind, error, trace = err
        if kind is TooSlow:
            self.row.update(status="failed", reason="out of time")
        else:
            self.row.update(status="failed", reason=first_line(error), place=place(trace))


def first_line(error: BaseException) -> str:
    """An error in a line; of kbuild's compiler the message rather than what it is about."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith("cannot be compiled at launch:"):
        lines = lines[1:]
    return f"{type(error).__name__}: {' '.join(lines[:2])[:300]}" if lines else type(error).__name__


def place(trace: TracebackType) -> str:
    """The last line of the tests' own that was being run."""
    rows = [row for row in traceback.extract_tb(trace) if f"{os.sep}tests{os.sep}" in row.filename]
    rows = [row for row in rows if "unittest_utils" not in row.filename] or rows
    return f"{Path(rows[-1].filename).name}:{rows[-1].lineno}" if rows else ""


def says_tape(test: unittest.TestCase) -> bool:
    """The test's body, or a function of the tests' that it calls, names a tape."""
    return any(NAMES_OF_TAPES & set(_names(function.__code__)) for function in _called(test, into_kernels=False))


def says_gradients(test: unittest.TestCase) -> bool:
    """The same, or a kernel that it names, asks for a gradient without a tape."""
    codes = [function.__code__ for function in _called(test, into_kernels=True)]
    return any(NAMES_OF_GRADIENTS & set(_names(one)) or _says_argument(one) for one in codes)


def _called(test: unittest.TestCase, *, into_kernels: bool) -> list[FunctionType]:
    """The test's body and the functions of the tests' that it reaches."""
    body = getattr(type(test), test._testMethodName, None)
    while hasattr(body, "__wrapped__"):
        body = body.__wrapped__
    found: dict[int, FunctionType] = {}
    open_ends = [body]
    while open_ends:
        one = open_ends.pop()
        if into_kernels and isinstance(one, (kb_types.Kernel, kb_types.Function)):
            one = one.function
        if isinstance(one, FunctionType) and one.__module__.startswith(TESTS) and id(one) not in found:
            found[id(one)] = one
            open_ends += [one.__globals__.get(name) for name in set(_names(one.__code__))]
            open_ends += [cell.cell_contents for cell in one.__closure__ or () if _is_filled(cell)]
    return list(found.values())


def _says_argument(code: CodeType) -> bool:
    """A call gives one of the arguments by its name: names of arguments are a tuple among the constants."""
    tuples = [constant for constant in code.co_consts if isinstance(constant, tuple)]
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return any(name in ARGUMENTS_OF_GRADIENTS for one in tuples for name in one) or any(map(_says_argument, inner))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


if __name__ == "__main__":
    main()
