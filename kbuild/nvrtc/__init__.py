"""Text in, cubin out: NVRTC toolchains, compile jobs in worker processes, and a cache of their results.

    toolchains = discover()
    job = Job("robosim.kernels", source, "sm_90", choose(parse("sm_90"), toolchains), key_parts=key)
    compile_jobs([job], cache=Cache(cache_root()), workers=2)  →  [Compiled(b"\\x7fELF…", …)] or [Rejected(…)]

The names are resolved when they are asked for (PEP 562): a worker process imports this package too, and needs none.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbuild.nvrtc.cache import Cache, cache_root
    from kbuild.nvrtc.choice import choose
    from kbuild.nvrtc.discovery import Survey, discover, survey
    from kbuild.nvrtc.headers import Headers, HeaderSearch, cure
    from kbuild.nvrtc.jobs import Compiled, Job, Outcome, Rejected, job_key, lookup, text_key
    from kbuild.nvrtc.log import LogMessage
    from kbuild.nvrtc.pool import compile_jobs
    from kbuild.nvrtc.toolchain import Toolchain

_HOME = {
    "Cache": "cache",
    "Compiled": "jobs",
    "HeaderSearch": "headers",
    "Headers": "headers",
    "Job": "jobs",
    "LogMessage": "log",
    "Outcome": "jobs",
    "Rejected": "jobs",
    "Survey": "discovery",
    "Toolchain": "toolchain",
    "cache_root": "cache",
    "choose": "choice",
    "compile_jobs": "pool",
    "cure": "headers",
    "discover": "discovery",
    "job_key": "jobs",
    "lookup": "jobs",
    "survey": "discovery",
    "text_key": "jobs",
}

__all__ = [
    "Cache",
    "Compiled",
    "HeaderSearch",
    "Headers",
    "Job",
    "LogMessage",
    "Outcome",
    "Rejected",
    "Survey",
    "Toolchain",
    "cache_root",
    "choose",
    "compile_jobs",
    "cure",
    "discover",
    "job_key",
    "lookup",
    "survey",
    "text_key",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
