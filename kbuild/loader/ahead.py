"""What a first launch needs, made ready while the driver starts.

cuInit and the first context take 200 ms, in which Python has nothing to do: a thread imports the modules that launch,
and reads the bundles of the packages that have declared kernels. Whatever goes wrong here is left alone: the launch
does it again, and says what is wrong.
"""

from __future__ import annotations

from _thread import start_new_thread

from . import types


def start() -> None:
    """Begins, and does not wait."""
    try:
        start_new_thread(_prepare, ())
    except RuntimeError:
        return  # no more threads: the launch itself will do it


def _prepare() -> None:
    # What makes and fills arrays, opens bundles and launches.
    from . import copying, occupancy, resolve  # noqa: F401
    from .memory import allocation, transfer  # noqa: F401

    for module in list(types.declared):
        try:
            resolve.open_for(module, module)
        except Exception:  # the launch meets the same, and says it
            continue
