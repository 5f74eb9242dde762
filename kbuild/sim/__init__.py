"""The meaning of the IR, run without a GPU.

In: a contracted kernel, a launch and host arrays. Out: the arrays changed, or a fault with the Python line. `lockstep`
runs many threads at a time on NumPy, and is what the device `sim` does. `numbers` is arithmetic to the last bit,
`values` the memory, `threads` runs one thread after another on Python numbers: slow, exact, and the oracle that
everything faster is held against. `access` is what memory accesses cost.

As `kb.sim` this package has the names of `kbuild.simulate.face`, which takes live kernels: it is found through the
loader's table, since nothing here knows what stands above.
"""

from __future__ import annotations

import importlib.util
from typing import Any


def __getattr__(name: str) -> Any:
    # `from kbuild.sim import blocks` asks here first, and must go on to look for a module.
    if name.startswith("_") or importlib.util.find_spec(f"{__name__}.{name}") is not None:
        raise AttributeError(name)
    from kbuild.loader import providers

    return providers.find(providers.SIMULATOR)(name)
