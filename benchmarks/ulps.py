"""Errors of every float function, in units of the last place.

    run FOLDER          on a GPU: computes, and writes the raw results there (standard library only)
    judge FOLDER        anywhere: holds them against mpmath, and writes results/ulps.json and the hardest points

`run` wants kbuild and gpukernels, as benchmarks/on_gpu.sh provides them. An error is the distance from the exact value
in units of the last place there; 0.5 is a correctly rounded result. The documented bounds count from the correctly
rounded result instead, so a function may be off by half a unit more.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from support import machine, points, raw
from support.floats import FORMATS
from support.results import machine as describe_machine
from support.results import progress

PART = 9 << 20  # bytes of results in a file, before they are compressed


def main() -> None:
    """One of the two halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("half", choices=("run", "judge"))
    parser.add_argument("folder", type=Path, help="where the raw results go, or are")
    parser.add_argument("--jobs", type=int, default=2, help="processes that judge (default 2)")
    arguments = parser.parse_args()
    if arguments.half == "run":
        run(arguments.folder)
    else:
        from support.judge import judge  # mpmath, which a GPU machine need not have

        sys.exit(judge(arguments.folder, arguments.jobs))


def run(folder: Path) -> None:
    """Computes every function of every type."""
    if machine.packages() is None:
        return
    from gpukernels import accuracy

    folder.mkdir(parents=True, exist_ok=True)
    about = {"machine": describe_machine(), "toolchain": toolchain()}
    for type in FORMATS:
        kernel = getattr(accuracy, f"compute_{type}")
        names = [expression[3:].partition("(")[0] for expression in accuracy.EXPRESSIONS[f"compute_{type}"]]
        heads: list[dict[str, Any]] = []
        results: list[bytes] = []
        part = 0
        for number, name in enumerate(names):
            progress(f"{type} {name}")
            columns = points.columns(name, type)
            results.append(compute(kernel, type, number, columns))
            heads.append({"name": name, "points": len(columns[0]), "arguments": raw.digest(type, columns)})
            if sum(map(len, results)) > PART or number == len(names) - 1:
                path = folder / f"ulps-{type}-{part}.raw"
                raw.write(path, {**about, "type": type, "functions": heads}, results)
                print(f"written: {path}, {path.stat().st_size / 1e6:.1f} MB")
                heads, results, part = [], [], part + 1


def compute(kernel: Any, type: str, number: int, columns: list[list[int]]) -> bytes:
    """The results of one function, as bytes."""
    import kbuild as kb

    dtype, count = getattr(kb, type), len(columns[0])
    arrays = [kb.array(FORMATS[type].pack(column), dtype=dtype) for column in columns]
    arrays += [arrays[0]] * (3 - len(arrays))  # arguments that the function does not take
    out = kb.zeros(count, dtype=dtype)
    kb.launch(kernel, dim=count, inputs=[*arrays, out, number])
    return bytes(out.tobytes())


def toolchain() -> str:
    """The NVRTC whose library functions ran, and its target."""
    from kbuild import loader
    from kbuild.loader import context, select

    bundle: Any = loader.open("gpukernels")
    index = bundle.kernels.index("gpukernels.accuracy:compute_float32")
    rows = [row for row in bundle.manifest["cubins"] if index in row["kernels"]]
    best = rows[select.order(context.get_device(), rows)[0]]
    return f"{best['target']}, NVRTC {best['toolchain']}"


if __name__ == "__main__":
    main()
