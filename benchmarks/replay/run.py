"""Warp's machine code and kbuild's on one GPU, from the same memory: every case, and every whole run.

    run.py GROUP… --data build/replay --out FOLDER [--seconds 300]     → FOLDER/GROUP.result.json

Needs a GPU and NumPy; neither Warp nor a compiler. Each group runs in a process of its own, and where a kernel takes
the GPU's context down, the next process goes on behind it. Cases run Warp three times, which shows what the order of
atomics does, and kbuild once; runs go three times with Warp's code and twice with kbuild's, fused and not.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(1, str(Path(__file__).resolve().parents[2]))

from comparing import differences, worst
from recording import Recording, arrays_of

CHECKPOINTS = (2, 10, 100)


def main() -> None:
    """Parent and child."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+")
    parser.add_argument("--data", type=Path, default=Path("build/replay"))
    parser.add_argument("--out", type=Path, default=Path("build/replay-results"))
    parser.add_argument("--seconds", type=float, default=300.0, help="for all groups together")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.child:
        Child(arguments.groups[0], arguments).work()
        return
    end = time.time() + arguments.seconds
    for group in arguments.groups:
        if time.time() < end:
            supervise(group, arguments, end)


def supervise(group: str, arguments: argparse.Namespace, end: float) -> None:
    """Runs a group's processes until one comes to its end."""
    command = [sys.executable, __file__, group, "--child", "--data", str(arguments.data), "--out", str(arguments.out)]
    path = arguments.out / f"{group}.result.json"
    path.unlink(missing_ok=True)
    for _ in range(40):
        started = time.time()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=max(end - time.time(), 1.0))
            status, said = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as error:
            status, said = -1, f"out of time: {error}"
        print(f"{group}: status {status}, {time.time() - started:.1f} s\n{said[-3000:]}", flush=True)
        if status == 0 or time.time() >= end:
            return
        state = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"items": {}, "doing": None}
        if state["doing"] is None:
            return
        state["items"][state["doing"]] = {"failed": said[-1500:]}
        state["doing"] = None
        path.write_text(json.dumps(state), encoding="utf-8")


class Child:
    """One process's work on a group."""

    def __init__(self, group: str, arguments: argparse.Namespace) -> None:
        from gpu import Gpu

        self.path = arguments.out / f"{group}.result.json"
        self.recording = Recording(arguments.data, group)
        self.gpu = Gpu(self.recording, arguments.data)
        self.state: dict[str, Any] = {"items": {}, "doing": None}
        if self.path.exists():
            self.state = json.loads(self.path.read_text(encoding="utf-8"))

    def work(self) -> None:
        """What is not done yet."""
        recording = self.recording
        self.state["device"] = repr(self.gpu.device)
        counts = {"cases": 0, "runs": 0}
        started = time.time()
        for number, case in enumerate(recording.cases):
            if self._is_known(case["op"]):
                counts["cases"] += 1
                self._item(f"case {number}", lambda case=case: self.case(case))
        for scene in recording.scenes:
            ops = [op for op in scene["ops"] if op["op"] == "launch"]
            if scene["repeat"] and scene["complete"] and all(map(self._is_known, ops)):
                counts["runs"] += 1
                self._item(f"run {scene['name']}", lambda scene=scene: self.run(scene))
        self._save()
        print(f"{recording.group}: {counts}, {time.time() - started:.1f} s")

    def _is_known(self, op: dict[str, Any]) -> bool:
        """Both sides have the kernel."""
        return "warp" in self.recording.kernels[op["kernel"]] and all(
            op["kernel"] in self.recording.names[way] for way in ("fused", "unfused")
        )

    def _item(self, name: str, work: Any) -> None:
        if name in self.state["items"]:
            return
        self.state["doing"] = name
        self._save()
        try:
            self.state["items"][name] = work()
        except Exception as error:
            self.state["items"][name] = {"failed": f"{type(error).__name__}: {error}"[:1500]}
            print(f"{name}: {type(error).__name__}: {error}"[:600], flush=True)
            if not self.gpu.is_alive():
                self._save()
                os._exit(3)
        self.state["doing"] = None

    def _save(self) -> None:
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(json.dumps(self.state), encoding="utf-8")
        temporary.replace(self.path)

    def case(self, case: dict[str, Any]) -> dict[str, Any]:
        """One launch."""
        before = {name: bytearray(self.recording.blob(blob)) for name, blob in case["before"].items()}
        cpu = {name: bytearray(self.recording.blob(blob)) for name, blob in case["after"].items()}
        arrays = arrays_of(self.recording, [case["op"]])
        self.gpu.begin({name: bytes(data) for name, data in before.items()})
        result: dict[str, list[Any]] = {}
        for side, way, times in (
            ("warp", "fused", 3),
            ("kbuild", "fused", 1),
            ("warp", "unfused", 3),
            ("kbuild", "unfused", 1),
        ):
            launch = self.gpu.prepare(side, way, case["op"])
            for _ in range(times):
                self.gpu.again()
                launch()
                result.setdefault(f"{side} {way}", []).append(self.gpu.read())
        row: dict[str, Any] = {"scene": case["scene"], "kernel": case["kernel"], "dim": case["op"]["dim"]}

        def between(one: Any, other: Any) -> list[dict[str, Any]]:
            return differences(self.recording, arrays, before, one, other)

        for way in ("fused", "unfused"):
            warp, kbuild = result[f"warp {way}"], result[f"kbuild {way}"]
            rows = between(warp[0], kbuild[0])
            row[way] = worst(rows)
            row[f"{way} arrays"] = [one for one in rows if one["equal"] != one["count"]]
            again = max(
                (worst(between(warp[0], other)) for other in warp[1:]),
                key=lambda x: (x["count"] - x["equal"], x["error"]),
            )
            row[f"{way} warp again"] = again
        row["warp: fused and not"] = worst(between(result["warp fused"][0], result["warp unfused"][0]))
        row["cpu"] = worst(between(cpu, result["kbuild unfused"][0]))
        return row

    def run(self, scene: dict[str, Any]) -> dict[str, Any]:
        """A whole run, its states at the checkpoints."""
        before = {name: bytearray(self.recording.blob(one["data"])) for name, one in scene["buffers"].items()}
        arrays = arrays_of(self.recording, scene["ops"])
        self.gpu.begin({name: bytes(data) for name, data in before.items()})
        states: dict[str, list[dict[int, Any]]] = {}
        seconds = {}
        for side, way, times in (
            ("warp", "fused", 3),
            ("kbuild", "fused", 2),
            ("warp", "unfused", 3),
            ("kbuild", "unfused", 2),
        ):
            calls = [self.gpu.prepare(side, way, op) for op in scene["ops"]]
            started = time.time()
            for _ in range(times):
                states.setdefault(f"{side} {way}", []).append(self._steps(scene, calls))
            seconds[f"{side} {way}"] = round((time.time() - started) / times, 3)
        result: dict[str, Any] = {
            "scene": scene["name"],
            "launches": sum(op["op"] == "launch" for op in scene["ops"]) * scene["repeat"],
            "kernels": len({op["kernel"] for op in scene["ops"] if op["op"] == "launch"}),
            "seconds": seconds,
            "steps": {},
        }
        cpu = {2: scene["final"], 2 * scene["repeat"]: scene["last"]}
        for steps in states["warp fused"][0]:
            row: dict[str, Any] = {}

            def between(one: Any, other: Any, steps: int = steps) -> list[dict[str, Any]]:
                return differences(self.recording, arrays, before, one[steps], other[steps])

            for way in ("fused", "unfused"):
                warp, kbuild = states[f"warp {way}"], states[f"kbuild {way}"]
                rows = [between(one, other) for one in warp for other in kbuild]
                row[way] = [worst(one) for one in rows]
                row[f"{way} arrays"] = [one for one in rows[0] if one["equal"] != one["count"]]
                row[f"{way} warp again"] = [worst(between(warp[0], other)) for other in warp[1:]]
                row[f"{way} kbuild again"] = [worst(between(kbuild[0], other)) for other in kbuild[1:]]
            row["warp: fused and not"] = worst(between(states["warp fused"][0], states["warp unfused"][0]))
            if steps in cpu:
                wanted = {name: bytearray(self.recording.blob(blob)) for name, blob in cpu[steps].items()}
                row["cpu: warp unfused"] = worst(between({steps: wanted}, states["warp unfused"][0]))
                row["cpu: kbuild unfused"] = worst(between({steps: wanted}, states["kbuild unfused"][0]))
            result["steps"][steps] = row
        return result

    def _steps(self, scene: dict[str, Any], calls: list[Any]) -> dict[int, Any]:
        self.gpu.again()
        found = {}
        for count in range(1, scene["repeat"] + 1):
            for call in calls:
                call()
            if 2 * count in (*CHECKPOINTS, 2 * scene["repeat"]):
                found[2 * count] = self.gpu.read()
        return found


if __name__ == "__main__":
    main()
