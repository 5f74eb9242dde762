"""The audit on good kernels that lack something: one that the simulator shows to be faulty is never proved, and one
that is as good as before is no finding. `benchmarks/audit.py` asks of all of them."""

from __future__ import annotations

import pytest

from tests.audit.cases import Case, cases
from tests.audit.mutations import judged
from tests.audit.score import FOR_OTHER_CONTENTS, PATIENT, asked, score_mutants

pytest.importorskip("z3", reason="z3 is not installed")

GOOD = [one for one in cases().values() if one.kind == "good"]
SAMPLE = [*GOOD[::7], cases()["half_a_warp_good"]]


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in SAMPLE])
def test_verdicts_turn_and_stay(case: Case) -> None:
    found = score_mutants(asked(time_limit=PATIENT), list(judged(case)))
    assert [one for one in found["wrong"] if one not in FOR_OTHER_CONTENTS] == []


@pytest.mark.parametrize("case", [pytest.param(one, id=one.name) for one in GOOD[::11]])
def test_without_a_solver_nothing_faulty_is_proved(case: Case) -> None:
    found = score_mutants(asked(use_solver=False), list(judged(case)))
    assert [one for one in found["wrong"] if one not in FOR_OTHER_CONTENTS] == []
