"""Warp's names for kbuild: `import kbuild.warp as wp`, or `kbuild.warp.install()` before a project says `import warp`.

What is inside kernels is kbuild's own, the very same objects (`wp.vec3 is kb.vec3`). On the host the names either work
with Warp's arguments or are there and refuse with `NotInKbuild` when they are used, so that modules import.

Python standard library only, Python 3.8; each name is resolved when it is first used.
"""

from __future__ import annotations

import math

from kbuild.loader import builtins, values
from kbuild.loader.errors import did_you_mean

from . import absent, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HOMES = {
    "absent": "NotInKbuild",
    "arrays": """
        array array1d array2d array3d array4d clone copy dtype_from_numpy dtype_to_numpy empty empty_like from_numpy
        from_ptr full full_like ones ones_like zeros zeros_like
    """,
    "declarations": "Kernel constant func func_grad func_native func_replay kernel overload struct",
    "devices": """
        Device ScopedDevice ScopedPeerAccess can_access get_cuda_device get_cuda_device_count get_cuda_driver_version
        get_cuda_supported_archs get_cuda_toolkit_version get_device get_devices get_preferred_device is_cpu_available
        is_cubql_available is_cuda_available is_device_available is_peer_access_enabled is_peer_access_supported
        map_cuda_device set_device set_peer_access_enabled synchronize synchronize_device unmap_cuda_device
    """,
    "frameworks": "from_dlpack from_jax from_torch to_dlpack to_jax to_torch",
    "functions": "transform_set_rotation transform_set_translation",
    "graphs": """
        CaptureMode Graph ScopedCapture capture_begin capture_debug_dot_print capture_end capture_if capture_launch
        capture_while is_conditional_graph_supported
    """,
    "indexed": "indexedarray indexedarray1d indexedarray2d indexedarray3d indexedarray4d",
    "installing": "install",
    "launching": "Launch get_cuda_kernel_properties get_suggested_block_size launch launch_tiled",
    "memory": """
        ScopedMempool ScopedMempoolAccess get_mempool_release_threshold get_mempool_used_mem_current
        get_mempool_used_mem_high is_mempool_access_enabled is_mempool_access_supported is_mempool_enabled
        is_mempool_supported print_memory_report set_mempool_access_enabled set_mempool_enabled
        set_mempool_release_threshold
    """,
    "modules": "Module get_module get_module_options set_module_options",
    "streams": """
        Event ScopedStream Stream event_from_ipc_handle get_event_elapsed_time get_stream record_event set_stream
        synchronize_event synchronize_stream wait_event wait_stream
    """,
    "tapes": "Tape",
    "timing": "ScopedLogLevel ScopedTimer",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_LOADER = {
    "Function": "types",
    "adjoint": "own_gradients",
    "device_from_jax": "conversions",
    "device_from_torch": "conversions",
    "device_to_jax": "conversions",
    "device_to_torch": "conversions",
    "dtype_from_jax": "conversions",
    "dtype_from_torch": "conversions",
    "dtype_to_jax": "conversions",
    "dtype_to_torch": "conversions",
    "stream_from_torch": "conversions",
    "ref": "reference",
    "stream_to_torch": "conversions",
}
_OTHER_NAMES = {  # Warp's name: (a module here or of the loader, its name there)
    "bool": ("loader.values", "bool_"),
    "clear_kernel_cache": ("warp.modules", "nothing"),
    "clear_lto_cache": ("warp.modules", "nothing"),
    "force_load": ("warp.modules", "nothing"),
    "get_cuda_devices": ("loader.hosts", "get_devices"),
    "init": ("warp.modules", "nothing"),
    "load_module": ("warp.modules", "nothing"),
    "print_diagnostics": ("warp.modules", "nothing"),
}
_SUBMODULES = ("config", "types", "context", "codegen", "utils", "_src")
_CONSTANTS = {
    "E": math.e,
    "HALF_PI": math.pi / 2,
    "INF": math.inf,
    "LN10": math.log(10.0),
    "LN2": math.log(2.0),
    "LOG10E": 1.0 / math.log(10.0),
    "LOG2E": 1.0 / math.log(2.0),
    "NAN": math.nan,
    "PHI": (1.0 + math.sqrt(5.0)) / 2.0,
    "PI": math.pi,
    "TAU": math.tau,
}
_VALUES: dict[str, Any] = {
    **_CONSTANTS,
    **{name.lower(): value for name, value in _CONSTANTS.items()},
    "float": float,
    "int": int,
    "len": len,
    "LOG_DEBUG": 10,
    "LOG_ERROR": 40,
    "LOG_INFO": 20,
    "LOG_WARNING": 30,
    "TIMING_ALL": 15,
    "TIMING_GRAPH": 8,
    "TIMING_KERNEL": 1,
    "TIMING_KERNEL_BUILTIN": 2,
    "TIMING_MEMCPY": 4,
    "TIMING_MEMSET": 8,
    "__version__": "1.19.0",
}
_TYPING = "Any Callable Generic Literal Sequence TypeVar"
_TYPE_VARIABLES = """
Array Capacity Cols DType DTypeFloat DTypeScalar DeviceLike Float Int Length Matrix NDim Quaternion Rows Scalar Shape
Transformation Vector
"""
_ERRORS = """
WarpCodegenAttributeError WarpCodegenError WarpCodegenIndexError WarpCodegenKeyError WarpCodegenTypeError
WarpCodegenValueError WarpDeterminismError
"""


def __getattr__(name: str) -> Any:
    value = _resolve(name)
    globals()[name] = value
    return value


def _resolve(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(_module("warp." + _HOME_OF[name]), name)
    if name in _LOADER:
        return getattr(_module("loader." + _LOADER[name]), name)
    if name in _OTHER_NAMES:
        home, there = _OTHER_NAMES[name]
        return getattr(_module(home), there)
    if name in _VALUES:
        return _VALUES[name]
    if name in _SUBMODULES:
        return _module("warp." + name)
    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    if name.endswith("f") and name[:-1] in values.__all__:
        return getattr(values, name[:-1])  # Warp's longer names of the types of float32: `quatf`, `transformf`
    if name in values.__all__:
        return getattr(values, name)
    if name in names.BEYOND:
        raise AttributeError("Warp has no %r, and kbuild has: `import kbuild as kb`, and `kb.%s`" % (name, name))
    if name in builtins.TABLE:
        return builtins.TABLE[name]
    return _elsewhere(name)


def _elsewhere(name: str) -> Any:
    """Names for annotations, and what kbuild does not have."""
    if name in _TYPING.split():
        import typing

        return getattr(typing, name)
    if name in _TYPE_VARIABLES.split():
        return _module("warp.generics").make(name)
    if name in _ERRORS.split():
        return type(name, (Exception,), {"__module__": __name__})
    if name in names.MODULES:
        return absent.module(name)
    family = names.family_of(name)
    if family is not None:
        return absent.absent(name, family)
    known = __dir__()
    raise AttributeError("module 'warp' (kbuild.warp) has no attribute %r%s" % (name, did_you_mean(name, known)))


def _module(name: str) -> Any:
    return __import__("kbuild." + name, None, None, ["*"])


def __dir__() -> list[str]:
    own = [*_HOME_OF, *_LOADER, *_OTHER_NAMES, *_VALUES, *_SUBMODULES, *names.FAMILY_OF, *names.MODULES]
    return sorted({*own, *values.__all__, *builtins.TABLE} - names.BEYOND)
