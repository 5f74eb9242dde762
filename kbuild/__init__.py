"""kbuild: GPU kernels written in Python, compiled while a wheel is built.

    import kbuild as kb

    @kb.kernel
    def scale(data: kb.array(dtype=float), factor: float):
        i = kb.tid()
        data[i] = data[i] * factor

    kb.launch(scale, dim=n, inputs=[data, 2.0])

Importing this package loads nothing else; each public name is resolved when it is first used (PEP 562). On a deployed
machine all of them live in `kbuild.loader` and `kbuild.primitives`, which need Python's standard library and the GPU
driver. Type checkers and editors read `__init__.pyi` in its place. For pytest, which compiles the asserts of packages
with a plugin anew and warns where it comes too late: PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

_HOMES = {
    "_version": "__version__",
    "derivatives.gradcheck": "GradCheck GradientError gradcheck",
    "derivatives.jacobian": "jacobian",
    "loader.array": """
        array array1d array2d array3d array4d empty empty_like full full_like ones ones_like zeros zeros_like
    """,
    "loader.available": "devices",
    "loader.bound": "BoundLaunch bind",
    "loader.conditional": "capture_if capture_while",
    "loader.constants": "Constant constant",
    "loader.context": "Device synchronize",
    "loader.conversions": """
        from_cupy from_jax from_torch stream_from_torch stream_to_torch to_cupy to_jax to_torch
    """,
    "loader.copying": "clone copy to_host",
    "loader.cuda_files": "cuda_kernel",
    "loader.current": "ScopedDevice ScopedStream get_device get_stream set_device set_stream",
    "loader.dlpack": "from_dlpack",
    "loader.errors": "BundleError DriverError LaunchError StaleBundle",
    "loader.events": "on_event",
    "loader.foreign": "asarray",
    "loader.graphs": "Graph capture",
    "loader.hosts": "HostDevice get_devices",
    "loader.indexed": "indexedarray indexedarray1d indexedarray2d indexedarray3d indexedarray4d",
    "loader.memory.books": "MemoryReport memory_report",
    "loader.memory.pools": "set_pool_limit trim_memory",
    "loader.native": "func_native",
    "loader.own_gradients": "adjoint func_grad func_replay",
    "loader.peers": "can_access set_peer_access",
    "loader.providers": "enable_jit",
    "loader.readiness": "get_grid preload",
    "loader.resolve": "launch",
    "loader.streams": "Event Stream elapsed_time stream_priorities",
    "loader.tape.pytorch": "torch_function",
    "loader.tape.tape": "Tape",
    "loader.tape.watching": "no_grad",
    "loader.timers": "ScopedTimer",
    "loader.types": "Function Kernel func kernel overload struct",
    "primitives.functions": "array_cast array_scan radix_sort_pairs runlength_encode",
    "primitives.sums": "array_inner array_sum",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = {"types": "loader.factories", "sim": "sim"}


def __getattr__(name: str) -> object:
    value = _resolve(name)
    globals()[name] = value
    return value


def _resolve(name: str) -> object:
    home = _HOME_OF.get(name)
    if name == "loader":  # as in `from kbuild import loader`, which asks here first
        return _module(name)
    if name in _MODULES:
        return _module(_MODULES[name])
    if home is not None:
        return getattr(_module(home), name)
    if not name.startswith("_"):
        # Types (`vec3`, `float64`) and the functions of the kernel language have a table each.
        for table in ("loader.values", "loader.builtins"):
            value = getattr(_module(table), name, None)
            if value is not None and name in _names(table):
                return value
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def _names(table: str) -> frozenset[str]:
    """The public names of a table of the loader."""
    module = _module(table)
    return frozenset(getattr(module, "TABLE", None) or module.__all__)  # type: ignore[attr-defined]


def _module(name: str) -> object:
    full = "%s.%s" % (__name__, name)
    # importlib would be one more module on the way of a start, and "*" all that a package has.
    return __import__(full, None, None, ["__name__"])


def __dir__() -> list[str]:
    return sorted([*_HOME_OF, *_MODULES, *_names("loader.values"), *_names("loader.builtins")])
