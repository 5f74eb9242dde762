"""`python -m tools.stubs`: writes kbuild/__init__.pyi, from which type checkers and editors know `kb.…`, and
kbuild/sim/__init__.pyi, from which they know `kb.sim.…`.

tools/stub_head.pyi has what stands for itself (decorators, arrays, the bases of vectors and matrices); the types of the
loader's table and the functions of `kbuild.intrinsics.catalogue` are added to it. A signature whose shapes are fixed
becomes one overload for each of float16, float32 and float64, so that mixing them is an error; one of any shape becomes
generic.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kbuild.intrinsics import catalogue
from kbuild.loader import abi, values
from kbuild.simulate import face

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kbuild.intrinsics.catalogue import Entry
    from kbuild.intrinsics.described import Described, Parameter

ROOT = Path(__file__).parents[1]
HEAD = Path(__file__).with_name("stub_head.pyi")
STUB = ROOT / "kbuild" / "__init__.pyi"
SIMULATOR_STUB = ROOT / "kbuild" / "sim" / "__init__.pyi"

POSITIONS = ("thread_idx", "block_idx", "block_dim", "grid_dim")  # numbers that have .x, .y and .z
FLOATS = ("", "h", "d")  # suffixes of float32, float16, float64
# Classes of a fixed shape, without their suffix.
FIXED = {"Quat": "quat", "Transform": "transform", "Vec6": "spatial_vector", "Mat66": "spatial_matrix"}
FIXED.update({"Vec%d" % n: "vec%d" % n for n in (2, 3, 4)})
FIXED.update({"Mat%d%d" % (n, n): "mat%d%d" % (n, n) for n in (2, 3, 4)})
PLAIN = {
    "Float": "float",
    "Float32": "float",
    "Int32": "int",
    "Integer": "int",
    "Type": "Any",
    "Uint32": "int",
    "Value": "_T",
    "(int, int)": "tuple[int, int]",
}
# Any shape: the variable that stands for one type throughout a signature, and the class with its element.
GENERIC = {
    "Composite": ("_C", "_Vec[{0}] | _Mat[Any, {0}]"),
    "Mat": ("_M", "_Mat[Any, {0}]"),
    "Square": ("_M", "_Mat[Any, {0}]"),
    "Vec": ("_V", "_Vec[{0}]"),
    "Vec3": ("_V3", "_Vec3[{0}]"),
}


def main() -> None:
    """Writes the stubs."""
    for path, text in ((STUB, stub()), (SIMULATOR_STUB, simulator_stub())):
        path.write_text(text, encoding="utf-8")
        print("written: %s" % path)


def stub() -> str:
    """The text of kbuild/__init__.pyi."""
    functions = [text for entries in catalogue.groups().values() for entry in entries for text in _function(entry)]
    parts = [HEAD.read_text(encoding="utf-8"), "# Types\n", _types(), "# Functions of the kernel language\n"]
    return "\n".join(parts) + "\n" + "".join(functions)


def simulator_stub() -> str:
    """The text of kbuild/sim/__init__.pyi: the names that the package has when it is `kb.sim`."""
    head = '"""What `kb.sim` has. Made by `python -m tools.stubs` for type checkers and editors."""\n\n'
    names = sorted(face.__all__)
    return head + "".join("from %s import %s as %s\n" % (_home(name), name, name) for name in names)


def _home(name: str) -> str:
    """The module that a checker finds a name in: where it is defined."""
    return getattr(getattr(face, name), "__module__", face.__name__)


# Types


def _types() -> str:
    texts = []
    written: dict[str, str] = {}
    for name in values.__all__:
        type = getattr(values, name)._kb_type_
        first = written.setdefault(type.spelling, name)
        if isinstance(type, abi.Scalar):
            texts.append("%s: TypeAlias = %s\n" % (name, {"uint": "int"}.get(type.kind, type.kind)))
        elif first != name:
            texts.append("%s = %s\n" % (name, first))
        else:
            texts.append("\n%s\n" % _class(name, type))
    return "".join(texts)


def _class(name: str, type: abi.Vector | abi.Matrix) -> str:
    number = "float" if type.element.kind == "float" else "int"
    if isinstance(type, abi.Matrix):
        row = _name_of(abi.Vector(type.columns, type.element))
        return _whole(name, "_Mat[%s, %s]" % (row, number), [], ["*values: %s" % number, "*rows: %s" % row])
    vec3, quat = _name_of(abi.Vector(3, type.element)), _name_of(abi.quaternion(type.element), "")
    fields = ["%s: %s" % (axis, number) for axis in "xyzw"[: type.length if type.length <= 4 else 0]]
    all_numbers = "%s, /" % ", ".join(fields) if fields else "*values: %s" % number
    if type.kind == "quat":
        return _whole(name, "_Quat", fields, ["", all_numbers, "axis: %s, w: float, /" % vec3])
    if type.kind == "transform":
        parts = ["p: %s" % vec3, "q: %s" % quat]
        return _whole(name, "_Transform", parts, [all_numbers, "p: %s = ..., q: %s = ..." % (vec3, quat)])
    forms = ["", "value: %s, /" % number, all_numbers] if fields else [all_numbers]
    forms += ["top: %s, bottom: %s, /" % (vec3, vec3)] if type.length == 6 else []
    return _whole(name, "%s[%s]" % ("_Vec3" if type.length == 3 else "_Vec", number), fields, forms)


def _name_of(type: abi.Type, otherwise: str | None = None) -> str:
    """The first public name of a type's class."""
    found = (n for n in values.__all__ if getattr(values, n)._kb_type_ == type)
    return next(found) if otherwise is None else next(found, otherwise)


def _whole(name: str, base: str, fields: list[str], forms: list[str]) -> str:
    """A class with its attributes and the forms of its constructor."""
    number = "int" if "int]" in base else "float"
    lines = ["    %s" % field for field in fields]
    for form in [*forms, "values: Iterable[%s]%s, /" % (number, " | Iterable[Any]" if base.startswith("_Mat") else "")]:
        lines += [
            "    @_overload",
            "    def __init__(%s) -> None: ..." % ", ".join(["self", *([form] if form else [])]),
        ]
    return "class %s(%s):\n%s\n" % (name, base, "\n".join(lines))


# Functions


def _function(entry: Entry) -> Iterable[str]:
    """The overloads of a function; the first of each meaning has its docstring."""
    made: dict[str, str] = {}
    for use in entry.uses:
        for head in _heads(entry, use.signature):
            made.setdefault(head, use.doc if use.doc not in made.values() else "")
    for head, doc in made.items():
        overload = "@_overload\n" if len(made) > 1 else ""
        body = '\n    """%s"""\n' % doc if doc else " ..."
        yield "%sdef %s%s:%s\n" % (overload, entry.name, head, body)


def _heads(entry: Entry, signature: Described) -> list[str]:
    """`(a: vec3, b: float = ...) -> vec3`, for every element type that needs one of its own."""
    if entry.name == "tid":
        return ["() -> Any", "(axis: int, ndim: int, /) -> int"]  # one number, or as many as are unpacked; one of them
    if entry.name in POSITIONS:
        return ["() -> _Position"]
    if entry.group == "Atomic operations":  # no parameter can follow the indices by position
        values = "compare: _T, value: _T" if entry.name == "atomic_cas" else "value: _T"
        options = "order: _Order = ..., scope: _Scope = ..."
        of_array = f"(array: array[_T] | indexedarray[_T], /, *indices_and_values: Any, {options}) -> _T"
        return [of_array, f"(place: _T, {values}, /, *, {options}) -> _T"]
    if entry.name in ("load_readonly", "load_streaming"):
        return ["(array: array[_T] | indexedarray[_T], /, *indices: int) -> _T"]
    if entry.name == "store_streaming":
        return ["(array: array[_T] | indexedarray[_T], /, *indices_and_value: Any) -> None"]
    words = [p.word for p in signature.parameters]
    fixed = [word for word in words if word.split("[")[0] in FIXED]
    if not fixed:
        return [_head(entry, signature, None)]
    if all("[Number]" in word for word in fixed) and set(signature.results) <= set(words):
        return [_head(entry, signature, None)]
    return [_head(entry, signature, suffix) for suffix in FLOATS]


def _head(entry: Entry, signature: Described, suffix: str | None) -> str:
    text = " ".join([*(p.word for p in signature.parameters), *signature.results])
    is_reduced = "Number" in signature.results  # one number of a whole: the element type must be found again
    parameters: list[str] = []
    # What has rows or several functions takes no keywords; forms do where they have defaults.
    is_form = entry.row is None and not entry.is_library
    has_names = len(entry.uses) == 1 or (is_form and any(p.default for p in signature.parameters))
    has_names = has_names and (entry.row is None or entry.row.is_collective)
    is_named = not entry.is_stateful and has_names
    for parameter in signature.parameters:
        parameters.append(_parameter(parameter, suffix, text, is_reduced))
    if not is_named:
        at = next((i for i, one in enumerate(parameters) if one.startswith("*")), len(parameters))
        if at:
            parameters.insert(at, "/")
    known = [p.word for p in signature.parameters]
    results = [_type(word, suffix, text, is_reduced, known) for word in signature.results]
    result = results[0] if len(results) == 1 else "tuple[%s]" % ", ".join(results)
    return "(%s) -> %s" % (", ".join(parameters), result)


def _parameter(parameter: Parameter, suffix: str | None, text: str, is_reduced: bool) -> str:
    if not parameter.word:
        return parameter.name
    default = {"": "", "…": " = ..."}.get(parameter.default, " = %s" % parameter.default)
    return "%s: %s%s" % (parameter.name, _type(parameter.word, suffix, text, is_reduced, None), default)


def _type(word: str, suffix: str | None, text: str, is_reduced: bool, known: list[str] | None) -> str:
    """A word of a signature as a type. `known`, for results: the words of the parameters."""
    head, _, element = word.rstrip("]").partition("[")
    if suffix is not None and head in FIXED:
        return FIXED[head] + suffix
    if word == "Number":
        return "_N" if is_reduced else "float"
    if word == "Bool":
        return "int" if known is None else "bool"  # any number is a condition
    if head == "Array":
        return "array[%s]" % ("_N" if is_reduced else "Any" if element in ("Number", "Integer") else PLAIN[element])
    if head in GENERIC:
        variable, whole = GENERIC[head]
        if is_reduced:
            return whole.format("_N")
        if known is None:
            is_once = text.count(word) == 1 and element == "Float"
            return whole.format("float") if is_once else whole.format("Any") if text.count(word) == 1 else variable
        return variable if any(re.match(r"%s\b" % head, one) for one in known) else "Any"
    if head in FIXED:
        return "Any"  # nothing among the parameters says of which numbers it is made
    return PLAIN.get(word, word)


if __name__ == "__main__":
    main()
