"""Whether an editable install's bundle is older than its sources. A wheel's bundle names none, and is never asked."""

from __future__ import annotations

import os

from .digest import sha256
from .errors import StaleBundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def check(manifest: dict[str, Any]) -> None:
    """Compares the sources with what the manifest recorded: size and time first, content where they differ.

    Raises StaleBundle that names the file and the command.
    """
    for row in manifest["sources"] or ():
        change = _change(row)
        if change:
            raise StaleBundle(
                "%s %s since the bundle of package %r was built\n"
                "  help: run `python -m kbuild build` in the project; KBUILD_JIT=1 compiles what changed at launch"
                % (row["path"], change, manifest["package"])
            )


def _change(row: dict[str, Any]) -> str | None:
    try:
        found = os.stat(row["path"])
        if (found.st_size, found.st_mtime_ns) == (row["size"], row["mtime_ns"]):
            return None
        with open(row["path"], "rb") as file:
            same = sha256(file.read()).hexdigest() == row["sha256"]
    except OSError as error:
        return "cannot be read any more (%s)" % error.strerror
    return None if same else "has changed"
