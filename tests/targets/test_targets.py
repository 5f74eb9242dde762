"""The table of architectures against ptxas itself, and the grammar of targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbuild import targets
from kbuild.errors import UsageError
from kbuild.loader import select
from kbuild.nvrtc import Cache, Compiled, compile_jobs
from tests.helpers import nvrtc_cases as cases


@pytest.mark.parametrize(
    ("text", "arch", "kind", "cuda", "also_ptx"),
    [
        ("sm_90", "sm_90", "cubin", None, False),
        ("sm_90a@12.4", "sm_90a", "cubin", (12, 4), False),
        ("sm_120f@13.0", "sm_120f", "cubin", (13, 0), False),
        ("sm_90+ptx", "sm_90", "cubin", None, True),
        ("sm_90a@12.4+ptx", "sm_90a", "cubin", (12, 4), True),
        ("compute_90@12.4", "compute_90", "ptx", (12, 4), False),
        ("compute_75", "compute_75", "ptx", None, False),
        ("jetson-xavier-jp5", "sm_72", "cubin", (11, 4), False),
        ("jetson-orin-jp5", "sm_87", "cubin", (11, 4), False),
        ("jetson-orin-jp6", "sm_87", "cubin", (12, 2), False),
        ("jetson-orin-jp6+ptx", "sm_87", "cubin", (12, 2), True),
        ("jetson-orin-jp7", "sm_87", "cubin", (13, 2), False),
        ("jetson-thor-jp7", "sm_110", "cubin", (13, 0), False),
        ("sm_87", "sm_87", "cubin", (11, 4), False),
        ("sm_110", "sm_110", "cubin", (13, 0), False),
        ("sm_53@11.8", "sm_53", "cubin", (11, 8), False),
    ],
)
def test_a_target_stands_for(text: str, arch: str, kind: str, cuda: tuple[int, int] | None, *, also_ptx: bool) -> None:
    target = targets.parse(text)
    assert (target.name, target.arch, target.kind, target.cuda, target.also_ptx) == (text, arch, kind, cuda, also_ptx)
    assert (target.platform is not None) == text.startswith("jetson")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sm90", r"unknown target 'sm90'.*did you mean 'sm_90'"),
        ("SM_90", r"unknown target 'SM_90'.*did you mean 'sm_90'"),
        ("sm_91", r"unknown target 'sm_91'.*did you mean 'sm_"),
        ("jetson-orin-jp8", r"unknown target.*did you mean 'jetson-orin-jp"),
        ("jetson-oron-jp6", r"unknown target.*did you mean 'jetson-orin-jp6'"),
        ("", r"unknown target ''.*ARCH\[@CUDA\]\[\+ptx\].*python -m kbuild targets"),
        ("sm_90@", r"unknown target 'sm_90@'.*ARCH\[@CUDA\]"),
        ("sm_90+ptx@12.4", r"unknown target 'sm_90\+ptx@12.4'.*ARCH\[@CUDA\]"),
        ("sm_90 ", r"unknown target 'sm_90 '"),
        ("sm_90\n", r"unknown target 'sm_90\\n'"),
        ("sm_9٠", r"unknown target"),
        ("sm_80a", r"sm_80 has no variant 'a'.*write 'sm_80'"),
        ("sm_90f", r"sm_90 has no variant 'f', only sm_90a"),
        ("sm_120x", r"sm_120 has no variant 'x', only sm_120a and sm_120f"),
        ("sm_110@12.9", r"CUDA 12.9 does not know sm_110.*13.0"),
        ("sm_90a@11.8", r"CUDA 11.8 does not know sm_90a.*12.0"),
        ("sm_120f@12.8", r"CUDA 12.8 does not know sm_120f.*12.9"),
        ("sm_53@10.2", r"CUDA 10.2 does not know sm_53.*11.2"),
        ("sm_70@13.0", r"CUDA 13 does not compile for sm_70 any more.*sm_70@12.9"),
        ("compute_90+ptx", r"compute_90 is PTX already.*write 'compute_90'"),
        ("jetson-orin-jp6@12.4", r"jetson-orin-jp6 already stands for CUDA 12.2.*sm_87@12.4"),
        ("jetson-nano", r"Jetson Nano \(sm_53\) is not supported, because it runs JetPack 4.*CUDA 10.2"),
        ("jetson-tx1", r"Jetson TX1 \(sm_53\) is not supported, because"),
        ("jetson-tx2", r"Jetson TX2 \(sm_62\) is not supported, because"),
        ("jetson-nano-jp4", r"Jetson Nano \(sm_53\) is not supported, because"),
        ("sm_62", r"sm_62 is not supported, because.*sm_62@11.8"),
    ],
)
def test_a_wrong_target_says_why(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        targets.parse(text)
    assert re.search(message, str(caught.value), re.DOTALL), str(caught.value)


@given(st.text(alphabet="smcopute_jtsonri-8901254@.+pxaf \n\0é", max_size=20))
def test_any_text_is_a_target_or_a_usage_error(text: str) -> None:
    try:
        target = targets.parse(text)
    except UsageError:
        return
    assert target.name == text
    assert target.number in targets.ARCHITECTURES


@pytest.mark.parametrize("name", [n for n in targets.ALL if n not in targets.UNSUPPORTED])
def test_every_listed_name_can_be_asked_for(name: str) -> None:
    unsupported = name.startswith(("sm_53", "sm_62", "compute_53", "compute_62"))
    target = targets.parse(name + "@11.8" if unsupported else name)
    assert target.architecture is targets.limits(target.arch)


def test_plus_ptx_is_a_cubin_and_ptx_of_the_same_target() -> None:
    parts = targets.parse("sm_90a@12.4+ptx").parts()
    assert [(p.arch, p.kind, p.cuda, p.name) for p in parts] == [
        ("sm_90a", "cubin", (12, 4), "sm_90a@12.4+ptx"),
        ("compute_90a", "ptx", (12, 4), "sm_90a@12.4+ptx"),
    ]
    single = targets.parse("sm_90")
    assert single.parts() == (single,)


def test_the_loader_knows_the_same_tegras_and_families() -> None:
    assert {a.number for a in targets.ARCHITECTURES.values() if a.is_tegra} == select.TEGRA
    assert {a.number for a in targets.ARCHITECTURES.values() if "f" in a.suffixes} == set(select.FAMILIES)


def test_platforms_are_tegras_and_gpus_have_architectures() -> None:
    assert all(targets.limits(p.arch).is_tegra for p in targets.PLATFORMS.values())
    for name, (major, minor) in targets.GPUS:
        assert targets.ARCHITECTURES[10 * major + minor].is_tegra == name.startswith("Jetson"), name


@pytest.mark.parametrize(
    ("arch", "kind", "cuda", "parameter_bytes", "driver", "label"),
    [
        ("sm_75", "cubin", (12, 9), 0, (12, 0), "driver 525 (CUDA 12.0)"),
        ("sm_75", "cubin", (12, 9), 4096, (12, 0), "driver 525 (CUDA 12.0)"),
        ("sm_75", "cubin", (12, 9), 4097, (12, 1), "driver 530 (CUDA 12.1)"),
        ("sm_75", "cubin", (11, 8), 0, (11, 0), "driver 450 (CUDA 11.0)"),
        ("sm_90", "cubin", (11, 8), 0, (11, 8), "driver 520 (CUDA 11.8)"),
        ("sm_100", "cubin", (12, 9), 0, (12, 8), "driver 570 (CUDA 12.8)"),
        ("sm_121", "cubin", (12, 9), 0, (12, 9), "driver 575 (CUDA 12.9)"),
        ("sm_90", "cubin", (13, 0), 0, (13, 0), "driver 580 (CUDA 13.0)"),
        ("sm_90", "cubin", (13, 2), 0, (13, 0), "driver 580 (CUDA 13.0)"),
        ("compute_90", "ptx", (12, 9), 0, (12, 9), "driver 575 (CUDA 12.9)"),
        ("compute_90", "ptx", (13, 5), 0, (13, 5), "a driver for CUDA 13.5"),
        ("sm_72", "cubin", (11, 8), 0, (11, 4), "JetPack with CUDA 11.4"),
        ("sm_87", "cubin", (11, 8), 0, (11, 4), "JetPack with CUDA 11.4"),
        ("sm_87", "cubin", (12, 2), 0, (12, 2), "JetPack with CUDA 12.2"),
        ("sm_110", "cubin", (13, 0), 0, (13, 0), "JetPack with CUDA 13.0"),
    ],
)
def test_oldest_driver(
    arch: str, kind: str, cuda: tuple[int, int], parameter_bytes: int, driver: tuple[int, int], label: str
) -> None:
    assert targets.oldest_driver(arch, kind, cuda, parameter_bytes) == driver
    assert targets.driver_label(arch, driver) == label


def test_limits_of_an_unknown_architecture() -> None:
    with pytest.raises(UsageError, match="unknown target 'sm_91'"):
        targets.limits("sm_91")


# What ptxas and NVRTC say about the table


def _bounds(name: str, threads: int, blocks: int) -> str:
    return f'extern "C" __global__ void __launch_bounds__({threads}, {blocks}) {name}() {{}}\n'


def _at_the_limits(a: targets.Architecture) -> str:
    """Two kernels that just fit a multiprocessor, and two that ask for one thread block too many."""
    blocks_of_512 = a.threads_per_sm // 512
    return (
        _bounds("threads_fit", 512, blocks_of_512)
        + _bounds("threads_too_many", 512, blocks_of_512 + 1)
        + _bounds("blocks_fit", 32, a.blocks_per_sm)
        + _bounds("blocks_too_many", 32, a.blocks_per_sm + 1)
    )


@pytest.mark.nvrtc
@pytest.mark.parametrize("version", cases.VERSIONS)
def test_ptxas_enforces_the_threads_and_blocks_of_the_table(version: tuple[int, int], tmp_path: Path) -> None:
    known = [a for a in targets.ARCHITECTURES.values() if a.number in cases.installed()[version].architectures]
    jobs = [cases.job(a.name, version, _at_the_limits(a)) for a in known]
    outcomes = compile_jobs(jobs, cache=Cache(tmp_path), workers=2)
    for job, outcome in zip(jobs, outcomes, strict=True):
        refused = {m.kernel for m in cases.compiled(outcome).messages if "out of range" in m.text}
        assert refused == {"threads_too_many", "blocks_too_many"}, job.arch


@pytest.mark.nvrtc
@pytest.mark.parametrize("version", cases.VERSIONS)
def test_every_architecture_of_nvrtc_is_in_the_table(version: tuple[int, int]) -> None:
    """Less Kepler, and 8.8, of which no product is documented."""
    assert set(cases.installed()[version].architectures) - set(targets.ARCHITECTURES) <= {35, 37, 88}


def _parameters(size: int) -> str:
    return (
        f'struct S {{ char bytes[{size}]; }}; extern "C" __global__ void k(S s, char* out) {{ *out = s.bytes[*out]; }}'
    )


@pytest.mark.nvrtc
@pytest.mark.parametrize(
    ("arch", "version"),
    [
        ("sm_61", (11, 8)),
        ("sm_87", (11, 8)),
        ("sm_61", (12, 9)),
        ("sm_75", (12, 9)),
        ("sm_120", (12, 9)),
        ("sm_75", (13, 0)),
        ("sm_110", (13, 0)),
    ],
)
def test_nvrtc_enforces_the_parameter_space_of_the_table(arch: str, version: tuple[int, int], tmp_path: Path) -> None:
    space = targets.limits(arch).parameter_space(version)
    fitting = space // 8 * 8 - 8
    jobs = [cases.job(arch, version, _parameters(size)) for size in (fitting, fitting + 8)]
    good, bad = compile_jobs(jobs, cache=Cache(tmp_path), workers=1)
    assert isinstance(good, Compiled)
    assert f"max {space} bytes allowed" in cases.rejected(bad).messages[0].text
