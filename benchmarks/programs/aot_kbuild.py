"""A process that makes a cubin of a kernel module with kbuild's parts; prints JSON. Run by aot.py.

    python aot_kbuild.py FOLDER MODULE TARGET

What a program would load once is loaded before the clock starts: kbuild and NVRTC. The clock runs from the import of
the kernel module to the cubin in memory. `nvrtc` are the seconds inside NVRTC's compilation, `cpu` those of the
processor.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from kbuild import targets
from kbuild.errors import Report
from kbuild.nvrtc import choose, discover
from kbuild.nvrtc.adapters import compile_program, open_nvrtc
from kbuild.nvrtc.toolchain import PROGRAM_NAME, command_line
from kbuild.scan.data import Request
from kbuild.scan.importing import import_kernels
from kbuild.scan.units import cut, find, lower_unit


def main() -> None:
    """Measures once."""
    folder, module, name = sys.argv[1:]
    target = targets.parse(name)
    toolchain = choose(target, discover())
    nvrtc = open_nvrtc(Path(toolchain.library), toolchain.builtins)
    options = [option.encode() for option in command_line(toolchain, target.arch)]
    request = Request([folder], [module], mock_imports=[], fmad=True, lineinfo=False, per_kernel=False)
    wall, cpu = time.perf_counter(), time.process_time()
    report = Report()
    kernels, faults, _ = import_kernels(request, lambda name: None)
    found = find([kernel for kernel in kernels if kernel.module == module], report)
    (unit,) = cut(found, request)
    lowered = lower_unit(unit, found, request, report)
    if faults or lowered is None:
        sys.exit("\n".join(map(str, [*faults, *report.diagnostics])))
    front = time.perf_counter() - wall
    before = time.process_time()
    answer = compile_program(nvrtc, lowered.source.encode(), PROGRAM_NAME.encode(), options, "cubin")
    nvrtc_cpu = time.process_time() - before
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if not answer.data:
        sys.exit(f"{answer.status_text}\n{answer.log}")
    print(
        json.dumps(
            {
                "seconds": wall,
                "cpu": cpu,
                "front": front,
                "nvrtc": answer.seconds,
                "nvrtc_cpu": nvrtc_cpu,
                "size": len(answer.data),
                "compiler": f"NVRTC {toolchain.build}",
            }
        )
    )


if __name__ == "__main__":
    main()
