"""Real bundles, damaged and forged in bulk; and what a hostile one may cost: time and memory in bounds."""

from __future__ import annotations

import copy
import hashlib
import random
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kbuild.bundle import verify
from kbuild.loader import canonical, format
from kbuild.loader.bundle import from_bytes
from kbuild.loader.errors import BundleError
from tests.helpers import building, bundles
from tests.helpers.building import Kbuild
from tests.helpers.pythons import need_python
from tests.helpers.situations import happens

Record = Callable[[str, object], None]
SECTION = "Damaged and forged bundles"
OLD = Path(__file__).parents[1] / "bundle" / "data" / "format1.kbundle"


@pytest.fixture(scope="module")
def old() -> bytes:
    """Real cubins of CUDA 11.8, 12.9 and 13.0, and PTX."""
    return OLD.read_bytes()


@happens(
    SECTION, "a bundle was written by an older kbuild", "It is read: a bundle of each format is kept for the tests."
)
def test_a_bundle_of_every_format_is_kept() -> None:
    kept = set()
    for path in OLD.parent.glob("format*.kbundle"):
        data = path.read_bytes()
        parsed = format.parse(data)
        kept.add(parsed.manifest["format"])
        assert path.name == f"format{parsed.manifest['format']}.kbundle"
        assert verify(parsed) == []
        assert len(from_bytes(data, path.name).kernels) > 0
    assert kept == set(range(1, format.VERSION + 1))


# Damage


@happens(
    SECTION, "a bundle is cut short, longer, or any bit of it is flipped", "`BundleError` says which part is damaged."
)
def test_every_truncation(old: bytes, record_property: Record) -> None:
    record_property("figure: damaged bundles tried and refused", len(old) + 4)
    for length in range(len(old)):
        with pytest.raises(BundleError):
            format.parse(old[:length], lazy=True)
    for more in (b"\0", bytes(16), b"x", old):
        with pytest.raises(BundleError, match=r"bytes behind the last blob|damaged"):
            format.parse(old + more)


def test_a_flipped_bit_in_every_byte(old: bytes, record_property: Record) -> None:
    """In the header and the manifest at once; in a blob when it is read."""
    record_property("figure: damaged bundles tried and refused", len(old))
    chance, start = random.Random(1), len(old) - len(bundles.split(old)[1])
    for position in range(len(old)):
        damaged = bytearray(old)
        damaged[position] ^= 1 << chance.randrange(8)
        with pytest.raises(BundleError):
            format.parse(bytes(damaged), lazy=position < start)


def test_pieces_moved_about(old: bytes, record_property: Record) -> None:
    """Blocks as a bad disk, a bad download or a bad merge leaves them: zeroed, repeated, swapped, from elsewhere."""
    record_property("figure: damaged bundles tried and refused", 500)
    chance = random.Random(2)
    for _ in range(500):
        size = chance.choice([16, 64, 512, 4096])
        one, other = (chance.randrange(len(old) - size) for _ in range(2))
        piece = chance.choice([bytes(size), old[other : other + size], chance.randbytes(size)])
        damaged = old[:one] + piece + old[one + chance.choice([0, size]) :]
        if damaged != old:
            with pytest.raises(BundleError):
                format.parse(damaged)


NO_JSON = ('"\x01"', '"', '{"a" 1}', '{"a":1,}', "[1 2]", "[1,", '"\\u12"', '"\\q"', "{1:2}", "-", "1e", "nul", "")

WITHOUT_JSON = """
import sys
sys.path.insert(0, sys.argv[1])
from kbuild.loader import format
from kbuild.loader.digest import sha256
for text in eval(sys.argv[2]):
    text = text.encode()
    head = format.HEADER.pack(format.MAGIC, format.VERSION, 0, len(text), sha256(text).digest()) + text
    try:
        format.parse(head + bytes(-len(head) % 16))
    except format.BundleError as error:
        assert str(error).startswith("damaged manifest: "), error
    else:
        raise AssertionError(text)
assert "json" not in sys.modules or sys.version_info[:2] not in ((3, 10), (3, 11))
"""


@pytest.mark.parametrize("minor", range(8, 15))
def test_what_is_not_json_on_every_python(minor: int) -> None:
    """Found by fuzzing: where the json package is not imported, its C half fails on 3.10 and 3.11 without a reason."""
    python = need_python(f"3.{minor}")
    subprocess.run([str(python), "-S", "-c", WITHOUT_JSON, str(building.ROOT), repr(NO_JSON)], check=True)


# Forgeries with right digests: written again by `format.dump`, around the real code


def forged(old: bytes, change: Callable[[dict[str, Any], list[bytes]], Any]) -> bytes:
    parsed = format.parse(old)
    manifest = copy.deepcopy(parsed.manifest)
    blobs = [parsed.blob(index) for index in range(len(manifest["blobs"]))]
    del manifest["blobs"]
    change(manifest, blobs)
    return format.dump(manifest, blobs)


def swap(manifest: dict[str, Any], one: int, other: int, *keys: str) -> None:
    rows = manifest["cubins"]
    for key in keys:
        rows[one][key], rows[other][key] = rows[other][key], rows[one][key]


def other_types(manifest: dict[str, Any], types: list[str]) -> None:
    """Gives the first kernel other parameters, laid out as they should be."""
    from kbuild.loader import abi

    kernel = manifest["kernels"][0]
    offsets, size = format.layout(
        kernel["ndim"], [abi.parse(spelling, {}) for spelling in types], kernel.get("origin", False)
    )
    kernel["parameters"] = [
        {"name": f"p{i}", "type": spelling, "offset": offset, "size": abi.parse(spelling, {}).size}
        for i, (spelling, offset) in enumerate(zip(types, offsets, strict=True))
    ]
    kernel["size"] = size


REFUSED_AT_ONCE: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "a target twice": (lambda m, b: m["targets"].append(m["targets"][0]), r"targets\[\d\] repeats"),
    "a cubin twice": (lambda m, b: m["cubins"].append(m["cubins"][0]), r"cubins\[\d\] repeats"),
    "a cubin for no target": (lambda m, b: m["cubins"][0].update(target="sm_50"), "none of the targets"),
    "a blob of nobody": (lambda m, b: b.append(b"left over"), r"blobs\[\d\] belongs to no cubin"),
    "an empty blob": (lambda m, b: b.__setitem__(0, b""), r"blobs\[0\] is empty"),
    "a missing blob": (lambda m, b: b.pop(), "but there are"),
    "a kernel twice": (lambda m, b: m["kernels"].append(m["kernels"][0]), r"kernels\[\d\] repeats"),
    "a kernel nobody has": (lambda m, b: m["cubins"][0]["kernels"].append(9), r"kernels is 9"),
    "a negative offset": (
        lambda m, b: m["kernels"][0]["parameters"][0].update(offset=-8),
        "wants an integer from 0 on",
    ),
    "a huge size": (lambda m, b: m["kernels"][0].update(size=2**62), "but its parameters end at"),
    "a wrong layout": (lambda m, b: m["kernels"][0]["parameters"][1].update(offset=32), "is laid out at offset"),
    "too many bytes": (lambda m, b: other_types(m, ["mat64x64[float64]"]), "but CUDA takes 32764 bytes"),
    "another format": (lambda m, b: m.update(format=2), "in a file of format 1"),
    "an unknown field": (lambda m, b: m.update(later=1), "unknown key 'later'"),
    "a missing field": (lambda m, b: m.pop("targets"), "lacks 'targets'"),
    "a float": (lambda m, b: m.update(format=1.0), "where only integers are allowed"),
}


@happens(
    SECTION,
    "a bundle is forged with right digests and contradicts itself (a target twice, parameters that overlap, references "
    "into nothing)",
    "`BundleError` when it is opened, with the place in the manifest and both values.",
)
@pytest.mark.parametrize("what", REFUSED_AT_ONCE)
def test_a_manifest_that_contradicts_itself(old: bytes, what: str) -> None:
    change, message = REFUSED_AT_ONCE[what]
    with pytest.raises(BundleError, match=message):
        from_bytes(forged(old, change), "forged")


CONTRADICTS_THE_CODE: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "other parameters": (lambda m, b: other_types(m, ["float32"] * 3), "bytes, but the manifest says"),
    "fewer parameters": (lambda m, b: other_types(m, ["array1[float32]"]), "parameters, but the manifest says 2"),
    "two names swapped": (
        lambda m, b: [m["kernels"][0].update(entry=m["kernels"][1]["entry"]), m["kernels"][1].update(entry="other")],
        "the entry other is missing",
    ),
    "code for another GPU": (lambda m, b: swap(m, 0, 1, "blob"), "it is code for sm_"),
    "the right name for another GPU": (lambda m, b: m["cubins"][1].update(arch="sm_89"), "but the manifest says sm_89"),
    "a newer driver than needed": (lambda m, b: m["cubins"][2].update(driver=[11, 0]), "it needs a driver for CUDA"),
    "another toolchain": (lambda m, b: swap(m, 0, 1, "cuda", "toolchain"), "it was made by CUDA"),
    "fewer registers": (lambda m, b: m["cubins"][1]["resources"][0].update(registers=1), "its registers are"),
    "code that is none": (lambda m, b: b.__setitem__(0, b"\x7fELF" + bytes(100)), "not a cubin"),
    "half of the code": (lambda m, b: b.__setitem__(0, b[0][: len(b[0]) // 2]), "past the end"),
    "PTX for another GPU": (
        lambda m, b: b.__setitem__(3, b[3].replace(b"sm_90", b"sm_50")),
        "it is PTX for compute_50",
    ),
}


@happens(
    SECTION,
    "a bundle is forged with right digests and contradicts its machine code (other parameters, another architecture)",
    "`python -m kbuild verify` names cubin, kernel and both values, status 1. A build never publishes one.",
)
@pytest.mark.parametrize("what", CONTRADICTS_THE_CODE)
def test_a_manifest_that_contradicts_its_code(old: bytes, what: str) -> None:
    change, message = CONTRADICTS_THE_CODE[what]
    problems = [str(problem) for problem in verify(format.parse(forged(old, change)))]
    assert any(message in problem for problem in problems), problems


def test_verify_says_so_on_the_command_line(kbuild: Kbuild, old: bytes, tmp_path: Path) -> None:
    path = tmp_path / "forged.kbundle"
    path.write_bytes(forged(old, CONTRADICTS_THE_CODE["code for another GPU"][0]))
    assert "it is code for sm_" in kbuild.run("verify", path, status=1).stderr
    path.write_bytes(forged(old, REFUSED_AT_ONCE["a target twice"][0]))
    assert "repeats" in kbuild.run("verify", path, status=1).stderr
    for command in ("inspect", "verify"):
        path.write_bytes(old[:-1])
        assert "truncated" in kbuild.run(command, path, status=1).stderr


# What it may cost

PEAK = """
import resource, sys, time
from kbuild.loader import format
data = open(sys.argv[1], "rb").read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
start = time.perf_counter()
try:
    format.parse(data)
    said = "read"
except format.BundleError as error:
    said = str(error)
seconds = time.perf_counter() - start
print(seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, said, sep="\\n")
"""


def cost(path: Path, data: bytes) -> tuple[float, int, str]:
    """Seconds, further bytes of memory, and what the reader said, in a process of its own."""
    path.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(path)],
        env={"PYTHONPATH": str(building.ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, size, said = done.stdout.rstrip("\n").split("\n", 2)
    return float(seconds), int(size), said


def stuffed(find: bytes, put: bytes) -> bytes:
    """The small bundle with something put into its manifest, header made right again."""
    manifest, region = bundles.split(bundles.bundle())
    text = canonical.encode(manifest)
    assert find in text
    return bundles.join(text.replace(find, find + put, 1), region)


MIB = 1 << 20
TARGETS = b'"targets":['
HEAVY: dict[str, tuple[Callable[[], bytes], str]] = {
    "a million targets": (lambda: stuffed(TARGETS, b"".join(b'"t%d",' % i for i in range(1_000_000))), "read"),
    "a million targets, one twice": (
        lambda: stuffed(TARGETS, b'"t7",' + b"".join(b'"t%d",' % i for i in range(1_000_000))),
        "repeats 't7'",
    ),
    "a million options": (
        lambda: stuffed(b'"options":{', b"".join(b'"a%06d":1,' % i for i in range(1_000_000))),
        "read",
    ),
    "one key a million times": (lambda: stuffed(b'"options":{', b'"a":1,' * 1_000_000), "not canonical"),
    "a million empty lists": (lambda: stuffed(TARGETS, b"[]," * 1_000_000), "more brackets than a manifest has"),
    "a million lists in each other": (lambda: stuffed(TARGETS, b"[" * 100_000 + b"]" * 100_000 + b","), "too deep"),
    "a million objects in each other": (lambda: stuffed(TARGETS, b'{"a":' * 200_000), "too deep"),
    "a million small numbers": (lambda: stuffed(TARGETS, b"1000," * 1_000_000), "wants a printable text"),
    "a number of a million digits": (lambda: stuffed(TARGETS, b"1" * 1_000_000 + b","), "a number of 1000000 digits"),
    "a text of a million characters": (lambda: stuffed(TARGETS, b'"' + b"a" * 1_000_000 + b'",'), "read"),
    "a million escapes": (lambda: stuffed(TARGETS, b'"' + b"\\u0061" * 1_000_000 + b'",'), "not canonical"),
    "a manifest of 40 MB": (lambda: stuffed(TARGETS, b'"a",' * 10_000_000), "a manifest of 4"),
}


@happens(
    SECTION,
    "a hostile bundle holds a million entries, deep nesting, huge numbers, or a decompression bomb",
    "It is refused (or read, where it is right) within seconds, with memory in proportion to the file.",
)
@pytest.mark.parametrize("what", HEAVY)
def test_time_and_memory_stay_in_bounds(tmp_path: Path, what: str) -> None:
    make, wanted = HEAVY[what]
    data = make()
    seconds, size, said = cost(tmp_path / "heavy.kbundle", data)
    assert wanted in said, said[:200]
    assert seconds < 20
    assert size < 12 * len(data) + 16 * MIB


def test_huge_offsets_and_overlaps(tmp_path: Path) -> None:
    """Nothing is allocated for what a row claims."""
    for row, key in ((0, "offset"), (0, "stored"), (0, "size"), (1, "offset"), (1, "stored"), (1, "size")):
        for value in (2**31, 2**40, 2**63 - 1, 2**63, 2**200):
            with pytest.raises(BundleError):
                format.parse(bundles.forge(lambda m, r=row, k=key, v=value: m["blobs"][r].update({k: v})))


def test_a_bomb_that_declares_itself(tmp_path: Path) -> None:
    """A gigabyte in a megabyte, and right in every digest: refused before it is unpacked, beyond 1032 to 1 at once."""
    packer = zlib.compressobj(9)
    stored = b"".join(packer.compress(bytes(MIB)) for _ in range(256)) + packer.flush()
    raw = hashlib.sha256()
    for _ in range(256):
        raw.update(bytes(MIB))
    manifest, _ = bundles.split(bundles.bundle())
    sizes = {"size": 256 * MIB, "sha256": raw.hexdigest(), "stored": len(stored)}
    manifest["blobs"][1].update(sizes, stored_sha256=hashlib.sha256(stored).hexdigest())
    region = bundles.BLOBS[0] + bytes(-len(bundles.BLOBS[0]) % 16) + stored + bytes(-len(stored) % 16)
    data = bundles.join(canonical.encode(manifest), region)
    _, size, said = cost(tmp_path / "bomb.kbundle", data)
    assert size < 300 * MIB, said
    manifest["blobs"][1]["size"] = 2048 * MIB
    _, size, said = cost(tmp_path / "bomb.kbundle", bundles.join(canonical.encode(manifest), region))
    assert "bytes of zlib can hold" in said
    assert size < 16 * MIB


def test_structs_that_grow_without_end() -> None:
    """Each struct twice the one before: sizes of a thousand bits, computed once each, and refused."""
    from kbuild.loader import abi

    known: dict[str, abi.Struct] = {}
    for i in range(60):
        inner: abi.Type = known[f"m:S{i - 1}"] if i else abi.FLOAT64
        known[f"m:S{i}"] = abi.Struct(f"m:S{i}", [("a", inner), ("b", inner)])

    def change(manifest: Any) -> None:
        manifest["structs"].update({name: struct.to_json() for name, struct in known.items()})
        last = known["m:S59"]
        row = {"name": "s", "type": last.spelling, "offset": 8, "size": last.size}
        manifest["kernels"][0].update(parameters=[row], size=8 + last.size)

    with pytest.raises(BundleError, match=r"but CUDA takes 32764 bytes|size is 9223372036854775808, but wants"):
        format.parse(bundles.forge(change))
