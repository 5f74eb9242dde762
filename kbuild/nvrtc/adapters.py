"""NVRTC's few functions behind one interface: through cuda.bindings (12 and 13) or through ctypes (11, and any other).

cuda.bindings never opens `libnvrtc.so.11.2`, and it takes one library for a process: the one that is loaded already.
So the wanted file is opened by absolute path first, with its builtins before it (13.0 finds them no other way).
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

SUCCESS = 0
COMPILATION_ERROR = 6
_RESULTS = {"cubin": "CUBIN", "ptx": "PTX"}


class AdapterError(Exception):
    """The library cannot be used: not NVRTC, too old, or another one got in its way."""


class Nvrtc(Protocol):
    """What kbuild needs of NVRTC. A status is NVRTC's own number, 0 is success."""

    def version(self) -> tuple[int, int]: ...
    def architectures(self) -> tuple[int, ...]: ...
    def error_text(self, status: int) -> str: ...
    def create(self, source: bytes, name: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, Any]: ...
    def ask_for_name(self, program: Any, expression: bytes) -> int: ...
    def lowered_name(self, program: Any, expression: bytes) -> str: ...
    def compile(self, program: Any, options: list[bytes]) -> int: ...
    def log(self, program: Any) -> bytes: ...
    def result(self, program: Any, kind: str) -> bytes: ...
    def destroy(self, program: Any) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What one compilation gave; `seconds` is the time inside `nvrtcCompileProgram`, `data` is empty on failure,
    `names` are the symbols of the expressions.
    """

    status: int
    status_text: str
    log: str
    data: bytes
    seconds: float
    names: dict[str, str] = field(default_factory=dict)


def compile_program(
    nvrtc: Nvrtc,
    source: bytes,
    name: bytes,
    options: list[bytes],
    kind: str,
    headers: Sequence[tuple[bytes, bytes]] = (),
    expressions: Sequence[bytes] = (),
) -> Answer:
    """Compiles one program to `kind` "cubin" or "ptx". `headers` are names and texts of what the source includes,
    `expressions` the names of kernels in C++ whose symbols are wanted.
    """
    status, program = nvrtc.create(source, name, headers)
    if status != SUCCESS:
        return Answer(status, nvrtc.error_text(status), "", b"", 0.0)
    names: dict[str, str] = {}
    try:
        for expression in expressions:
            status = nvrtc.ask_for_name(program, expression)
            if status != SUCCESS:
                return Answer(status, nvrtc.error_text(status), "", b"", 0.0)
        start = time.perf_counter()
        status = nvrtc.compile(program, options)
        seconds = time.perf_counter() - start
        # A verbose ptxas leaves a zero byte in the middle, before its last error.
        log = nvrtc.log(program).replace(b"\0", b"").decode(errors="replace")
        data = nvrtc.result(program, kind) if status == SUCCESS else b""
        if status == SUCCESS:
            names = {e.decode(): nvrtc.lowered_name(program, e) for e in expressions}
    finally:
        nvrtc.destroy(program)
    return Answer(status, nvrtc.error_text(status), log, data, seconds, names)


def open_nvrtc(library: Path, builtins: Path | None) -> Nvrtc:
    """The library behind the better adapter for it. Raises AdapterError."""
    handle = load(library, builtins)
    plain = CtypesNvrtc(handle, library)
    if plain.version()[0] < 12:
        return plain
    try:
        from cuda.bindings import nvrtc as bindings
    except ImportError:
        return plain
    return BindingsNvrtc(bindings, library)


def load(library: Path, builtins: Path | None) -> ctypes.CDLL:
    """Opens both files by absolute path, builtins first."""
    try:
        if builtins is not None:
            ctypes.CDLL(str(builtins.absolute()))
        return ctypes.CDLL(str(library.absolute()))
    except OSError as error:
        raise AdapterError(f"{library} cannot be loaded: {error}") from None


class CtypesNvrtc:
    """NVRTC through ctypes. ctypes lets go of the interpreter's lock during a call."""

    def __init__(self, handle: ctypes.CDLL, library: Path) -> None:
        needed = ("nvrtcVersion", "nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs", "nvrtcGetCUBIN")
        missing = [name for name in needed if not hasattr(handle, name)]
        if missing:
            raise AdapterError(f"{library} has no {missing[0]}: kbuild needs NVRTC 11.2 or newer")
        self._nvrtc = handle
        handle.nvrtcGetErrorString.restype = ctypes.c_char_p

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._nvrtc, name)(*arguments)
        if status != SUCCESS:
            raise AdapterError(f"{name}: {self.error_text(status)}")

    def version(self) -> tuple[int, int]:
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        return major.value, minor.value

    def architectures(self) -> tuple[int, ...]:
        count = ctypes.c_int()
        self._call("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        numbers = (ctypes.c_int * count.value)()
        self._call("nvrtcGetSupportedArchs", numbers)
        return tuple(numbers)

    def error_text(self, status: int) -> str:
        text: bytes = self._nvrtc.nvrtcGetErrorString(status)
        return text.decode()

    def create(self, source: bytes, name: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, Any]:
        program = ctypes.c_void_p()
        names, texts = ((ctypes.c_char_p * len(headers))(*(pair[i] for pair in headers)) for i in (0, 1))
        place = ctypes.byref(program)
        status = self._nvrtc.nvrtcCreateProgram(place, source, name, len(headers), texts, names)
        return status, program

    def ask_for_name(self, program: Any, expression: bytes) -> int:
        status: int = self._nvrtc.nvrtcAddNameExpression(program, expression)
        return status

    def lowered_name(self, program: Any, expression: bytes) -> str:
        name = ctypes.c_char_p()
        self._call("nvrtcGetLoweredName", program, expression, ctypes.byref(name))
        return (name.value or b"").decode()

    def compile(self, program: Any, options: list[bytes]) -> int:
        array = (ctypes.c_char_p * len(options))(*options)
        status: int = self._nvrtc.nvrtcCompileProgram(program, len(options), array)
        return status

    def log(self, program: Any) -> bytes:
        return self._read(program, "nvrtcGetProgramLog")

    def result(self, program: Any, kind: str) -> bytes:
        data = self._read(program, f"nvrtcGet{_RESULTS[kind]}")
        return data.rstrip(b"\0") if kind == "ptx" else data

    def _read(self, program: Any, name: str) -> bytes:
        size = ctypes.c_size_t()
        self._call(f"{name}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call(name, program, buffer)
        return buffer.raw

    def destroy(self, program: Any) -> None:
        self._nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


class BindingsNvrtc:
    """NVRTC through cuda.bindings, after `load` has opened the wanted file."""

    def __init__(self, bindings: Any, library: Path) -> None:
        self._nvrtc = bindings
        self.version()  # makes cuda.bindings choose its library
        others = _loaded_libraries() - {library.resolve()}
        if others:
            raise AdapterError(f"cuda.bindings opened {', '.join(map(str, sorted(others)))} instead of {library}")

    def _call(self, name: str, *arguments: Any) -> Any:
        status, *values = getattr(self._nvrtc, name)(*arguments)
        if int(status) != SUCCESS:
            raise AdapterError(f"{name}: {self.error_text(int(status))}")
        return values[0] if len(values) == 1 else tuple(values)

    def version(self) -> tuple[int, int]:
        major, minor = self._call("nvrtcVersion")
        return major, minor

    def architectures(self) -> tuple[int, ...]:
        return tuple(self._call("nvrtcGetSupportedArchs"))

    def error_text(self, status: int) -> str:
        text: bytes = self._nvrtc.nvrtcGetErrorString(self._nvrtc.nvrtcResult(status))[1]
        return text.decode()

    def create(self, source: bytes, name: bytes, headers: Sequence[tuple[bytes, bytes]]) -> tuple[int, Any]:
        names, texts = [name for name, _ in headers], [text for _, text in headers]
        status, program = self._nvrtc.nvrtcCreateProgram(source, name, len(headers), texts, names)
        return int(status), program

    def ask_for_name(self, program: Any, expression: bytes) -> int:
        (status,) = self._nvrtc.nvrtcAddNameExpression(program, expression)
        return int(status)

    def lowered_name(self, program: Any, expression: bytes) -> str:
        name: bytes = self._call("nvrtcGetLoweredName", program, expression)
        return name.decode()

    def compile(self, program: Any, options: list[bytes]) -> int:
        (status,) = self._nvrtc.nvrtcCompileProgram(program, len(options), options)
        return int(status)

    def log(self, program: Any) -> bytes:
        return self._read(program, "nvrtcGetProgramLog")

    def result(self, program: Any, kind: str) -> bytes:
        data = self._read(program, f"nvrtcGet{_RESULTS[kind]}")
        return data.rstrip(b"\0") if kind == "ptx" else data

    def _read(self, program: Any, name: str) -> bytes:
        size = self._call(f"{name}Size", program)
        buffer = bytearray(max(size, 1))  # bytes would be written in place, and short ones are shared by Python
        self._call(name, program, buffer)
        return bytes(buffer[:size])

    def destroy(self, program: Any) -> None:
        self._nvrtc.nvrtcDestroyProgram(program)


def _loaded_libraries() -> set[Path]:
    """The NVRTC libraries mapped into this process."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if "/libnvrtc.so" in line}
    return {Path(path).resolve() for path in paths}
