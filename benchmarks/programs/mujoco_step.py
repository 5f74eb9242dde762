"""A program that steps MuJoCo Warp's own test models, and says what it has launched: `mujoco_step.py STEPS MODEL …`.

An ordinary program of somebody else's: it knows nothing of kbuild, but that it counts the calls of `wp.launch`. The
last line is JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import mujoco
import mujoco_warp
import warp as wp

MODELS = Path(mujoco_warp.__file__).parent / "test_data"
counted: Counter[str] = Counter()


def count(name: str) -> None:
    """Lets a function of Warp's count its calls."""
    original = getattr(wp, name)

    def counting(*arguments: Any, **options: Any) -> Any:
        counted[name] += 1
        return original(*arguments, **options)

    setattr(wp, name, counting)


def run(model: str, steps: int) -> dict[str, Any]:
    """One model."""
    counted.clear()
    start = time.perf_counter()
    m = mujoco.MjModel.from_xml_path(str(MODELS / model))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    loaded = time.perf_counter()
    on_gpu, data = mujoco_warp.put_model(m), mujoco_warp.put_data(m, d)
    for _ in range(steps):
        mujoco_warp.step(on_gpu, data)
    done = time.perf_counter()
    return {
        "model": model,
        "degrees_of_freedom": m.nv,
        "launches": counted["launch"],
        "tiled_launches": counted["launch_tiled"],
        "seconds_of_mujoco": round(loaded - start, 2),
        "seconds": round(done - loaded, 2),
    }


def main() -> None:
    """Runs all that are named."""
    for name in ("launch", "launch_tiled"):
        count(name)
    rows = []
    for model in sys.argv[2:]:
        try:
            rows.append(run(model, int(sys.argv[1])))
        except Exception as error:  # the next model may do
            rows.append({"model": model, "failed": f"{type(error).__name__}: {error}"})
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
