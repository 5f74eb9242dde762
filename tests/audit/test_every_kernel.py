"""The audit on kernels that were not written for it: no exception, and nothing found that intervals alone could find,
since all of them run clean."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

from kbuild.audit.findings import SAFETY, Options
from kbuild.errors import Report
from kbuild.loader.types import Kernel
from kbuild.scan.audit import audit_kernel
from kbuild.scan.units import lower
from tests.helpers import kernels


def of_package(name: str) -> Iterator[Kernel]:
    package = importlib.import_module(name)
    for found in pkgutil.iter_modules(package.__path__):
        if not found.name.startswith("_"):
            module = importlib.import_module(f"{name}.{found.name}")
            yield from (
                one for one in vars(module).values() if isinstance(one, Kernel) and one.module == module.__name__
            )


@pytest.mark.parametrize(("name", "least"), [("robosim", 15), ("kbuild.primitives", 4)])
def test_kernels_that_run_clean(name: str, least: int) -> None:
    audits = []
    for one in kernels.find_all(list(of_package(name))):
        lowered = lower(one, kernels.request(), Report())
        if lowered is not None:
            audits.append(audit_kernel(lowered, one.row, Options(use_solver=False)))
    assert len(audits) >= least
    for audit in audits:
        assert {one.check for one in audit.checks} >= SAFETY
        found = [one for one in audit.findings if one.check in SAFETY and one.verdict == "found"]
        assert found == [], audit.kernel
