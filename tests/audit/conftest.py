"""What tests of the audit have in common."""

from __future__ import annotations

import pytest

from kbuild.audit import solver
from tests.audit.score import PATIENT


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's own count of its work ends a query, not the clock: the same on a slow machine."""
    monkeypatch.setattr(solver, "FIRST_TRY", PATIENT)
