"""The kernels that profiles are held against an H200 with: they compile, and name launches that there are."""

from __future__ import annotations

from pathlib import Path

from tests.helpers import kernels
from tests.helpers.counter_data import launches

FILE = Path(__file__).with_name("counter_kernels.py")


def test_every_kernel_compiles_and_stands_for_a_launch():
    module, declared = kernels.load(FILE)
    lowered, diagnostics = kernels.diagnose(declared)
    assert [d.render() for d in diagnostics] == []
    used = {case.kernel.__name__ for case in module.CASES}
    assert used == {kernel.name.split(":")[1] for kernel in lowered}
    found = {f"{launch.run}/{launch.name}": launch for launch in launches()}
    for case in module.CASES:
        launch = found[case.launch]
        assert ("idx" in case.arguments) == (launch.indices is not None)
        assert set(case.arguments) <= {"out", "a", "b", "idx", "n", "k"}
