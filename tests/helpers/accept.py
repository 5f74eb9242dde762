"""NVRTC as the judge of generated code."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kbuild import targets
from kbuild.nvrtc import Cache, Compiled, Job, choose, compile_jobs, discover, text_key

Accept = Callable[..., None]


@pytest.fixture(scope="session")
def accept(tmp_path_factory: pytest.TempPathFactory) -> Accept:
    """`accept(source, "sm_90", …)` fails with NVRTC's messages where it refuses a text or, unless `warns`, warns."""
    cache = Cache(tmp_path_factory.mktemp("nvrtc"))
    toolchains = discover()

    def check(source: str, *names: str, warns: bool = False) -> None:
        parts = [part for name in names or ("sm_90",) for part in targets.parse(name).parts()]
        jobs = [Job("unit", source, p.arch, choose(p, toolchains), key_parts=text_key(source)) for p in parts]
        for job, outcome in zip(jobs, compile_jobs(jobs, cache=cache, workers=2), strict=True):
            about = f"{job.arch}, NVRTC {job.toolchain.build}"
            assert isinstance(outcome, Compiled), f"{about}: {outcome}\n{source}"
            assert warns or [f"{m.line}: {m.text}" for m in outcome.messages] == [], f"{about}\n{source}"

    return check
