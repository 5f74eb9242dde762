"""What is told of loading: to callbacks, to `logging`, and to nobody who does not listen."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbuild.loader import bundle as bundles
from kbuild.loader import events, format
from kbuild.loader.errors import BundleError
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, code, cubin_row, kernel_rows, make_manifest
from tests.helpers.situations import happens

PARAMETERS = [("x", "float32")]


@pytest.fixture
def told() -> Iterator[list[dict[str, Any]]]:
    heard: list[dict[str, Any]] = []
    stop = events.on_event(heard.append)
    yield heard
    stop()
    stop()  # a second time does nothing


def several(*statuses: int) -> bundles.Bundle:
    """A bundle of one kernel with code for sm_90 of CUDA 12.9, 12.8 … that loads with these statuses, and for sm_87."""
    kernel = kernel_rows("p.kernels:k", PARAMETERS, 1, {}, 256)
    rows = [
        cubin_row("sm_90@12.%d" % (9 - i), [0], i, arch="sm_90", cuda=[12, 9 - i], toolchain="12.%d.0" % (9 - i))
        for i in range(len(statuses))
    ]
    rows.append(cubin_row("sm_87", [0], len(statuses)))
    blobs = [code([kernel], status) for status in (*statuses, 0)]
    for i, blob in enumerate(blobs):
        blobs[i] = blob + b"#" * i  # no two alike
    return bundles.from_bytes(format.dump(make_manifest([kernel], rows), blobs), "memory")


def test_what_is_told(cuda: FakeCuda, told: list[dict[str, Any]]) -> None:
    bundle = several(209, 0)
    assert told == [{"event": "opened", "bundle": "memory", "digest": bundle.digest, "kernels": 1}]
    bundle["p.kernels:k"].launch(1, [1.0])
    of_all = {"bundle": "memory", "unit": "p.kernels", "kind": "cubin", "device": "cuda:0"}
    for row in told[1:]:
        assert of_all.items() <= row.items()
    skipped, sent_back, loaded = told[1:]
    assert (skipped["event"], skipped["target"], skipped["by"]) == ("refused", "sm_87", "kbuild")
    assert skipped["reason"] == "sm_87 is Tegra code; only that Jetson runs it"
    assert (sent_back["event"], sent_back["target"], sent_back["by"]) == ("refused", "sm_90@12.9", "driver")
    assert sent_back["reason"] == "CUDA_ERROR_NO_BINARY_FOR_GPU"
    assert (loaded["event"], loaded["target"], loaded["toolchain"]) == ("loaded", "sm_90@12.8", "12.8.0")
    assert loaded["bytes"] == len(bundle.parsed.blob(1))
    assert 0 < loaded["seconds"] < 60
    for _ in range(5):
        bundle["p.kernels:k"].launch(1, [1.0])
    assert len(told) == 4, "a launch tells something"


def test_code_that_nothing_can_load(cuda: FakeCuda, told: list[dict[str, Any]]) -> None:
    with pytest.raises(BundleError):
        several(209)["p.kernels:k"].launch(1, [1.0])
    assert [(row["event"], row.get("by")) for row in told] == [
        ("opened", None),
        ("refused", "kbuild"),
        ("refused", "driver"),
    ]


@happens(
    "A launch",
    "a callback of `kb.on_event` raises",
    "It is printed on stderr with the event; the launch goes on.",
)
def test_a_callback_that_fails(
    cuda: FakeCuda, told: list[dict[str, Any]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(event: Any) -> None:
        event.clear()
        raise RuntimeError("no metrics today")

    events._callbacks.insert(0, fail)
    try:
        bundle = several(0)
        assert "kbuild: a listener failed, in the event 'opened': RuntimeError('no metrics" in capsys.readouterr().err
        monkeypatch.setattr(sys, "stderr", None)
        bundle["p.kernels:k"].launch(1, [1.0])
    finally:
        events._callbacks.remove(fail)
    assert len(cuda.records) == 1
    assert [row["event"] for row in told] == ["opened", "refused", "loaded"]


def test_the_logger(cuda: FakeCuda, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "kbuild"):
        bundle = several(209, 0)
        bundle["p.kernels:k"].launch(1, [1.0])
    assert [(record.name, record.levelname) for record in caplog.records] == [
        ("kbuild", "INFO"),
        ("kbuild", "WARNING"),
        ("kbuild", "INFO"),
    ]
    opened, refused, loaded = (record.getMessage() for record in caplog.records)
    assert opened == "opened memory: 1 kernels, " + bundle.digest
    assert refused == "refused p.kernels for sm_90@12.9 (12.9.0) on cuda:0: CUDA_ERROR_NO_BINARY_FOR_GPU"
    assert loaded.startswith("loaded p.kernels for sm_90@12.8 (12.8.0) on cuda:0: ")
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "kbuild"):
        several(0)["p.kernels:k"].launch(1, [1.0])
    assert "refused p.kernels for sm_87 (12.9.86) on cuda:0: sm_87 is Tegra code" in caplog.text


def test_every_text_fits_its_event() -> None:
    """The table of the docstring, the texts, and what is told: the same events."""
    assert events.__doc__ is not None
    for event, text in events._TEXTS.items():
        assert "| `%s` |" % event in events.__doc__
        keys = {part.partition(")")[0] for part in text.split("%(")[1:]}
        (row,) = [line for line in events.__doc__.split("\n") if line.startswith("| `%s` |" % event)]
        assert all("`%s`" % key in row for key in keys)
        page = (Path(__file__).parents[2] / "docs" / "launching.md").read_text(encoding="utf-8")
        assert row.rstrip("| ") in page


def test_who_has_no_logging_pays_nothing(tmp_path: Path, fake_library: Path) -> None:
    """Neither `logging` nor the module of events is imported for a launch."""
    (tmp_path / "p.kbundle").write_bytes(bundle_bytes(PARAMETERS))
    program = (
        "import sys\nfrom kbuild import loader\n"
        "loader.open(%r)['p.kernels:k'].launch(1, [1.0])\n"
        "print([name for name in ('logging', 'kbuild.loader.events') if name in sys.modules])"
    ) % str(tmp_path / "p.kbundle")
    environment = {"LD_LIBRARY_PATH": str(fake_library.parent), "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-S", "-c", program], env=environment, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_callback_is_a_function() -> None:
    with pytest.raises(TypeError, match="on_event wants a function of an event, not 'loaded'"):
        events.on_event("loaded")  # type: ignore[arg-type]
