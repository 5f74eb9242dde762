"""Looks for a bundle that is neither read nor refused: guided by coverage where atheris is installed.

    make fuzz SECONDS=7200
    python -m tests.fuzz.fuzz_bundle SECONDS [FILE…]        with files: examines them, and nothing else

The corpus grows in build/fuzz/corpus and is used again; what breaks a reader is written to build/fuzz/found, and the
exit status is then not 0. In CI it is the same walk every time: a change is judged by what it changed. Without
atheris (it has wheels for Linux on x86-64, Python 3.10 to 3.14) the same mutants are made blindly.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn

FOLDER = Path(__file__).parents[2] / "build" / "fuzz"
SECONDS_FOR_ONE = 10
MEGABYTES = 2048


def main(arguments: list[str]) -> int:
    """The exit status."""
    seconds = int(arguments[0]) if arguments else 60
    if arguments[1:]:
        return _examine([Path(name) for name in arguments[1:]])
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed for this Python: mutants are made without looking at coverage", flush=True)
        return _blindly(seconds)
    _guided(seconds)


def _examine(paths: list[Path]) -> int:
    from tests.helpers import hostile

    for path in paths:
        print(f"{path}: {hostile.examine(path.read_bytes())}")
    return 0


def _blindly(seconds: int) -> int:
    from tests.helpers import hostile

    pool, seed, verdicts = hostile.seeds(), time.time_ns(), Counter[str]()
    chance, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        case = hostile.mutate(chance.choice(pool), chance)
        try:
            verdict = hostile.examine(case)
        except BaseException:
            print(f"found {_keep(case)} (seed {seed})", flush=True)
            raise
        verdicts[verdict] += 1
        if verdict != "refused" and len(pool) < 1000:
            pool.append(case)  # what is still read is worth another change
    print(f"{sum(verdicts.values())} mutants in {seconds} s: {dict(verdicts)}")
    return 0


def _keep(case: bytes) -> Path:
    path = FOLDER / "found" / hashlib.sha256(case).hexdigest()[:16]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(case)
    return path


def _guided(seconds: int) -> NoReturn:
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["kbuild.loader", "kbuild.bundle"]):
        from tests.helpers import hostile

    corpus, found = FOLDER / "corpus", FOLDER / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(hostile.seeds()):
        (corpus / f"seed{number}").write_bytes(seed)

    def mutate(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if chance.random() < 0.3:
            return bytes(atheris.Mutate(data, max_size))
        return hostile.mutate(data, chance)[:max_size]

    options = [
        f"-max_total_time={seconds}",
        f"-timeout={SECONDS_FOR_ONE}",
        f"-rss_limit_mb={MEGABYTES}",
        "-max_len=65536",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
        f"-seed={int('CI' in os.environ)}",  # 0: another one each time
        str(corpus),
    ]
    atheris.Setup([sys.argv[0], *options], hostile.examine, custom_mutator=mutate)
    atheris.Fuzz()
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
