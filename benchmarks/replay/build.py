"""kbuild's machine code for what was recorded: a bundle for each recording, and the name of each kernel in it.

    build.py GROUP --out build/replay       → GROUP.kbundle, GROUP.names.json

Runs where newton and mujoco_warp are installed, with this checkout on Python's path; `warp` stands for kbuild.warp, and
Warp's own code is never imported. Kernels that stand in functions are made by calling those as the recording saw them
called. What kbuild refuses is listed with its reason.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.metadata
import inspect
import json
import sys
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.results import progress

from kbuild import targets
from kbuild.config import BuildConfig
from kbuild.errors import CompileError, Report
from kbuild.loader import abi, generic, overloading
from kbuild.loader import types as runtime
from kbuild.loader.layout import abi_type
from kbuild.nvrtc import Cache, cache_root, discover
from kbuild.pipeline import Quiet
from kbuild.pipeline.packing import pack
from kbuild.pipeline.units import Compilation, UnitCode, compile_units
from kbuild.scan.data import Request, Scanned, diagnostic_to_json
from kbuild.scan.depth import deeply
from kbuild.scan.importing import import_kernels
from kbuild.scan.units import cut, find, lower_unit

MOCKS = """
PIL cupy jax jaxlib matplotlib nvtx onnx onnxruntime paddle pxr pyglet pytest scipy taichi tkinter torch trimesh usd
warp_nn yaml coacd alphashape
"""


class Impossible(Exception):
    """A kernel that cannot be made here; says why."""


def main() -> None:
    """Builds one group, both ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group")
    parser.add_argument("--out", type=Path, default=Path("build/replay"))
    parser.add_argument("--target", default="sm_90")
    arguments = parser.parse_args()
    recording = json.loads((arguments.out / f"{arguments.group}.json").read_text(encoding="utf-8"))
    maker = Maker(recording)
    report: dict[str, Any] = {"refused": {}, "names": {}}
    for row in recording["kernels"]:
        if row["problem"] is None:
            try:
                maker.make(row)
            except Impossible as error:
                report["refused"][row["id"]] = str(error)
    for fmad in (True, False):
        names = build(maker, fmad, arguments, report["refused"])
        report["names"]["fused" if fmad else "unfused"] = names
    path = arguments.out / f"{arguments.group}.names.json"
    path.write_text(json.dumps(report, indent=1), encoding="utf-8")
    wanted = [row for row in recording["kernels"] if row["problem"] is None]
    print(f"{arguments.group}: {len(report['names']['fused'])} of {len(wanted)} kernels")
    for row in wanted:
        if row["id"] in report["refused"]:
            print(f"  {row['module']}:{row['qualname']}: {report['refused'][row['id']]}")


class Maker:
    """Imports modules with kbuild.warp in Warp's place, and makes the recorded instances."""

    def __init__(self, recording: dict[str, Any]) -> None:
        self.recording = recording
        self.made: dict[str, runtime.Kernel] = {}
        modules = sorted({row["module"] for row in recording["kernels"] if row["problem"] is None})
        roots = [str(importlib.metadata.distribution("warp-lang").locate_file("warp/examples"))]
        self.request = Request(
            roots, modules, MOCKS.split(), True, False, per_kernel=True, dialect="warp", keep_going=True
        )
        self.declared, faults, _ = import_kernels(self.request, lambda name: None)
        for fault in faults:
            print(fault.render(), file=sys.stderr)

    def make(self, row: dict[str, Any]) -> None:
        """The kernel of a row."""
        kernel = self._kernel(row)
        if generic.open_parameters(kernel.function):
            structs = {}
            for name in self.recording["structs"]:
                with contextlib.suppress(Impossible, TypeError):
                    type = abi_type(_at(name))
                    if isinstance(type, abi.Struct):
                        structs[type.name] = type
            bound = {}
            spelled = dict(row["parameters"])
            for name in generic.open_parameters(kernel.function):
                try:
                    bound[name] = abi.parse(spelled[name], structs)
                except Exception as error:
                    raise Impossible(f"type {spelled[name]}: {error}") from None
            kernel = overloading.of_types(kernel, bound)
        self.made[row["id"]] = kernel

    def _kernel(self, row: dict[str, Any]) -> runtime.Kernel:
        if not row["factories"]:
            if "<locals>" in row["qualname"]:
                raise Impossible("the function that made it was not seen")
            return _kernel_of(_at(f"{row['module']}:{row['qualname']}"))
        first = row["factories"][0]
        declared: list[runtime.Kernel] = []
        before = runtime.on_declare
        runtime.on_declare = declared.append
        try:
            arguments = {name: restore(value) for name, value in first["arguments"].items()}
            result = _call(_at(first["function"]), arguments)
        except Impossible:
            raise
        except BaseException as error:
            result = None
            failure = f"{first['function']} fails: {type(error).__name__}: {error}"[:300]
        else:
            failure = f"{first['function']} makes no {row['qualname']}"
        finally:
            runtime.on_declare = before
        found = [one for one in (*declared, *_kernels_in(result)) if one.qualname == row["qualname"]]
        if not found:
            raise Impossible(failure)
        return found[-1]


def _call(function: Any, arguments: dict[str, Any]) -> Any:
    """Calls a factory, by position where it can be: decorators that keep what was made may take nothing else."""
    code = inspect.unwrap(function).__code__
    positional = [arguments[name] for name in code.co_varnames[: code.co_argcount]]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return function(*positional, **{name: arguments[name] for name in named})


def _kernels_in(value: Any) -> list[runtime.Kernel]:
    if isinstance(value, runtime.Kernel):
        return [value]
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in _kernels_in(item)]
    return []


def _kernel_of(found: Any) -> runtime.Kernel:
    if isinstance(found, runtime.Kernel):
        return found
    raise Impossible(f"{found!r} is no kernel")


def _at(place: str) -> Any:
    module, _, qualname = place.partition(":")
    try:
        return reduce(getattr, qualname.split("."), importlib.import_module(module))
    except Exception as error:
        raise Impossible(f"{place}: {error}") from None


def restore(value: Any) -> Any:
    """An argument of a factory from its JSON data."""
    if not isinstance(value, dict):
        return value
    if "enum" in value:
        return _at(value["enum"])(restore(value["value"]))
    if "at" in value:
        return _at(value["at"])
    if "list" in value:
        return [restore(one) for one in value["list"]]
    if "tuple" in value:
        return tuple(restore(one) for one in value["tuple"])
    if "dict" in value:
        return {restore(key): restore(one) for key, one in value["dict"]}
    if "type" in value:
        return _type(value["type"])
    raise Impossible(f"an argument that is {value.get('unspeakable', value)}")


def _type(spelling: str) -> Any:
    import kbuild.warp as wp

    type = abi.parse(spelling, {})
    if isinstance(type, abi.Scalar):
        return getattr(wp, type.spelling)
    scalar = getattr(wp, type.element.spelling)
    if isinstance(type, abi.Matrix):
        return wp.types.matrix((type.rows, type.columns), scalar)
    if type.kind == "vec":
        return wp.types.vector(type.length, scalar)
    return {"quat": wp.types.quaternion, "transform": wp.types.transformation}[type.kind](scalar)


def build(maker: Maker, fmad: bool, arguments: argparse.Namespace, refused: dict[str, str]) -> dict[str, str]:
    """One bundle; returns the name in it of each recorded kernel."""
    request = replace(maker.request, fmad=fmad)
    wanted = {id(kernel): kernel for kernel in maker.made.values()}
    report = Report()
    found = deeply(lambda: find(list(wanted.values()), report))
    units = deeply(lambda: cut(found, request))
    kept, codes = [], []
    problems: dict[int, str] = {}
    for unit in units:
        mine = Report()
        lowered = None
        try:
            lowered = deeply(lambda unit=unit, mine=mine: lower_unit(unit, found, request, mine))
        except Exception as error:
            problems[unit.kernels[0]] = f"a bug of kbuild's: {type(error).__name__}: {error}"[:300]
        if lowered is None:
            reasons = [f"{d.message} [{d.code}]" for d in mine.diagnostics if d.severity == "error"]
            problems.setdefault(unit.kernels[0], "; ".join(dict.fromkeys(reasons))[:300])
        else:
            kept.append(unit)
            codes.append(UnitCode(unit.name, lowered.rows, lowered.structs, {}, lowered.source, lowered.files))
    config = BuildConfig(Path.cwd(), (), (targets.parse(arguments.target),), (), fmad=fmad)
    cache = Cache(cache_root())
    plan = Compilation(config, discover((), cache=cache), cache)
    scanned = Scanned([one.row for one in found], kept, [], [diagnostic_to_json(d) for d in report.diagnostics])
    progress(f"{arguments.group}: {len(kept)} kernels for {arguments.target}, fmad={fmad}")
    compile_units(plan, scanned, codes, Quiet(), 2)
    name = f"{arguments.group}.{'fused' if fmad else 'unfused'}"
    sources = {unit.name: code.source for unit, code in zip(kept, codes, strict=True)}
    (arguments.out / f"{name}.sources.json").write_text(json.dumps(sources), encoding="utf-8")
    pack(plan, arguments.group, arguments.out / f"{name}.kbundle", scanned, list(zip(kept, codes, strict=True)), False)
    return _names(maker, found, problems, report, refused)


def _names(
    maker: Maker, found: Any, problems: dict[int, str], report: Report, refused: dict[str, str]
) -> dict[str, str]:
    """By identity: kernels that were made twice are one."""
    names = {}
    messages = {d.kernel: f"{d.message} [{d.code}]" for d in report.diagnostics}
    by_object = {id(one.kernel): index for index, one in enumerate(found)}
    by_key = {(one.kernel.name, one.reach.key()): index for index, one in enumerate(found)}
    for id_, kernel in maker.made.items():
        index = by_object.get(id(kernel))
        if index is None:
            from kbuild.lang.reach import reach

            with contextlib.suppress(CompileError):
                one = reach(kernel)
                index = by_key.get((kernel.name, one.key()))
        if index is None:
            refused[id_] = messages.get(kernel.name, "no instance was found again")
        elif index in problems:
            refused[id_] = problems[index]
        else:
            names[id_] = found[index].row.name
    return names


if __name__ == "__main__":
    main()
