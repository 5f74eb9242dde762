"""The toolchain of every target, over sets of installed toolchains, and the error that says what to install."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kbuild import targets
from kbuild.errors import ToolchainError
from kbuild.nvrtc.choice import EXTRAS, choose
from tests.helpers import nvrtc_cases as cases

tomllib = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")

SETS: dict[str, tuple[tuple[int, int], ...]] = {
    "kbuild": ((11, 8), (12, 9), (13, 0)),
    "build only": ((12, 9), (13, 0)),
    "old": ((11, 4), (11, 8), (12, 2), (12, 6), (12, 9), (13, 0), (13, 2), (13, 5)),
    "only 13": ((13, 5),),
    "only 12.9": ((12, 9),),
    "none": (),
}

# Target, then the version chosen from each set in the order above; None is an error.
TABLE = [
    ("jetson-xavier-jp5", "11.8 -    11.4 -    -    -"),
    ("jetson-orin-jp5",   "11.8 -    11.4 -    -    -"),
    ("jetson-orin-jp6",   "11.8 -    12.2 -    -    -"),
    ("jetson-orin-jp7",   "13.0 13.0 13.2 -    12.9 -"),
    ("jetson-thor-jp7",   "13.0 13.0 13.0 -    -    -"),
    ("sm_72",             "11.8 -    11.4 -    -    -"),
    ("sm_87",             "11.8 -    11.4 -    -    -"),
    ("sm_87@12.6",        "11.8 -    12.6 -    -    -"),
    ("sm_87@12.9",        "12.9 12.9 12.9 -    12.9 -"),
    ("sm_110",            "13.0 13.0 13.0 -    -    -"),
    ("sm_101",            "12.9 12.9 12.9 -    12.9 -"),
    ("sm_53@11.8",        "11.8 -    11.8 -    -    -"),
    ("sm_75",             "12.9 12.9 12.9 -    12.9 -"),
    ("sm_90",             "12.9 12.9 12.9 -    12.9 -"),
    ("sm_90a",            "12.9 12.9 12.9 -    12.9 -"),
    ("sm_90a@12.4",       "12.9 12.9 12.2 -    12.9 -"),
    ("sm_90@12.0",        "12.9 12.9 12.2 -    12.9 -"),
    ("sm_90@12.6",        "12.9 12.9 12.6 -    12.9 -"),
    ("sm_90@11.8",        "11.8 -    11.8 -    -    -"),
    ("sm_90@13.0",        "13.0 13.0 13.0 13.5 -    -"),
    ("sm_120f@13.0",      "13.0 13.0 13.0 13.5 -    -"),
    ("sm_100",            "12.9 12.9 12.9 -    12.9 -"),
    ("sm_120f",           "12.9 12.9 12.9 -    12.9 -"),
    ("sm_121",            "12.9 12.9 12.9 -    12.9 -"),
    ("compute_90",        "12.9 12.9 12.9 -    12.9 -"),
    ("compute_90@12.4",   "11.8 -    12.2 -    -    -"),
    ("compute_90@12.9",   "12.9 12.9 12.9 -    12.9 -"),
    ("compute_120",       "12.9 12.9 12.9 -    12.9 -"),
    ("compute_87@11.4",   "-    -    11.4 -    -    -"),
]  # fmt: skip

CASES = [
    (name, label, None if version == "-" else version)
    for name, row in TABLE
    for label, version in zip(SETS, row.split(), strict=True)
]


def _installed(label: str) -> list[cases.Toolchain]:
    return [cases.toolchain(version) for version in SETS[label]]


@pytest.mark.parametrize(("name", "label", "wanted"), CASES)
def test_choice(name: str, label: str, wanted: str | None) -> None:
    target, toolchains = targets.parse(name), _installed(label)
    if wanted is None:
        with pytest.raises(ToolchainError, match=re.escape(repr(name))) as caught:
            choose(target, toolchains)
        assert all(str(t) in str(caught.value) for t in toolchains)
        assert caught.value.help
    else:
        assert _chosen(target, toolchains) == wanted
        assert _chosen(target, toolchains[::-1]) == wanted


def _chosen(target: targets.Target, toolchains: Sequence[cases.Toolchain]) -> str:
    return "{}.{}".format(*choose(target, toolchains).version)


def test_every_platform_is_in_the_table() -> None:
    assert set(targets.PLATFORMS) <= {name for name, _ in TABLE}


def test_plus_ptx_of_a_jetson_takes_ptx_that_its_driver_reads() -> None:
    cubin, ptx = targets.parse("jetson-orin-jp6+ptx").parts()
    toolchains = _installed("kbuild")
    assert (_chosen(cubin, toolchains), _chosen(ptx, toolchains)) == ("11.8", "11.8")


def test_of_two_with_one_version_the_first_is_taken() -> None:
    first, second = cases.toolchain((12, 9), source="first"), cases.toolchain((12, 9), source="second")
    assert choose(targets.parse("sm_90"), [first, second]) is first


@pytest.mark.parametrize(
    ("name", "label", "message", "cure"),
    [
        ("jetson-orin-jp6", "build only", "takes NVRTC 12.2 or older; found: NVRTC 12.9.1 (test), NVRTC 13.0.1 (test)",
         "pip install 'kbuild[cuda11]'"),
        ("jetson-xavier-jp5", "none", "takes NVRTC 11.x; found: none", "pip install 'kbuild[cuda11]'"),
        ("sm_90", "none", "takes NVRTC 12.x, from 12.0 on; found: none", "pip install 'kbuild[build]'"),
        ("sm_100", "only 13", "takes NVRTC 12.x, from 12.8 on", "pip install 'kbuild[build]'"),
        ("jetson-thor-jp7", "only 12.9", "takes NVRTC 13.0 or older", "pip install 'kbuild[build]'"),
        ("compute_90@12.4", "build only", "takes NVRTC 12.4 or older", "pip install 'kbuild[cuda11]'"),
        ("compute_87@11.4", "kbuild", "takes NVRTC 11.4 or older", "install CUDA 11.4 or older and name its folder"),
        ("compute_120@12.8", "kbuild", "takes NVRTC 12.8 or older", "install CUDA 12.8 or older and name its folder"),
    ],
)  # fmt: skip
def test_the_error_names_the_cure(name: str, label: str, message: str, cure: str) -> None:
    with pytest.raises(ToolchainError) as caught:
        choose(targets.parse(name), _installed(label))
    assert message in str(caught.value)
    assert cure in (caught.value.help or "")
    assert caught.value.code == "KB502"


def test_the_extras_are_those_of_pyproject() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {
        (extra, (int(match[1]), int(match[2])))
        for extra, requirements in project["project"]["optional-dependencies"].items()
        for requirement in requirements
        if (match := re.match(r"nvidia-cuda-nvrtc[-cu\d]*==(\d+)\.(\d+)", requirement))
    }
    assert pinned == set(EXTRAS)
