"""Other ways to launch from Python, each in a function of its own that raises `Missing` where its package is not there.

`PEERS` maps a title to a function (cases, folder) → {case's name: burst}. The hand-written kernels of launching.cubin
take structs as they are; cuda.core takes none, and gets flat.cubin, whose arguments are numbers and pointers only.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support import machine
from support.cases import BLOCK, BLOCKS, COUNT, Burst, Cases, by_hand, flat, grouped

Ways = dict[str, Burst]

DISTRIBUTIONS = {
    "cuda.bindings": ("cuda-bindings",),
    "cuda.core": ("cuda-core",),
    "CuPy": ("cupy-cuda13x", "cupy-cuda12x", "cupy"),
    "PyTorch": ("torch",),
    "Triton": ("triton",),
    "Warp": ("warp-lang",),
}


class Missing(Exception):
    """Why a peer is not measured."""


def need(name: str) -> Any:
    """A module of a peer. Raises Missing."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Missing(f"{name} cannot be imported: {error}") from error


def add_path() -> None:
    """Peers that are not installed: KBUILD_PEERS is a folder with their packages, searched last."""
    folder = os.environ.get("KBUILD_PEERS")
    if folder and folder not in sys.path:
        sys.path.append(folder)


def versions() -> dict[str, str]:
    """Of each peer that is installed."""
    found = {}
    for title, names in DISTRIBUTIONS.items():
        for name in names:
            try:
                found[title] = importlib.metadata.version(name)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return found


def repeated(call: Callable[[], object]) -> Burst:
    """Bursts of a Python call."""

    def burst(launches: int) -> int:
        start = time.perf_counter_ns()
        for _ in range(launches):
            call()
        return time.perf_counter_ns() - start

    return burst


def bindings(cases: Cases, _: Path) -> Ways:
    """cuda.bindings: cuLaunchKernelEx, the configuration made once, the arguments packed at each launch."""
    cu = need("cuda.bindings.driver")
    module = asked(cu, cu.cuModuleLoadData(machine.handwritten("benchkernels.launching").read_bytes()))
    config = cu.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = BLOCKS, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = BLOCK, 1, 1
    config.sharedMemBytes, config.numAttrs = 0, 0
    config.hStream = cu.CUstream(0)

    def way(name: str) -> Burst:
        function = asked(cu, cu.cuModuleGetFunction(module, name.encode()))
        pairs = by_hand(name, cases.pointers())
        values, types = tuple(value for value, _ in pairs), tuple(kind for _, kind in pairs)
        invoke, good = cu.cuLaunchKernelEx, cu.CUresult.CUDA_SUCCESS

        def call() -> None:
            (status,) = invoke(config, function, (values, types), 0)
            if status != good:
                raise RuntimeError(status)

        return repeated(call)

    return {case.name: way(case.name) for case in cases.all}


def asked(cu: Any, answer: tuple[Any, ...]) -> Any:
    """The value of a call of cuda.bindings. Raises RuntimeError."""
    if answer[0] != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"cuda.bindings: {answer[0]}")
    return answer[1] if len(answer) > 1 else None


def cuda_core() -> Any:
    """cuda.core, which older versions call experimental. Raises Missing."""
    core = need("cuda.core")
    return core if hasattr(core, "launch") else need("cuda.core.experimental")


def core(cases: Cases, _: Path) -> Ways:
    """cuda.core: launch on the default stream."""
    core, numpy = cuda_core(), need("numpy")
    device = core.Device(0)
    device.set_current()
    code = core.ObjectCode.from_cubin(machine.handwritten("flat").read_bytes())
    config, stream, launch = core.LaunchConfig(grid=BLOCKS, block=BLOCK), device.default_stream, core.launch

    def way(name: str) -> Burst:
        kernel, pointers = code.get_kernel(name), set(cases.pointers().values())
        arguments = [
            one if one in pointers else numpy.float32(one) if isinstance(one, float) else numpy.int32(one)
            for one in flat(name, cases.pointers())
        ]
        return repeated(lambda: launch(stream, config, kernel, *arguments))

    return {case.name: way(case.name) for case in cases.all}


def cupy(cases: Cases, _: Path) -> Ways:
    """CuPy: a RawModule's function; structs are NumPy's."""
    cupy, numpy = need("cupy"), need("numpy")
    module = cupy.RawModule(path=str(machine.handwritten("benchkernels.launching")))
    arrays = {array.ptr: cupy.asarray(array) for array in cases.arrays.values()}

    def argument(value: Any, kind: Any) -> Any:
        if isinstance(value, int) and value in arrays:
            return arrays[value]
        if kind is None:  # without dimensions, passed as it lies in memory
            return numpy.frombuffer(bytes(value), numpy.dtype(f"V{len(bytes(value))}")).reshape(())
        return numpy.float32(value) if isinstance(value, float) else numpy.int32(value)

    def way(name: str) -> Burst:
        function = module.get_function(name)
        arguments = tuple(argument(*pair) for pair in by_hand(name, cases.pointers()))
        return repeated(lambda: function((BLOCKS,), (BLOCK,), arguments))

    return {case.name: way(case.name) for case in cases.all}


def tensors(cases: Cases) -> dict[str, Any]:
    """The arrays as PyTorch's tensors. Raises Missing."""
    torch = need("torch")
    return {name: torch.as_tensor(array, device="cuda") for name, array in cases.arrays.items()}


def kbuild_on_tensors(cases: Cases, _: Path) -> Ways:
    """kb.launch with PyTorch's tensors in place of kbuild's arrays."""
    import kbuild as kb

    mine = {id(cases.arrays[name]): tensor for name, tensor in tensors(cases).items()}
    launch = kb.launch

    def way(kernel: Any, values: tuple[Any, ...]) -> Burst:
        arguments = [mine.get(id(value), value) for value in values]
        return repeated(lambda: launch(kernel, dim=COUNT, inputs=arguments))

    return {case.name: way(case.kernel, case.values) for case in cases.all}


def triton(cases: Cases, folder: Path) -> Ways:
    """Triton: compiled before; vectors, matrices and structs are tuples."""
    need("triton")
    os.environ.setdefault("TRITON_CACHE_DIR", str(folder / "triton"))
    from programs import triton_kernels

    given = tensors(cases)

    def way(name: str) -> Burst:
        kernel, arguments = getattr(triton_kernels, name), grouped(name, given)
        return repeated(lambda: kernel[(BLOCKS,)](*arguments, BLOCK=BLOCK))

    return {case.name: way(case.name) for case in cases.all}


def open_warp(folder: Path) -> Any:
    """Warp, quiet and with a cache of its own. Raises Missing."""
    warp = need("warp")
    warp.config.quiet = True
    warp.config.kernel_cache_dir = os.environ.get("WARP_CACHE_PATH") or str(folder / "warp")
    warp.init()
    if not warp.is_cuda_available():
        raise Missing("Warp finds no GPU")
    return warp


def warp_array(warp: Any, array: Any, dtype: Any) -> Any:
    """Warp's array over kbuild's memory."""
    return warp.array(ptr=array.ptr, dtype=dtype, shape=array.shape, device="cuda:0", copy=False)


def _warp_launches(cases: Cases, folder: Path) -> dict[str, Callable[..., Any]]:
    """For each case wp.launch with all its arguments."""
    wp = open_warp(folder)
    from programs import warp_kernels

    types = {"mass": float, "radius": float, "heights": float, "kind": int, "frames": wp.mat33}
    arrays = {name: warp_array(wp, array, types.get(name, wp.vec3)) for name, array in cases.arrays.items()}
    made: dict[str, Callable[..., Any]] = {}
    for case in cases.all:
        arguments = [_warp_value(wp, warp_kernels, one) for one in grouped(case.name, arrays)]
        if case.name == "args1":
            arguments = arguments[:1]
        kernel = getattr(warp_kernels, case.name)
        made[case.name] = _warp_launch(wp.launch, kernel, arguments)
    return made


def _warp_launch(launch: Any, kernel: Any, arguments: list[Any]) -> Callable[..., Any]:
    return lambda **more: launch(kernel, dim=COUNT, inputs=arguments, device="cuda:0", **more)


def _warp_value(wp: Any, kernels: Any, value: Any) -> Any:
    """A tuple as Warp's vector, matrix or struct."""
    if not isinstance(value, tuple):
        return value
    if len(value) == 3:
        return wp.vec3(*value)
    if len(value) == 9:
        return wp.mat33(*value)
    settings = kernels.Settings()
    settings.stiffness, settings.damping, settings.limit = value[:3]
    settings.offset = wp.vec3(*value[3:])
    return settings


def warp(cases: Cases, folder: Path) -> Ways:
    """wp.launch, compiled before."""
    return {name: repeated(launch) for name, launch in _warp_launches(cases, folder).items()}


def warp_recorded(cases: Cases, folder: Path) -> Ways:
    """A launch that Warp has recorded."""
    launches = _warp_launches(cases, folder)
    return {name: repeated(launch(record_cmd=True).launch) for name, launch in launches.items()}


PEERS: dict[str, Callable[[Cases, Path], Ways]] = {
    "kb.launch, PyTorch's tensors": kbuild_on_tensors,
    "cuda.bindings": bindings,
    "cuda.core (numbers only)": core,
    "CuPy": cupy,
    "Triton": triton,
    "Warp": warp,
    "Warp, recorded": warp_recorded,
}
