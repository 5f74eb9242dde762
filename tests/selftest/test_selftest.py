"""The self-test of a bundle: what the build computes, and how the target compares. The GPU is a stand-in that holds
bytes; that a real one computes the same is in tests/gpu."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild import config, pipeline
from kbuild.cli.main import main as command
from kbuild.errors import Report
from kbuild.ir.contract import contract
from kbuild.ir.types import FLOAT32, INT32, SCALARS, Array, Struct, Vector
from kbuild.lang.program import lower_kernel
from kbuild.loader import Bundle, BundleError, fieldtest, format, selftest
from kbuild.loader import open as open_bundle
from kbuild.loader.__main__ import main
from kbuild.loader.errors import LaunchError
from kbuild.loader.select import Device
from kbuild.scan.selftest import expectations
from tests.helpers import kernels
from tests.helpers.pythons import need_python

VEC3 = Vector(3, FLOAT32)

PROJECT = """
[build-system]
requires = ["setuptools", "kbuild[build]"]
build-backend = "setuptools.build_meta"
[project]
name = "tested"
version = "1"
[tool.kbuild]
modules = ["tested.kernels"]
targets = ["sm_90"]
selftest = true
"""
KERNELS = """
import kbuild as kb

@kb.struct
class State:
    position: kb.array(dtype=kb.vec3)
    mass: float

@kb.kernel
def move(state: State, dt: float):
    i = kb.tid()
    state.position[i] = state.position[i] * (1.0 + dt / state.mass)

@kb.kernel
def wave(out: kb.array(dtype=float)):
    i = kb.tid()
    out[i] = kb.sin(out[i])

@kb.kernel
def shift(data: kb.array(dtype=int)):
    i = kb.tid()
    data[i] = data[i + 1]

@kb.kernel(block_dim=64)
def turn(data: kb.array(dtype=int)):
    tile = kb.shared_array(64, int)
    i = kb.tid()
    t = kb.thread_idx()
    tile[t] = data[i] + kb.block_idx()
    kb.syncthreads()
    data[i] = tile[63 - t] + kb.block_dim()

@kb.kernel(block_dim=96)
def odd(data: kb.array2d(dtype=int)):
    i, j = kb.tid()
    data[i, j] = kb.thread_idx()
"""


@pytest.fixture(scope="module")
def bundle_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "tested").mkdir()
    (root / "tested" / "__init__.py").write_text("")
    (root / "tested" / "kernels.py").write_text(KERNELS)
    return pipeline.build(config.require(root), output=root / "out").bundles[0].path


@pytest.fixture
def bundle(bundle_path: Path) -> Bundle:
    return open_bundle(bundle_path)


class StandIn(Device):
    """Device memory of a GPU that computes what the bundle expects, spoiled on request."""

    arch, target = 90, "sm_90"

    def __init__(self, monkeypatch: pytest.MonkeyPatch, bundle: Bundle) -> None:
        super().__init__("stand-in", 9, 0, (13, 0))
        self.expected = fieldtest.expectations(bundle)
        self.arrays: dict[int, bytearray] = {}
        self.launches: dict[str, Any] = {}
        self.samples: dict[str, selftest.Sample] = {}
        self.spoil = lambda name, data: None
        self.error: Exception | None = None
        monkeypatch.setattr(fieldtest.context, "devices", lambda: [self])
        monkeypatch.setattr(fieldtest.driver, "get", lambda: self)
        monkeypatch.setattr(fieldtest, "_upload", self.upload)
        monkeypatch.setattr(type(self), "version", (13, 0), raising=False)
        for name in bundle.kernels:
            monkeypatch.setattr(bundle[name], "launch", self.launcher(name))

    def __str__(self) -> str:
        return "cuda:0"

    def upload(self, sample: selftest.Sample, device: Any) -> Any:
        data = bytearray(fieldtest._wanted(sample, None))
        self.arrays[id(sample)] = data
        self.last = sample
        return type("Held", (), {"tobytes": lambda held: data})()

    def launcher(self, name: str) -> Any:
        def launch(dim: Any, args: Any, *, device: Any, block_dim: Any) -> None:
            self.launches[name] = dim, block_dim
            self.launch(name)

        return launch

    def launch(self, name: str) -> None:
        if self.error is not None:
            raise self.error
        (changes,) = self.expected[name]["changes"].values()
        self.arrays[id(self.last)][:] = fieldtest._wanted(self.last, changes)
        self.spoil(name, self.arrays[id(self.last)])


def verdicts(answer: dict[str, Any]) -> dict[str, str]:
    return {row["kernel"]: row["verdict"] for row in answer["devices"][0]["kernels"]}


def test_the_build_computes_what_kernels_do(bundle: Bundle) -> None:
    found = fieldtest.expectations(bundle)
    assert list(found["tested.kernels:move"]["changes"]) == ["state.position"]
    assert found["tested.kernels:move"]["approximate"] is False
    assert found["tested.kernels:wave"]["approximate"] is True
    reason = found["tested.kernels:shift"]["skipped"]
    assert reason.startswith("with generated inputs: threads 0 and 1 on one element: read and write")
    turned = found["tested.kernels:turn"]
    assert (turned["dim"], turned["block_dim"], turned["approximate"]) == ([128], 64, False)
    before = selftest.generate(bundle["tested.kernels:turn"].parameters, turned["trial"])["data"].data
    after = [before[64 * (i // 64) + 63 - i % 64] + i // 64 + 64 for i in range(128)]
    changes = turned["changes"]["data"]
    assert changes["indices"] == list(range(128))
    assert changes["data"] == b"".join(value.to_bytes(4, "little") for value in after).hex()
    assert found["tested.kernels:odd"] == {"skipped": "256 threads are launched, and they make no whole blocks of 96"}


def test_kernels_in_whole_blocks_are_marked(bundle_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = format.parse(bundle_path.read_bytes()).manifest["kernels"]
    marked = [row["name"] for row in rows if row.get("whole_blocks")]
    assert marked == ["tested.kernels:odd", "tested.kernels:turn"]
    assert command(["inspect", str(bundle_path)]) == 0
    said = capsys.readouterr().out
    assert "tested.kernels:turn: tid() of 1, 64 threads a block, whole blocks only" in said
    assert said.count("whole blocks only") == 2


def test_kernels_are_launched_as_the_build_ran_them(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = StandIn(monkeypatch, bundle)
    fieldtest.report(bundle)
    assert gpu.launches["tested.kernels:turn"] == ((128,), 64)
    assert gpu.launches["tested.kernels:wave"] == ((64,), 256)


def test_a_right_gpu(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    StandIn(monkeypatch, bundle)
    answer = fieldtest.report(bundle)
    assert verdicts(answer) == {
        "tested.kernels:move": "ok",
        "tested.kernels:odd": "skipped",
        "tested.kernels:shift": "skipped",
        "tested.kernels:turn": "ok",
        "tested.kernels:wave": "ok",
    }
    assert fieldtest.is_right(answer)
    assert any(line.startswith("  ok       tested.kernels:move (sm_90)") for line in fieldtest.lines(answer))


def test_a_gpu_that_is_one_bit_off(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = StandIn(monkeypatch, bundle)

    def flip(name: str, data: bytearray) -> None:
        data[0] ^= 1

    gpu.spoil = flip
    answer = fieldtest.report(bundle)
    # One unit in the last place: too much where every operation is exact, nothing for a sine.
    assert verdicts(answer)["tested.kernels:move"] == "differs"
    assert verdicts(answer)["tested.kernels:wave"] == "ok"
    assert not fieldtest.is_right(answer)
    assert "1 of 512 elements differ" in "\n".join(fieldtest.lines(answer))


def test_what_must_not_change_is_compared_too(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = StandIn(monkeypatch, bundle)

    def beyond(name: str, data: bytearray) -> None:
        data[-1] ^= 0x40

    gpu.spoil = beyond
    assert verdicts(fieldtest.report(bundle))["tested.kernels:wave"] == "differs"


def test_a_launch_that_fails(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = StandIn(monkeypatch, bundle)
    gpu.error = LaunchError("no code for this GPU")
    answer = fieldtest.report(bundle)
    assert verdicts(answer)["tested.kernels:move"] == "failed"
    assert "no code for this GPU" in "\n".join(fieldtest.lines(answer))


def test_a_lost_context_ends_the_test(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = StandIn(monkeypatch, bundle)
    gpu.error = kb.DriverError("cuLaunchKernel failed", "cuLaunchKernel", 700, "CUDA_ERROR_ILLEGAL_ADDRESS")
    rows = fieldtest.report(bundle)["devices"][0]["kernels"]
    assert [row["verdict"] for row in rows] == ["failed"] * 5
    assert "not run" in rows[1]["reason"]


def test_the_program_writes_a_report(bundle_path: Path, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    StandIn(monkeypatch, bundle)
    monkeypatch.setattr("kbuild.loader.__main__.from_bytes", lambda data, label: bundle)
    report = bundle_path.with_suffix(".json")
    assert main(["selftest", str(bundle_path), "--report", str(report)]) == 0
    written = json.loads(report.read_text())
    assert written["digest"] == bundle.digest
    assert written["devices"][0]["arch"] == "sm_90"


def test_a_bundle_without_results(bundle: Bundle) -> None:
    manifest = {**bundle.manifest, "selftest": None}
    count = len(manifest.pop("blobs")) - 1
    blobs = [bundle.parsed.blob(i) for i in range(count)]
    bare = Bundle(format.parse(format.dump(manifest, blobs)), "bare.kbundle")
    with pytest.raises(BundleError, match=r"holds no self-test\n  help: set `selftest = true` in \[tool.kbuild\]"):
        fieldtest.expectations(bare)


STATING = """
@kb.kernel(launch_dim=("n", 2))
def k(a: kb.array(dtype=float, shape=("n", 2)), b: kb.array(dtype=float, shape=("m", "n")), m: int, n: int):
    i, j = kb.tid()
    kb.assume(n % 4 == 0 and m > 0)
    a[i, j] = b[0, i]

@kb.kernel(launch_dim="n", block_dim=64)
def whole(a: kb.array(dtype=float, shape=("n",)), b: kb.array(dtype=int)):
    tile = kb.shared_array(64, float)
    tile[kb.thread_idx()] = a[kb.tid()]
    kb.syncthreads()
    a[kb.tid()] = tile[63 - kb.thread_idx()]

@kb.kernel(launch_dim=100000)
def wide(a: kb.array(dtype=float)):
    a[kb.tid() % 512] = 1.0

@kb.kernel(launch_dim=96, block_dim=64)
def ragged(a: kb.array(dtype=float)):
    kb.syncthreads()
    a[kb.tid()] = 1.0

@kb.kernel
def large(a: kb.array(dtype=float, shape=("n", 9999))):
    a[0, 0] = 1.0

@kb.kernel
def never(a: kb.array(dtype=float), n: int):
    kb.assume(n > 9000)
    a[0] = 1.0
"""


def test_inputs_are_such_as_a_kernel_states(tmp_path: Path) -> None:
    found = {one.name.partition(":")[2]: expectations(one, 64) for one in kernels.lower_text(tmp_path, STATING)}
    assert (found["k"]["dim"], found["k"]["given"]) == ((8, 2), {"a": [8, 2], "b": [16, 8], "m": 16, "n": 8})
    assert (found["whole"]["dim"], found["whole"]["given"]) == ((128,), {"a": [128]})
    assert [found[name]["skipped"] for name in ("wide", "ragged", "large", "never")] == [
        "a launch of 100000 threads is stated, more than the self-test makes",
        "it runs in whole blocks, and states a launch of 96 threads",
        "an array of 159984 elements is stated, more than the self-test makes",
        "with generated inputs: the assumption `n > 9000` does not hold",
    ]
    made = selftest.generate([("a", Array(FLOAT32, 2)), ("n", INT32), ("x", INT32)], 1, found["k"]["given"])
    assert (made["a"].shape, made["n"], made["x"]) == ((8, 2), 8, 1)


def test_inputs_are_the_same_everywhere() -> None:
    parameters = [(name, type) for name, type in SCALARS.items()]
    first = selftest.generate(parameters, 0)
    assert first == selftest.generate(parameters, 0)
    assert first != selftest.generate(parameters, 1)
    state = Struct("m:S", [("p", Array(VEC3, 2)), ("n", INT32)])
    made = selftest.generate([("s", state), ("a", Array(FLOAT32, 1))], 0)
    assert list(selftest.samples([("s", state), ("a", Array(FLOAT32, 1))], made)) == ["a", "s.p"]
    sample = made["s"]["p"]
    assert (sample.shape, len(sample.data), len(selftest.packed(VEC3, sample.data[0]))) == ((16, 16), 256, 12)


@kb.kernel
def through_indices(a: kb.indexedarray2d(dtype=int), b: kb.indexedarray(dtype=float), c: kb.array(dtype=int)):
    i, j = kb.tid()
    if i == 0:
        b[j] = 7.0
    if j == 1:
        a[i, j] = i - 100
    kb.atomic_add(c, 0, 1)


def test_index_arrays_go_backwards_on_every_second_axis() -> None:
    lowered = lower_kernel(through_indices, True, Report())
    assert lowered is not None
    parameters = [(p.name, p.type) for p in lowered.function.parameters]
    made = selftest.generate(parameters, 0)
    assert made["a"].indices == (list(range(15, -1, -1)), None)
    assert made["b"].indices == (list(range(511, -1, -1)),)
    assert made["c"].indices is None
    found = expectations(contract(lowered), 256)
    # The array behind is what is compared: eight rows from the last one on, eight elements from the end.
    assert found["changes"]["a"]["indices"] == [16 * row + 1 for row in range(8, 16)]
    assert (
        found["changes"]["a"]["data"]
        == b"".join((i - 100).to_bytes(4, "little", signed=True) for i in range(7, -1, -1)).hex()
    )
    assert found["changes"]["b"]["indices"] == list(range(504, 512))
    assert found["changes"]["c"]["indices"] == [0]


@kb.struct
class Holder:
    inner: kb.array(dtype=int)


@kb.kernel
def nested(holders: kb.array(dtype=Holder)):
    holders[0].inner[0] = 1


def test_arrays_in_arrays_are_not_generated() -> None:
    lowered = lower_kernel(nested, True, Report())
    assert lowered is not None
    assert expectations(contract(lowered), 256) == {
        "skipped": "arrays inside the elements of an array are not generated"
    }


DIGEST_OF_INPUTS = """
import hashlib
from kbuild.loader import abi, selftest
vector, half = abi.Vector(3, abi.FLOAT32), abi.FLOAT16
parameters = [("a", abi.Array(vector, 2)), ("s", abi.Struct("m:S", [("n", abi.INT32), ("h", half)])), ("b", abi.BOOL)]
made = [selftest.generate(parameters, trial) for trial in range(selftest.TRIALS)]
print(hashlib.sha256(repr([(m["a"].data, m["s"], m["b"]) for m in made]).encode()).hexdigest())
"""


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13"])
def test_every_python_makes_the_same_inputs(version: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [str(need_python(version)), "-c", DIGEST_OF_INPUTS]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    # Bundles hold results for these very inputs: another digest needs another selftest.FORMAT.
    assert found.stdout.strip() == "76a8519ac02fee5858d8eff5c9f538f8988986c82bf2e4a93d817c10054dbec2"
