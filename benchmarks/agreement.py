"""Simulator and GPU: how many launches of the GPU tests, and of their adjoints, give the same bits on both.

    agreement.py SHADOW.json              what tests/gpu/shadow.py wrote on this machine → results/agreement.json
    agreement.py --adjoints SHADOW.json   what tests/gpu/shadow_backward.py wrote → results/adjoints.json

`benchmarks/on_gpu.sh` does all.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from support.results import record


def main() -> None:
    """Records what the tests wrote; fails where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shadow", type=Path)
    parser.add_argument("--adjoints", action="store_true")
    arguments = parser.parse_args()
    values = json.loads(arguments.shadow.read_text(encoding="utf-8"))
    record("adjoints" if arguments.adjoints else "agreement", values)
    launches = values["launches"]
    print(", ".join(f"{count} {state}" for state, count in launches.items()))
    sys.exit(1 if launches["differ"] or not launches["exact"] else 0)


if __name__ == "__main__":
    main()
