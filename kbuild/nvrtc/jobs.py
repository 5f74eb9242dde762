"""A compile job, what may come of it, and the key under which a result is kept.

A key is the digest of one JSON object: what the caller says identifies the text, the options, the architecture and the
digest of the toolchain's files. `text_key` makes the caller's part from the text itself: without line information the
`#line` directives do not reach the cubin and stay out of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field, replace

from kbuild.nvrtc.cache import Cache
from kbuild.nvrtc.headers import Headers
from kbuild.nvrtc.log import LogMessage
from kbuild.nvrtc.toolchain import LANGUAGE, PROGRAM_BESIDE_HEADERS, PROGRAM_NAME, Toolchain, command_line

CACHE_KIND = "cubin"
_FORMAT = 1
_LINE_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*line\b.*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Job:
    """One translation unit for one architecture. `name` is for people, `key_parts` identifies the text for the cache.

    `arch` is `sm_90` for a cubin or `compute_90` for PTX; `options` are the unit's own NVRTC options. What a text that
    kbuild has not written needs besides: `headers`, texts by the names that its includes have; `expressions`, names of
    kernels in C++ whose symbols are wanted; `cuda_headers`, folders with CUDA's own headers. All of it but those
    folders must be in `key_parts`.
    """

    name: str
    source: str
    arch: str
    toolchain: Toolchain
    key_parts: str
    lineinfo: bool = False
    options: tuple[str, ...] = ()
    language: tuple[str, ...] = LANGUAGE
    headers: tuple[tuple[str, str], ...] = ()
    expressions: tuple[str, ...] = ()
    cuda_headers: Headers | None = None

    @property
    def kind(self) -> str:
        return "cubin" if self.arch.startswith("sm_") else "ptx"

    @property
    def is_alone(self) -> bool:
        """Whether it must be the first job of a process to give the same bytes always.

        Before 12.9 the calls in PTX are numbered by a counter of the process, and line information holds that PTX.
        """
        return self.toolchain.version < (12, 9) and (self.lineinfo or self.kind == "ptx")

    @property
    def command_line(self) -> tuple[str, ...]:
        headers = self.cuda_headers
        found = command_line(
            self.toolchain,
            self.arch,
            lineinfo=self.lineinfo,
            options=self.options,
            language=self.language,
            beside_headers=headers is not None,
        )
        return found if headers is None else (*found, *headers.options)

    @property
    def program_name(self) -> str:
        return PROGRAM_NAME if self.cuda_headers is None else PROGRAM_BESIDE_HEADERS

    @property
    def key(self) -> str:
        return job_key(
            self.key_parts,
            self.arch,
            self.toolchain,
            lineinfo=self.lineinfo,
            options=self.options,
            language=self.language,
            cuda_headers=self.cuda_headers,
        )


@dataclass(frozen=True, slots=True)
class Compiled:
    """A cubin or PTX text. `seconds` is the time inside NVRTC when it was made; 0 when it came out of the cache.

    `spills` are bytes of spill stores and loads by kernel (empty for PTX), `names` the symbols of the job's
    `expressions`. Out of the cache come only the messages that point at no line: lines may have moved since.
    """

    data: bytes
    messages: tuple[LogMessage, ...] = ()
    seconds: float = 0.0
    cached: bool = False
    spills: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rejected:
    """No result. Either NVRTC refused the text (`messages`, `log`), or the worker `died`, and this says how."""

    messages: tuple[LogMessage, ...]
    log: str = ""
    seconds: float = 0.0
    died: str | None = None


Outcome = Compiled | Rejected


def text_key(source: str, *, lineinfo: bool = False) -> str:
    """What identifies a text, for `Job.key_parts`."""
    text = source if lineinfo else _LINE_DIRECTIVE.sub("", source)
    return hashlib.sha256(text.encode()).hexdigest()


def job_key(
    key_parts: str,
    arch: str,
    toolchain: Toolchain,
    *,
    lineinfo: bool = False,
    options: tuple[str, ...] = (),
    language: tuple[str, ...] = LANGUAGE,
    cuda_headers: Headers | None = None,
) -> str:
    """The key of a result in the cache; known before there is a text to compile."""
    parts = {
        "format": _FORMAT,
        "text": key_parts,
        "options": command_line(toolchain, arch, lineinfo=lineinfo, options=options, language=language),
        "arch": arch,
        "toolchain": toolchain.digest,
    }
    if cuda_headers is not None:
        parts["headers"] = cuda_headers.digest
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def lookup(cache: Cache, key: str) -> Compiled | None:
    """The result that the cache holds, or None."""
    entry = cache.get(CACHE_KIND, key)
    if entry is None:
        return None
    head, _, data = entry.partition(b"\n")
    fields = json.loads(head)
    messages = tuple(LogMessage(**message) for message in fields["messages"])
    return Compiled(data, messages, cached=True, spills=fields["spills"], names=fields.get("names", {}))


def store(cache: Cache, key: str, result: Compiled) -> None:
    """Puts a fresh result into the cache."""
    messages = [
        {"path": None, "line": None, "severity": m.severity, "text": m.text, "kernel": m.kernel}
        for m in result.messages
        if m.line is None
    ]
    facts: dict[str, object] = {"messages": messages, "spills": result.spills}
    if result.names:
        facts["names"] = result.names
    head = json.dumps(facts, sort_keys=True)
    cache.put(CACHE_KIND, key, head.encode() + b"\n" + result.data)


def as_cached(result: Compiled) -> Compiled:
    """The result for another job of the same key in the same run."""
    return replace(result, seconds=0.0, cached=True)
