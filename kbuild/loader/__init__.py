"""The runtime: opens bundles, picks the code for a GPU, launches. Python standard library only, Python 3.8 or newer.

    from kbuild import loader
    bundle = loader.open("robosim")
    bundle["robosim.kernels:integrate"].launch(dim=n, args=(pos, vel, (0.0, -9.81, 0.0), 1 / 60))

Names are resolved when first used, so that a start pays for what it needs.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bundle import Bundle as Bundle
    from .bundle import open as open
    from .errors import BundleError as BundleError
    from .errors import DriverError as DriverError
    from .errors import LaunchError as LaunchError
    from .errors import LoaderError as LoaderError
    from .errors import StaleBundle as StaleBundle
    from .explaining import explain as explain

__all__ = ("Bundle", "BundleError", "DriverError", "LaunchError", "LoaderError", "StaleBundle", "explain", "open")
_HOMES = {"Bundle": "bundle", "explain": "explaining", "open": "bundle"}  # all others are errors


def __getattr__(name: str) -> object:
    if name in __all__:
        home = _HOMES.get(name, "errors")
        # importlib would be one more module on the way of a start
        value = getattr(__import__("%s.%s" % (__name__, home), None, None, [name]), name)
    elif name in ("errors", "events", "format", "providers"):  # modules that callers name after `import kbuild.loader`
        value = __import__("%s.%s" % (__name__, name), None, None, ["__name__"])
    else:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    globals()[name] = value
    return value
