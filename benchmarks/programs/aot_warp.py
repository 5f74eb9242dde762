"""A process that makes a cubin of a kernel module with Warp's `compile_aot_module`; prints JSON. Run by aot.py.

    python aot_warp.py FOLDER MODULE ARCHITECTURE BACKWARD OUTPUT

Needs no GPU. What a program would load once is loaded before the clock starts: Warp, which holds NVRTC. The clock runs
from the import of the kernel module to the cubin on disk; `cpu` are seconds of the processor.
"""

import contextlib
import importlib
import io
import json
import os
import sys
import time

import warp as wp


def main():
    folder, module_name, architecture, backward, output = sys.argv[1:]
    sys.path.insert(0, folder)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        wp.init()
        wall, cpu = time.perf_counter(), time.process_time()
        module = importlib.import_module(module_name)
        wp.set_module_options({"enable_backward": backward == "1"}, module=module)
        (path,) = wp.compile_aot_module(module, arch=int(architecture), module_dir=output, use_ptx=False)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    toolkit = [part.strip() for part in said.getvalue().replace(",", "\n").splitlines() if "CUDA Toolkit" in part]
    compiler = "Warp %s, %s" % (wp.config.version, toolkit[0] if toolkit else "CUDA Toolkit unknown")
    print(json.dumps({"seconds": wall, "cpu": cpu, "size": os.path.getsize(path), "compiler": compiler}))


if __name__ == "__main__":
    main()
