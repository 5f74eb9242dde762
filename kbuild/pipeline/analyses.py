"""The analyses of kernels, made in the fresh process or kept in the cache.

What is kept goes by the kernel's key, the text of its sources (findings have lines), the options and the analyses
themselves, so that a build with nothing to do analyses nothing. What becomes of captured data depends on the text of
all modules, and is kept for all kernels together.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from kbuild.audit.captured import Captures
from kbuild.audit.findings import OUT_OF_TIME, Finding, KernelAudit, Options
from kbuild.audit.parts import looked_at
from kbuild.audit.plain import decode
from kbuild.nvrtc import Cache
from kbuild.scan.client import Scanner
from kbuild.scan.data import Scanned, ScannedKernel, ScannedUnit

_KIND, _CAPTURES = "audit", "captures"


def analysed(
    kernels: Sequence[ScannedKernel],
    scanned: Scanned,
    scanner: Scanner,
    store: Cache,
    options: Options,
    modules: Mapping[str, Path],
) -> list[KernelAudit]:
    """The audits of kernels in Python, out of the cache where they are there. One that has errors has none."""
    texts = _Texts()
    units = {scanned.kernels[index].name: unit for unit in scanned.units for index in unit.kernels}
    keys = {k.name: _key(k, units[k.name], options, texts) for k in kernels if not k.expression}
    found = {name: audit for name, key in keys.items() if (audit := _kept(store, key)) is not None}
    missing = [name for name in keys if name not in found]
    for audit in scanner.audit(missing, options) if missing else ():
        found[audit.kernel] = audit
        if not _is_late(audit):
            store.put(_KIND, keys[audit.kernel], json.dumps(dataclasses.asdict(audit)).encode())
    audits = [found[name] for name in keys if name in found]
    return _with_captures(audits, modules, store, texts) if "source" in options.checks else audits


def _is_late(audit: KernelAudit) -> bool:
    """More time might change it."""
    texts = [*(one.reason for one in audit.findings), *audit.assumptions]
    return any(text.startswith(OUT_OF_TIME) for text in texts)


class _Texts:
    """Digests of files, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def digest(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        return self._known[path]


def _key(kernel: ScannedKernel, unit: ScannedUnit, options: Options, texts: _Texts) -> str:
    sources = [[path, texts.digest(path)] for path in kernel.sources]
    block = [kernel.block_dim, kernel.is_block_dim_chosen]
    return _digest([unit.key, kernel.name, block, sources, dataclasses.asdict(options), _fingerprint()])


def _digest(parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def _fingerprint() -> str:
    """The analyses, the simulator that examples are run in, and the solver that is asked."""
    digest = hashlib.sha256()
    rooms = [Path(__file__).parents[1] / room for room in ("audit", "sim", "scan")]
    for file in (file for room in rooms for file in sorted(room.rglob("*.py"))):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    try:
        digest.update(importlib.metadata.version("z3-solver").encode())
    except importlib.metadata.PackageNotFoundError:
        digest.update(b"no solver")
    return digest.hexdigest()


def _kept(store: Cache, key: str) -> KernelAudit | None:
    data = store.get(_KIND, key)
    return None if data is None else decode(KernelAudit, json.loads(data))


@dataclass(frozen=True, slots=True)
class _Captured:
    """What became of what a kernel captures: findings, and how many names were looked at."""

    findings: tuple[Finding, ...]
    count: int


def _with_captures(
    audits: Sequence[KernelAudit], modules: Mapping[str, Path], store: Cache, texts: _Texts
) -> list[KernelAudit]:
    """The audits with what becomes of captured data: any module may change that."""
    files = {name: str(path) for name, path in modules.items()}
    functions = [[audit.kernel, [dataclasses.astuple(span) for span in audit.functions]] for audit in audits]
    paths = sorted({*files.values(), *(span.path for audit in audits for span in audit.functions)})
    key = _digest([files, functions, [[path, texts.digest(path)] for path in paths], _fingerprint()])
    data = store.get(_CAPTURES, key)
    if data is None:
        captures = Captures(files)
        found = [_Captured(*captures.changing(audit.kernel, audit.functions)) for audit in audits]
        store.put(_CAPTURES, key, json.dumps([dataclasses.asdict(one) for one in found]).encode())
    else:
        found = [decode(_Captured, row) for row in json.loads(data)]
    return [with_findings(audit, one.findings, one.count) for audit, one in zip(audits, found, strict=True)]


def with_findings(audit: KernelAudit, findings: Sequence[Finding], count: int) -> KernelAudit:
    """The audit with further findings of its check "source", of so many places that were looked at."""
    before = next((one for one in audit.checks if one.check == "source"), looked_at("source", 0, ()))
    found = tuple(one for one in (*audit.findings, *findings) if one.check == "source")
    checks = tuple(one for one in audit.checks if one.check != "source")
    result = looked_at("source", before.obligations + count, found)
    return replace(audit, checks=(*checks, result), findings=(*audit.findings, *findings))
