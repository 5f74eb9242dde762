"""`python -m robosim`: runs the kernels and checks each against plain Python.

Without a GPU it says which machine code of the package each of a list of GPUs would get. The standard library and
kbuild's loader are all that it needs.
"""

import sys

import kbuild as kb
from kbuild import loader
from kbuild.loader.select import Device
from robosim import block_checks, checks

CHECKS = checks.CHECKS + block_checks.CHECKS

GPUS = (
    Device("Jetson AGX Xavier, JetPack 5", 7, 2, (11, 4)),
    Device("Jetson Orin, JetPack 5", 8, 7, (11, 4)),
    Device("Jetson Orin, JetPack 6", 8, 7, (12, 2)),
    Device("Jetson Orin, JetPack 7", 8, 7, (13, 2)),
    Device("Jetson Thor, JetPack 7", 11, 0, (13, 0)),
    Device("T4", 7, 5, (12, 2)),
    Device("A100", 8, 0, (12, 4)),
    Device("RTX 3090", 8, 6, (12, 4)),
    Device("RTX 4090", 8, 9, (12, 8)),
    Device("H200", 9, 0, (13, 0)),
    Device("B200", 10, 0, (13, 0)),
    Device("RTX 5090", 12, 0, (13, 0)),
    Device("DGX Spark", 12, 1, (13, 0)),
    Device("Jetson Nano, JetPack 4", 5, 3, (10, 2)),
)


def main():
    """Exit status 0 unless a result is wrong."""
    gpus = kb.get_devices()
    if not gpus:
        print("no GPU here; what others would load from %s:\n" % loader.open("robosim"))
        explain()
        return 0
    print("%s: %d results, each checked against plain Python\n" % (gpus[0].name, len(CHECKS)))
    return 0 if run() else 1


def run():
    """Runs every check and prints a row for each; True when all are good."""
    print("%-18s %8s %13s %10s %10s" % ("result", "threads", "first launch", "max error", "allowed"))
    good = True
    for number, check in enumerate(CHECKS, 1):
        show_progress("[%d/%d] %s …" % (number, len(CHECKS), check.__name__))
        outcome = check()
        show_progress("")
        good = good and outcome.is_good
        row = (check.__name__, outcome.threads, outcome.seconds * 1e3, outcome.error, outcome.tolerance)
        print("%-18s %8d %10.2f ms %10.1e %10.1e" % row, "ok" if outcome.is_good else "WRONG", flush=True)
    print("\nall results are right" if good else "\nsome results are wrong")
    return good


def show_progress(text):
    """What is being done, on a terminal, until the next line overwrites it."""
    if sys.stdout.isatty():
        print("\r\033[K" + text, end="", flush=True)


def explain():
    """Prints for each of `GPUS` the code that it would get, or why it would get none."""
    bundle = loader.open("robosim")
    print("%-30s %-8s %-6s %-20s %s" % ("GPU", "arch", "driver", "gets code for", "made by"))
    for gpu in GPUS:
        answers = loader.explain(bundle, gpu)
        place = "%-30s sm_%-5d %-6s" % (gpu.name, gpu.number, "%d.%d" % gpu.driver)
        for target, made_by in sorted({(row["target"] or "nothing", row["toolchain"] or "") for row in answers}):
            print("%s %-20s %s" % (place, target, made_by and "NVRTC " + made_by))


if __name__ == "__main__":
    sys.exit(main())
