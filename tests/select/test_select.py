"""Which cubin a GPU gets: devices × bundles as a table, and what must hold for any of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild import targets
from kbuild.loader import refusals, select
from kbuild.loader.select import FAMILIES, TEGRA, Device


def row(spelling: str) -> dict[str, Any]:
    """`sm_90/12.9` or `compute_90/12.9` as a row of the manifest."""
    arch, _, version = spelling.partition("/")
    major, minor = map(int, version.split("."))
    kind = "ptx" if arch.startswith("compute") else "cubin"
    driver = targets.oldest_driver(arch, kind, (major, minor))
    return {"target": arch, "arch": arch, "kind": kind, "cuda": [major, minor], "driver": list(driver)}


def device(name: str, driver: str) -> Device:
    cc = dict(targets.GPUS)[name]
    major, minor = map(int, driver.split("."))
    return Device(name, *cc, (major, minor))


def order(gpu: Device, spellings: str, *, allow_ptx: bool = False) -> list[str]:
    rows = spellings.split()
    return [rows[index] for index in select.order(gpu, [row(r) for r in rows], allow_ptx)]


# The bundle of the sample project, and one with everything.
SAMPLE = (
    "sm_72/11.8 sm_87/11.8 sm_87/13.0 sm_110/13.0 sm_75/12.9 sm_80/12.9 sm_86/12.9 sm_89/12.9 sm_90/12.9 "
    "sm_100/12.9 sm_120/12.9"
)


@pytest.mark.parametrize(
    ("name", "driver", "best"),
    [
        ("Jetson AGX Xavier", "11.4", "sm_72/11.8"),
        ("Jetson AGX Orin", "11.4", "sm_87/11.8"),
        ("Jetson AGX Orin", "12.2", "sm_87/11.8"),
        ("Jetson AGX Orin", "12.6", "sm_87/11.8"),
        ("Jetson AGX Orin", "13.2", "sm_87/13.0"),
        ("Jetson AGX Thor", "13.0", "sm_110/13.0"),
        ("RTX 2080 Ti", "12.2", "sm_75/12.9"),
        ("A100", "12.2", "sm_80/12.9"),
        ("RTX 3090", "12.2", "sm_86/12.9"),
        ("RTX 4090", "12.2", "sm_89/12.9"),
        ("H100", "12.2", "sm_90/12.9"),
        ("H200", "13.0", "sm_90/12.9"),
        ("B200", "12.8", "sm_100/12.9"),
        ("B300", "12.9", "sm_100/12.9"),
        ("RTX 5090", "12.8", "sm_120/12.9"),
        ("DGX Spark", "13.0", "sm_120/12.9"),
        ("Tesla V100", "12.2", None),
        ("GTX 1080 Ti", "12.2", None),
        ("Jetson Nano", "10.2", None),
        ("Jetson TX2", "10.2", None),
        ("RTX 4090", "11.8", None),
        ("H100", "11.8", None),
    ],
)
def test_what_the_sample_gives_each_gpu(name: str, driver: str, best: str | None) -> None:
    found = order(device(name, driver), SAMPLE)
    assert (found[0] if found else None) == best


@pytest.mark.parametrize(
    ("name", "driver", "bundle", "wanted"),
    [
        # its own `a`, its family's `f`, then its major version with the highest minor
        ("DGX Spark", "13.0", "sm_120/12.9 sm_121/12.9 sm_120f/12.9 sm_121a/12.9 sm_121f/12.9 sm_120a/12.9",
         "sm_121a/12.9 sm_121f/12.9 sm_120f/12.9 sm_121/12.9 sm_120/12.9"),
        ("RTX 5090", "13.0", "sm_120/12.9 sm_121/12.9 sm_120f/12.9 sm_120a/12.9 sm_121f/12.9",
         "sm_120a/12.9 sm_120f/12.9 sm_120/12.9"),
        ("B300", "13.0", "sm_100a/12.9 sm_100/12.9 sm_100f/12.9 sm_103/12.9", "sm_100f/12.9 sm_103/12.9 sm_100/12.9"),
        ("H100", "13.0", "sm_90/12.9 sm_90a/12.9", "sm_90a/12.9 sm_90/12.9"),
        ("RTX 4090", "13.0", "sm_80/12.9 sm_86/12.9 sm_89/12.9 sm_87/11.8", "sm_89/12.9 sm_86/12.9 sm_80/12.9"),
        ("RTX 3090", "13.0", "sm_80/12.9 sm_89/12.9 sm_87/12.9", "sm_80/12.9"),
        # of equals the newest toolchain that the driver admits: desktop by major version, Tegra by version
        ("H100", "12.2", "sm_90/11.8 sm_90/12.0 sm_90/12.9 sm_90/13.0", "sm_90/12.9 sm_90/12.0 sm_90/11.8"),
        ("H100", "13.0", "sm_90/11.8 sm_90/13.5 sm_90/12.9", "sm_90/13.5 sm_90/12.9 sm_90/11.8"),
        ("Jetson AGX Orin", "12.2", "sm_87/11.8 sm_87/12.2 sm_87/12.6 sm_87/13.0", "sm_87/12.2 sm_87/11.8"),
        ("Jetson AGX Orin", "11.4", "sm_87/11.8 sm_87/12.2", "sm_87/11.8"),
        ("Jetson AGX Orin", "13.0", "sm_86/12.9 sm_80/11.8 sm_89/12.9 sm_110/13.0", ""),
        ("Jetson AGX Thor", "13.0", "sm_110/13.0 sm_110a/13.0 sm_110f/13.0 sm_101/12.9 sm_100f/13.0",
         "sm_110a/13.0 sm_110f/13.0 sm_110/13.0"),
        # a better architecture goes before a newer toolchain
        ("RTX 4090", "13.0", "sm_89/11.8 sm_86/13.0", "sm_89/11.8 sm_86/13.0"),
    ],
)  # fmt: skip
def test_order(name: str, driver: str, bundle: str, wanted: str) -> None:
    assert order(device(name, driver), bundle) == wanted.split()


@pytest.mark.parametrize(
    ("name", "driver", "bundle", "wanted"),
    [
        ("RTX 4090", "12.9", "compute_75/12.9 compute_89/12.9 compute_90/12.9", "compute_89/12.9 compute_75/12.9"),
        ("RTX 4090", "12.4", "compute_75/12.9 compute_75/12.4 compute_75/11.8", "compute_75/12.4 compute_75/11.8"),
        ("H100", "12.9", "compute_90/12.9 sm_90/11.8", "sm_90/11.8 compute_90/12.9"),
        ("H200", "12.9", "compute_90a/12.9 compute_90/12.9", "compute_90a/12.9 compute_90/12.9"),
        ("B300", "13.0", "compute_100f/12.9 compute_100a/12.9 compute_120f/12.9", "compute_100f/12.9"),
    ],
)
def test_ptx_only_when_allowed(name: str, driver: str, bundle: str, wanted: str) -> None:
    gpu = device(name, driver)
    assert order(gpu, bundle, allow_ptx=True) == wanted.split()
    assert order(gpu, bundle) == [r for r in wanted.split() if r.startswith("sm")]


@pytest.mark.parametrize(
    ("name", "driver", "spelling", "reason"),
    [
        ("RTX 4090", "13.0", "sm_87/11.8", "sm_87 is Tegra code; only that Jetson runs it"),
        ("Jetson AGX Orin", "13.0", "sm_86/12.9",
         "sm_86 is desktop code; a Tegra GPU runs only code made for exactly its architecture, sm_87"),
        ("Jetson AGX Orin", "13.0", "sm_72/11.8",
         "sm_72 is Tegra code; a Tegra GPU runs only code made for exactly its architecture, sm_87"),
        ("RTX 4090", "13.0", "sm_90/12.9", "sm_90 is of another major version than sm_89"),
        ("RTX 3090", "13.0", "sm_89/12.9", "sm_89 is newer than sm_86"),
        ("DGX Spark", "13.0", "sm_120a/12.9", "sm_120a runs on compute capability 12.0 only"),
        ("RTX 5090", "13.0", "sm_121f/12.9", "sm_121f runs on its own family only, and sm_120 is not in it"),
        ("H100", "12.8", "sm_90/13.0", "built by CUDA 13.0, and the driver speaks CUDA 12.8"),
        ("Jetson AGX Orin", "12.2", "sm_87/12.6", "built by CUDA 12.6, and the driver speaks CUDA 12.2"),
        ("Jetson Nano", "10.2", "sm_53/11.8", "built by CUDA 11.8, and the driver speaks CUDA 10.2"),
        ("B200", "12.4", "sm_100/12.9", "needs a driver for CUDA 12.8, and this one speaks CUDA 12.4"),
        ("RTX 4090", "12.4", "compute_75/12.9", "PTX of CUDA 12.9 is newer than the driver, which speaks CUDA 12.4"),
        ("RTX 4090", "13.0", "compute_90/12.9", "compute_90 is newer than sm_89"),
        ("B200", "13.0", "compute_90a/12.9", "compute_90a is for compute capability 9.0 only"),
        ("B200", "13.0", "compute_120f/12.9", "compute_120f is for its own family only, and sm_100 is not in it"),
    ],
)  # fmt: skip
def test_every_refusal_says_why(name: str, driver: str, spelling: str, reason: str) -> None:
    gpu = device(name, driver)
    assert select.order(gpu, [row(spelling)], allow_ptx=True) == []
    assert refusals.reasons(gpu, [row(spelling)], allow_ptx=True) == [(0, reason)]


def test_ptx_that_is_not_allowed_is_refused_with_a_reason() -> None:
    gpu = device("RTX 4090", "13.0")
    assert "did not allow" in refusals.reasons(gpu, [row("compute_75/12.9")])[0][1]


def test_an_integrated_gpu_is_no_tegra_for_that() -> None:
    spark, thor = device("DGX Spark", "13.0"), device("Jetson AGX Thor", "13.0")
    assert (spark.is_tegra, thor.is_tegra) == (False, True)
    assert repr(spark) == "DGX Spark (sm_121, driver for CUDA 13.0)"


# Whatever the device and the bundle

_archs = [name for name in targets.ALL if name.startswith(("sm_", "compute_"))]
_versions = [(11, 4), (11, 8), (12, 0), (12, 2), (12, 6), (12, 9), (13, 0), (13, 5)]


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    pairs = draw(st.lists(st.tuples(st.sampled_from(_archs), st.sampled_from(_versions)), max_size=12))
    return [row(f"{arch}/{version[0]}.{version[1]}") for arch, version in pairs]


devices = st.builds(
    lambda gpu, driver: Device(gpu[0], *gpu[1], driver),
    st.sampled_from([*targets.GPUS, ("not yet built", (12, 7)), ("next", (14, 0)), ("Thor's first name", (10, 1))]),
    st.sampled_from([(10, 2), *_versions]),
)


@given(devices, rows(), st.booleans())
def test_what_always_holds(gpu: Device, bundle: list[dict[str, Any]], allow_ptx: bool) -> None:
    found = select.order(gpu, bundle, allow_ptx)
    reasons = refusals.reasons(gpu, bundle, allow_ptx)
    assert sorted(found + [index for index, _ in reasons]) == list(range(len(bundle)))
    assert all(reason for _, reason in reasons)
    for index in found:
        _check_admitted(gpu, bundle[index], allow_ptx=allow_ptx)
    kinds = [bundle[index]["kind"] for index in found]
    assert kinds == sorted(kinds), "PTX comes last"


def _check_admitted(gpu: Device, admitted: dict[str, Any], *, allow_ptx: bool) -> None:
    number = targets.limits(admitted["arch"]).number
    suffix = admitted["arch"][-1] if admitted["arch"][-1] in "af" else ""
    cuda = tuple(admitted["cuda"])
    assert number <= gpu.number
    assert tuple(admitted["driver"]) <= gpu.driver
    assert suffix != "a" or number == gpu.number
    assert suffix != "f" or gpu.number in FAMILIES[number]
    if admitted["kind"] == "ptx":
        assert allow_ptx
        assert cuda <= gpu.driver
        return
    assert (number in TEGRA) == gpu.is_tegra
    assert cuda[0] <= gpu.driver[0]
    if gpu.is_tegra:
        assert number == gpu.number
        assert cuda <= gpu.driver or cuda[0] == gpu.driver[0] == 11
    else:
        assert number // 10 == gpu.major


@given(devices, rows(), st.randoms())
def test_the_order_does_not_depend_on_the_order_of_the_rows(
    gpu: Device, bundle: list[dict[str, Any]], random: Any
) -> None:
    shuffled = random.sample(bundle, len(bundle))
    before, after = (
        [(r["arch"], r["cuda"]) for r in (rows[i] for i in select.order(gpu, rows, allow_ptx=True))]
        for rows in (bundle, shuffled)
    )
    assert before == after


@given(devices, rows())
def test_the_exact_architecture_goes_before_another_of_its_kind(gpu: Device, bundle: list[dict[str, Any]]) -> None:
    admitted = [bundle[i] for i in select.order(gpu, bundle)]
    plain = [targets.limits(r["arch"]).number for r in admitted if r["arch"][-1] not in "af"]
    assert plain == sorted(plain, reverse=True)
    for arch in {r["arch"] for r in admitted}:
        versions = [r["cuda"] for r in admitted if r["arch"] == arch]
        assert versions == sorted(versions, reverse=True)


def test_what_is_not_admitted_has_a_reason_and_nothing_else_has() -> None:
    """Every GPU, driver and row: `refusals` finds what it says, where `select` says no, and only there."""
    gpus = [*targets.GPUS, ("not yet built", (12, 7)), ("next", (14, 0)), ("Thor's first name", (10, 1))]
    refused = 0
    for name, cc in gpus:
        for driver in [(10, 2), *_versions]:
            gpu = Device(name, *cc, driver)
            for arch in _archs:
                for version in _versions:
                    one = row(f"{arch}/{version[0]}.{version[1]}")
                    for allow_ptx in (False, True):
                        if select.rank(gpu, one, allow_ptx):
                            with pytest.raises(AssertionError, match="for no reason"):
                                refusals._reason(gpu, one, allow_ptx)
                        else:
                            refused += bool(refusals._reason(gpu, one, allow_ptx))
    assert refused > 10_000
