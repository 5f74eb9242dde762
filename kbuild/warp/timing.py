"""Warp's timers and log levels."""

from __future__ import annotations

from kbuild.loader import timers

from .absent import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ScopedTimer(timers.ScopedTimer):
    """`kb.ScopedTimer` with Warp's arguments. `use_nvtx` and `color` mean nothing here.

    `cuda_filter` (times of single kernels) and `detailed` (Python's profile) are refused when they ask for something.
    """

    def __init__(
        self,
        name: str,
        active: bool = True,
        print: bool = True,
        detailed: bool = False,
        dict: dict[str, list[float]] | None = None,
        use_nvtx: bool = False,
        color: Any = "rapids",
        synchronize: bool = False,
        cuda_filter: int = 0,
        report_func: Any = None,
        skip_tape: bool = False,
    ) -> None:
        if active and cuda_filter:
            raise refusal("ScopedTimer(cuda_filter=%r)" % cuda_filter, "profiling")
        if active and detailed:
            raise refusal("ScopedTimer(detailed=True)", "profiling")
        super().__init__(name, active, print, synchronize, dict)
        self.timing_results: list[Any] = []


class ScopedLogLevel:
    """Warp's log level for a block; kbuild's loader logs nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> ScopedLogLevel:
        return self

    def __exit__(self, *_: object) -> None:
        pass
