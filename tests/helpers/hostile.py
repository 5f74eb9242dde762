"""Bundles changed at random: in their bytes, in the manifest with every digest made right, in the machine code.

case = mutate(bundle, random.Random(7))
examine(case)  →  "refused", "problems" or "right"; whatever else it raises is a fault of kbuild
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kbuild.bundle import compare, summary, verify
from kbuild.loader import canonical, cubin, format, select
from kbuild.loader.bundle import from_bytes
from kbuild.loader.errors import BundleError
from kbuild.loader.explaining import explain
from tests.helpers import bundles

OLD = Path(__file__).parents[1] / "bundle" / "data"
DEVICES = (select.Device("NVIDIA H200", 9, 0, (13, 0)), select.Device("Orin", 8, 7, (11, 4)))

VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 255, 2**31, 2**63 - 1, 2**63, 2**64, "", "a", "sm_90", "sm_90a", "compute_90",
    "ptx", "raw", "zlib", "float64", "vec3[float32]", "mat44[float32]", "array4[float16]",
    "struct:robosim.kernels:Spring", "robosim.kernels:integrate", "0" * 64, "é", "\x1b[31m", "\ud800", "a" * 600, [],
    {}, [0], [[]], {"a": 1}, [13, 0],
)  # fmt: skip


def seeds() -> list[bytes]:
    """Bundles that are right: the small one, and real ones of every format."""
    return [bundles.bundle(), *(path.read_bytes() for path in sorted(OLD.glob("*.kbundle")))]


# Changing


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Another bundle, or nearly one. What cannot be taken apart is changed in its bytes."""
    try:
        manifest, region = bundles.split(data)
        return chance.choice(_WAYS)(data, manifest, region, chance)
    except Exception:  # it is a mutant itself, and may lack anything
        return _in_bytes(data, chance)


def _in_bytes(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(chance.choice([1, 1, 1, 2, 5, 40])):
        at = chance.randrange(len(changed))
        kind = chance.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            changed[at] = chance.choice([0, 1, 127, 128, 255])
        elif kind == 2 and len(changed) > 8:
            del changed[at : at + chance.choice([1, 4, 16, 64])]
        else:
            changed[at:at] = changed[at : at + 16]
        changed = changed or bytearray(b"\0")
    return bytes(changed)


def _text(data: bytes, manifest: Any, region: bytes, chance: random.Random) -> bytes:
    """The manifest's characters, in a header that says they are right."""
    return bundles.join(_in_bytes(canonical.encode(manifest), chance), region)


def _tree(data: bytes, manifest: Any, region: bytes, chance: random.Random) -> bytes:
    """Values of the manifest, with the digest in the header right."""
    _change_tree(manifest, chance)
    return bundles.join(canonical.encode(manifest), region)


def _whole(data: bytes, manifest: Any, region: bytes, chance: random.Random) -> bytes:
    """Values of the manifest and bytes of the code, written by `format.dump`: every digest is right."""
    blobs = [format.parse(data).blob(index) for index in range(len(manifest["blobs"]))]
    del manifest["blobs"]
    if chance.random() < 0.6:
        _change_tree(manifest, chance)
    if blobs and chance.random() < 0.6:
        index = chance.randrange(len(blobs))
        blobs[index] = _in_bytes(blobs[index], chance)
    return format.dump(manifest, blobs)


def _bytes(data: bytes, manifest: Any, region: bytes, chance: random.Random) -> bytes:
    return _in_bytes(data, chance)


_WAYS: tuple[Callable[[bytes, Any, bytes, random.Random], bytes], ...] = (_text, _tree, _tree, _whole, _whole, _bytes)


def _change_tree(manifest: Any, chance: random.Random) -> None:
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        places = list(_places(manifest))
        holder, key = chance.choice(places)
        kind = chance.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, name = chance.choice(places)
            holder[key] = copy.deepcopy(other[name])
        elif kind == 2 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(chance.choice(holder)))
        elif kind == 3 and type(holder[key]) is int:
            holder[key] += chance.choice([-1, 1, 4, 8, 256, 2**32])
        elif kind == 4 and isinstance(holder, dict):
            holder[str(chance.choice(VALUES))] = holder[key]
        else:
            holder[key] = copy.deepcopy(chance.choice(VALUES))
        if not any(True for _ in _places(manifest)):
            return


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """(holder, key) of every value inside a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])


# Examining


def examine(data: bytes) -> str:
    """What all readers together make of a bundle. Only a BundleError may come out of any, and is caught here."""
    bundles.expect_agreement(data)
    try:
        parsed = format.parse(data)
    except BundleError as error:
        _expect_words(str(error))
        return "refused"
    _expect_round_trip(parsed)
    summary(parsed)
    assert compare(parsed, parsed) == []
    problems = verify(parsed)
    for problem in problems:
        _expect_words(str(problem))
    bundle = from_bytes(data, "hostile")
    for device in DEVICES:
        explain(bundle, device)
    try:
        bundle.verify()
    except BundleError as error:
        _expect_words(str(error))
        assert problems, "the loader finds what `verify` does not"
    return "problems" if problems else "right"


def _expect_words(message: str) -> None:
    assert message
    assert len(message) < 4000, "a message of any length"
    assert message.isprintable() or "\n  help" in message, "a terminal would obey it"


def _expect_round_trip(parsed: format.Parsed) -> None:
    manifest = {key: value for key, value in parsed.manifest.items() if key != "blobs"}
    blobs = [parsed.blob(index) for index in range(len(parsed.manifest["blobs"]))]
    again = format.parse(format.dump(manifest, blobs))
    assert again.digest == parsed.digest
    for blob in blobs:
        try:
            cubin.read(blob)
        except cubin.CubinError as error:
            _expect_words(str(error))
