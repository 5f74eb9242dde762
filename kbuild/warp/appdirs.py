"""`warp._src.thirdparty.appdirs`: projects ask it for the folder of their own cache."""

from __future__ import annotations

import os


def user_cache_dir(appname: str | None = None, appauthor: object = None, version: str | None = None) -> str:
    """`~/.cache/<appname>/<version>`, or below `$XDG_CACHE_HOME`."""
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, *[part for part in (appname, version) if part])
