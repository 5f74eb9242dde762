"""What the loader raises. Every message names the thing, the place and the cure."""

from __future__ import annotations


class LoaderError(Exception):
    """Base of everything that the loader raises on purpose."""


class BundleError(LoaderError):
    """A bundle is missing, damaged, or not what the application trusts."""


class LaunchError(LoaderError):
    """A launch that cannot be: wrong arguments, an unknown kernel or instance, no code for this GPU."""


class DriverError(LoaderError):
    """The GPU driver is missing or refused."""


class StaleBundle(BundleError):
    """The sources changed after an editable build wrote the bundle."""
