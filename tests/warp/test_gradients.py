"""Which kernels of Warp's dialect get adjoints: `enable_backward` of a kernel, a module, or of everything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import kbuild.warp as wp
from kbuild.scan.adjoints import says
from kbuild.warp import config, modules


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    yield
    modules._options.pop(__name__, None)


def test_a_kernel_a_module_and_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    @wp.kernel
    def silent() -> None:
        """Says nothing."""

    @wp.kernel(enable_backward=True)
    def asking() -> None:
        """Has the last word."""

    assert (says(silent), says(asking)) == (None, True)
    wp.set_module_options({"enable_backward": False})
    assert (says(silent), says(asking)) == (False, True)
    assert wp.get_module_options()["enable_backward"] is False
    assert wp.get_module(__name__).options["enable_backward"] is False
    wp.set_module_options({"enable_backward": True}, module=__name__)
    monkeypatch.setattr(config, "enable_backward", False)
    assert says(silent) is None
    modules._options.clear()
    assert says(silent) is False
    assert wp.get_module_options()["block_dim"] == 256
