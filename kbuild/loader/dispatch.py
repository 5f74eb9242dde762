"""The launch of a generic kernel: the instance is chosen by the types of the arguments.

Exact types come first: those of arrays, vectors and structs; Python's float is float32 and int is int32. Where no
instance has them, the one instance that takes the arguments is launched. The choice is remembered by the types.
"""

from __future__ import annotations

from . import abi, describing, frameworks, generic, interface, overloading, pack, placing, providers, resolve
from .errors import LaunchError, describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .bundle import Bundle
    from .types import Kernel


_INTERFACE = "__cuda_array_interface__"
_LIMIT = 1024  # inner extents of others' arrays are part of a key


class Dispatcher:
    """Stands in the place of a compiled kernel."""

    def __init__(self, bundle: Bundle, definition: dict[str, Any], kernel: Kernel) -> None:
        self.bundle, self.definition, self.kernel = bundle, definition, kernel
        names = generic.parameter_names(kernel.function)
        self.positions = [(names.index(name), name) for name in generic.open_parameters(kernel.function)]
        self.count = len(names)
        self.chosen: dict[tuple[object, ...], Any] = {}

    def launch(
        self,
        dim: Any,
        args: Any = (),
        stream: Any = None,
        device: Any = None,
        block_dim: int | None = None,
        max_blocks: int = 0,
    ) -> None:
        """See `BundleKernel.launch`."""
        kind = placing.kind_of(device, args)
        if kind != "cuda":
            providers.launch_on(kind, self.kernel, dim, args, stream, device, block_dim, max_blocks)
            return
        self.chosen_for(args).launch(dim, args, stream, device, block_dim, max_blocks)

    def chosen_for(self, args: Any) -> Any:
        """The instance that takes these arguments. Raises LaunchError."""
        if not pack.is_sequence(args) or len(args) != self.count:
            names = ", ".join(generic.parameter_names(self.kernel.function))
            raise LaunchError("%s takes %d arguments (%s)" % (self.kernel.name, self.count, names))
        key = tuple([_key_of(args[position]) for position, _ in self.positions])
        target = self.chosen.get(key)
        if target is None:
            if len(self.chosen) >= _LIMIT:
                self.chosen.clear()
            target = self.chosen[key] = self._choose(args)
        return target

    def _choose(self, args: Any) -> Any:
        types = {name: type_of(args[position]) for position, name in self.positions}
        unknown = [name for name, type in types.items() if type is None]
        if not unknown:
            try:
                return self._exact({name: type for name, type in types.items() if type is not None})
            except LaunchError as error:
                reason = str(error)
        else:
            value = args[next(position for position, name in self.positions if name == unknown[0])]
            reason = "%s: the type of %s is not known: %s" % (self.kernel.name, unknown[0], describe(value))
        fitting = [row for row in self.definition["instances"] if self._fits(row, args)]
        if len(fitting) == 1:
            return self.bundle.kernel(int(fitting[0]["kernel"]))
        if len(fitting) > 1:
            names = ", ".join(self.bundle.names[row["kernel"]] for row in fitting)
            raise LaunchError(
                "%s: the arguments fit several instances (%s)\n"
                "  help: launch one of them: kb.overload(%s, …)" % (self.kernel.name, names, self.kernel.__name__)
            )
        if providers.jit_enabled() and not unknown:
            overload = overloading.of_types(self.kernel, types)  # type: ignore[arg-type]
            return resolve.find(overload)
        raise LaunchError(reason)

    def _exact(self, types: dict[str, abi.Type]) -> Any:
        binding: generic.Binding = {}
        for name, type in types.items():
            annotation = generic.annotation_of(self.kernel.function, name)
            if not generic.match(annotation, type, binding):
                found = (self.kernel.name, name, generic.spell(annotation), type)
                raise LaunchError("%s: parameter %s: wanted %s, got %s" % found)
        overload = overloading.of_types(self.kernel, types)
        return self.bundle.kernel(resolve.matching(self.bundle, self.kernel.name, self.definition, overload))

    def _fits(self, row: dict[str, Any], args: Any) -> bool:
        kernel = self.bundle.kernel(int(row["kernel"]))
        packing = pack.Packing()
        try:
            for position, _ in self.positions:
                name, type = kernel.parameters[position]
                packing.add(type, args[position], name)
        except pack.Refused:
            return False
        return self._is_instance_of_this(row)

    def _is_instance_of_this(self, row: dict[str, Any]) -> bool:
        """What the instance captured is what the live function captures."""
        kernel = self.bundle.kernel(int(row["kernel"]))
        bound = {name: kernel.parameters[position][1] for position, name in self.positions}
        try:
            found = resolve.matching(
                self.bundle, self.kernel.name, self.definition, overloading.of_types(self.kernel, bound)
            )
        except LaunchError:
            return False
        return bool(found == row["kernel"])


def _described(value: Any) -> Any:
    """What another library says about its array; None where it says nothing, or refuses: the launch will tell."""
    try:
        return frameworks.described(value) if interface.is_tensor(value) else getattr(value, _INTERFACE, None)
    except MemoryError:
        raise
    except Exception:
        return None


def _key_of(value: Any) -> object:
    """Equal for arguments of one type."""
    own = getattr(value, "_type", None)
    if isinstance(own, abi.Type):
        return own.spelling
    described = _described(value)
    if isinstance(described, dict):
        shape = described.get("shape", ())
        return described.get("typestr"), len(shape), shape[1:]
    return type(value)


def type_of(value: Any) -> abi.Type | None:
    found = overloading.type_of(value)
    described = None if found is not None else _described(value)
    if described is None:
        return found
    try:
        element = describing.element_of(described)
        return abi.Array(element, len(described["shape"]))
    except (interface.Mismatch, LookupError, TypeError):
        return None
