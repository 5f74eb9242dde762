"""What is wrong with a manifest, and where: asked when `schema.structs_of` has not said that everything is right.

`check` holds a manifest against the shapes of `schema` and against its own claims, and raises BundleError with the
place in it (`kernels[3].parameters[1].offset is …`).
"""

from __future__ import annotations

from . import abi, schema, struct_table
from .errors import BundleError
from .parameter_block import layout_behind
from .schema import (
    BLOB_ALIGN,
    FORMAT,
    MANIFEST,
    MAX_PARAMETER_BYTES,
    MAX_RATIO,
    NOT_OF_PLAIN,
    SAVED,
    Either,
    May,
    Nullable,
    Table,
    header_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional, Sequence, Tuple

    Row = Dict[str, Any]
    Fault = Optional[Tuple[str, str]]

# What is said where a leaf is not right.
WANTED: dict[Any, str] = {
    schema.is_count: "an integer from 0 on",
    schema.is_positive: "an integer from 1 on, or to be left out",
    schema.is_text: "a printable text",
    schema.is_path: "a path",
    schema.is_sha256: "64 hexadecimal digits",
    schema.is_identifier: "an identifier",
    schema.is_c_identifier: "a C identifier",
    schema.is_dotted: "a dotted name",
    schema.is_definition_name: "module:qualname",
    schema.is_kernel_name: "module:qualname, with [8 hexadecimal digits] for an instance",
    schema.is_ndim: "1 to 4",
    schema.is_block_dim: "1 to 1024",
    schema.is_min_blocks: "1 to 32",
    schema.is_cluster: "1 to 8",
    schema.is_bounds: "[1 to 1024 threads, 0 to 32 blocks]",
    schema.is_true: "true, or to be left out",
    schema.is_type: "a type",
    schema.is_version: "[major, minor]",
    schema.is_build: "a version such as 12.9.86",
    schema.is_kind: "'cubin' or 'ptx'",
    schema.is_codec: "'zlib' or 'raw'",
    schema.is_arch: "an architecture such as sm_90",
    schema.is_saved_type: "one of %s" % ", ".join(SAVED),
    schema.is_field: "[name, type, offset]",
}


def wanted(leaf: Any, value: object) -> str:
    """What a leaf wants instead of a value."""
    if leaf is schema.is_option:
        return "a list of texts" if type(value) is list else "true, false, null, an integer or a text"
    return WANTED[leaf]


def check(manifest: Any) -> dict[str, abi.Struct]:
    """Hold a manifest against its shape and its own claims; BundleError says what is wrong and where. Its structs."""
    fault = _fault(manifest, MANIFEST)
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
        _check_asserts(manifest["asserts"], len(manifest["kernels"]))
    return structs


def _fault(value: Any, shape: Any) -> Fault:
    """The first place where a value departs from its shape, and how; None when nowhere."""
    kind = type(shape)
    if kind is dict:
        return _fault_in_record(value, shape)
    if kind is list:
        return _fault_in_list(value, shape[0])
    if kind is Table:
        return _fault_in_table(value, shape)
    if kind is Nullable:
        return None if value is None else _fault(value, shape.shapes[0])
    if kind is Either:
        key, first, second = shape.shapes
        return _fault(value, first if type(value) is dict and key in value else second)
    return None if shape(value) else ("", "is %s, but wants %s" % (shown(value), wanted(shape, value)))


def _fault_in_record(value: Any, shape: Row) -> Fault:
    if type(value) is not dict:
        return "", "is %s, but wants an object" % shown(value)
    if value.keys() != shape.keys():
        for key in shape:
            if key not in value and type(shape[key]) is not May:
                return "", "lacks %r" % key
        unknown = value.keys() - shape.keys()
        if unknown:
            return "", "has the unknown key %s" % shown(min(unknown))
    for key, inner in shape.items():
        if type(inner) is May:
            if key not in value:
                continue
            inner = inner.shapes[0]
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


def _fault_in_table(value: Any, shape: Table) -> Fault:
    if type(value) is not dict:
        return "", "is %s, but wants an object" % shown(value)
    leaf, inner = shape.shapes
    for key, item in value.items():
        if not leaf(key):
            return "", "has the key %s, but wants %s" % (shown(key), wanted(leaf, key))
        fault = _fault(item, inner)
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


def _structs_of(rows: Row) -> dict[str, abi.Struct]:
    """The table of structs as types. Raises BundleError."""
    for name, row in rows.items():
        refuse_repeats("structs[%r].fields" % name, [field[0] for field in row["fields"]])
    try:
        return struct_table.parse(rows)
    except ValueError as error:
        raise BundleError("manifest.structs: %s" % error) from None


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
    if "plain" in kernel and (kernel["ndim"] != 1 or not kernel.keys().isdisjoint(NOT_OF_PLAIN)):
        raise BundleError("manifest.%s.plain goes with none of %s" % (place, ", ".join(NOT_OF_PLAIN)))
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
        parameters = {row["name"]: types[row["type"]] for row in rows}
        check_paths(place + ".optional", kernel["optional"], parameters)
    if kernel["size"] != end:
        raise BundleError("manifest.%s.size is %d, but its parameters end at %d" % (place, kernel["size"], end))
    if end > MAX_PARAMETER_BYTES:
        raise BundleError("manifest.%s.size is %d, but CUDA takes %d bytes" % (place, end, MAX_PARAMETER_BYTES))


def check_paths(place: str, paths: Sequence[str], parameters: dict[str, abi.Type]) -> None:
    """Each path leads to an array among the parameters, and stands there once."""
    refuse_repeats(place, paths)
    for path in paths:
        if not struct_table.has_array(parameters, path):
            raise BundleError("manifest.%s names %s, which is no array" % (place, shown(path)))


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
    elif row["size"] > MAX_RATIO * row["stored"]:
        found = (place, row["size"], row["stored"])
        raise BundleError("manifest.%s.size is %d, more than %d bytes of zlib can hold" % found)


def _check_asserts(rows: list[Row], kernels: int) -> None:
    """`kernels`: how many there are. Raises BundleError."""
    for index, row in enumerate(rows):
        place = "asserts[%d].kernels" % index
        refuse_repeats(place, row["kernels"])
        for kernel in row["kernels"]:
            check_index(place, kernel, kernels, "kernels")
