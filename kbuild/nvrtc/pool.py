"""Runs compile jobs in worker processes, each of which serves one toolchain.

`compile_jobs` answers from the cache first and starts no process when that is enough. The rest goes to at most
`workers` processes: each takes the jobs of its toolchain until none is left, then makes room for another. A worker that
crashes takes its job with it and nothing else. One thread, one selector: Ctrl-C ends all workers at once.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from kbuild.nvrtc import jobs as _jobs
from kbuild.nvrtc import wire
from kbuild.nvrtc.cache import Cache
from kbuild.nvrtc.jobs import Compiled, Job, Outcome, Rejected
from kbuild.nvrtc.log import LogMessage, parse_log, spilled_bytes
from kbuild.nvrtc.toolchain import Toolchain

_PACKAGE_ROOT = Path(__file__).resolve().parents[2]

OnDone = Callable[[int, Outcome], None]

# What one worker may take one after the other: the jobs of a toolchain, but of those that must be alone only one.
_Line = tuple[Toolchain, bool]
_Queues = dict[_Line, deque[tuple[int, Job]]]


def compile_jobs(
    jobs: Sequence[Job], *, cache: Cache, workers: int | None = None, on_done: OnDone | None = None
) -> list[Outcome]:
    """The outcome of each job, in the order of the jobs. `on_done(index, outcome)` is called as each one is known.

    Jobs with the same key are compiled once; all but the first of them count as cached.
    """
    outcomes: dict[int, Outcome] = {}

    def done(index: int, outcome: Outcome) -> None:
        outcomes[index] = outcome
        if on_done is not None:
            on_done(index, outcome)

    same: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        same.setdefault(job.key, []).append(index)
    waiting: list[int] = []
    for key, indices in same.items():
        hit = _jobs.lookup(cache, key)
        if hit is None:
            waiting.append(indices[0])
        else:
            for index in indices:
                done(index, hit)
    for index, outcome in _compile([(index, jobs[index]) for index in waiting], workers or default_workers()):
        key = jobs[index].key
        if isinstance(outcome, Compiled):
            _jobs.store(cache, key, outcome)
        done(index, outcome)
        for twin in same[key][1:]:
            done(twin, _jobs.as_cached(outcome) if isinstance(outcome, Compiled) else outcome)
    return [outcomes[index] for index in range(len(jobs))]


def default_workers() -> int:
    """One worker for each core this process may use."""
    return len(os.sched_getaffinity(0))


def _compile(waiting: Sequence[tuple[int, Job]], limit: int) -> Iterator[tuple[int, Outcome]]:
    """`(index, outcome)` of each job as it is done."""
    queues: _Queues = {}
    # Long texts first, so that no long one is left alone at the end; the index makes the order definite.
    for index, job in sorted(waiting, key=lambda entry: (-len(entry[1].source), entry[0])):
        queues.setdefault((job.toolchain, job.is_alone), deque()).append((index, job))
    with _Crew() as crew:
        while queues or crew.busy:
            while queues and len(crew.busy) < limit:
                line = _neediest(queues, crew)
                crew.give(crew.hire(line[0]), *_take(queues, line))
            for worker, index, job in crew.finished():
                yield index, _outcome(worker, job)
                line = (job.toolchain, False)
                if line in queues and not job.is_alone and worker.is_alive:
                    crew.give(worker, *_take(queues, line))
                else:
                    worker.close()


def _neediest(queues: _Queues, crew: _Crew) -> _Line:
    """The line with the most waiting jobs for each worker it would then have."""
    having = [(job.toolchain, job.is_alone) for _, job in crew.busy.values()]
    return max(queues, key=lambda line: len(queues[line]) / (having.count(line) + 1))


def _take(queues: _Queues, line: _Line) -> tuple[int, Job]:
    entry = queues[line].popleft()
    if not queues[line]:
        del queues[line]
    return entry


def _outcome(worker: Worker, job: Job) -> Outcome:
    """Reads a worker's answer to a job."""
    try:
        header, data = worker.receive()
    except WorkerDied as death:
        text = f"the compiler process for {job.name} ({job.arch}, {job.toolchain}) died: {death}"
        return Rejected((LogMessage(None, None, "error", text),), died=text)
    log = header["log"]
    messages = parse_log(log)
    if header["status"] == 0:
        return Compiled(data, messages, header["seconds"], spills=spilled_bytes(log), names=header["names"])
    if not any(m.severity == "error" for m in messages):
        messages = (*messages, LogMessage(None, None, "error", f"NVRTC: {header['status_text']}"))
    return Rejected(messages, log, header["seconds"])


class WorkerDied(Exception):
    """A worker process ended, or could not use its library; the text says how."""


class Worker:
    """A worker process as its parent sees it: one request at a time."""

    def __init__(self, library: Path, builtins: Path | None) -> None:
        # A file never blocks the worker as an unread pipe would; one in memory needs no disk, which may be full.
        self.stderr: IO[bytes] = os.fdopen(os.memfd_create("kbuild worker's stderr"), "w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kbuild.nvrtc.worker", str(library), *([str(builtins)] if builtins else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            cwd=_PACKAGE_ROOT,
            env=_environment(),
        )

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def send(self, header: wire.Header, blob: bytes = b"") -> None:
        """Asks. A dead worker shows when the answer is read."""
        assert self.process.stdin is not None
        try:
            wire.send(self.process.stdin, header, blob)
        except BrokenPipeError:
            return

    def receive(self) -> tuple[wire.Header, bytes]:
        """The answer to the request. Raises WorkerDied."""
        assert self.process.stdout is not None
        message = wire.receive(self.process.stdout)
        if message is None:
            raise WorkerDied(self._cause_of_death())
        if "error" in message[0]:
            raise WorkerDied(message[0]["error"])
        return message

    def _cause_of_death(self) -> str:
        try:
            status = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.stderr.seek(0)
        last = self.stderr.read().decode(errors="replace").strip().splitlines()[-1:]
        said = f"; it said: {last[0]}" if last else ""
        if status == -signal.SIGKILL:
            return f"killed (SIGKILL), perhaps because memory ran out{said}"
        if status < 0:
            return f"{signal.Signals(-status).name}{said}"
        return f"exit status {status}{said}"

    def close(self) -> None:
        """Ends the process; an idle one has nothing to finish."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.stderr):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:  # unsent bytes for a worker that is gone
                    continue


class _Crew:
    """The workers that have a job."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._workers: list[Worker] = []
        self.busy: dict[Worker, tuple[int, Job]] = {}

    def __enter__(self) -> _Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.close()
        self._selector.close()

    def hire(self, toolchain: Toolchain) -> Worker:
        worker = Worker(toolchain.library, toolchain.builtins)
        self._workers.append(worker)
        return worker

    def give(self, worker: Worker, index: int, job: Job) -> None:
        request: wire.Header = {
            "do": "compile",
            "name": job.program_name,
            "options": job.command_line,
            "kind": job.kind,
        }
        request |= {"headers": job.headers, "expressions": job.expressions}
        self.busy[worker] = (index, job)
        assert worker.process.stdout is not None
        self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
        worker.send(request, job.source.encode())

    def finished(self) -> list[tuple[Worker, int, Job]]:
        """Waits until a worker has an answer (or is gone); those that do, with their jobs."""
        ready = []
        for key, _ in self._selector.select():
            worker: Worker = key.data
            self._selector.unregister(key.fileobj)
            ready.append((worker, *self.busy.pop(worker)))
        return ready


def _environment() -> dict[str, str]:
    """The inherited environment, in which kbuild is found first and relative entries of PYTHONPATH still hold."""
    inherited = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(_PACKAGE_ROOT), *inherited])}
