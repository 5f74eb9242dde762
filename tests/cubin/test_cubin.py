"""The tables of real cubins of every architecture and toolchain, against ptxas and pyelftools; then hostile ones."""

from __future__ import annotations

import io
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st

from kbuild import targets
from kbuild.loader import cubin
from kbuild.loader.cubin import CubinError
from kbuild.nvrtc import Cache, Compiled, compile_jobs
from tests.helpers import nvrtc_cases as cases
from tests.helpers.once import once

pytestmark = pytest.mark.nvrtc


def _archs(version: tuple[int, int]) -> list[str]:
    known = [name for name in targets.ALL if name.startswith("sm_")]
    return [name for name in known if cases.installed()[version].knows(name)]


EVERY = [(version, arch) for version in cases.VERSIONS for arch in _archs(version)]
SOME = [
    ((11, 8), "sm_72"), ((11, 8), "sm_90"), ((12, 9), "sm_61"), ((12, 9), "sm_90a"), ((12, 9), "sm_120f"),
    ((13, 0), "sm_87"), ((13, 0), "sm_110"),
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[tuple[int, int], str], Compiled]:
    jobs = [cases.job(arch, version, cases.KERNELS) for version, arch in EVERY]
    folder = once(tmp_path_factory, "cubins", lambda part: compile_jobs(jobs, cache=Cache(part), workers=2))
    outcomes = compile_jobs(jobs, cache=Cache(folder))
    return {key: cases.compiled(outcome) for key, outcome in zip(EVERY, outcomes, strict=True)}


def test_there_are_many() -> None:
    assert len(EVERY) > 60


@pytest.mark.parametrize(("version", "arch"), EVERY)
def test_architecture_toolkit_and_parameters(version: tuple[int, int], arch: str, built: dict) -> None:
    found = cubin.read(built[version, arch].data)
    assert (found.arch, found.toolkit) == (arch, version)
    assert found.abi == (8 if version >= (13, 0) or targets.limits(arch).number >= 100 else 7)
    assert {name: kernel.parameters for name, kernel in found.kernels.items()} == cases.PARAMETERS
    for kernel in found.kernels.values():
        assert kernel.parameter_size == (sum(kernel.parameters[-1]) if kernel.parameters else 0)
    limits = {name: kernel.max_threads for name, kernel in found.kernels.items() if kernel.max_threads}
    assert limits == {"shared_memory": 128, "spilling": 1024}


@pytest.mark.parametrize(("version", "arch"), EVERY)
def test_resources(version: tuple[int, int], arch: str, built: dict) -> None:
    kernels = cubin.read(built[version, arch].data).kernels
    spills = built[version, arch].spills
    assert sorted(kernels) == sorted(spills) == sorted(cases.ENTRIES)
    assert {name: k.shared for name, k in kernels.items() if k.shared} == {"shared_memory": 33 * 8}
    assert kernels["stack_frame"].local == 160
    assert kernels["calling"].local >= 120, "the frame of the function that is called counts"
    assert spills["spilling"] > 0
    assert kernels["spilling"].local > 0
    assert kernels["spilling"].registers <= 64
    assert {name for name, spilled in spills.items() if spilled} == {"spilling"}
    assert all(0 < k.registers <= 255 for k in kernels.values())


@pytest.mark.parametrize(("version", "arch"), SOME)
def test_ptxas_reports_the_same(version: tuple[int, int], arch: str, tmp_path: Path) -> None:
    """Asked in a process of its own, with the library's raw log."""
    toolchain = cases.installed()[version]
    program = (
        "import sys; from pathlib import Path; from kbuild.nvrtc import adapters\n"
        "nvrtc = adapters.open_nvrtc(Path(sys.argv[1]), Path(sys.argv[2]))\n"
        "options = [b'-std=c++17', b'--ptxas-options=-v', ('-arch=' + sys.argv[3]).encode()]\n"
        "answer = adapters.compile_program(nvrtc, sys.stdin.buffer.read(), b'kbuild.cu', options, 'cubin')\n"
        "Path(sys.argv[4]).write_bytes(answer.data); print(answer.log)\n"
    )
    command = [
        sys.executable,
        "-c",
        program,
        str(toolchain.library),
        str(toolchain.builtins),
        arch,
        str(tmp_path / "c"),
    ]
    log = subprocess.run(command, input=cases.KERNELS.encode(), capture_output=True, check=True).stdout.decode()
    kernels = cubin.read((tmp_path / "c").read_bytes()).kernels
    for name, (registers, frame, shared) in _reported(log).items():
        kernel = kernels[name]
        assert (kernel.registers, kernel.shared) == (registers, shared), name
        assert kernel.local == frame or name == "calling"


def _reported(log: str) -> dict[str, tuple[int, int, int]]:
    """Registers, stack frame and shared memory of each kernel in ptxas's words."""
    found, name, frame = {}, "", 0
    for line in log.splitlines():
        words = line.replace(",", "").split()
        if "Compiling entry function" in line:
            name, frame = line.split("'")[1], 0
        elif "bytes stack frame" in line and not frame:
            frame = int(words[2])
        elif "Used" in words:
            shared = int(words[words.index("smem") - 2]) if "smem" in words else 0
            found[name] = (int(words[words.index("Used") + 1]), frame, shared)
    assert sorted(found) == sorted(cases.ENTRIES)
    return found


@pytest.mark.parametrize(("version", "arch"), SOME)
def test_pyelftools_sees_the_same_kernels(version: tuple[int, int], arch: str, built: dict) -> None:
    data = built[version, arch].data
    elf = ELFFile(io.BytesIO(data))
    symbols = [s.name for s in elf.get_section_by_name(".symtab").iter_symbols() if s["st_info"]["type"] == "STT_FUNC"]
    code = {s.name[6:] for s in elf.iter_sections() if s.name.startswith(".text.")}
    assert set(cubin.read(data).kernels) == code & set(symbols)
    assert elf["e_ident"]["EI_ABIVERSION"] == cubin.read(data).abi


def test_large_parameter_blocks(tmp_path: Path) -> None:
    source = """struct Big { int values[8000]; };
extern "C" __global__ void big(char c, Big b, double d, int* out) { *out = b.values[*out] + c + d; }"""
    jobs = [cases.job(arch, version, source) for version, arch in (((12, 9), "sm_75"), ((13, 0), "sm_110"))]
    for outcome in compile_jobs(jobs, cache=Cache(tmp_path), workers=2):
        kernel = cubin.read(cases.compiled(outcome).data).kernels["big"]
        assert kernel.parameters == ((0, 1), (4, 32000), (32008, 8), (32016, 8))
        assert kernel.parameter_size == 32024


def test_line_information_changes_none_of_it(tmp_path: Path) -> None:
    jobs = [cases.job("sm_90", (12, 9), cases.KERNELS, lineinfo=on) for on in (False, True)]
    plain, lines = (cases.compiled(o) for o in compile_jobs(jobs, cache=Cache(tmp_path), workers=2))
    assert len(lines.data) > len(plain.data)
    assert repr(cubin.read(lines.data).kernels) == repr(cubin.read(plain.data).kernels)


# Hostile bytes


def _read_or_refuse(data: bytes) -> None:
    try:
        cubin.read(data)
    except CubinError:
        return


@pytest.fixture(scope="module")
def small(built: dict) -> list[bytes]:
    return [built[key].data for key in SOME]


def test_every_cut_is_refused_or_read(small: list[bytes]) -> None:
    for data in small:
        for length in [*range(300), *range(300, len(data), 997)]:
            _read_or_refuse(data[:length])


def test_changed_bytes_are_refused_or_read(small: list[bytes]) -> None:
    chance = random.Random(7)
    for data in small:
        tables = [0, 64, struct.unpack_from("<Q", data, 40)[0]]
        for _ in range(1500):
            damaged = bytearray(data)
            for _ in range(chance.randint(1, 4)):
                place = min(chance.choice(tables) + chance.randrange(2000), len(data) - 1)
                damaged[place] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)))
            _read_or_refuse(bytes(damaged))


@settings(max_examples=300)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_refused_or_read(data: bytes, with_header: bool) -> None:
    header = b"\x7fELF\x02\x01\x01A\x08" + bytes(7) + struct.pack("<HH", 2, 190)
    _read_or_refuse(header + data if with_header else data)


def test_what_is_wrong_is_said(small: list[bytes]) -> None:
    data = small[0]
    table = struct.unpack_from("<Q", data, 40)[0]
    changes: list[tuple[bytes, str]] = [
        (b"", "0 bytes are less than an ELF header"),
        (b"PTX" + data, "not a 64-bit ELF file for CUDA"),
        (data[:18] + b"\x3e" + data[19:], "not a 64-bit ELF file for CUDA"),
        (data[:8] + b"\x09" + data[9:], "cubin of ABI 9; kbuild reads 7 and 8"),
        (data[: table + 100], "the section table at .* reaches past the end"),
        (data[:60] + b"\xff\xff" + data[62:], "the section table has 65535 entries"),
        (data[:62] + b"\xff\x00" + data[64:], "names in entry 255"),
    ]
    for changed, message in changes:
        with pytest.raises(CubinError, match=message):
            cubin.read(changed)


def _elf(sections: list[tuple[str, int, bytes]], *, abi: int = 8, flags: int = 0x06005A04) -> bytes:
    """A cubin with these sections (name, type, data), a symbol table with kernel `k`, and honest headers."""
    strings = b"\0k\0"
    symbol = struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, 0)
    rows = [("", 0, b""), (".strtab", 3, strings), (".symtab", 2, bytes(24) + symbol), *sections]
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _, _ in rows) + b".shstrtab\0"
    rows.append((".shstrtab", 3, names))
    body, table = b"", b""
    for name, kind, data in rows:
        table += struct.pack(
            "<IIQQQQIIQQ", names.index(name.encode() + b"\0"), kind, 0, 0, 64 + len(body), len(data), 0, 0, 0, 0
        )
        body += data
    ident = b"\x7fELF\x02\x01\x01A" + bytes([abi]) + bytes(7)
    head = struct.pack("<HHIQQQIHHHHHH", 2, 190, 1, 0, 0, 64 + len(body), flags, 64, 0, 0, 64, len(rows), len(rows) - 1)
    return ident + head + body + table


def _record(attribute: int, payload: bytes) -> bytes:
    return struct.pack("<BBH", 4, attribute, len(payload)) + payload


def _parameter(ordinal: int, offset: int, size: int) -> bytes:
    return _record(0x17, struct.pack("<IHHI", 0, ordinal, offset, size << 18))


def test_a_made_cubin_reads() -> None:
    info = _parameter(1, 8, 8) + _parameter(0, 0, 4)
    found = cubin.read(_elf([(".nv.info.k", 1, info)]))
    assert found.arch == "sm_90"
    assert found.toolkit is None
    assert found.kernels["k"].parameters == ((0, 4), (8, 8))
    assert "parameters=((0, 4), (8, 8))" in repr(found.kernels["k"])


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ([(".nv.info.k", 1, b"\4\x17\x0c")], "is cut short"),
        ([(".nv.info.k", 1, b"\4\x17\x0c\0abc")], "has a damaged record"),
        ([(".nv.info.k", 1, b"\7\x17\x0c\0")], "has a damaged record"),
        ([(".nv.info.k", 1, _record(0x17, b"abcd"))], "a record of 4 bytes instead of 12"),
        ([(".nv.info", 1, _record(0x2F, b"abcd"))], "a record of 4 bytes instead of 8"),
        ([(".nv.info.k", 1, _parameter(1, 8, 8))], "leaves out a parameter"),
        ([(".nv.info.k", 1, _parameter(0, 8, 8) + _parameter(0, 4, 8))], "describes parameter 0 twice"),
        ([(".symtab", 2, b"")], "symbol table is missing or damaged"),
        ([(".note.nv.tkinfo", 7, b"-arch sm_89 ")], "the header says sm_90, ptxas's note sm_89"),
        ([(".nv.inf\xe9", 1, b"")], "is not printable ASCII"),
        ([(".nv.info.k\x7f", 1, b"")], "is not printable ASCII"),
        ([(".nv.info.\x1b[2J", 1, b"")], "is not printable ASCII"),
    ],
)
def test_a_contradiction_is_refused(sections: list[tuple[str, int, bytes]], message: str) -> None:
    with pytest.raises(CubinError, match=message):
        cubin.read(_elf(sections))


def test_two_kernels_of_one_name_are_refused() -> None:
    twice = struct.pack("<IBBHQQ", 1, 0x12, 0x10, 1, 0, 0)
    data = _elf([]).replace(bytes(24) + twice, twice + twice)
    with pytest.raises(CubinError, match="two kernels have the same name"):
        cubin.read(data)


def test_overlapping_sections_cannot_make_it_slow() -> None:
    """60,000 sections that all claim the whole file."""
    data = bytearray(_elf([(".big", 1, bytes(100_000))]))
    table = struct.unpack_from("<Q", data, 40)[0]
    row = bytearray(data[table + 64 : table + 128])
    struct.pack_into("<QQ", row, 24, 0, table)
    names = data[-64:]
    data[table:] = bytes(row) * 60_000 + names
    struct.pack_into("<HH", data, 60, 60_001, 60_000)
    start = time.perf_counter()
    with pytest.raises(CubinError, match="sections overlap"):
        cubin.read(bytes(data))
    assert time.perf_counter() - start < 2


def test_a_name_without_an_end_is_refused() -> None:
    data = _elf([]).replace(b"\0k\0", b"\0kk")
    with pytest.raises(CubinError, match="does not end"):
        cubin.read(data)
