"""What Warp has and kbuild does not: names that exist, so that modules import, and that refuse when they are used.

An `Absent` gives one for each attribute and stays one as a decorator; a class made by `absent_class` can be subclassed,
annotated with and asked for with `isinstance`. Calling either raises `NotInKbuild`. The compiler knows both by
`_kb_absent_` of their type, and refuses kernels that use them (KB114).
"""

from __future__ import annotations

from types import ModuleType

from kbuild.loader import recording
from kbuild.loader.errors import LoaderError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NotInKbuild(LoaderError, NotImplementedError):
    """Something of Warp's that kbuild does not have was used."""


def refusal(name: str, family: str) -> NotInKbuild:
    """The error that says so."""
    return NotInKbuild("wp.%s (%s) is not in kbuild" % (name, family))


class Absent:
    """A name without anything behind it; `family` says to what it belongs."""

    _kb_absent_ = True
    __iter__ = None  # `wp.anything[…]` is an annotation, and no sequence

    def __init__(self, name: str, family: str, is_own: bool = False) -> None:
        self.name, self.family = name, family
        self.__name__ = name if is_own else name.rpartition(".")[2]
        self.is_own = is_own  # made by the program, with a decorator that kbuild does not have

    def __repr__(self) -> str:
        return "<wp.%s, which kbuild does not have>" % self.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Absent("%s.%s" % (self.name, name), self.family)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if len(arguments) == 1 and not named and (hasattr(arguments[0], "__code__") or isinstance(arguments[0], type)):
            return Absent(arguments[0].__qualname__, self.family, True)  # as a decorator: what it makes refuses too
        refused = refusal(self.name, self.family)
        if self.family in PASSED_OVER and recording.note_refused(str(refused)):
            return None
        raise refused

    def __getitem__(self, _: object) -> Any:
        return self

    def __or__(self, _: object) -> Any:
        return self

    __ror__ = __or__

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        return (absent_class(self.name, self.family),)


class _AbsentType(type):
    """Metaclass of the classes that cannot be made instances of."""

    _kb_absent_ = True
    family: str

    def __call__(cls, *arguments: object, **named: object) -> Any:
        if not arguments and set(named) in ({"dtype"}, {"dtype", "ndim"}, {"dtype", "shape"}):
            return Absent(cls.__name__, cls.family)  # an annotation: `wp.fabricarray(dtype=float)`
        raise refusal(cls.__name__, cls.family)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Absent("%s.%s" % (cls.__name__, name), cls.family)

    def __getitem__(cls, _: object) -> Any:
        return cls

    def __or__(cls, _: object) -> Any:
        return cls

    __ror__ = __or__

    def __repr__(cls) -> str:
        return "<class wp.%s, which kbuild does not have>" % cls.__name__


def absent_class(name: str, family: str) -> type:
    """A class that stands for one of Warp's."""
    return _AbsentType(name.rpartition(".")[2], (), {"family": family, "__module__": "kbuild.warp"})


def absent(name: str, family: str) -> Any:
    """What stands for a name: a class where Warp has one, by the spelling."""
    last = name.rpartition(".")[2]
    if last in DECORATORS:
        return decorator_maker(name, family)
    is_class = (last[:1].isupper() and not last.isupper()) or last.rstrip("1234d").endswith("array")
    return absent_class(name, family) if is_class else Absent(name, family)


def decorator_maker(name: str, family: str) -> Any:
    """Stands for a decorator that may take options: what it decorates refuses."""

    def decorate(*arguments: Any, **_: Any) -> Any:
        if len(arguments) == 1 and hasattr(arguments[0], "__code__"):
            return Absent(arguments[0].__qualname__, family, True)
        return lambda function: Absent(function.__qualname__, family, True)

    decorate.__name__ = name
    return decorate


class AbsentModule(ModuleType):
    """A module of Warp's (`warp.fem`) in which every public name is there, and refuses."""

    def __init__(self, name: str, family: str) -> None:
        super().__init__("kbuild." + name)
        self._name, self._family = name.partition(".")[2], family
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
        full = "%s.%s" % (self._name, name)
        made = self._made(full)
        setattr(self, name, made)
        return made

    def _made(self, full: str) -> Any:
        name = full.rpartition(".")[2]
        if full in CONSTANTS:
            return CONSTANTS[full]
        if full in PRESENT:
            return getattr(__import__("kbuild.warp." + PRESENT[full], None, None, ["*"]), name)
        if any(one.startswith(full + ".") for one in PRESENT):
            return module(full)
        return absent(full, self._family)


# What is there in modules that are absent else: values, and what lives in a module here.
CONSTANTS = {
    "fem.NULL_ELEMENT_INDEX": -1,
    "fem.NULL_NODE_INDEX": 2**31 - 1,
    "fem.OUTSIDE": -1.0e8,
}
PRESENT = {
    "fem.Sample": "records",
    "fem.cache.dynamic_func": "declarations",
    "fem.cache.dynamic_kernel": "declarations",
    "fem.linalg.inverse_qr": "functions",
    "fem.linalg.symmetric_eigenvalues_qr": "functions",
    "sparse.bsr_block_index": "functions",
    "sparse.bsr_row_index": "functions",
}
# What a recorded program goes on without: these write into arrays, where no kernel has run anyway.
PASSED_OVER = frozenset({"functions over whole arrays"})
# Functions that projects use as decorators, with options.
DECORATORS = frozenset({"integrand", "jax_callable", "jax_kernel"})

_modules: dict[str, AbsentModule] = {}


def module(name: str) -> AbsentModule:
    """The module that stands for `warp.<name>`."""
    from . import names

    family = names.MODULES.get(name.partition(".")[0], "Warp's own inside")
    return _modules.setdefault(name, AbsentModule("warp." + name, family))
