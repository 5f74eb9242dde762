"""Random programs through kbuild and g++, and in the simulator, give the bits that their reference in Python gives.

`KBUILD_DEEP=50` runs fifty times as many.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbuild.errors import CompileError
from kbuild.ir.nodes import Kernel
from kbuild.sim.blocks import over
from kbuild.sim.lockstep.run import Checks, Options
from tests.helpers import kernels, random_programs
from tests.helpers.host_gpu import HostModule, device
from tests.helpers.lockstep import run_in_lockstep

DEEP = int(os.environ.get("KBUILD_DEEP", "1"))
BATCH = 60
THREADS = 3
IN_TURN = Options(Checks.none(), chunk=1)  # all threads use the same elements


@pytest.mark.parametrize("seed", range(3 * DEEP))
def test_random_programs(tmp_path: Path, seed: int) -> None:
    programs = random_programs.make(seed, BATCH)
    text = random_programs.HELPERS + "\n".join(program.text() for program in programs)
    path = kernels.write(tmp_path, text)
    lowered = kernels.diagnose(kernels.load(path)[1])
    if lowered[1]:
        raise CompileError(lowered[1])
    module = HostModule(lowered[0], tmp_path)
    by_name = {kernel.name: kernel for kernel in lowered[0]}
    for program in programs:
        name = f"{path.stem}:{program.name}"
        _check(program, module, by_name[name], name, seed)


def _check(program: random_programs.Program, module: HostModule, kernel: Kernel, name: str, seed: int) -> None:
    source = random.Random(f"{seed} {program.name}")
    start = {kind: random_programs.values(kind, source) for kind in random_programs.TYPES}
    with np.errstate(over="ignore"):
        arrays = {kind: np.array(items, kind) for kind, items in start.items()}
    expected = {kind: array.tolist() for kind, array in arrays.items()}
    scalars = [source.choice([0, 3, -7, 2**31 - 1]), 0.75, source.choice([0.1, -2.5, 1e300])]
    simulated = {kind: array.copy() for kind, array in arrays.items()}
    module.launch(name, THREADS, [*map(device, arrays.values()), *scalars])
    run_in_lockstep(kernel, over((THREADS,), 32), [*simulated.values(), *scalars], IN_TURN)
    namespace: dict[str, Any] = dict(random_programs.REFERENCE)
    exec(program.reference_text(), namespace)
    for thread in range(THREADS):
        namespace[program.name](thread, *expected.values(), *scalars)
    for kind, array in arrays.items():
        wanted = np.array(expected[kind], kind)
        for found in (array, simulated[kind]):
            assert _bits(found) == _bits(wanted), (
                f"{name}: {kind}\n{found}\n{wanted}\n{program.text()}\n{program.reference_text()}"
            )


def _bits(array: np.ndarray) -> bytes:
    """The bits, all NaNs alike."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return array.tobytes()
