"""A translation unit: helpers, structs, functions, entries, in an order that depends on the kernels alone.

    emit([(kernel, entry name), …]) → Unit(source, files)

`#line` directives lead back to the Python source, as absolute virtual paths: a relative one would leak the current
directory into the machine code. `files` maps them to the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kbuild.codegen import arrays, atomics, blocks, caches, helpers, indexed, native, tables, warps, wide
from kbuild.codegen.functions import FunctionEmitter
from kbuild.codegen.names import Names, field_name
from kbuild.codegen.types import SCALAR_NAMES, array_name, composite_name
from kbuild.errors import InternalError
from kbuild.intrinsics.table import ALL_ROWS
from kbuild.ir.nodes import Function, Kernel, Table
from kbuild.ir.presence import asks_of_views
from kbuild.ir.traverse import callees
from kbuild.ir.types import VOID, Array, Constant, Fixed, IndexedArray, Matrix, Scalar, Struct, Tuple, Type, Vector

HEADER_PATH = "/kbuild/helpers.h"
# Unused variables, and comparisons that are always true for an unsigned type, are no fault of a kernel.
_QUIET = "".join(f"#pragma nv_diag_suppress {number}\n" for number in (177, 186, 550))
SPELLINGS = frozenset(name for row in ALL_ROWS.values() for name in row.cuda.values()) | {
    "fmaf",
    "fma",
    "fmodf",
    "fmod",
    "printf",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """CUDA C of a unit, and the real file behind each virtual path in it."""

    source: str
    files: dict[str, str]


def emit(kernels: list[tuple[Kernel, str]]) -> Unit:
    """The unit of these kernels. Entry names are C identifiers, unique in the unit."""
    unit = UnitEmitter(Names(SPELLINGS, frozenset(entry for _, entry in kernels)))
    unit.keeps_none = any(asks_of_views(kernel.function) for kernel, _ in kernels)
    for kernel, entry in kernels:
        unit.kernel(kernel, entry)
    return Unit(unit.text(), unit.files)


@dataclass
class UnitEmitter:
    """Collects the parts of a unit as they are asked for; each part asks for what it needs before it is added."""

    names: Names
    parts: dict[tuple[str, ...], str] = field(default_factory=dict)
    functions: list[str] = field(default_factory=list)
    emitted: dict[str, str] = field(default_factory=dict)
    function_names: dict[Function, str] = field(default_factory=dict)
    struct_names: dict[Type, str] = field(default_factory=dict)
    table_names: dict[tuple[Type, bytes], str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    array_methods: set[tuple[int, str]] = field(default_factory=set)  # dimensions, method
    keeps_none: bool = False  # a view of no array must be none

    def text(self) -> str:
        """The whole source."""
        helpers = [self._part(key) for key in self.parts if key[0] != "struct"]
        records = [text for key, text in self.parts.items() if key[0] == "struct"]
        head = [f'#line 1 "{HEADER_PATH}"\n{_QUIET}', arrays.products(self.array_methods), *helpers]
        # The user's names stand apart from CUDA's own (`float4`, `max`, `dim3`).
        space = ["\nnamespace kb_unit {\n", *records, "\n"]
        return "".join([*head, *space]) + "\n".join(self.functions) + "}\n"

    def _part(self, key: tuple[str, ...]) -> str:
        """The text of a helper; an array's is known once all has been said that is asked of it."""
        if key[0] != "array":
            return self.parts[key]
        return arrays.array(int(key[1]), {method for ndim, method in self.array_methods if ndim == int(key[1])})

    # Types

    def type_name(self, type: Type) -> str:
        """The C name of a type; its definition is added where it has one."""
        match type:
            case Scalar():
                if helpers.needs_half(type):
                    self.parts.setdefault(("half",), helpers.half())
                return SCALAR_NAMES[type.spelling]
            case Vector() | Matrix():
                return self._composite(type)
            case Fixed():
                element = self.type_name(type.element)
                self.parts.setdefault((type.place, str(type.ndim)), blocks.array(type.ndim, type.place))
                element = f"const {element}" if isinstance(type, Constant) else element
                return blocks.array_name(element, type.shape, type.place)
            case IndexedArray():
                element = self.type_name(type.element)
                self.parts.setdefault(("at",), indexed.AT)
                self.parts.setdefault(("indexed", str(type.ndim)), indexed.array(type.ndim))
                return array_name(type, element)
            case Array():
                element = self.type_name(type.element)
                self.parts.setdefault(("array", str(type.ndim)), "")
                return array_name(type, element)
            case Struct() | Tuple():
                return self._record(type)
        if type == VOID:
            return "void"
        raise InternalError(f"no C type for {type}")

    def _composite(self, type: Vector | Matrix) -> str:
        self.type_name(type.element)
        if isinstance(type, Matrix):
            self.type_name(Vector(type.columns, type.element))
        self.parts.setdefault(("composite", type.spelling), helpers.composite(type))
        return composite_name(type)

    def _record(self, type: Struct | Tuple) -> str:
        if type not in self.struct_names:
            if isinstance(type, Struct):
                members = [(field_name(f.name), f.type) for f in type.fields]
                title = type.name.rpartition(":")[2].rpartition(".")[2]
            else:
                members = [(f"item{i}", item) for i, item in enumerate(type.items)]
                title = "kb_results"
            lines = [f"    {self.type_name(inner)} {name};\n" for name, inner in members]
            name = self.names.fresh(title) if isinstance(type, Struct) else f"{title}_{len(self.struct_names)}"
            check = f'static_assert(sizeof({name}) == {type.size}, "layout");\n' if isinstance(type, Struct) else ""
            self.parts[("struct", type.spelling)] = f"struct {name} {{\n{''.join(lines)}}};\n{check}"
            self.struct_names[type] = name
        return self.struct_names[type]

    # Helpers

    def integer(self, op: str, type: Scalar) -> str:
        """The helper of an integer operation."""
        self.parts.setdefault(("integer", op, type.spelling), helpers.integer(op, type))
        return f"kb_{op}"

    def elementwise(self, title: str, type: Vector | Matrix, kinds: str, value: helpers.Element) -> str:
        """A helper that works element by element. `value` may ask for helpers of its own."""
        key = ("elementwise", title, type.spelling, kinds)
        if key not in self.parts:
            self.type_name(type)
            self.parts[key] = helpers.elementwise(title, type, value, kinds)
        return title

    def fill(self, type: Vector | Matrix) -> str:
        """The helper that makes a large composite of one number."""
        name = self.type_name(type)
        self.parts.setdefault(("fill", type.spelling), helpers.fill(type))
        return f"kb_fill_{name}"

    def rounding(self, source: Scalar, target: Scalar) -> str:
        """The helper that converts a float to an integer."""
        self.parts.setdefault(("rounding", source.spelling, target.spelling), helpers.rounding(source, target))
        return f"kb_{target.spelling}"

    def atomic(self, name: str, type: Scalar, sum_of: str, scope: str, order: str) -> str:
        """The helper of an atomic operation."""
        self.type_name(type)
        suffix = atomics.SUFFIXES[scope]
        text = atomics.function(name, type, sum_of, suffix)
        self.parts.setdefault(("atomic", name, type.spelling, scope), text)
        if order == "relaxed":
            return f"kb_{name}{suffix}"
        text = atomics.ordered(name, type, order, suffix)
        self.parts.setdefault(("atomic", name, type.spelling, scope, order), text)
        return f"kb_{name}_{order}{suffix}"

    def cached(self, what: str, hint: str, type: Type) -> str:
        """The helper that loads or stores a value with a hint for the caches."""
        text = caches.function(what, hint, self.type_name(type), type)
        self.parts.setdefault(("cached", what, hint, type.spelling), text)
        return f"kb_{what}_{hint}"

    def whole(self, what: str, type: Type) -> str:
        """The helper that loads or stores an element in words larger than its numbers, where it is aligned so."""
        text = wide.function(what, self.type_name(type), type)
        self.parts.setdefault(("whole", what, type.spelling), text)
        return f"kb_{what}"

    def collective(self, name: str, type: Scalar) -> str:
        """The helper of what the lanes of a warp do together."""
        self.type_name(type)
        for what in ("block_dim", "thread_idx"):
            self.position(what)
        self.parts.setdefault(("lanes",), warps.LANES)
        self.parts.setdefault(("collective", name, type.spelling), warps.function(name, type))
        return f"kb_{name}"

    def of_array(self, array: Array, method: str) -> str:
        """A method of an array's descriptor: `.at`."""
        if not isinstance(array, IndexedArray):  # which has its own
            self.array_methods.add((array.ndim, method))
        return f".{method}"

    def view(self, array: Array, count: int) -> str:
        """The helper that fixes leading indices of an array; the type it gives is known before."""
        self.type_name(array)  # of a view of a view nothing else says it
        if isinstance(array, Fixed):
            text = blocks.view(array.ndim, count, array.place)
            self.parts.setdefault((f"{array.place} view", str(array.ndim), str(count)), text)
        elif isinstance(array, IndexedArray):
            text = indexed.view(array.ndim, count, self.keeps_none)
            self.parts.setdefault(("indexed view", str(array.ndim), str(count)), text)
        else:
            text = arrays.view(array.ndim, count, self.keeps_none)
            self.parts.setdefault(("view", str(array.ndim), str(count)), text)
        return "kb_view"

    def table(self, table: Table) -> str:
        """A table as an array; two of the same elements are one."""
        type = table.type
        assert isinstance(type, Constant)
        key = type, table.data
        if key not in self.table_names:
            self.table_names[key] = name = self.names.fresh(f"table_{table.name}")
            self.parts[("table", name)] = tables.definition(name, type, table.data)
        return f"{self.type_name(type)}{{(const {self.type_name(type.element)} *){self.table_names[key]}}}"

    def position(self, what: str) -> str:
        """The helper that tells where a thread stands, over all axes."""
        self.parts.setdefault(("position", what), blocks.position(what))
        return f"kb_{what}"

    def elsewhere(self, type: Fixed) -> str:
        """The helper that finds an array in the shared memory of another block."""
        self.parts.setdefault(("elsewhere", str(type.ndim)), blocks.elsewhere(type.ndim))
        return "kb_elsewhere"

    def cluster_sync(self) -> str:
        """The helper that waits for the cluster."""
        self.parts.setdefault(("cluster sync",), blocks.CLUSTER_SYNC)
        return "kb_cluster_sync"

    def wait(self) -> None:
        """The helper that every kernel begins with."""
        self.parts.setdefault(("wait",), blocks.wait())

    def dynamic(self) -> str:
        """The shared memory that the launch gives."""
        self.parts.setdefault(("dynamic",), blocks.DYNAMIC_MEMORY)
        return "kb_dynamic"

    def rows(self, type: Fixed) -> str:
        """The first extent of an array in shared or constant memory."""
        if not type.is_dynamic:
            return str(type.shape[0])
        self.dynamic()
        return f"(int)(kb_dynamic_bytes() / {type.row}u)"

    def native_parameter(self, type: Type, name: str, is_adjoint: bool) -> tuple[str, str]:
        """(type, argument) of what a text in CUDA C++ gets for a variable."""
        kind = self.type_name(type)
        if not native.is_wrapped(type):
            return kind, name
        assert isinstance(type, Array)
        element = self.type_name(type.element)
        element = f"const {element}" if isinstance(type, Constant) else element
        if is_adjoint and native.has_sums(type):
            wrapper = native.adjoint_name(type, element)
            if ("adjoint", wrapper) not in self.parts:
                scalar = type.element if isinstance(type.element, Scalar) else type.element.element  # type: ignore[attr-defined]
                add = self.atomic("atomic_add", scalar, "kb_to_half(kb_float(a) + kb_float(b))", "device", "relaxed")
                text = native.adjoint(
                    type, element, lambda at, v: f"{add}({at}, {v})", native.negative(type.element, element)
                )
                self.parts[("adjoint", wrapper)] = text
            return wrapper, f"{wrapper}{{{name}}}"
        self.parts.setdefault(("snippet", str(type.ndim)), native.view(type.ndim))
        kind = f"kb_snippet{type.ndim}<{element}>"
        if isinstance(type, Fixed):
            return kind, native.of_fixed(type, element, name, self.rows(type))
        self.parts.setdefault(("snippet", str(type.ndim), "of an array"), native.of_array(type.ndim))
        return kind, f"kb_snippet({name})"

    def native_function(self, text: str, name: str) -> str:
        """The C name of a function in CUDA C++, whose own name is `@` in the text; the same text is emitted once."""
        if text not in self.emitted:
            self.emitted[text] = self.names.fresh(name)
            self.functions.append(text.replace("@", self.emitted[text], 1))
        return self.emitted[text]

    def same(self) -> str:
        """The helper that gives back what it gets."""
        self.parts.setdefault(("same",), f"template <class T> {helpers.INLINE} T kb_same(T x) {{ return x; }}\n")
        return "kb_same"

    def from_end(self) -> str:
        """The helper that counts an index below zero from the end."""
        self.parts.setdefault(("index",), helpers.FROM_END)
        return "kb_from_end"

    def launch(self, ndim: int) -> None:
        """The launch header of kernels with this many coordinates."""
        self.parts.setdefault(("launch", str(ndim)), helpers.launch(ndim))

    # Functions

    def function(self, function: Function, thread: str) -> str:
        """The C name of a device function; the same text is emitted once. `thread`: the type of its hidden argument."""
        if function not in self.function_names:
            emitter = FunctionEmitter(self, function, thread, SPELLINGS)
            body = emitter.device_function("@")
            if body not in self.emitted or function.shared:  # shared memory is each function's own
                self.emitted[body] = name = self.names.fresh(function.name)
                self.functions.append(body.replace("@", name, 1))
            self.function_names[function] = self.emitted[body]
        return self.function_names[function]

    def kernel(self, kernel: Kernel, entry: str) -> None:
        """An entry and everything that it reaches."""
        self.launch(kernel.ndim)
        thread = thread_type(kernel.ndim)
        for callee in callees(kernel.function):
            self.function(callee, thread)
        self.functions.append(FunctionEmitter(self, kernel.function, thread, SPELLINGS).entry(kernel, entry))


def thread_type(ndim: int) -> str:
    """The C type of a thread's coordinates."""
    return "int" if ndim == 1 else f"kb_index{ndim}"
