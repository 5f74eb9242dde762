"""Adjoints of a bundle's kernels: what a tape is told, and what a program without gradients never does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import kbuild as kb
from kbuild.loader import backward, format, providers, readiness, resolve
from kbuild.loader.bundle import Bundle, from_bytes
from kbuild.loader.errors import BundleError, LaunchError
from tests.helpers.fake_cuda import FakeCuda, code, cubin_row, kernel_rows, make_manifest

PARAMETERS = [("x", "array1[float32]"), ("n", "int32")]
SAVED = [("saved_float32", "array2[float32]"), ("saved_int32", "array2[int32]")]
ADJOINT = [*PARAMETERS, ("adj_x", "array1[float32]"), *SAVED, ("saved_words", "array1[int32]"), ("counting", "bool")]
ROW = {
    "kernel": 2,
    "read": ["x"],
    "written": ["x"],
    "accumulated": [],
    "before": ["x"],
    "after": [],
    "scratch": ["x"],
    "owned": [],
    "saved": {"float32": None, "int32": 12},
}


def made(**changes: Any) -> Bundle:
    """Kernels `k`, which has an adjoint, `crooked`, which cannot have one, and `plain`, built without."""
    names = ("k", "crooked", "k:adjoint", "plain")
    kernels = [kernel_rows("p.kernels:" + n, ADJOINT if ":" in n else PARAMETERS, 1, {}, 256) for n in names]
    kernels[0]["backward"] = dict(ROW, **changes)
    kernels[1]["backward"] = {"refused": "a reason", "line": 7}
    kernels[2].update(entry="k_a", optional=["adj_x", "saved_float32", "saved_int32"])
    rows = [cubin_row("sm_90", [0, 1, 3], 0), cubin_row("sm_90", [2], 1, unit="p.kernels#adjoint")]
    manifest = make_manifest(kernels, rows)
    del manifest["definitions"]["p.kernels:k:adjoint"]
    blobs = [code([kernels[0], kernels[1], kernels[3]]), code(kernels[2:3])]
    return from_bytes(format.dump(manifest, blobs), "memory")


def loads(cuda: FakeCuda) -> int:
    return cuda.calls.count("cuModuleLoadData")


def test_what_a_tape_is_told() -> None:
    bundle = made()
    found = bundle["p.kernels:k"].backward
    assert isinstance(found, backward.Backward)
    assert found is bundle["p.kernels:k"].backward
    assert repr(found) == "<adjoint of p.kernels:k>"
    assert found.name == "p.kernels:k"
    assert [(name, str(type)) for name, type in found.parameters] == PARAMETERS
    assert (found.read, found.written, found.before, found.scratch) == ({"x"}, {"x"}, {"x"}, {"x"})
    assert (found.accumulated, found.after) == (frozenset(), frozenset())
    assert list(found.saved.items()) == [("float32", None), ("int32", 12)]
    assert found.kernel is bundle["p.kernels:k:adjoint"]
    assert [name for name, _ in found.kernel.parameters] == [name for name, _ in ADJOINT]


def test_a_kernel_that_cannot_be_differentiated() -> None:
    found = made()["p.kernels:crooked"].backward
    assert repr(found) == "<no adjoint of p.kernels:crooked: a reason>"
    assert (found.reason, found.line) == ("a reason", 7)
    with pytest.raises(LaunchError, match=r"p\.kernels:crooked has no gradient: line 7: a reason\n  help: change that"):
        found.launch(1, [])
    with pytest.raises(LaunchError, match="line 7: a reason"):
        providers.backward_of("cuda", made()["p.kernels:crooked"], ())


def test_a_kernel_that_was_built_without_its_gradient() -> None:
    kernel = made()["p.kernels:plain"]
    assert kernel.backward is None
    with pytest.raises(LaunchError, match=r"p\.kernels:plain was built without its gradient\n  help: leave out"):
        providers.backward_of("cuda", kernel, ())
    assert made()["p.kernels:k:adjoint"].backward is None


def test_the_adjoint_is_launched_like_any_kernel(cuda: FakeCuda) -> None:
    found = providers.backward_of("cuda", made()["p.kernels:k"], ())
    x, words = kb.zeros(4, dtype=float), kb.zeros(2, dtype=int)
    found.launch(4, [x, 4, None, None, None, words, True])
    assert cuda.records[-1].size == found.kernel.size
    assert loads(cuda) == 1


def test_a_live_kernel(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = made()

    @kb.kernel
    def k(x: kb.array(dtype=float), n: int):  # type: ignore[no-untyped-def, valid-type]
        """Its code is in the bundle."""

    monkeypatch.setattr(resolve, "find", lambda kernel: bundle["p.kernels:k"])
    assert providers.backward_of("cuda", k, [None, 1]) is bundle["p.kernels:k"].backward


def test_other_devices_have_no_gradients() -> None:
    with pytest.raises(LaunchError, match=r"p\.kernels:k: there are no gradients on device 'tpu'"):
        providers.backward_of("tpu", made()["p.kernels:k"], ())


def test_what_is_wrong_is_told_when_the_first_adjoint_is_used() -> None:
    kernel = made(read=["nothing"])["p.kernels:k"]
    with pytest.raises(BundleError, match="read names 'nothing', which is no array"):
        kernel.backward  # noqa: B018
    with pytest.raises(BundleError, match="read names 'nothing'"):
        made(read=["nothing"]).verify()


def test_a_bundle_lists_what_programs_launch() -> None:
    bundle = made()
    kernels = ["p.kernels:k", "p.kernels:crooked", "p.kernels:plain"]
    assert list(bundle) == list(bundle.kernels) == kernels
    assert len(bundle) == 3
    assert "p.kernels:k:adjoint" in bundle
    assert bundle["p.kernels:k:adjoint"].name == "p.kernels:k:adjoint"
    with pytest.raises(LaunchError, match=r"it holds p\.kernels:k, p\.kernels:crooked, p\.kernels:plain$"):
        bundle["p.kernels:x:adjoint"]


def test_coverage_and_require(cuda: FakeCuda) -> None:
    bundle = made()
    assert [row["kernel"] for row in bundle.coverage()] == list(bundle.kernels)
    assert {row["target"] for row in bundle.coverage()} == {"sm_90"}
    bundle.require(["p.kernels:k:adjoint", "p.kernels:plain"])
    with pytest.raises(BundleError, match=r"no such kernel; did you mean 'p\.kernels:k:adjoint'"):
        bundle.require(["p.kernels:j:adjoint"])


def test_a_program_without_gradients_loads_no_adjoints(cuda: FakeCuda) -> None:
    bundle = made()
    bundle["p.kernels:k"].launch(1, [kb.zeros(1, dtype=float), 1])
    assert loads(cuda) == 1
    assert bundle.preload() == 3
    assert loads(cuda) == 1
    assert bundle.preload(kernels="p.kernels:k", adjoints=True) == 2
    assert loads(cuda) == 2
    assert readiness.preload(bundle, adjoints=True) == 4
    assert bundle.preload(kernels=["p.kernels:k:adjoint"]) == 1


def test_a_program_without_gradients_does_not_import_them(tmp_path: Path) -> None:
    path = tmp_path / "some.kbundle"
    path.write_bytes(format.dump(*_parts(made())))
    program = (
        "import sys; from kbuild import loader; bundle = loader.open(sys.argv[1]); list(bundle);"
        "bundle['p.kernels:k']; print([n for n in sys.modules if 'backward' in n])"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], cwd=root, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def _parts(bundle: Bundle) -> tuple[dict[str, Any], list[bytes]]:
    return bundle.manifest, [bundle.parsed.blob(index) for index in range(len(bundle.manifest["blobs"]))]
