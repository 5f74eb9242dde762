"""What a manifest may say: the one definition of its fields, and the check of everything that they claim.

A manifest comes out of a file that may be damaged or forged, so nothing is believed: types, ranges, references, and
each layout, which is computed again from the types it names. The shapes below are the documentation of the fields.
`check` raises BundleError with the place in it (`kernels[3].parameters[1].offset is …`).
"""

from __future__ import annotations

from . import abi
from .errors import BundleError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Sequence, Tuple

    Row = Dict[str, Any]
    Fault = Optional[Tuple[str, str]]

FORMAT = 1
BLOB_ALIGN = 16
MAX_PARAMETER_BYTES = 32764
MAX_COUNT = 2**63 - 1
ADJOINT = ":adjoint"  # what the name of an adjoint kernel ends in
_MAX_SPELLING = 512
_HEX = frozenset("0123456789abcdef")


# Leaves: a function from a value to what is wanted instead, or None when it is right.


def _count(value: object) -> str | None:
    return None if type(value) is int and 0 <= value <= MAX_COUNT else "an integer from 0 on"


def _positive(value: object) -> str | None:
    return None if type(value) is int and 0 < value <= MAX_COUNT else "an integer from 1 on, or to be left out"


def _text(value: object) -> str | None:
    return None if type(value) is str and value and value.isprintable() else "a printable text"


def _path(value: object) -> str | None:
    if type(value) is not str or not value or "\0" in value:
        return "a path"
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "a path"
    return None


def _sha256(value: object) -> str | None:
    return None if type(value) is str and len(value) == 64 and _HEX.issuperset(value) else "64 hexadecimal digits"


def _identifier(value: object) -> str | None:
    return None if type(value) is str and value.isidentifier() else "an identifier"


def _c_identifier(value: object) -> str | None:
    return None if type(value) is str and value.isidentifier() and value.isascii() else "a C identifier"


def _dotted(value: object) -> str | None:
    if type(value) is str and all(part.isidentifier() for part in value.split(".")):
        return None
    return "a dotted name"


def _definition_name(value: object) -> str | None:
    module, _, qualname = value.partition(":") if type(value) is str else ("", "", "")
    parts = qualname.replace("<locals>", "locals").split(".")
    return None if _dotted(module) is None and all(p.isidentifier() for p in parts) else "module:qualname"


def _kernel_name(value: object) -> str | None:
    name = value if type(value) is str else ""
    if name.endswith(ADJOINT):
        name = name[: -len(ADJOINT)]
    if name.endswith("]") and name[-10:-9] == "[" and _HEX.issuperset(name[-9:-1]):
        name = name[:-10]
    return None if _definition_name(name) is None else "module:qualname, with [8 hexadecimal digits] for an instance"


def _ndim(value: object) -> str | None:
    return None if type(value) is int and 1 <= value <= 4 else "1 to 4"


def _block_dim(value: object) -> str | None:
    return None if type(value) is int and 1 <= value <= 1024 else "1 to 1024"


def _min_blocks(value: object) -> str | None:
    return None if type(value) is int and 1 <= value <= 32 else "1 to 32"


def _cluster(value: object) -> str | None:
    return None if type(value) is int and 1 <= value <= 8 else "1 to 8"


def _bounds(value: object) -> str | None:
    right = type(value) is list and len(value) == 2 and _block_dim(value[0]) is None
    right = right and (value[1] == 0 or _min_blocks(value[1]) is None) and type(value[1]) is int  # type: ignore[index]
    return None if right else "[1 to 1024 threads, 0 to 32 blocks]"


def _true(value: object) -> str | None:
    return None if value is True else "true, or to be left out"


def _type(value: object) -> str | None:
    return None if type(value) is str and 0 < len(value) <= _MAX_SPELLING and value.isprintable() else "a type"


def _version(value: object) -> str | None:
    right = type(value) is list and len(value) == 2 and all(type(v) is int and 0 <= v < 1000 for v in value)
    return None if right else "[major, minor]"


def _build(value: object) -> str | None:
    right = type(value) is str and value.isascii() and all(part.isdigit() for part in value.split("."))
    return None if right else "a version such as 12.9.86"


def _kind(value: object) -> str | None:
    return None if value in ("cubin", "ptx") and type(value) is str else "'cubin' or 'ptx'"


def _codec(value: object) -> str | None:
    return None if value in ("zlib", "raw") and type(value) is str else "'zlib' or 'raw'"


def _arch(value: object) -> str | None:
    family, _, number = value.partition("_") if type(value) is str else ("", "", "")
    digits = number[:-1] if number[-1:] in ("a", "f") else number
    right = family in ("sm", "compute") and digits.isascii() and digits.isdigit() and 2 <= len(digits) <= 3
    return None if right else "an architecture such as sm_90"


def _saved_type(value: object) -> str | None:
    return None if type(value) is str and value in SAVED else "one of %s" % ", ".join(SAVED)


def _option(value: object) -> str | None:
    if type(value) is list:
        return None if all(_text(v) is None for v in value) else "a list of texts"
    return None if value is None or type(value) in (bool, int, str) else "true, false, null, an integer or a text"


def _field(value: object) -> str | None:
    row = value if type(value) is list and len(value) == 3 else [None, None, None]
    right = _identifier(row[0]) is None and _type(row[1]) is None and _count(row[2]) is None
    return None if right else "[name, type, offset]"


class _Table:
    """An object with free keys: the shape of a key and the shape of a value."""

    __slots__ = ("key", "value")

    def __init__(self, key: Any, value: Any) -> None:
        self.key, self.value = key, value


class _Nullable:
    """A shape, or null."""

    __slots__ = ("shape",)

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class _Either:
    """Two shapes of an object: the first where it has a key."""

    __slots__ = ("first", "key", "second")

    def __init__(self, key: str, first: Any, second: Any) -> None:
        self.key, self.first, self.second = key, first, second


class _May:
    """The shape of a key that need not be there: bundles of before it was thought of are read for ever."""

    __slots__ = ("shape",)

    def __init__(self, shape: Any) -> None:
        self.shape = shape


_FUNCTION = type(_count)

# Shapes: {…} an object with exactly these keys (but for _May), [x] a list of x, a function a leaf.

_PARAMETER = {"name": _identifier, "type": _type, "offset": _count, "size": _count}

SAVED = ("float32", "float64", "int32", "int64")  # in the order of the adjoint's parameters

# What a kernel's adjoint needs; `kernel` is its place among the kernels. Arrays are named by path: `x`, `model.mass`.
_ADJOINT = {
    "kernel": _count,
    "read": [_text],  # the kernel loads from these
    "written": [_text],
    "accumulated": [_text],  # of the written: atomics alone add to them
    "before": [_text],  # the adjoint loads what these held before the kernel ran
    "after": [_text],  # and these after it
    "scratch": [_text],  # the adjoint stores to these
    "owned": [_text],  # it adds to the adjoints of these without atomic operations
    "saved": _Table(_saved_type, _Nullable(_count)),  # words of a thread by type; null where only a run can tell
}

_REFUSED = {"refused": _text, "line": _count}

_KERNEL = {
    "name": _kernel_name,
    "entry": _c_identifier,
    "ndim": _ndim,
    "block_dim": _block_dim,
    "any_block_dim": _May(_true),  # nobody chose it: the loader takes what suits the code and the GPU
    "waits": _May(
        _true
    ),  # from compute capability 9.0 on it begins with a wait for what stands before it in the stream
    "launch_bounds": _May(_bounds),  # a block has at most so many threads; so many blocks fit at least (0: not said)
    "whole_blocks": _May(_true),  # its threads wait for one another, or ask for their place in the grid
    "dynamic_shared": _May(_positive),  # its launch gives shared memory, for an array with rows of so many bytes
    "cluster_dim": _May(_cluster),  # its blocks run together in clusters of so many along x
    "origin": _May(_true),  # its header says where it begins: of one coordinate, and in newer bundles
    "plain": _May(_true),  # written in CUDA C++: no launch header, and whoever launches it gives the grid
    "shared_memory": _May(_positive),  # bytes that each block of a plain kernel gets unless the launch says so
    "parameters": [_PARAMETER],
    "optional": _May([_text]),  # arrays that may be None: `values`, `model.mask`
    "stated": _May({"line": _count, "rows": [[_text]]}),  # what every launch is held against, and where it stands
    "backward": _May(_Either("refused", _REFUSED, _ADJOINT)),  # none: built without
    "size": _count,
}

_RESOURCES = {
    "kernel": _count,
    "registers": _count,
    "shared": _count,
    "local": _count,
    "spills": _count,
    "min_blocks": _May(_min_blocks),  # chosen for this target: so many blocks fit a multiprocessor
}

_CUBIN = {
    "target": _text,
    "arch": _arch,
    "kind": _kind,
    "toolchain": _build,
    "cuda": _version,
    "driver": _version,
    "kernels": [_count],
    "unit": _text,
    "resources": [_RESOURCES],
    "constants": _May(_count),  # bytes of tables, none where it is left out
    "blob": _count,
}

_BLOB = {
    "sha256": _sha256,
    "size": _count,
    "stored_sha256": _sha256,
    "stored": _count,
    "codec": _codec,
    "offset": _count,
}

_INSTANCE = {"identity": _sha256, "values": [_text], "kernel": _count}

_SOURCE = {"module": _dotted, "path": _path, "size": _count, "mtime_ns": _count, "sha256": _sha256}

# An assert: the function it stands in, its number among those there (from 1), its line in the module's file.
_ASSERT = {"function": _definition_name, "number": _count, "line": _count, "text": _text, "kernels": [_count]}

_MANIFEST = {
    "format": _count,
    "generator": _text,
    "package": _dotted,
    "options": _Table(_text, _option),
    "structs": _Table(_definition_name, {"size": _count, "align": _count, "fields": [_field]}),
    "definitions": _Table(_definition_name, {"plan": [_text], "instances": [_INSTANCE]}),
    "kernels": [_KERNEL],
    "targets": [_text],
    "cubins": [_CUBIN],
    "blobs": [_BLOB],
    "selftest": _Nullable({"blob": _count}),
    "sources": _Nullable([_SOURCE]),
    "asserts": _May([_ASSERT]),
}


def check(manifest: Any) -> dict[str, abi.Struct]:
    """Hold a manifest against its shape and its own claims; BundleError says what is wrong and where. Its structs."""
    fault = _fault(manifest, _MANIFEST)
    if fault is not None:
        raise BundleError("manifest%s %s" % fault)
    if manifest["format"] != FORMAT:
        raise BundleError("manifest.format is %d in a file of format %d" % (manifest["format"], FORMAT))
    structs = _structs_of(manifest["structs"])
    _check_kernels(manifest["kernels"], structs)
    _check_definitions(manifest["definitions"], manifest["kernels"])
    refuse_repeats("targets", manifest["targets"])
    _check_cubins(manifest["cubins"], manifest["targets"], manifest["kernels"], len(manifest["blobs"]))
    used = {row["blob"] for row in manifest["cubins"]}
    if manifest["selftest"] is not None:
        check_index("selftest.blob", manifest["selftest"]["blob"], len(manifest["blobs"]), "blobs")
        used.add(manifest["selftest"]["blob"])
    _check_blobs(manifest["blobs"], used)
    refuse_repeats("sources", [row["path"] for row in manifest["sources"] or ()])
    if "asserts" in manifest:
        from . import schema_rest

        schema_rest.check_asserts(manifest["asserts"], len(manifest["kernels"]))
    return structs


def _fault(value: Any, shape: Any) -> Fault:
    """The first place where a value departs from its shape, and how; None when nowhere."""
    kind = type(shape)
    if kind is dict:
        return _fault_in_record(value, shape)
    if kind is list:
        return _fault_in_list(value, shape[0])
    if kind is _Table:
        return _fault_in_table(value, shape)
    if kind is _Nullable:
        return None if value is None else _fault(value, shape.shape)
    if kind is _Either:
        return _fault(value, shape.first if type(value) is dict and shape.key in value else shape.second)
    wanted = shape(value)
    return None if wanted is None else ("", "is %s, but wants %s" % (shown(value), wanted))


def _fault_in_record(value: Any, shape: Row) -> Fault:
    if type(value) is not dict:
        return "", "is %s, but wants an object" % shown(value)
    if value.keys() != shape.keys():
        for key in shape:
            if key not in value and type(shape[key]) is not _May:
                return "", "lacks %r" % key
        unknown = value.keys() - shape.keys()
        if unknown:
            return "", "has the unknown key %s" % shown(min(unknown))
    for key, inner in shape.items():
        if type(inner) is _May:
            if key not in value:
                continue
            inner = inner.shape
        if type(inner) is _FUNCTION:  # most are leaves: asked here, for the sake of the start
            wanted = inner(value[key])
            fault = None if wanted is None else ("", "is %s, but wants %s" % (shown(value[key]), wanted))
        else:
            fault = _fault(value[key], inner)
        if fault is not None:
            return ".%s%s" % (key, fault[0]), fault[1]
    return None


def _fault_in_list(value: Any, shape: Any) -> Fault:
    if type(value) is not list:
        return "", "is %s, but wants a list" % shown(value)
    for index, item in enumerate(value):
        fault = _fault(item, shape)
        if fault is not None:
            return "[%d]%s" % (index, fault[0]), fault[1]
    return None


def _fault_in_table(value: Any, shape: _Table) -> Fault:
    if type(value) is not dict:
        return "", "is %s, but wants an object" % shown(value)
    for key, item in value.items():
        fault = _fault(key, shape.key)
        if fault is not None:
            return "", "has the key %s, but wants %s" % (shown(key), shape.key(key))
        fault = _fault(item, shape.value)
        if fault is not None:
            return "[%r]%s" % (key, fault[0]), fault[1]
    return None


def shown(value: object) -> str:
    """A value for a message, cut short."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def refuse_repeats(place: str, names: Sequence[Any]) -> None:
    """Raises BundleError for what stands twice in a list."""
    if len(set(names)) == len(names):
        return
    seen = set()
    for index, name in enumerate(names):
        if name in seen:
            raise BundleError("manifest.%s[%d] repeats %s" % (place, index, shown(name)))
        seen.add(name)


def check_index(place: str, index: int, length: int, table: str) -> None:
    """Raises BundleError for the index of a row that is not in a table."""
    if index >= length:
        raise BundleError("manifest.%s is %d, but there are %d %s" % (place, index, length, table))


# Kernels and their parameters


def header_size(ndim: int, has_origin: bool) -> int:
    """Bytes of the launch header of a kernel whose `tid()` has `ndim` results: the first parameter of its entry."""
    if ndim == 1:
        return 8 if has_origin else 4
    return 4 + 12 * (ndim - 1) + 4 * ndim


def writes_origin(ndim: int) -> bool:
    """Whether a build of today writes headers with an origin for kernels of so many coordinates."""
    return ndim == 1


def header_of(kernel: Row) -> int:
    """Bytes of the launch header of a kernel, by its row."""
    if "plain" in kernel:
        return 0
    return header_size(kernel["ndim"], kernel.get("origin", False))


def layout(ndim: int, types: Sequence[abi.Type], has_origin: bool) -> tuple[list[int], int]:
    """Offsets of the parameters in the parameter block, and the block's bytes: a C struct of [header, p0, p1, …].

    The block ends with its last parameter, without the padding that C puts at a struct's end: so the driver counts.
    """
    return layout_behind(header_size(ndim, has_origin), types)


def layout_behind(header: int, types: Sequence[abi.Type]) -> tuple[list[int], int]:
    """`layout` behind a header of so many bytes."""
    offsets, end = [], header
    for type in types:
        offset = abi.align_up(end, type.align)
        offsets.append(offset)
        end = offset + type.size
    return offsets, end


_NOT_OF_PLAIN = ("origin", "whole_blocks", "any_block_dim", "waits")


def _structs_of(rows: Row) -> dict[str, abi.Struct]:
    if not rows:
        return {}
    from . import schema_rest

    return schema_rest.structs_of(rows)


def _check_kernels(kernels: list[Row], structs: dict[str, abi.Struct]) -> None:
    refuse_repeats("kernels", [kernel["name"] for kernel in kernels])
    types: dict[str, abi.Type] = {}
    for index, kernel in enumerate(kernels):
        _check_parameters("kernels[%d]" % index, kernel, structs, types)


def _check_parameters(place: str, kernel: Row, structs: dict[str, abi.Struct], types: dict[str, abi.Type]) -> None:
    """`types` remembers the spellings parsed so far."""
    rows = kernel["parameters"]
    refuse_repeats(place + ".parameters", [row["name"] for row in rows])
    for index, row in enumerate(rows):
        if row["type"] not in types:
            types[row["type"]] = _parse_type("%s.parameters[%d]" % (place, index), row["type"], structs)
    if "origin" in kernel and kernel["ndim"] != 1:
        raise BundleError("manifest.%s.origin is of kernels with one coordinate, not %d" % (place, kernel["ndim"]))
    if "dynamic_shared" in kernel and "whole_blocks" not in kernel:
        raise BundleError("manifest.%s.dynamic_shared is of kernels that run in whole_blocks" % place)
    if "cluster_dim" in kernel and "whole_blocks" not in kernel:
        raise BundleError("manifest.%s.cluster_dim is of kernels that run in whole_blocks" % place)
    most = kernel.get("launch_bounds", (1024,))[0]
    if kernel["block_dim"] > most:
        raise BundleError(
            "manifest.%s.block_dim is %d, but launch_bounds allows %d" % (place, kernel["block_dim"], most)
        )
    if "any_block_dim" in kernel and "whole_blocks" in kernel:
        raise BundleError("manifest.%s.any_block_dim is not for whole_blocks, whose size is the kernel's" % place)
    if "shared_memory" in kernel and "plain" not in kernel:
        raise BundleError("manifest.%s.shared_memory is of plain kernels alone" % place)
    if "plain" in kernel and (kernel["ndim"] != 1 or not kernel.keys().isdisjoint(_NOT_OF_PLAIN)):
        raise BundleError("manifest.%s.plain goes with none of %s" % (place, ", ".join(_NOT_OF_PLAIN)))
    if "plain" not in kernel and any(isinstance(types[row["type"]], abi.Flat) for row in rows):
        raise BundleError("manifest.%s has a parameter that plain kernels alone have" % place)
    offsets, end = layout_behind(header_of(kernel), [types[row["type"]] for row in rows])
    for index, row in enumerate(rows):
        wanted = (offsets[index], types[row["type"]].size)
        if (row["offset"], row["size"]) != wanted:
            found = (place, index, row["name"], row["offset"], row["size"], row["type"])
            message = "manifest.%s.parameters[%d]: %s is laid out at offset %d with %d bytes, but its type %s wants"
            raise BundleError((message + " offset %d and %d bytes") % (found + wanted))
    if kernel.get("optional"):
        from . import schema_rest

        parameters = {row["name"]: types[row["type"]] for row in rows}
        schema_rest.check_paths(place + ".optional", kernel["optional"], parameters)
    if kernel["size"] != end:
        raise BundleError("manifest.%s.size is %d, but its parameters end at %d" % (place, kernel["size"], end))
    if end > MAX_PARAMETER_BYTES:
        raise BundleError("manifest.%s.size is %d, but CUDA takes %d bytes" % (place, end, MAX_PARAMETER_BYTES))


def _parse_type(place: str, spelling: str, structs: dict[str, abi.Struct]) -> abi.Type:
    try:
        return abi.parse(spelling, structs)
    except ValueError as error:
        raise BundleError("manifest.%s.type: %s" % (place, error)) from None


def _check_definitions(definitions: Row, kernels: list[Row]) -> None:
    for name, definition in definitions.items():
        place = "definitions[%r]" % name
        refuse_repeats(place + ".plan", definition["plan"])
        refuse_repeats(place + ".instances", [row["identity"] for row in definition["instances"]])
        for index, row in enumerate(definition["instances"]):
            here = "%s.instances[%d]" % (place, index)
            check_index(here + ".kernel", row["kernel"], len(kernels), "kernels")
            kernel = kernels[row["kernel"]]["name"]
            if kernel not in (name, "%s[%s]" % (name, row["identity"][:8])):
                raise BundleError("manifest.%s names the kernel %r, which is not its own" % (here, kernel))


# Cubins and blobs


def _check_cubins(cubins: list[Row], targets: list[str], kernels: list[Row], blobs: int) -> None:
    refuse_repeats("cubins", [(row["target"], row["unit"], row["kind"]) for row in cubins])
    holders: dict[Any, int] = {}
    for index, row in enumerate(cubins):
        place = "cubins[%d]" % index
        if row["target"] not in targets:
            raise BundleError("manifest.%s.target is %r, which is none of the targets" % (place, row["target"]))
        check_index(place + ".blob", row["blob"], blobs, "blobs")
        _check_arch(place, row)
        _check_contents(place, row, kernels)
        for kernel in row["kernels"]:
            other = holders.setdefault((row["target"], row["kind"], kernel), index)
            if other != index:
                found = (place, kernels[kernel]["name"], row["target"], other)
                raise BundleError("manifest.%s holds the kernel %r for %r, which cubins[%d] holds already" % found)


def _check_arch(place: str, row: Row) -> None:
    if row["kind"] == "cubin" and not row["arch"].startswith("sm_"):
        raise BundleError("manifest.%s.arch is %r, but a cubin wants sm_…" % (place, row["arch"]))


def _check_contents(place: str, row: Row, kernels: list[Row]) -> None:
    if not row["kernels"]:
        raise BundleError("manifest.%s.kernels is empty" % place)
    refuse_repeats(place + ".kernels", row["kernels"])
    for index in row["kernels"]:
        check_index(place + ".kernels", index, len(kernels), "kernels")
    refuse_repeats(place + ".kernels: entry", [kernels[index]["entry"] for index in row["kernels"]])
    measured = [resources["kernel"] for resources in row["resources"]]
    if measured != row["kernels"] and not (row["kind"] == "ptx" and not measured):
        message = "manifest.%s.resources is about the kernels %s, but wants one row for each of %s, in order"
        raise BundleError(message % (place, shown(measured), shown(row["kernels"])))


def _check_blobs(blobs: list[Row], used: set[int]) -> None:
    """Each blob follows the one before it, so that nothing overlaps and no byte between them is anybody's."""
    offset = 0
    for index, row in enumerate(blobs):
        place = "blobs[%d]" % index
        if row["offset"] != offset:
            raise BundleError("manifest.%s.offset is %d, but the next free byte is %d" % (place, row["offset"], offset))
        if index not in used:
            raise BundleError("manifest.%s belongs to no cubin" % place)
        if row["size"] == 0 or row["stored"] == 0:
            raise BundleError("manifest.%s is empty" % place)
        _check_codec(place, row)
        offset = abi.align_up(offset + row["stored"], BLOB_ALIGN)


def _check_codec(place: str, row: Row) -> None:
    if row["codec"] == "raw":
        if (row["size"], row["sha256"]) != (row["stored"], row["stored_sha256"]):
            raise BundleError("manifest.%s is stored raw, but its two sizes or digests differ" % place)
    elif row["size"] > 1032 * row["stored"]:  # deflate's best: no stream of so few bytes can hold so many
        found = (place, row["size"], row["stored"])
        raise BundleError("manifest.%s.size is %d, more than %d bytes of zlib can hold" % found)
