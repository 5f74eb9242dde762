"""A launch as a function of its arrays: made again and again with other numbers in them, on copies of the arguments."""

from __future__ import annotations

from kbuild.loader import abi, context, copying, foreign, generic, interface, providers, resolve
from kbuild.loader.array import array, empty
from kbuild.loader.errors import LaunchError
from kbuild.loader.tape import arguments
from kbuild.loader.tape.gradients import is_differentiable
from kbuild.loader.tape.tape import Tape
from kbuild.loader.tape.watching import Aside
from kbuild.loader.values import class_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Problem:
    """`arrays` are the arrays of a launch by path, as copies that require gradients where they can; `start` their
    numbers before the launch.
    """

    def __init__(self, what: str, kernel: Any, dim: Any, args: Any, device: Any, options: dict[str, Any]) -> None:
        self.kernel, self.dim, self.options = kernel, dim, options
        self.place = place = _place(device, args)
        if place.kind not in ("cuda", "sim"):
            raise LaunchError(
                "%s: kernels run on a GPU or on the device sim, and the arrays are on %s\n"
                '  help: make them with device="sim", or name a device' % (what, place)
            )
        given = tuple([_own(value, place) for value in args])
        self.backward = providers.backward_of(place.kind, kernel, given)
        names = [name for name, _ in self.backward.parameters]
        found = arguments.leaves(kernel, names, given)
        for leaf in found:
            if len(leaf.arrays) > 1:
                raise LaunchError(
                    "%s: parameter %s is seen through index arrays, which is not checked\n"
                    "  help: check the kernel with a plain array in its place" % (what, leaf.path)
                )
        with Aside():
            self.arrays: dict[str, array] = {leaf.path: _copy(leaf.data, place) for leaf in found}
        self.start = {path: one.numpy().copy() for path, one in self.arrays.items()}
        self.args = arguments.replaced(self.backward.parameters, given, lambda path, _: self.arrays[path])

    def floats(self, paths: Any) -> list[str]:
        """Those of the arrays that hold floating-point numbers."""
        return [path for path, one in self.arrays.items() if path in paths and is_differentiable(one._type.element)]

    @property
    def inputs(self) -> list[str]:
        """Arrays of numbers on which the results depend."""
        return self.floats(self.backward.read | self.backward.written)

    @property
    def outputs(self) -> list[str]:
        """Arrays of numbers that the launch writes."""
        return self.floats(self.backward.written)

    def restore(self) -> None:
        """Puts into all arrays what they held before."""
        for path, one in self.arrays.items():
            one.assign(self.start[path])

    def run(self) -> None:
        """Launches."""
        resolve.launch(self.kernel, self.dim, self.args, device=self.place, **self.options)

    def recorded(self) -> Tape:
        """A tape with the launch on it, from what the arrays held before."""
        self.restore()
        tape = Tape()
        with tape:
            self.run()
        return tape


def _place(device: Any, args: Any) -> Any:
    if device is None:
        device = next((one.device for one in args if hasattr(type(one), "_kb_array_")), None)
    return context.get_device(device)


def _own(value: Any, place: Any) -> Any:
    """NumPy's and other libraries' arrays as ours on the device."""
    if value is None or hasattr(value.__class__, "_kb_array_") or not hasattr(value, "shape"):
        return value
    try:
        return copying.clone(foreign.asarray(value), place) if value.shape else value
    except (TypeError, ValueError):
        return value


def _copy(one: array, place: Any) -> array:
    made = empty(one.shape, one.dtype, place)
    copying.copy(made, one)
    if is_differentiable(one._type.element):
        made.requires_grad = True
    return made


def in_float64(kernel: Any, args: Any) -> list[Any]:
    """The arguments of a generic kernel with float64 for float32 wherever the parameter is open."""
    names = arguments.names_of(kernel)
    opened = generic.open_parameters(kernel.function)
    return [_wide(value) if name in opened else value for name, value in zip(names, args)]


def _wide(value: Any) -> Any:
    if isinstance(value, array):
        element = wider(value._type.element)
        if element is None:
            return value
        numbers = value.numpy().astype("float64")
        made = empty(value.shape, class_of(element), value.device)
        made.assign(numbers)
        return made
    own = getattr(type(value), "_kb_type_", None)
    element = wider(abi.FLOAT32 if type(value) is float else own)
    if element is None:
        return value
    return class_of(element)(*value) if hasattr(value, "__len__") else class_of(element)(value)  # type: ignore[operator]


def wider(element: abi.Type | None) -> abi.Type | None:
    """A type with float64 in the place of float32 or float16; None where that is no change."""
    if element is None:
        return None
    scalar = interface.scalar_of(element)
    if scalar is None or scalar.kind != "float" or scalar == abi.FLOAT64:
        return None
    if isinstance(element, abi.Vector):
        return abi.Vector(element.length, abi.FLOAT64, element.kind)
    if isinstance(element, abi.Matrix):
        return abi.Matrix(element.rows, element.columns, abi.FLOAT64)
    return abi.FLOAT64
