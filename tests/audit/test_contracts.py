"""What is taken for granted of a launch: as much as the source says by how far its indices run, and no more."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from kbuild.audit.findings import KernelAudit, Options
from kbuild.audit.kernel import audit
from tests.audit.score import PATIENT
from tests.helpers import kernels

CHUNKS = """
    first = kb.block_idx() * chunk
    left = kb.min(n - first, chunk)
    done = 0
    while done < left:
        k = kb.thread_idx()
        if k {than} left - done:
            a[first + done + k] = 1.0
        done = done + kb.block_dim()
"""


def audited(folder: Path, body: str) -> KernelAudit:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    text = f"@kb.kernel\ndef k(a: kb.array(dtype=float), b: kb.array(dtype=int), n: int, chunk: int):\n{lines}\n"
    (kernel,) = kernels.lower_text(folder, text)
    return audit(kernel, Options(("bounds",), block=(64, 1, 1), time_limit=PATIENT))


@pytest.mark.parametrize(
    ("body", "granted"),
    [
        ("if kb.tid() < n:\n    a[kb.tid()] = 1.0", "a.shape[0] >= n"),
        ("if kb.tid() < n - 1:\n    a[kb.tid() + 1] = 1.0", "a.shape[0] >= n"),
        ("for i in range(n):\n    a[i] = 1.0", "a.shape[0] >= n"),
        ("a[3] = 1.0", "a.shape[0] >= 4"),
        ("a[b[n]] = 1.0", "b.shape[0] >= n + 1"),
        (CHUNKS.replace("{than}", "<"), "a.shape[0] >= n"),
    ],
    ids=["below a bound", "the next one", "a loop", "a fixed one", "a number of the launch", "chunks"],
)
def test_it_is_taken_for_granted(tmp_path: Path, body: str, granted: str) -> None:
    assert granted in audited(tmp_path, body).assumptions


@pytest.mark.parametrize(
    "body",
    [
        "if kb.tid() <= n:\n    a[kb.tid()] = 1.0",
        "if kb.tid() < n:\n    a[kb.tid() + 1] = 1.0",
        CHUNKS.replace("{than}", "<="),
        "if kb.tid() < a.shape[0]:\n    a[kb.tid() + 1] = 1.0",
        "if kb.tid() <= a.shape[0]:\n    a[kb.tid()] = 1.0",
        "if a.shape[0] > 0 and kb.tid() < n:\n    b[kb.tid()] = int(a[1])",
    ],
    ids=[
        "one too many",
        "the next one too many",
        "chunks",
        "the next of its own",
        "one too many of its own",
        "the second, if any",
    ],
)
def test_a_mistake_is_not(tmp_path: Path, body: str) -> None:
    (found,) = audited(tmp_path, body).checks
    assert found.verdict == "found"
