"""What a program is told when the driver says that an assert has failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbuild.loader import __main__ as field
from kbuild.loader import asserts, context
from kbuild.loader.errors import DriverError
from tests.helpers.fake_cuda import FakeCuda, bundle_bytes, make_bundle
from tests.helpers.situations import happens

ROW = {"function": "p.kernels:inner.check", "number": 2, "line": 40, "text": "assert x > 0.0, 'neg'", "kernels": [0]}
OTHERS = [dict(ROW, number=number, line=number * 10) for number in range(3, 15)]


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    known = dict(asserts._bundles)
    asserts._bundles.clear()
    yield
    asserts._bundles.clear()
    asserts._bundles.update(known)


def said(cuda: FakeCuda) -> str:
    cuda.fail("cuCtxSynchronize", 710)
    with pytest.raises(DriverError) as caught:
        context.synchronize()
    assert caught.value.code == 710
    return str(caught.value)


@happens(
    "On the GPU",
    "an assert in a kernel fails",
    "The driver prints the function, the assert's number there and its condition to stderr; the next call that waits "
    "raises `DriverError` (710), which lists the asserts of the opened bundles with their lines.",
)
def test_the_asserts_of_opened_bundles(cuda: FakeCuda) -> None:
    make_bundle([("x", "float32")])
    make_bundle([("x", "float32")], asserts=[ROW])
    text = said(cuda)
    assert (
        "  help: an assert in a kernel failed: the driver has printed which on stderr; the process must restart;"
        in text
    )
    assert "    p.kernels:inner.check:2  line 40 of p.kernels: assert x > 0.0, 'neg'\n        in p.kernels:k\n" in text
    assert text.endswith("  help: `python -m kbuild.loader asserts memory` lists them")


def test_many_asserts_are_cut_short(cuda: FakeCuda) -> None:
    make_bundle([("x", "float32")], asserts=OTHERS)
    text = said(cuda)
    assert "inner.check:10  line 100 " in text
    assert "inner.check:11" not in text
    assert "… and 4 more" in text


def test_asserts_of_nobody_we_know(cuda: FakeCuda) -> None:
    """Another library's kernel may have failed."""
    make_bundle([("x", "float32")])
    assert said(cuda).endswith("the driver has printed which on stderr; the process must restart")


def test_a_launch_says_so_too(cuda: FakeCuda) -> None:
    kernel = make_bundle([("x", "float32")], asserts=[ROW])["p.kernels:k"]
    for failures in (1, 2):  # the thorough launch, then the quick one, which asks the thorough one
        cuda.fail("cuLaunchKernelEx", 710, times=failures)
        with pytest.raises(DriverError, match=r"(?s)p\.kernels:k on cuda:0.*inner\.check:2  line 40"):
            kernel.launch(1, (1.0,))
        for _ in range(3):
            kernel.launch(1, (1.0,))


def test_other_failures_say_nothing_of_asserts(cuda: FakeCuda) -> None:
    make_bundle([("x", "float32")], asserts=[ROW])
    cuda.fail("cuCtxSynchronize", 719)
    with pytest.raises(DriverError) as caught:
        context.synchronize()
    assert "assert" not in str(caught.value)


def test_the_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.kbundle"
    path.write_bytes(bundle_bytes([("x", "float32")], asserts=[ROW]))
    assert field.main(["asserts", str(path)]) == 0
    assert capsys.readouterr().out == (
        "p.kernels:inner.check:2  line 40 of p.kernels: assert x > 0.0, 'neg'\n    in p.kernels:k\n"
    )
    assert field.main(["asserts", "--json", str(path)]) == 0
    assert '"kernels": [\n        "p.kernels:k"\n      ]' in capsys.readouterr().out
    path.write_bytes(bundle_bytes([("x", "float32")]))
    assert field.main(["asserts", str(path)]) == 0
    assert "no asserts; build with `asserts = true`" in capsys.readouterr().out
