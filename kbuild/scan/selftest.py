"""What each kernel does with generated inputs, computed while building (see `loader.selftest`)."""

from __future__ import annotations

import math
from typing import Any

from kbuild.ir.blocks import in_whole_blocks
from kbuild.ir.nodes import Kernel
from kbuild.ir.types import INT32
from kbuild.loader import selftest
from kbuild.scan.suited import suited
from kbuild.sim.threads import run
from kbuild.sim.values import Fault, Memory, indexed

_MAX_STEPS = 200_000


def expectations(kernel: Kernel, block_dim: int) -> dict[str, Any]:
    """`{"trial", "approximate", "dim", "block_dim", "given"?, "changes": {path: {"indices", "data"}}}`;
    `{"skipped": reason}` where there are none.
    """
    reasons = []
    for trial in range(selftest.TRIALS):
        try:
            found = _attempt(kernel, trial, block_dim)
        except selftest.Unsuitable as error:
            return {"skipped": str(error)}
        except Fault as fault:
            reasons.append(fault.reason)
            continue
        if found.pop("prints"):
            reasons.append("it prints")  # into the midst of the report
            continue
        if found["changes"]:
            return found
        reasons.append("it changes nothing")
    return {"skipped": "with generated inputs: " + "; ".join(dict.fromkeys(reasons))}


def _attempt(kernel: Kernel, trial: int, block_dim: int) -> dict[str, Any]:
    parameters = [(p.name, p.type) for p in kernel.function.parameters]
    together = block_dim * (kernel.cluster_dim or 1)
    dim = selftest.dim_of(kernel.ndim, block_dim, in_whole_blocks(kernel), kernel.cluster_dim or 1)
    given, dim = suited(kernel, dim)
    if in_whole_blocks(kernel) and math.prod(dim) % together:
        raise selftest.Unsuitable(f"it runs in whole blocks, and states a launch of {math.prod(dim)} threads")
    arguments = selftest.generate(parameters, trial, given)
    samples = selftest.samples(parameters, arguments)
    memories = {id(s): Memory(s.element, s.shape, list(s.data)) for s in samples.values()}
    before = {path: _packed(sample, sample.data) for path, sample in samples.items()}
    outcome = run(kernel, dim, [_value(a, memories) for a in arguments.values()], _MAX_STEPS, block_dim)
    changes = {}
    for path, sample in samples.items():
        after = _packed(sample, memories[id(sample)].data)
        indices = [i for i, (old, new) in enumerate(zip(before[path], after, strict=True)) if old != new]
        if indices:
            changes[path] = {"indices": indices, "data": b"".join(after[i] for i in indices).hex()}
    return {
        "trial": trial,
        "approximate": outcome.approximate,
        "dim": dim,
        "block_dim": block_dim,
        **({"given": given} if given else {}),
        "changes": changes,
        "prints": bool(outcome.printed),
    }


def _packed(sample: selftest.Sample, data: list[Any]) -> list[bytes]:
    return [selftest.packed(sample.element, value) for value in data]


def _seen(sample: selftest.Sample, memory: Memory) -> Memory:
    if sample.indices is None:
        return memory
    tables = tuple(None if one is None else Memory(INT32, (len(one),), list(one)) for one in sample.indices)
    return indexed(memory, tables)


def _value(value: Any, memories: dict[int, Memory]) -> Any:
    """A generated argument as the interpreter takes it."""
    if isinstance(value, selftest.Sample):
        return _seen(value, memories[id(value)])
    if isinstance(value, dict):
        return {name: _value(inner, memories) for name, inner in value.items()}
    return value
