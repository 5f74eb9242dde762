"""`python -m kbuild`. Parses on Python 3.8, to say what newer one a build needs."""

from __future__ import annotations

import sys

OLDEST = (3, 10)
TOO_OLD = """\
kbuild: error: python -m kbuild needs Python 3.10 or newer, and this is %d.%d (%s)
  help: build the wheel on a newer Python: it runs on this one too. For a machine that only runs kernels there is
        python -m kbuild.loader doctor | verify | selftest"""
MACHINE = 3
INTERRUPTED = 130


def main() -> int:
    """Run the command line; returns the exit status."""
    if sys.version_info[:2] < OLDEST:
        print(TOO_OLD % (*sys.version_info[:2], sys.executable), file=sys.stderr)
        return MACHINE
    try:
        from kbuild.cli.main import main as run

        return run()
    except KeyboardInterrupt:  # while it still imports, or while it ends
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
