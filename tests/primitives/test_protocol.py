"""The number that all kernels of kbuild's own capture changes with them.

`protocol.json` holds the digest of what the kernels are made of under that number. After a change to a kernel: one more
for `PROTOCOL` in kbuild/primitives/kernels.py if a release has had the old one, then `pytest --update-golden`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbuild import config, primitives
from kbuild.lang.reach import key_of, reach
from kbuild.loader.types import Kernel
from kbuild.primitives import kernels

RECORD = Path(__file__).with_name("protocol.json")


def all_kernels() -> list[Kernel]:
    return primitives.kernels_of(primitives.NAMES)


def test_the_number_stands_for_these_kernels(request: pytest.FixtureRequest) -> None:
    parts = sorted((kernel.name, reach(kernel).key()) for kernel in all_kernels())
    found = {"protocol": kernels.PROTOCOL, "kernels": len(parts), "digest": key_of(parts, {})}
    if request.config.getoption("--update-golden"):
        RECORD.write_text(json.dumps(found) + "\n", encoding="utf-8")
    assert json.loads(RECORD.read_text(encoding="utf-8")) == found, "a kernel has changed: see above"


def test_every_kernel_captures_it() -> None:
    for kernel in all_kernels():
        assert "global:PROTOCOL" in reach(kernel).plan, kernel


def test_the_sums_of_all_chunks_are_one_tile() -> None:
    """The second launch of a sum takes them at once."""
    assert kernels.MOST_CHUNKS <= kernels.TILE


def test_names_for_the_configuration() -> None:
    assert config.PRIMITIVES == primitives.NAMES


def test_kernels_are_made_once() -> None:
    assert list(map(id, all_kernels())) == list(map(id, all_kernels()))
    assert len({id(kernel) for kernel in all_kernels()}) == len(all_kernels())


def test_arithmetic_does_not_depend_on_the_project() -> None:
    for kernel in all_kernels():
        assert kernel.options == {"block_dim": 256, "fmad": True, "asserts": False}
