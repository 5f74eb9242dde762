"""Finds NVRTC: in the wheels beside kbuild, in configured folders, in CUDA_HOME; asks each library what it is.

The answers (version, architectures, options, digest of the files) are kept in the cache under the files' paths, sizes
and times, so that a build with nothing to do neither loads a library nor hashes 100 MB. The libraries of NVIDIA's own
wheels are known by their digest (known.py).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbuild.errors import ToolchainError
from kbuild.nvrtc import known
from kbuild.nvrtc.cache import Cache, cache_root
from kbuild.nvrtc.pool import Worker, WorkerDied
from kbuild.nvrtc.toolchain import OPTIONAL_OPTIONS, Toolchain

WHEELS = ("nvidia-cuda-nvrtc-cu11", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc")
_CACHE_KIND = "toolchain"
_FORMAT = 1
_LIBRARY = re.compile(r"libnvrtc\.so\.(\d+)(?:\.\d+)*")
_BUILD = re.compile(rb"release \d+\.\d+, V(\d+\.\d+\.\d+)")


_Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Survey:
    """The toolchains found, oldest first, one for each version; and the libraries that cannot be used, in words."""

    toolchains: tuple[Toolchain, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    library: Path
    builtins: Path | None
    source: str

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.library,) if self.builtins is None else (self.library, self.builtins)


def discover(extra_paths: Iterable[Path | str] = (), *, cache: Cache | None = None) -> tuple[Toolchain, ...]:
    """Every usable toolchain, oldest first. Raises ToolchainError for an extra path without NVRTC."""
    return survey(extra_paths, cache=cache).toolchains


def survey(extra_paths: Iterable[Path | str] = (), *, cache: Cache | None = None) -> Survey:
    """Like `discover`, with what could not be used. Of two with one version the configured one wins, then the wheel."""
    cache = cache if cache is not None else Cache(cache_root())
    by_file: dict[Path, _Candidate] = {}
    for candidate in (*_configured(extra_paths), *_wheels(), *_toolkits()):
        by_file.setdefault(candidate.library.resolve(), candidate)
    kept = list(by_file.values())
    found: dict[tuple[int, int], Toolchain] = {}
    problems: list[str] = []
    for candidate, facts in zip(kept, _ask(kept, cache), strict=True):
        problem = facts.get("problem") or _mismatch(candidate, facts)
        if problem:
            problems.append(f"{candidate.source}: {problem}")
        else:
            toolchain = _toolchain(candidate, facts)
            found.setdefault(toolchain.version, toolchain)
    return Survey(tuple(found[version] for version in sorted(found)), tuple(problems))


def _mismatch(candidate: _Candidate, facts: _Facts) -> str | None:
    """NVRTC opens the builtins of exactly its version."""
    version = "{}.{}".format(*facts["version"])
    if candidate.builtins is None or candidate.builtins.name.endswith(f".so.{version}"):
        return None
    return f"{candidate.library} is {version}, and {candidate.builtins.name} lies beside it"


def _toolchain(candidate: _Candidate, facts: _Facts) -> Toolchain:
    major, minor = facts["version"]
    return Toolchain(
        version=(major, minor),
        build=facts["build"],
        library=candidate.library,
        builtins=candidate.builtins,
        digest=facts["digest"],
        architectures=tuple(facts["architectures"]),
        options=tuple(facts["options"]),
        source=candidate.source,
    )


# Where libraries are


def _wheels() -> Iterator[_Candidate]:
    for name in WHEELS:
        for wheel in importlib.metadata.distributions(name=name):
            for file in wheel.files or ():
                if _LIBRARY.fullmatch(file.name):
                    library = Path(str(wheel.locate_file(file)))
                    if library.is_file():
                        yield _candidate(library, f"wheel {name} {wheel.version}")


def _configured(paths: Iterable[Path | str]) -> Iterator[_Candidate]:
    for path in map(Path, paths):
        found = [path] if path.is_file() else list(_libraries_under(path))
        if not found:
            raise ToolchainError(
                f"no NVRTC in {path}, which `toolchains` of [tool.kbuild] names",
                code="KB503",
                help="name the root of a CUDA toolkit, a folder that holds libnvrtc.so.*, or that file itself",
            )
        yield from (_candidate(library.absolute(), f"configured {path}") for library in found)


def _toolkits() -> Iterator[_Candidate]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if root := os.environ.get(variable):
            found = _libraries_under(Path(root))
            yield from (_candidate(library.absolute(), f"{variable}={root}") for library in found)


def _libraries_under(root: Path) -> Iterator[Path]:
    folders = [root, root / "lib64", root / "lib", *sorted(root.glob("targets/*/lib"))]
    for folder in folders:
        # libnvrtc.so.12 is a link to libnvrtc.so.12.9.86: the shortest name of each file is the soname
        files = sorted(folder.glob("libnvrtc.so.*"), key=lambda p: (len(p.name), p.name))
        seen: set[Path] = set()
        for file in files:
            if _LIBRARY.fullmatch(file.name) and file.resolve() not in seen and file.is_file():
                seen.add(file.resolve())
                yield file


def _candidate(library: Path, source: str) -> _Candidate:
    """The library with its builtins, which lie beside it; CUDA 11 and 12 wheels share one folder."""
    match = _LIBRARY.fullmatch(library.name)
    pattern = f"libnvrtc-builtins.so.{match[1]}.*" if match else "libnvrtc-builtins.so.*"
    beside = [p for p in library.parent.glob(pattern) if p.name.count(".") == 3]
    beside.sort(key=lambda p: int(p.name.rpartition(".")[2]))
    return _Candidate(library, beside[-1] if beside else None, source)


# What a library is


def _ask(candidates: Sequence[_Candidate], cache: Cache) -> list[_Facts]:
    """What each library says: from the cache where its files are unchanged, from the table of known ones, or asked."""
    keys = [_memo_key(candidate) for candidate in candidates]
    told: dict[str, bytes | None] = {key: cache.get(_CACHE_KIND, key) for key in keys}
    new = [(key, candidate) for key, candidate in zip(keys, candidates, strict=True) if told[key] is None]
    digests = _digests([candidate for _, candidate in new])
    facts = {key: known.facts(_identity(candidate, digests)) for key, candidate in new}
    strangers = [(key, candidate) for key, candidate in new if facts[key] is None]
    workers = [Worker(candidate.library, candidate.builtins) for _, candidate in strangers]
    try:
        for worker in workers:  # side by side
            worker.send({"do": "probe", "options": OPTIONAL_OPTIONS})
        for worker, (key, candidate) in zip(workers, strangers, strict=True):
            facts[key] = _facts(worker, candidate, _identity(candidate, digests))
    finally:
        for worker in workers:
            worker.close()
    for key, found in facts.items():
        told[key] = json.dumps(found, sort_keys=True).encode()
        if "problem" not in (found or {}):
            cache.put(_CACHE_KIND, key, told[key] or b"")
    return [json.loads(told[key] or b"{}") for key in keys]


def _facts(worker: Worker, candidate: _Candidate, digest: str) -> _Facts:
    try:
        answer, _ = worker.receive()
    except WorkerDied as death:
        return {"problem": str(death)}
    major, minor = answer["version"]
    return {**answer, "build": _build(candidate.library) or f"{major}.{minor}", "digest": digest}


def _identity(candidate: _Candidate, digests: dict[Path, bytes]) -> str:
    return hashlib.sha256(b"".join(digests[file] for file in candidate.files)).hexdigest()


def _memo_key(candidate: _Candidate) -> str:
    statuses = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in candidate.files]
    return hashlib.sha256(json.dumps([_FORMAT, OPTIONAL_OPTIONS, statuses]).encode()).hexdigest()


def _digests(candidates: Sequence[_Candidate]) -> dict[Path, bytes]:
    """The digest of every file; hashing lets go of the interpreter's lock."""
    files = [file for candidate in candidates for file in candidate.files]
    if not files:
        return {}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(files, pool.map(_digest, files), strict=True))


def _digest(file: Path) -> bytes:
    digest = hashlib.sha256()
    with open(file, "rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    return digest.digest()


def _build(library: Path) -> str | None:
    """The full version, `12.9.86`, which ptxas inside writes into what it makes; NVRTC itself tells only 12.9."""
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        match = _BUILD.search(data)
        return match[1].decode() if match else None
