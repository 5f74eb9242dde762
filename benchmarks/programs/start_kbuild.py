"""The start of a program on kbuild: `start_kbuild.py SITE COUNT [timed]`. Prints the first particle, then times.

`timed` puts a clock around every call of the driver, so that what is kbuild's and Python's own can be told.
"""

import time

START = time.perf_counter()

import sys  # noqa: E402

sys.path.insert(0, sys.argv[1])

BEFORE = time.perf_counter()
import kbuild as kb  # noqa: E402

IMPORTED = time.perf_counter()


class Clock:
    """A driver's library, or a function of it, whose calls are timed."""

    seconds = 0.0

    def __init__(self, inner):
        self.__dict__.update(inner=inner, known={})

    def __getattr__(self, name):
        if name not in self.known:
            self.known[name] = Clock(getattr(self.inner, name))
        return self.known[name]

    def __getitem__(self, name):
        return Clock(self.inner[name])

    def __setattr__(self, name, value):
        setattr(self.inner, name, value)

    def __call__(self, *arguments):
        start = time.perf_counter()
        result = self.inner(*arguments)
        Clock.seconds += time.perf_counter() - start
        return result


if "timed" in sys.argv:
    from kbuild.loader import driver

    load = Clock(driver._load)
    driver._load = lambda: Clock(load())

from robosim.kernels import integrate  # noqa: E402

count = int(sys.argv[2])
data = [(float(i), 1.0, 0.5) for i in range(count)]
pos, vel = kb.array(data, dtype=kb.vec3), kb.array(data, dtype=kb.vec3)
kb.launch(integrate, dim=count, inputs=[pos, vel, kb.vec3(0.0, -9.81, 0.0), 0.5])
first = pos.tolist()[0]

END = time.perf_counter()

import json  # noqa: E402
import os  # noqa: E402

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from footprint import footprint  # noqa: E402

times = {"first_result": END - START, "import_kbuild": IMPORTED - BEFORE, "driver": Clock.seconds}
print("%.9g %.9g %.9g" % tuple(first))
print(json.dumps(dict(footprint(), **times)))
