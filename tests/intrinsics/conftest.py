"""NVRTC as the judge of generated code, and kernels that run on the host and in the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest

from tests.helpers.accept import accept
from tests.helpers.both_ways import BothWays

__all__ = ["accept"]


@pytest.fixture
def body(tmp_path: Path) -> Callable[[str, str], BothWays]:
    """`body("x: kb.array(dtype=float), …", "x[0] = …")`: a kernel with these parameters and statements."""

    def make(parameters: str, statements: str) -> BothWays:
        text = f"@kb.kernel\ndef one({parameters}):\n    i = kb.tid()\n{indent(dedent(statements).strip(), '    ')}\n"
        return BothWays(tmp_path, text)

    return make
