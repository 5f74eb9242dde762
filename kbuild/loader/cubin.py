"""What a cubin says about itself: architecture, kernels, parameters and resources, read from its ELF tables.

    read(cubin).arch                              "sm_90a"
    read(cubin).kernels["saxpy_1a2b"].registers   10
    read(cubin).kernels["saxpy_1a2b"].parameters  ((0, 4), (8, 8))     offset and size of each, in bytes

Cubins of CUDA 11 and 12 (ABI 7) and of Blackwell and CUDA 13 (ABI 8) put the architecture in different bits of the
header's flags. Nothing in the file is believed: every offset is checked, and hostile bytes end in a CubinError.
Python 3.8, standard library.
"""

from __future__ import annotations

import re
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator

_HEADER = struct.Struct("<4sBBBBB7xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_ATTRIBUTE = struct.Struct("<BBH")

_MACHINE_CUDA = 190
_SHT_SYMTAB = 2
_SHT_NOBITS = 8
_STT_FUNC = 2
_STO_CUDA_ENTRY = 0x10
_MAX_NAME = 4096

# ABI 7: the architecture is the low byte, 0x800 marks the `a` variant. ABI 8: it is the second byte, and the variant
# stands only in the note that records ptxas's command line. (Read off cubins of NVRTC 11.8, 12.9 and 13.0.)
_ABI_7_ACCELERATED = 0x800

# Attributes of `.nv.info` sections: a format byte, an attribute byte, then 16 bits of value or of size.
_FORMAT_SIZED = 4
_KPARAM_INFO = 0x17
_KPARAM_INFO_V2 = 0x45
_CBANK_PARAM_SIZE = 0x19
_MAX_THREADS = 0x05
_REQUIRED_THREADS = 0x10
_FRAME_SIZE = 0x11
_MIN_STACK_SIZE = 0x12
_REGISTER_COUNT = 0x2F
_BARRIER_COUNT = 0x4C  # of ABI 8; ABI 7 has it in the flags of `.text.KERNEL`
_ABI_7_BARRIERS = 20, 0x7F

# From compute capability 9.0 on `.nv.shared.KERNEL` starts with the shared memory that CUDA reserves for itself.
_RESERVED_SHARED = 1024


class CubinError(ValueError):
    """Not a cubin, or one whose tables contradict themselves."""


class KernelInfo:
    """One kernel. Sizes in bytes; `local` is the stack frame of a thread with its calls, spilled registers included,
    `code` its machine code without tables, `barriers` how many of a block's barriers it uses.

    `parameters` has `(offset, size)` of each parameter in order, `parameter_size` is the whole block;
    `max_threads` is the declared limit of threads in a block, None where the kernel declares none.
    """

    __slots__ = ("barriers", "code", "local", "max_threads", "parameter_size", "parameters", "registers", "shared")

    barriers: int
    registers: int
    shared: int
    local: int
    code: int
    max_threads: int | None
    parameters: tuple[tuple[int, int], ...]
    parameter_size: int

    def __init__(self) -> None:
        self.registers = self.shared = self.local = self.code = self.parameter_size = self.barriers = 0
        self.max_threads = None
        self.parameters = ()

    def __repr__(self) -> str:
        return "KernelInfo(%s)" % ", ".join("%s=%r" % (name, getattr(self, name)) for name in self.__slots__)


class Cubin:
    """`arch` as `sm_90a`; `abi` 7 or 8; `toolkit` the CUDA version `(12, 9)` that made it, None if it does not say;
    `constants` the bytes of the program's own constants, which all kernels share.
    """

    __slots__ = ("abi", "arch", "constants", "kernels", "toolkit")

    def __init__(
        self, arch: str, abi: int, toolkit: tuple[int, int] | None, kernels: dict[str, KernelInfo], constants: int
    ) -> None:
        self.arch, self.abi, self.toolkit, self.kernels, self.constants = arch, abi, toolkit, kernels, constants


class _Section:
    __slots__ = ("data", "flags", "info", "name", "size", "type")

    def __init__(self, name: str, type: int, size: int, info: int, flags: int, data: memoryview) -> None:
        self.name, self.type, self.size, self.info, self.flags, self.data = name, type, size, info, flags, data


def read(cubin: bytes) -> Cubin:
    """The tables of a cubin. Raises CubinError for anything that is not a well-formed one."""
    elf = _Elf(memoryview(cubin))
    symbols = elf.symbols()
    entries = {index: name for index, (name, is_entry) in enumerate(symbols) if is_entry}
    kernels = {name: KernelInfo() for name in entries.values()}
    if len(kernels) != len(entries):
        raise CubinError("two kernels have the same name")
    for section in elf.sections:
        if section.name == ".nv.info":
            _read_symbol_attributes(section, kernels, entries)
        elif section.name.startswith(".nv.info."):
            _read_kernel_attributes(section, kernels.get(section.name[9:]))
        elif section.name.startswith(".nv.shared.") and section.name[11:] in kernels:
            kernels[section.name[11:]].shared = _static_shared(section, elf.number)
        elif section.name.startswith(".text.") and section.name[6:] in kernels:
            kernels[section.name[6:]].code = section.size
            if elf.abi == 7:
                shift, mask = _ABI_7_BARRIERS
                kernels[section.name[6:]].barriers = section.flags >> shift & mask
    constants = sum(section.size for section in elf.sections if section.name == ".nv.constant3")
    return Cubin(elf.arch(), elf.abi, elf.toolkit(), kernels, constants)


def machine_code(cubin: bytes) -> dict[str, bytes]:
    """The instructions of each section of code, by the name of the kernel that it belongs to. Raises CubinError."""
    sections = _Elf(memoryview(cubin)).sections
    return {one.name[6:]: bytes(one.data) for one in sections if one.name.startswith(".text.")}


class _Elf:
    """The sections of a 64-bit little-endian CUDA ELF file."""

    def __init__(self, data: memoryview) -> None:
        if len(data) < _HEADER.size:
            raise CubinError("not a cubin: %d bytes are less than an ELF header" % len(data))
        header = _HEADER.unpack_from(data)
        magic, bits, order, _, self.os_abi, self.abi, _, machine, self.version = header[:9]
        if magic != b"\x7fELF" or bits != 2 or order != 1 or machine != _MACHINE_CUDA:
            raise CubinError("not a cubin: it is not a 64-bit ELF file for CUDA")
        if self.abi not in (7, 8):
            raise CubinError("cubin of ABI %d; kbuild reads 7 and 8" % self.abi)
        self.data, self.flags = data, header[12]
        self.number = self.flags & 0xFF if self.abi == 7 else self.flags >> 8 & 0xFF
        self.sections = self._read_sections(offset=header[11], size=header[16], count=header[17], names=header[18])

    def _read_sections(self, offset: int, size: int, count: int, names: int) -> list[_Section]:
        if size != _SECTION.size or not 0 < count < 0xFF00 or names >= count:
            raise CubinError("the section table has %d entries of %d bytes, names in entry %d" % (count, size, names))
        table = self._slice(offset, size * count, "section table")
        rows = list(_SECTION.iter_unpack(table))
        strings = self._slice(rows[names][4], rows[names][5], "section names")
        budget = 4 * len(self.data)  # sections of a real cubin do not overlap; the sum bounds the work
        sections = []
        for name, type, flags, _, start, length, _, info, _, _ in rows:
            empty = type in (0, _SHT_NOBITS)
            data = self._slice(0, 0, "") if empty else self._slice(start, length, "section")
            budget -= len(data)
            if budget < 0:
                raise CubinError("sections overlap")
            sections.append(_Section(_string(strings, name), type, length, info, flags, data))
        return sections

    def _slice(self, offset: int, size: int, what: str) -> memoryview:
        if offset + size > len(self.data):
            raise CubinError("the %s at %d + %d reaches past the end, %d" % (what, offset, size, len(self.data)))
        return self.data[offset : offset + size]

    def symbols(self) -> list[tuple[str, bool]]:
        """Name and "is a kernel" of every symbol, in the order of the table; only kernels' names are decoded."""
        tables = [s for s in self.sections if s.type == _SHT_SYMTAB]
        strings = [s for s in self.sections if s.name == ".strtab"]
        if len(tables) != 1 or len(strings) != 1 or len(tables[0].data) % _SYMBOL.size:
            raise CubinError("the symbol table is missing or damaged")
        found = []
        for name, info, other, section, _, _ in _SYMBOL.iter_unpack(tables[0].data):
            is_entry = info & 15 == _STT_FUNC and bool(other & _STO_CUDA_ENTRY) and section != 0
            found.append((_string(strings[0].data, name) if is_entry else "", is_entry))
        return found

    def arch(self) -> str:
        """`sm_90a`: the number from the header, the variant from the flags (ABI 7) or ptxas's command line (ABI 8)."""
        if self.abi == 7:
            return "sm_%d%s" % (self.number, "a" if self.flags & _ABI_7_ACCELERATED else "")
        match = re.search(rb"-arch[ =]sm_(\d{1,4})([a-z]?)\b", self._tool_note())
        if match is None:
            return "sm_%d" % self.number
        if int(match.group(1)) != self.number:
            raise CubinError("the header says sm_%d, ptxas's note sm_%s" % (self.number, match.group(1).decode()))
        return "sm_%d%s" % (self.number, match.group(2).decode())

    def toolkit(self) -> tuple[int, int] | None:
        if self.abi == 7:
            return (self.version // 10, self.version % 10)
        match = re.search(rb"release (\d{1,3})\.(\d{1,3}),", self._tool_note())
        return (int(match.group(1)), int(match.group(2))) if match else None

    def _tool_note(self) -> bytes:
        for section in self.sections:
            if section.name == ".note.nv.tkinfo":
                return bytes(section.data[:_MAX_NAME])
        return b""


def _string(table: memoryview, offset: int) -> str:
    piece = bytes(table[offset : offset + _MAX_NAME])
    end = piece.find(b"\0")
    if end < 0:
        raise CubinError("a name at %d does not end" % offset)
    name = piece[:end].decode("ascii", "replace")
    if not name.isascii() or not name.isprintable():  # it goes into messages, which a terminal would obey
        raise CubinError("a name at %d is not printable ASCII" % offset)
    return name


def _attributes(section: _Section) -> Iterator[tuple[int, int, memoryview]]:
    """`(attribute, value, payload)` of each record of an info section."""
    data, at = section.data, 0
    while at < len(data):
        if at + _ATTRIBUTE.size > len(data):
            raise CubinError("%s is cut short" % section.name)
        form, attribute, value = _ATTRIBUTE.unpack_from(data, at)
        at += _ATTRIBUTE.size
        size = value if form == _FORMAT_SIZED else 0
        if not 1 <= form <= 4 or at + size > len(data):
            raise CubinError("%s has a damaged record at %d" % (section.name, at))
        yield attribute, value, data[at : at + size]
        at += size


def _words(section: _Section, payload: memoryview, count: int) -> tuple[int, ...]:
    if len(payload) != 4 * count:
        raise CubinError("%s has a record of %d bytes instead of %d" % (section.name, len(payload), 4 * count))
    return struct.unpack("<%dI" % count, payload)


def _read_symbol_attributes(section: _Section, kernels: dict[str, KernelInfo], entries: dict[int, str]) -> None:
    """Registers and stack of each function, by the index of its symbol. Device functions share their kernel's."""
    for attribute, _, payload in _attributes(section):
        if attribute not in (_REGISTER_COUNT, _FRAME_SIZE, _MIN_STACK_SIZE):
            continue
        symbol, amount = _words(section, payload, 2)
        if symbol not in entries:
            continue
        kernel = kernels[entries[symbol]]
        if attribute == _REGISTER_COUNT:
            kernel.registers = amount
        elif amount != 0xFFFFFFFF:  # "not known": recursion
            kernel.local = max(kernel.local, amount)


def _read_kernel_attributes(section: _Section, kernel: KernelInfo | None) -> None:
    if kernel is None:
        return
    found: dict[int, tuple[int, int]] = {}
    for attribute, value, payload in _attributes(section):
        if attribute in (_KPARAM_INFO, _KPARAM_INFO_V2):
            _, place, size = _words(section, payload, 3)
            size = size >> 18 if attribute == _KPARAM_INFO else size & 0xFFFF
            if found.setdefault(place & 0xFFFF, (place >> 16, size)) != (place >> 16, size):
                raise CubinError("%s describes parameter %d twice" % (section.name, place & 0xFFFF))
        elif attribute == _CBANK_PARAM_SIZE:
            kernel.parameter_size = value
        elif attribute == _BARRIER_COUNT:
            kernel.barriers = value
        elif attribute in (_MAX_THREADS, _REQUIRED_THREADS):
            x, y, z = _words(section, payload, 3)
            kernel.max_threads = x * y * z
    if sorted(found) != list(range(len(found))):
        raise CubinError("%s leaves out a parameter" % section.name)
    kernel.parameters = tuple(found[ordinal] for ordinal in range(len(found)))


def _static_shared(section: _Section, number: int) -> int:
    """Static shared memory of a kernel, as ptxas counts it."""
    return max(section.size - _RESERVED_SHARED, 0) if number >= 90 else section.size
