"""The tape's own tests launch kernels whose adjoints are written by hand."""

import pytest

from kbuild.loader import providers, uses
from kbuild.loader.tape import watching
from tests.helpers import hand_adjoints


@pytest.fixture(autouse=True)
def by_hand(monkeypatch):
    monkeypatch.setattr(providers, "backward_of", hand_adjoints.backward_of, raising=False)
    yield
    assert watching.own.recording is None
    del uses.tapes[:]
