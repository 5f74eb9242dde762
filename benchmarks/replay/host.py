"""kbuild's CUDA C compiled for the host, thread after thread, beside what Warp did on the CPU: no GPU needed.

    host.py GROUP… --out build/replay       every case, and every whole run, unfused on both sides

In this order atomics come in one order, so that what is left of a difference is meaning, or the host's mathematics
library. Needs g++, NumPy, and the test helpers of this checkout.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from comparing import differences, worst
from gpu import Foreign, described, itemsize
from helpers import host_gpu
from recording import Recording, arrays_of

from kbuild.loader import abi, bundle, geometry, pack


class Host:
    """One recording's kernels, compiled with g++ as they are asked for."""

    def __init__(self, recording: Recording, folder: Path) -> None:
        self.recording = recording
        self.bundle = bundle.open(str(folder / f"{recording.group}.unfused.kbundle"))
        self.rows = {row["name"]: row for row in self.bundle.manifest["kernels"]}
        self.units = json.loads((folder / f"{recording.group}.unfused.sources.json").read_text(encoding="utf-8"))
        self.folder = Path(tempfile.gettempdir()) / "replay-host"
        self.folder.mkdir(exist_ok=True)
        self.libraries: dict[str, ctypes.CDLL] = {}
        self.memory: dict[str, Any] = {}

    def compile_all(self) -> None:
        """All kernels, two at a time."""
        entries = {}
        for source in self.units.values():
            for match in host_gpu._ENTRY.finditer(source):
                entries[match[1]] = source
        wanted = {self.rows[name]["entry"]: self.rows[name] for name in self.recording.names["unfused"].values()}
        with ThreadPoolExecutor(2) as pool:
            for entry, library in zip(wanted, pool.map(lambda e: self._compile(entries[e]), wanted), strict=False):
                if library is not None:
                    self.libraries[entry] = library

    def _compile(self, source: str) -> ctypes.CDLL | None:
        source = host_gpu._TO_HALF.sub("y.bits = host_to_half((double)x);", source)
        source = source.replace(host_gpu._FROM_HALF, "y = host_from_half(x.bits);")
        rows = {row["entry"]: row for row in self.rows.values()}
        runners = [host_gpu._runner(m[1], m[2], rows[m[1]]) for m in host_gpu._ENTRY.finditer(source)]
        whole = (
            f'#include "{host_gpu.HEADER}"\n{source}\n#line 1 "runners"\nnamespace kb_unit {{\n{"".join(runners)}}}\n'
        )
        path = self.folder / f"{hashlib.sha256(whole.encode()).hexdigest()[:24]}.cpp"
        library = path.with_suffix(".so")
        if not library.exists():
            path.write_text(whole, encoding="utf-8")
            command = ["g++", *host_gpu._FLAGS, str(path), "-o", str(library)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(f"g++ refuses {runners and next(host_gpu._ENTRY.finditer(source))[1]}: {done.stderr[:600]}")
                return None
        return ctypes.CDLL(str(library))

    def begin(self, buffers: dict[str, bytes]) -> None:
        """Puts buffers into memory."""
        self.memory = {
            name: (ctypes.c_char * (len(data) + 64)).from_buffer_copy(data + bytes(64))
            for name, data in buffers.items()
        }
        self.sizes = {name: len(data) for name, data in buffers.items()}

    def address(self, buffer: str, offset: int) -> int:
        """Where a buffer's byte is."""
        return ctypes.addressof(self.memory[buffer]) + offset

    def read(self) -> dict[str, bytearray]:
        """All buffers."""
        return {name: bytearray(data[: self.sizes[name]]) for name, data in self.memory.items()}

    def do(self, op: dict[str, Any]) -> None:
        """One operation."""
        if op["op"] == "launch":
            self.launch(op)
            return
        to = self.address(*op["to"])
        if op["op"] == "set":
            ctypes.memset(to, op["byte"], op["size"])
        elif op["op"] == "copy":
            ctypes.memmove(to, self.address(*op["source"]), op["size"])
        else:
            ctypes.memmove(to, self.recording.blob(op["data"]), op["size"])

    def launch(self, op: dict[str, Any]) -> None:
        """Every thread of a launch, in order."""
        row = self.rows[self.recording.names["unfused"][op["kernel"]]]

        def array(address: int, shape: Any, strides: Any, element: str) -> Foreign:
            return Foreign(described(address, shape, strides, element, itemsize(self.recording, element)))

        values = self.recording.values(op, self.address, array)
        types = [abi.parse(p["type"], self.bundle.structs) for p in row["parameters"]]
        packing = pack.Packing(frozenset(row.get("optional", ())))
        for parameter, type, value in zip(row["parameters"], types, values, strict=True):
            packing.add(type, value, parameter["name"])
        places = [(type, p["offset"]) for type, p in zip(types, row["parameters"], strict=True)]
        run = getattr(self.libraries[row["entry"]], f"run_{row['entry']}")
        for header, blocks in geometry.plan(tuple(op["dim"]), row["ndim"], 256, row.get("origin", False)):
            rest = struct.pack("<" + pack.fields_format(places, len(header), row["size"]), *packing.values)
            run(header + rest, (ctypes.c_uint * 6)(blocks, 1, 1, 256, 1, 1))


def main() -> None:
    """Compares and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+")
    parser.add_argument("--out", type=Path, default=Path("build/replay"))
    parser.add_argument("--only", help="cases of kernels with this in their name")
    arguments = parser.parse_args()
    for group in arguments.groups:
        recording = Recording(arguments.out, group)
        host = Host(recording, arguments.out)
        host.compile_all()
        for case in recording.cases:
            check_case(recording, host, case, arguments.only)
        for scene in recording.scenes:
            if scene["repeat"]:
                check_run(recording, host, scene)


def check_case(recording: Recording, host: Host, case: dict[str, Any], only: str | None) -> None:
    """One launch."""
    row = recording.kernels[case["kernel"]]
    if case["kernel"] not in recording.names["unfused"] or (only and only not in row["qualname"]):
        return
    name = f"{case['scene']}: {row['module'].rpartition('.')[2]}:{row['qualname'].rpartition('.')[2]}"
    before = {buffer: recording.blob(blob) for buffer, blob in case["before"].items()}
    after = {buffer: bytearray(recording.blob(blob)) for buffer, blob in case["after"].items()}
    host.begin(before)
    try:
        host.do(case["op"])
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}")
        return
    before = {buffer: bytearray(data) for buffer, data in before.items()}
    rows = differences(recording, arrays_of(recording, [case["op"]]), before, after, host.read())
    total = worst(rows)
    if total["equal"] == total["count"]:
        print(f"{name}: equal ({total['changed']} of {total['count']} numbers changed)")
        return
    print(f"{name}: {total}")
    for one in rows:
        if one["equal"] != one["count"]:
            print(f"    {one}")


def check_run(recording: Recording, host: Host, scene: dict[str, Any]) -> None:
    """A whole run."""
    missing = {op["kernel"] for op in scene["ops"] if op["op"] == "launch"} - recording.names["unfused"].keys()
    if missing or not scene["complete"]:
        reasons = [recording.kernels[one]["qualname"] for one in missing]
        print(f"run {scene['name']}: left out: {scene['reasons'][:3]}, {reasons}")
        return
    before = {name: bytearray(recording.blob(one["data"])) for name, one in scene["buffers"].items()}
    arrays = arrays_of(recording, scene["ops"])
    host.begin({name: bytes(data) for name, data in before.items()})
    for count in range(scene["repeat"]):
        for op in scene["ops"]:
            host.do(op)
        if count in (0, scene["repeat"] - 1):
            key = "final" if count == 0 else "last"
            wanted = {name: bytearray(recording.blob(blob)) for name, blob in scene[key].items()}
            rows = differences(recording, arrays, before, wanted, host.read())
            launches = sum(op["op"] == "launch" for op in scene["ops"]) * (count + 1)
            print(f"run {scene['name']}, {2 * (count + 1)} steps, {launches} launches: {worst(rows)}")
            for one in rows:
                if one["equal"] != one["count"]:
                    print(f"    {one}")


if __name__ == "__main__":
    main()
