"""The fake libcuda of tests/loader/fake_cuda.c, and bundles whose code it understands. Python 3.8, standard library."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kbuild.loader import abi, context, driver, format, recent, streams, struct_table, types, uses
from kbuild.loader.bundle import Bundle, from_bytes
from kbuild.loader.memory import allocation, books, pools

if TYPE_CHECKING:
    from collections.abc import Sequence

    Parameters = Sequence[tuple[str, str]]

SOURCE = Path(__file__).parents[1] / "loader" / "fake_cuda.c"
FOREIGN_CONTEXT = 0x1F05  # one that the program made itself
NO_CAPTURES = hashlib.sha256(b"[]").hexdigest()


def compile_library(folder: Path, *flags: str) -> Path:
    """Compiles the fake driver; needs a C compiler."""
    library = folder / "libcuda.so.1"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", *flags, "-o", library, SOURCE, "-lpthread"], check=True)
    return library


class Record(ctypes.Structure):
    """One launch that the driver got."""

    _fields_ = (
        ("grid", ctypes.c_uint),
        ("block", ctypes.c_uint),
        ("stream", ctypes.c_uint64),
        ("function", ctypes.c_uint64),
        ("size", ctypes.c_int),
        ("bytes", ctypes.c_ubyte * 4096),
        ("sizes", ctypes.c_uint * 6),  # grid and block along x, y, z
        ("shared", ctypes.c_uint),  # bytes of dynamic shared memory
    )


class FakeCuda:
    """The loader on the fake driver, as a context manager; afterwards the loader knows no driver again."""

    def __init__(self, library: Path, devices: str = "9.0", version: str = "13000") -> None:
        self.path, self.devices, self.version = library, devices, version
        self.may_keep: set[str] = set()  # kinds of `live` that a test leaves behind on purpose
        self.library = ctypes.CDLL(str(library))
        self.library.fake_record.restype = ctypes.POINTER(Record)
        self.library.fake_record_name.restype = ctypes.c_char_p
        self.library.fake_calls.restype = ctypes.c_char_p
        self.library.fake_breaches.restype = ctypes.c_char_p
        for name in ("fake_current", "fake_launches", "fake_early_launches", "fake_live_bytes", "fake_make_stream_on"):
            getattr(self.library, name).restype = ctypes.c_uint64

    def __enter__(self) -> FakeCuda:
        os.environ["FAKE_DEVICES"], os.environ["FAKE_DRIVER"] = self.devices, self.version
        self._known, driver.LIBRARIES = driver.LIBRARIES, (str(self.path),)
        # Other tests of this process have declared thousands of kernels, whose bundles every start would look for.
        self._declared, types.declared = types.declared, set()
        self.forget()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        driver.LIBRARIES = self._known
        types.declared = self._declared
        self._forget_here()
        self.library.fake_delay(0)
        del os.environ["FAKE_DEVICES"], os.environ["FAKE_DRIVER"]

    def forget(self) -> None:
        """A new beginning: the loader has not opened the driver yet, whose books are empty."""
        self._forget_here()
        self.library.fake_reset()
        self.set_current(0)

    def _forget_here(self) -> None:
        """What the loader remembers of a driver."""
        written = (books._live, books._peaks, books._totals)
        # The first may hold streams, and go before those; the books are of this driver's GPUs.
        for kept in (recent.logs, uses.captures, uses.tapes, pools._pools, allocation._waiting, *written):
            kept.clear()  # type: ignore[attr-defined]
        if streams._spare:
            self.set_current(0x1000)  # the first GPU's
            for spare in streams._spare.values():
                for handle in spare:
                    self.library.cuStreamDestroy_v2(ctypes.c_uint64(handle))
        streams._spare.clear()
        driver._driver, context._devices = None, None

    def set_current(self, context: int) -> None:
        """The context that is current in this thread, as if the program had made it so; 0 for none."""
        self.library.fake_set_current(ctypes.c_uint64(context))

    def fail(self, call: str, code: int, times: int = 1) -> None:
        """Lets the next calls of a function fail."""
        self.library.fake_fail(call.encode(), code, times)

    def fail_nth(self, number: int, code: int, sticky: bool = False) -> None:
        """Lets the call that comes `number`-th from now fail; all that follow too when `sticky`. 0: no more."""
        self.library.fake_fail_nth(number, code, int(sticky))

    def make_stream(self, device: int = -1, flags: int = 0) -> int:
        """A new stream of another library, of one GPU or fit for each; `flags` 1: it does not wait for the default one.

        From then on the driver refuses handles that were made neither here nor by itself.
        """
        return int(self.library.fake_make_stream_on(device, flags))

    def close_stream(self, stream: int) -> None:
        """Destroys a stream as another library would: its handle is good no more."""
        self.library.fake_close_stream(ctypes.c_uint64(stream))

    def hold(self, stream: int) -> None:
        """What comes on a stream stays undone until `release`, or until the program waits for it."""
        assert self.library.fake_hold(ctypes.c_uint64(stream)) == 0, "no such stream"

    def release(self, stream: int) -> None:
        """Lets a held stream do its work."""
        assert self.library.fake_release(ctypes.c_uint64(stream)) == 0, "no such stream"

    def hold_all(self, held: bool = True) -> None:
        """Holds every stream, those that come too; or lets all of them work."""
        self.library.fake_hold_all(int(held))

    @property
    def pending(self) -> int:
        """How many pieces of work are not done."""
        return int(self.library.fake_pending())

    def set_memory(self, size: int) -> None:
        """How many bytes each GPU has, until the next `forget`."""
        self.library.fake_set_memory(ctypes.c_uint64(size))

    def set_peer(self, device: int, other: int, can: bool) -> None:
        """Whether a GPU can reach another's memory (each can, by itself)."""
        self.library.fake_set_peer(device, other, int(can))

    def alias_host(self) -> None:
        """From now on pinned memory has another address on the GPU than on the host."""
        self.library.fake_alias_host(1)

    def set_condition(self, handle: int, runs: int) -> None:
        """How often the bodies of the conditional node of a handle run at each launch of its graph, or which runs."""
        self.library.fake_set_condition(ctypes.c_uint64(handle), runs)

    @property
    def live(self) -> dict[str, int]:
        """What the program has made and not given back, by kind; `allocations` are of all kinds of memory."""
        kinds = ("allocations", "host", "events", "streams", "graphs", "pools")
        found = {kind: int(getattr(self.library, "fake_live_" + kind)()) for kind in kinds}
        found["streams"] -= sum(map(len, streams._spare.values()))  # kept for the next that asks
        return {kind: number for kind, number in found.items() if number}

    @property
    def leaks(self) -> dict[str, int]:
        """What must not be there when a test ends: all but pools, which are a device's for good, and `may_keep`."""
        for log in recent.logs.values():
            log.clear()  # the launches of late hold their streams, 64 of them at most
        for device in context._devices or []:
            if allocation.waiting(device):
                allocation.reclaim(device, wait=True)  # what is only waiting for a stream is not lost
        return {kind: number for kind, number in self.live.items() if kind != "pools" and kind not in self.may_keep}

    @property
    def breaches(self) -> list[str]:
        """What was asked of the driver that no caller may ask: null pointers, double frees, handles that never were."""
        return self.library.fake_breaches().decode().splitlines()

    @property
    def launches(self) -> int:
        """How many launches reached the driver, those that it refused included."""
        return int(self.library.fake_launches())

    @property
    def early_launches(self) -> int:
        """How many of them might have been begun while the launch before them in the stream ended."""
        return int(self.library.fake_early_launches())

    @property
    def calls(self) -> list[str]:
        """Names of the calls since `reset`, in order."""
        return self.library.fake_calls().decode().split()

    @property
    def records(self) -> list[Record]:
        """The launches since `reset`."""
        return [self.library.fake_record(i).contents for i in range(self.library.fake_record_count())]

    @property
    def live_allocations(self) -> int:
        return int(self.library.fake_live_allocations())


def kernel_rows(
    name: str, parameters: Parameters, ndim: int, structs: dict[str, Any], block_dim: int, plain: bool = False
) -> dict[str, Any]:
    """A kernel's row of the manifest; `plain`: it is written in CUDA C++."""
    types = [abi.parse(spelling, struct_table.parse(structs)) for _, spelling in parameters]
    has_origin = format.writes_origin(ndim) and not plain
    offsets, size = format.layout_behind(0 if plain else format.header_size(ndim, has_origin), types)
    rows = [
        {"name": parameter, "type": spelling, "offset": offsets[i], "size": types[i].size}
        for i, (parameter, spelling) in enumerate(parameters)
    ]
    entry = name.partition(":")[2].replace(".", "_").replace("<", "_").replace(">", "_").partition("[")[0] + "_00000000"
    row = {"name": name, "entry": entry, "ndim": ndim, "block_dim": block_dim, "parameters": rows, "size": size}
    return dict(row, **({"origin": True} if has_origin else {"plain": True} if plain else {}))


def code(kernels: Sequence[dict[str, Any]], status: int = 0) -> bytes:
    """A module image for the fake driver; loading it answers `status`."""
    lines = ["FAKE %d" % status]
    for kernel in kernels:
        places = [] if "plain" in kernel else [(0, format.header_of(kernel))]
        places += [(row["offset"], row["size"]) for row in kernel["parameters"]]
        lines.append(" ".join([kernel["entry"], str(len(places)), *("%d %d" % place for place in places)]))
    return ("\n".join(lines) + "\n").encode()


def cubin_row(target: str, kernels: Sequence[int], blob: int, **changes: Any) -> dict[str, Any]:
    """A cubin's row of the manifest."""
    row = {
        "target": target,
        "arch": target,
        "kind": "cubin",
        "toolchain": "12.9.86",
        "cuda": [12, 9],
        "driver": [12, 0],
        "kernels": list(kernels),
        "unit": "p.kernels",
        "resources": [{"kernel": k, "registers": 8, "shared": 0, "local": 0, "spills": 0} for k in kernels],
        "blob": blob,
    }
    return dict(row, **changes)


def make_manifest(kernels: list[dict[str, Any]], cubins: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A manifest in which every kernel is a definition without captures."""
    manifest = {
        "format": 1,
        "generator": "kbuild 0.1.0",
        "package": "p",
        "options": {},
        "structs": {},
        "definitions": {
            row["name"]: {"plan": [], "instances": [{"identity": NO_CAPTURES, "values": [], "kernel": i}]}
            for i, row in enumerate(kernels)
        },
        "kernels": kernels,
        "targets": sorted({row["target"] for row in cubins}),
        "cubins": cubins,
        "selftest": None,
        "sources": None,
    }
    return dict(manifest, **changes)


def bundle_bytes(
    parameters: Parameters,
    *,
    name: str = "p.kernels:k",
    ndim: int = 1,
    block_dim: int = 256,
    structs: dict[str, Any] | None = None,
    optional: Sequence[str] = (),
    whole_blocks: bool = False,
    any_block_dim: bool = False,
    launch_bounds: tuple[int, int] | None = None,
    waits: bool = False,
    targets: Sequence[str] = ("sm_90",),
    dynamic_shared: int = 0,
    registers: int = 8,
    plain: bool = False,
    shared_memory: int = 0,
    cluster_dim: int = 0,
    stated: Sequence[Sequence[str]] = (),
    **changes: Any,
) -> bytes:
    """A bundle of one kernel for some targets; `optional` names the arrays that may be None.

    `any_block_dim`: how large a block is, is the loader's choice. `plain`: the kernel is written in CUDA C++, and gets
    `shared_memory` bytes where a launch says nothing. `stated`: what launches are held against.
    """
    kernel = dict(kernel_rows(name, parameters, ndim, structs or {}, block_dim, plain), optional=list(optional))
    if shared_memory:
        kernel["shared_memory"] = shared_memory
    if whole_blocks:
        kernel["whole_blocks"] = True
    if any_block_dim:
        kernel["any_block_dim"] = True
    if launch_bounds is not None:
        kernel["launch_bounds"], kernel["block_dim"] = list(launch_bounds), min(launch_bounds[0], 256)
    if waits:
        kernel["waits"] = True
    if dynamic_shared:
        kernel["dynamic_shared"] = dynamic_shared
    if cluster_dim:
        kernel["cluster_dim"] = cluster_dim
    if stated:
        kernel["stated"] = {"line": 12, "rows": [list(row) for row in stated]}
    rows = [cubin_row(target, [0], 0) for target in targets]
    for row in rows:
        row["resources"][0]["registers"] = registers
    manifest = make_manifest([kernel], rows, structs=structs or {}, **changes)
    return format.dump(manifest, [code([kernel])])


def make_bundle(parameters: Parameters, **options: Any) -> Bundle:
    """`bundle_bytes`, opened."""
    return from_bytes(bundle_bytes(parameters, **options), "memory")
