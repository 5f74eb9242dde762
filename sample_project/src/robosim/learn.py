"""`python -m robosim.learn`: optimises by gradients how balls are thrown and how a chain is pulled.

Shows the loss over the iterations, and fails where it does not fall.
"""

import argparse
import sys
import time

import kbuild as kb
from robosim import plot, tasks

FALLS = {"throw": 0.01, "chain": 0.25}  # what is left of the loss in the end, at most
FEW_ITERATIONS = 10  # with so few it has to fall, and no more


def main(arguments=None):
    """Exit status 0 unless a loss does not fall; without a GPU nothing is done unless a device is named."""
    parser = argparse.ArgumentParser(prog="python -m robosim.learn", description=__doc__)
    parser.add_argument("--device", help="sim, cuda:0 (default: the first GPU)")
    parser.add_argument("--iterations", type=int, default=200, help="default 200")
    parser.add_argument("--steps", type=int, default=200, help="of time (default 200)")
    parser.add_argument("--plot", metavar="FILE.svg", help="writes a picture of the losses")
    chosen = parser.parse_args(arguments)
    if chosen.device is None and not kb.get_devices():
        print("no GPU here; with kbuild[build] installed, --device sim runs this in the simulator")
        return 0
    curves = {}
    for task in (tasks.Throw(chosen.device, chosen.steps), tasks.Chain(chosen.device, chosen.steps)):
        start = time.perf_counter()
        curves[task.name] = tasks.learn(task, chosen.iterations)
        seconds = time.perf_counter() - start
        print("%s on %s: %d iterations in %.2f s" % (task.name, task.loss.device, chosen.iterations, seconds))
        print(plot.text(curves[task.name]) + "\n", flush=True)
    if chosen.plot:
        with open(chosen.plot, "w", encoding="utf-8") as file:
            file.write(plot.svg(curves, "loss over %d iterations" % chosen.iterations))
        print("written: %s" % chosen.plot)
    bad = [name for name, values in curves.items() if not is_falling(name, values)]
    print("the loss does not fall: %s" % ", ".join(bad) if bad else "both losses fall")
    return 1 if bad else 0


def is_falling(name, values):
    """Whether the last loss is as far below the first as it should be."""
    share = FALLS[name] if len(values) - 1 > FEW_ITERATIONS else 1.0
    return values[-1] < share * values[0]


if __name__ == "__main__":
    sys.exit(main())
