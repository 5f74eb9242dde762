"""`@wp.kernel`, `@wp.func`, `@wp.struct` with the options that Warp has.

What those options mean for the machine code is kept (`block_dim`, `fuse_fp`, `fast_math`, `launch_bounds`,
`cuda_max_registers`); what belongs to Warp's own building (modules, caches) is accepted and means nothing here.
"""

from __future__ import annotations

import sys

from kbuild.loader import abi, generic, host, native, own_gradients
from kbuild.loader import types as runtime
from kbuild.loader.errors import did_you_mean
from kbuild.loader.layout import AbsentType, abi_type, set_field
from kbuild.loader.values import class_of

from .absent import refusal
from .modules import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KERNEL = (
    "cluster_dim",
    "cuda_max_registers",
    "deterministic",
    "deterministic_max_records",
    "enable_backward",
    "enable_cuda_smem_spilling",
    "entry_point_abi",
    "grid_stride",
    "launch_bounds",
    "module",
    "module_options",
    "name",
)


def kernel(f: Any = None, **options: Any) -> Any:
    """Declares a kernel: `@wp.kernel`, `@wp.kernel(enable_backward=False, module="unique")`. Raises TypeError."""
    for name in options:
        if name not in _KERNEL:
            raise TypeError("@wp.kernel has no option %r%s" % (name, did_you_mean(name, _KERNEL)))
    kept, key = _meaningful(options), options.get("name")
    return _kernel(f, kept, key) if f is not None else lambda function: _kernel(function, kept, key)


def _kernel(function: Any, options: dict[str, Any], key: str | None = None) -> runtime.Kernel:
    made: Any = runtime.kernel(function, **options)
    made.key, made.adj, made.func = key or made.qualname, _Adjoint(made), function
    made.module = Module(made.module)
    made.dialect = "warp"
    _kernels.setdefault((function.__module__, function.__qualname__), {})[made.key] = made
    return made  # type: ignore[no-any-return]


# By module and qualified name, and then by key: the last kernel that was declared so, whatever its name means now.
_kernels: dict[tuple[str, str], dict[str, runtime.Kernel]] = {}


class _AnyKernel(type):
    """Every kernel of kbuild's is a `wp.Kernel`."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, runtime.Kernel)

    def __call__(
        cls,
        func: Any,
        key: str | None = None,
        module: Any = None,
        options: dict[str, Any] | None = None,
        code_transformers: Any = (),
        source: str | None = None,
        **others: Any,
    ) -> Any:
        """Declares a kernel, as the decorator does. Raises TypeError, NotInKbuild."""
        if code_transformers or source is not None:
            raise refusal("Kernel(%s=…)" % ("code_transformers" if code_transformers else "source"), "changed sources")
        _check("Kernel", others, ("overload_annotations",))
        return _kernel(func, _meaningful(options or {}), key)


class Kernel(metaclass=_AnyKernel):
    """`wp.Kernel(func=f)` declares a kernel, in functions that make them; `key` is its name for people."""


class _Adjoint:
    """What programs ask of `kernel.adj`: `args`, the parameters with `label` and `type`."""

    def __init__(self, kernel: runtime.Kernel) -> None:
        self._kernel = kernel

    @property
    def args(self) -> list[_Parameter]:
        """The parameters in order."""
        function = self._kernel.function
        return [_Parameter(name, generic.annotation_of(function, name)) for name in generic.parameter_names(function)]


class _Parameter:
    def __init__(self, label: str, type: Any) -> None:
        self.label, self.type = label, type


def _meaningful(options: dict[str, Any]) -> dict[str, Any]:
    """kbuild's options for Warp's."""
    kept: dict[str, Any] = {}
    module_options = options.get("module_options") or {}
    backward = options.get("enable_backward")
    if backward is None:
        backward = module_options.get("enable_backward")
    if backward is not None:
        kept["enable_backward"] = bool(backward)
    for theirs, own in (("fuse_fp", "fmad"), ("fast_math", "fast_math")):
        if module_options.get(theirs) is not None:
            kept[own] = bool(module_options[theirs])
    _keep_bounds(options, kept)
    if module_options.get("block_dim"):
        kept["block_dim"] = int(module_options["block_dim"])
    return kept


def _keep_bounds(options: dict[str, Any], kept: dict[str, Any]) -> None:
    """Launch bounds and registers, which mean what they mean here."""
    bounds, registers = options.get("launch_bounds"), options.get("cuda_max_registers")
    if bounds:
        kept["launch_bounds"] = tuple(bounds) if isinstance(bounds, list) else bounds
    elif registers:
        kept["max_registers"] = min(max(int(registers), 16), 255)


def func(f: Any = None, **options: Any) -> Any:
    """Declares a function that kernels call; `name`, `module` and `inline` mean nothing here. Raises TypeError."""
    _check("func", options, ("name", "module", "inline"))
    names = sys._getframe(1).f_locals
    return _func(f, names) if f is not None else lambda one: _func(one, names)


def _func(function: Any, names: Any) -> Any:
    made = runtime.func_beside(function, names)
    made.dialect = "warp"
    return made


def struct(c: Any = None, **options: Any) -> Any:
    """Declares a record that kernels take; `module` means nothing here. Raises TypeError."""
    _check("struct", options, ("module",))
    return _struct if c is None else _struct(c)


def _struct(cls: type) -> type:
    """A record, without fields too. Warp does not read values that the class gives its fields: they start at zero."""
    fields = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 (that needs a dependency)
    for name in fields:
        if name in cls.__dict__:
            delattr(cls, name)
    made: Any = runtime.struct(cls, may_be_empty=True)
    made.numpy_dtype, made.numpy_value = _NumpyDtype(), _numpy_value
    if "cls" not in fields:
        made.cls = made
    made.__setattr__ = _set_field
    return made  # type: ignore[no-any-return]


def _set_field(self: Any, name: str, value: Any) -> None:
    """A field as Warp takes it: None for zero, and a matrix of numbers in a row. Raises TypeError, AttributeError."""
    wanted = _composites(type(self)).get(name)
    if wanted is not None:
        made: Any = class_of(wanted)
        if value is None:
            value = made(*(0,) * wanted.length) if isinstance(wanted, abi.Vector) else made()
        elif isinstance(value, (int, float)):
            raise TypeError("Struct field '%s' expects %s but got a single value" % (name, name_of(wanted)))
        elif isinstance(wanted, abi.Matrix) and _is_flat(value, wanted.rows * wanted.columns):
            value = made(*value)
    set_field(self, name, value)


def _composites(cls: Any) -> dict[str, Any]:
    """The fields of a record that are vectors or matrices."""
    known: dict[str, Any] | None = cls.__dict__.get("_wp_composites_")
    if known is None:
        try:
            fields: Any = abi_type(cls).fields  # type: ignore[attr-defined]
        except TypeError:  # a type that is not here: launches say so
            fields = ()
        known = cls._wp_composites_ = {
            one.name: one.type for one in fields if isinstance(one.type, (abi.Vector, abi.Matrix))
        }
    return known


def _is_flat(value: Any, count: int) -> bool:
    return hasattr(value, "__len__") and len(value) == count and not hasattr(value[0], "__len__")


def name_of(type: Any) -> str:
    """Warp's name of a vector or matrix: `vec3f`."""
    name: str = class_of(type).__name__  # type: ignore[attr-defined]
    return name + "f" if type.element == abi.FLOAT32 else name


class _NumpyDtype:
    """`S.numpy_dtype()`: fields, offsets and size of a record as NumPy has them; arrays in it are their descriptors."""

    def __get__(self, _: object, cls: type) -> Any:
        return lambda: host.numpy_dtype(abi_type(cls))


def _numpy_value(self: Any) -> Any:
    """`s.numpy_value()`: a record of NumPy's with this one's values."""
    return host.to_numpy(host.encode([self], type(self))[0], (1,), abi_type(type(self)))[0]


def _check(what: str, options: dict[str, Any], known: tuple[str, ...]) -> None:
    for name in options:
        if name not in known:
            raise TypeError("@wp.%s has no option %r%s" % (what, name, did_you_mean(name, known)))


def dynamic_func(suffix: Any = "", **_: Any) -> Any:
    """`wp.fem.cache.dynamic_func`: a function of a factory. kbuild tells such functions apart by what they capture."""
    return func


def dynamic_kernel(suffix: Any = "", kernel_options: dict[str, Any] | None = None, **_: Any) -> Any:
    """`wp.fem.cache.dynamic_kernel`: a kernel of a factory."""
    return lambda function: kernel(function, module_options=kernel_options)


def func_grad(forward_fn: Any) -> Any:
    """Declares a function's own gradient. That of a function that kbuild does not have is passed over."""
    return (
        own_gradients.func_grad(forward_fn) if isinstance(forward_fn, runtime.Function) else lambda function: function
    )


def func_replay(forward_fn: Any) -> Any:
    """Declares what stands in for a function while a gradient runs a kernel forward once more."""
    is_here = isinstance(forward_fn, runtime.Function)
    return own_gradients.func_replay(forward_fn) if is_here else lambda function: function


def func_native(snippet: Any, adj_snippet: Any = None, replay_snippet: Any = None) -> Any:
    """A function in CUDA C++; what of Warp's own C++ a snippet says is refused where it says so. Raises TypeError."""

    def declared(function: Any) -> Any:
        made = native.func_native(snippet, adj_snippet, replay_snippet)(function)
        made.dialect = "warp"
        return made

    return declared


def overload(kernel: Any, arg_types: Any = None) -> Any:
    """An instance of a generic kernel: `wp.overload(scale, {"x": wp.array(dtype=float)})`, or as a decorator.

    Types that kbuild does not have are passed over: nothing could be compiled for them. Raises TypeError.
    """
    from kbuild.loader import overloading

    try:
        if isinstance(kernel, runtime.Kernel):
            return overloading.instance(kernel, arg_types)
        place = sys._getframe(1)
        return overloading.declared(kernel, {**place.f_globals, **place.f_locals, **_declared(kernel)})
    except AbsentType:
        return kernel


def _declared(stub: Any) -> dict[str, runtime.Kernel]:
    """The kernel that was declared where a stub is, by the stub's name. Raises TypeError, RuntimeError."""
    name = getattr(stub, "__name__", "")
    said = getattr(stub, "__annotations__", {}).get("return")
    if said not in (None, type(None), "None"):
        raise TypeError("Return annotations are not allowed on @wp.overload stubs: %s -> %r" % (name, said))
    known = _kernels.get((getattr(stub, "__module__", ""), getattr(stub, "__qualname__", "")), {})
    if len(known) > 1:
        keys = ", ".join(sorted(known))
        raise RuntimeError("Ambiguous kernel lookup: %s is the function of several kernels (%s)" % (name, keys))
    return {name: next(iter(known.values()))} if known else {}


def constant(x: Any) -> Any:
    """The value itself: what a kernel reads from its module is compiled in."""
    return x
