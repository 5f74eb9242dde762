"""What a manifest may say: the one definition of its fields, and whether one says nothing else.

A manifest comes out of a file that may be damaged or forged, so nothing is believed: types, ranges, references, and
each layout, which is computed again from the types it names. The shapes below are the documentation of the fields.
`structs_of` answers yes or no, and that is all a start needs; what is wrong, and where, says `schema_faults.check`,
which decides where the two should ever differ. The tests hold them together.
"""

from __future__ import annotations

from . import abi

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Dict, Sequence

    Row = Dict[str, Any]
    Leaf = Callable[[object], bool]

FORMAT = 1
BLOB_ALIGN = 16
MAX_PARAMETER_BYTES = 32764
MAX_COUNT = 2**63 - 1
MAX_RATIO = 1032  # deflate's best: no stream of so few bytes can hold more than so many times as many
ADJOINT = ":adjoint"  # what the name of an adjoint kernel ends in
SAVED = ("float32", "float64", "int32", "int64")  # in the order of the adjoint's parameters
_MAX_SPELLING = 512
_HEX = frozenset("0123456789abcdef")


# Leaves: whether a value is right. `schema_faults.WANTED` says what each of them wants.


def _within(low: int, high: int) -> Leaf:
    return lambda value: type(value) is int and low <= value <= high


def _one_of(*texts: str) -> Leaf:
    return lambda value: type(value) is str and value in texts


is_count, is_positive = _within(0, MAX_COUNT), _within(1, MAX_COUNT)
is_ndim, is_block_dim, is_min_blocks, is_cluster = _within(1, 4), _within(1, 1024), _within(1, 32), _within(1, 8)
is_kind, is_codec, is_saved_type = _one_of("cubin", "ptx"), _one_of("zlib", "raw"), _one_of(*SAVED)


def is_text(value: object) -> bool:
    return type(value) is str and value.isprintable() and value != ""


def is_path(value: object) -> bool:
    """As the file system gives it: what is no UTF-8 is in it as half a surrogate pair, from U+DC80 to U+DCFF."""
    if type(value) is not str or not value or "\0" in value:
        return False
    return not any("\ud800" <= c < "\udc80" or "\udcff" < c <= "\udfff" for c in value)


def is_sha256(value: object) -> bool:
    return type(value) is str and len(value) == 64 and _HEX.issuperset(value)


def is_identifier(value: object) -> bool:
    return type(value) is str and value.isidentifier()


def is_c_identifier(value: object) -> bool:
    return type(value) is str and value.isidentifier() and value.isascii()


def is_dotted(value: object) -> bool:
    return type(value) is str and all(part.isidentifier() for part in value.split("."))


def is_definition_name(value: object) -> bool:
    module, _, qualname = value.partition(":") if type(value) is str else ("", "", "")
    return is_dotted(module) and is_dotted(qualname.replace("<locals>", "locals"))


def is_kernel_name(value: object) -> bool:
    name = value if type(value) is str else ""
    if name.endswith(ADJOINT):
        name = name[: -len(ADJOINT)]
    if name.endswith("]") and name[-10:-9] == "[" and _HEX.issuperset(name[-9:-1]):
        name = name[:-10]
    return is_definition_name(name)


def is_bounds(value: object) -> bool:
    right = type(value) is list and len(value) == 2 and is_block_dim(value[0])
    return right and type(value[1]) is int and 0 <= value[1] <= 32  # type: ignore[index]


def is_true(value: object) -> bool:
    return value is True


def is_type(value: object) -> bool:
    return is_text(value) and len(value) <= _MAX_SPELLING  # type: ignore[arg-type]


def is_version(value: object) -> bool:
    return type(value) is list and len(value) == 2 and all(type(v) is int and 0 <= v < 1000 for v in value)


def is_build(value: object) -> bool:
    return type(value) is str and value.isascii() and all(part.isdigit() for part in value.split("."))


def is_arch(value: object) -> bool:
    family, _, number = value.partition("_") if type(value) is str else ("", "", "")
    digits = number[:-1] if number[-1:] in ("a", "f") else number
    return family in ("sm", "compute") and digits.isascii() and digits.isdigit() and 2 <= len(digits) <= 3


def is_option(value: object) -> bool:
    if type(value) is list:
        return all(map(is_text, value))
    return value is None or type(value) in (bool, int, str)


def is_field(value: object) -> bool:
    name, spelling, offset = value if type(value) is list and len(value) == 3 else (None, None, None)
    return is_identifier(name) and is_type(spelling) and is_count(offset)


class _Around:
    """A shape made of others."""

    __slots__ = ("shapes",)

    def __init__(self, *shapes: Any) -> None:
        self.shapes = shapes


class Table(_Around):
    """An object with free keys: the leaf of a key and the shape of a value."""


class Nullable(_Around):
    """A shape, or null."""


class Either(_Around):
    """A key, and two shapes of an object: the first where it has that key."""


class May(_Around):
    """The shape of a key that need not be there: bundles of before it was thought of are read for ever."""


LEAF = type(is_text)

# Shapes: {…} an object with exactly these keys (but for May), [x] a list of x, a function a leaf.

_PARAMETER = {"name": is_identifier, "type": is_type, "offset": is_count, "size": is_count}

# What a kernel's adjoint needs; `kernel` is its place among the kernels. Arrays are named by path: `x`, `model.mass`.
_ADJOINT = {
    "kernel": is_count,
    "read": [is_text],  # the kernel loads from these
    "written": [is_text],
    "accumulated": [is_text],  # of the written: atomics alone add to them
    "before": [is_text],  # the adjoint loads what these held before the kernel ran
    "after": [is_text],  # and these after it
    "scratch": [is_text],  # the adjoint stores to these
    "owned": [is_text],  # it adds to the adjoints of these without atomic operations
    "saved": Table(is_saved_type, Nullable(is_count)),  # words of a thread by type; null where only a run can tell
}

_REFUSED = {"refused": is_text, "line": is_count}

_KERNEL = {
    "name": is_kernel_name,
    "entry": is_c_identifier,
    "ndim": is_ndim,
    "block_dim": is_block_dim,
    "any_block_dim": May(is_true),  # nobody chose it: the loader takes what suits the code and the GPU
    "waits": May(is_true),  # from compute capability 9.0 on it begins with a wait for what comes before in the stream
    "launch_bounds": May(is_bounds),  # a block has at most so many threads; so many blocks fit at least (0: not said)
    "whole_blocks": May(is_true),  # its threads wait for one another, or ask for their place in the grid
    "dynamic_shared": May(is_positive),  # its launch gives shared memory, for an array with rows of so many bytes
    "cluster_dim": May(is_cluster),  # its blocks run together in clusters of so many along x
    "origin": May(is_true),  # its header says where it begins: of one coordinate, and in newer bundles
    "plain": May(is_true),  # written in CUDA C++: no launch header, and whoever launches it gives the grid
    "shared_memory": May(is_positive),  # bytes that each block of a plain kernel gets unless the launch says so
    "parameters": [_PARAMETER],
    "optional": May([is_text]),  # arrays that may be None: `values`, `model.mask`
    "stated": May({"line": is_count, "rows": [[is_text]]}),  # what every launch is held against, and where it stands
    "backward": May(Either("refused", _REFUSED, _ADJOINT)),  # none: built without
    "size": is_count,
}

_RESOURCES = {
    "kernel": is_count,
    "registers": is_count,
    "shared": is_count,
    "local": is_count,
    "spills": is_count,
    "min_blocks": May(is_min_blocks),  # chosen for this target: so many blocks fit a multiprocessor
}

_CUBIN = {
    "target": is_text,
    "arch": is_arch,
    "kind": is_kind,
    "toolchain": is_build,
    "cuda": is_version,
    "driver": is_version,
    "kernels": [is_count],
    "unit": is_text,
    "resources": [_RESOURCES],
    "constants": May(is_count),  # bytes of tables, none where it is left out
    "blob": is_count,
}

_BLOB = {
    "sha256": is_sha256,
    "size": is_count,
    "stored_sha256": is_sha256,
    "stored": is_count,
    "codec": is_codec,
    "offset": is_count,
}

_INSTANCE = {"identity": is_sha256, "values": [is_text], "kernel": is_count}

_SOURCE = {"module": is_dotted, "path": is_path, "size": is_count, "mtime_ns": is_count, "sha256": is_sha256}

# An assert: the function it stands in, its number among those there (from 1), its line in the module's file.
_ASSERT = {"function": is_definition_name, "number": is_count, "line": is_count, "text": is_text, "kernels": [is_count]}

MANIFEST = {
    "format": is_count,
    "generator": is_text,
    "package": is_dotted,
    "options": Table(is_text, is_option),
    "structs": Table(is_definition_name, {"size": is_count, "align": is_count, "fields": [is_field]}),
    "definitions": Table(is_definition_name, {"plan": [is_text], "instances": [_INSTANCE]}),
    "kernels": [_KERNEL],
    "targets": [is_text],
    "cubins": [_CUBIN],
    "blobs": [_BLOB],
    "selftest": Nullable({"blob": is_count}),
    "sources": Nullable([_SOURCE]),
    "asserts": May([_ASSERT]),
}


def structs_of(manifest: Any) -> dict[str, abi.Struct] | None:
    """The structs of a manifest with which everything is right; None, or ValueError, where anything is wrong."""
    if not _fits(manifest, MANIFEST) or manifest["format"] != FORMAT:
        return None
    kernels, cubins, blobs, selftest = (manifest[key] for key in ("kernels", "cubins", "blobs", "selftest"))
    structs: dict[str, abi.Struct] = {}
    types: dict[str, abi.Type] = {}
    used = {row["blob"] for row in cubins} | ({selftest["blob"]} if selftest else set())
    if manifest["structs"]:
        from . import struct_table

        structs = struct_table.parse(manifest["structs"])
    is_right = (
        all(_differ([field[0] for field in row["fields"]]) for row in manifest["structs"].values())
        and _differ([row["name"] for row in kernels])
        and all(_is_kernel(row, structs, types) for row in kernels)
        and all(_is_definition(name, row, kernels) for name, row in manifest["definitions"].items())
        and _differ(manifest["targets"])
        and _are_cubins(cubins, manifest["targets"], kernels)
        and used == set(range(len(blobs)))
        and _are_blobs(blobs)
        and _differ([row["path"] for row in manifest["sources"] or ()])
        and all(_differ(row["kernels"]) for row in manifest.get("asserts", ()))
        and all(number < len(kernels) for row in manifest.get("asserts", ()) for number in row["kernels"])
    )
    return structs if is_right else None


def _fits(value: Any, shape: Any) -> bool:
    kind = type(shape)
    if kind is LEAF:
        return shape(value)  # type: ignore[no-any-return]
    if kind is list:
        return type(value) is list and all(_fits(item, shape[0]) for item in value)
    if kind is Nullable:
        return value is None or _fits(value, shape.shapes[0])
    if type(value) is not dict:
        return False
    if kind is Either:
        key, first, second = shape.shapes
        return _fits(value, first if key in value else second)
    if kind is Table:
        key, inner = shape.shapes
        return all(key(name) and _fits(item, inner) for name, item in value.items())
    known = 0
    for key, inner in shape.items():
        if key in value:
            known += 1
            if type(inner) is May:
                inner = inner.shapes[0]
            if not (inner(value[key]) if type(inner) is LEAF else _fits(value[key], inner)):
                return False
        elif type(inner) is not May:
            return False
    return known == len(value)


def _differ(names: Sequence[Any]) -> bool:
    return len(set(names)) == len(names)


def header_size(ndim: int, has_origin: bool) -> int:
    """Bytes of the launch header of a kernel whose `tid()` has `ndim` results: the first parameter of its entry."""
    if ndim == 1:
        return 8 if has_origin else 4
    return 4 + 12 * (ndim - 1) + 4 * ndim


def header_of(kernel: Row) -> int:
    """Bytes of the launch header of a kernel, by its row."""
    return 0 if "plain" in kernel else header_size(kernel["ndim"], kernel.get("origin", False))


NOT_OF_PLAIN = ("origin", "whole_blocks", "any_block_dim", "waits")
# What goes only with another key.
GOES_WITH = {"dynamic_shared": "whole_blocks", "cluster_dim": "whole_blocks", "shared_memory": "plain"}


def _is_kernel(row: Row, structs: dict[str, abi.Struct], types: dict[str, abi.Type]) -> bool:
    """`types` remembers the spellings parsed so far."""
    end = header_of(row)
    for parameter in row["parameters"]:
        spelling = parameter["type"]
        type = types.get(spelling) or types.setdefault(spelling, abi.parse(spelling, structs))
        offset = abi.align_up(end, type.align)
        if (parameter["offset"], parameter["size"]) != (offset, type.size):
            return False
        if isinstance(type, abi.Flat) and "plain" not in row:
            return False
        end = offset + type.size
    return (
        row["size"] == end <= MAX_PARAMETER_BYTES
        and _differ([parameter["name"] for parameter in row["parameters"]])
        and row["block_dim"] <= row.get("launch_bounds", (1024,))[0]
        and all(GOES_WITH[key] in row for key in GOES_WITH if key in row)
        and (row["ndim"] == 1 or ("origin" not in row and "plain" not in row))
        and not ("any_block_dim" in row and "whole_blocks" in row)
        and ("plain" not in row or row.keys().isdisjoint(NOT_OF_PLAIN))
        and ("optional" not in row or _are_arrays(row["optional"], row["parameters"], types))
    )


def _are_arrays(paths: list[str], parameters: list[Row], types: dict[str, abi.Type]) -> bool:
    from . import struct_table

    named = {row["name"]: types[row["type"]] for row in parameters}
    return _differ(paths) and all(struct_table.has_array(named, path) for path in paths)


def _is_definition(name: str, definition: Row, kernels: list[Row]) -> bool:
    for row in definition["instances"]:
        names = (name, "%s[%s]" % (name, row["identity"][:8]))
        if row["kernel"] >= len(kernels) or kernels[row["kernel"]]["name"] not in names:
            return False
    return _differ(definition["plan"]) and _differ([row["identity"] for row in definition["instances"]])


def _are_cubins(cubins: list[Row], targets: list[str], kernels: list[Row]) -> bool:
    held: list[Any] = []
    for row in cubins:
        numbers, measured = row["kernels"], [resources["kernel"] for resources in row["resources"]]
        is_ptx = row["kind"] == "ptx"
        if not (
            row["target"] in targets
            and (is_ptx or row["arch"].startswith("sm_"))
            and numbers
            and max(numbers) < len(kernels)
            and _differ([kernels[number]["entry"] for number in numbers])
            and (measured == numbers or (is_ptx and not measured))
        ):
            return False
        held += [(row["target"], row["kind"], number) for number in numbers]
    return _differ(held) and _differ([(row["target"], row["unit"], row["kind"]) for row in cubins])


def _are_blobs(blobs: list[Row]) -> bool:
    """Each follows the one before it, so that nothing overlaps and no byte between them is anybody's."""
    end = 0
    for row in blobs:
        if row["offset"] != end or not row["size"] or not row["stored"]:
            return False
        if row["codec"] == "raw":
            if (row["size"], row["sha256"]) != (row["stored"], row["stored_sha256"]):
                return False
        elif row["size"] > MAX_RATIO * row["stored"]:
            return False
        end = abi.align_up(end + row["stored"], BLOB_ALIGN)
    return True
