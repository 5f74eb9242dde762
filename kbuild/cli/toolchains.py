"""Which installed toolchain would build a target, or what to install: rows that `targets` and `doctor` share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kbuild import targets
from kbuild.errors import ToolchainError
from kbuild.nvrtc import Toolchain, choose


@dataclass(frozen=True, slots=True)
class Plan:
    """One target's answer: a toolchain and the oldest driver, or what is missing and its cure."""

    name: str
    arch: str
    about: str
    toolchain: str | None
    driver: str | None
    problem: str | None = None
    help: str | None = None

    def to_json(self) -> dict[str, object]:
        keys = ("name", "arch", "about", "toolchain", "driver", "problem", "help")
        return {key: getattr(self, key) for key in keys}


def plan(target: targets.Target, toolchains: Sequence[Toolchain]) -> Plan:
    """How a target would be built here. With `+ptx` the cubin decides: PTX comes from the same versions."""
    part = target.parts()[0]
    try:
        chosen = choose(part, toolchains)
    except ToolchainError as error:
        return Plan(target.name, target.arch, about(target), None, None, error.message, error.help)
    oldest = targets.oldest_driver(part.arch, part.kind, chosen.version)
    return Plan(target.name, target.arch, about(target), chosen.build, targets.driver_label(part.arch, oldest))


def about(target: targets.Target) -> str:
    """What a target is for: a platform's title, or well-known GPUs with exactly its compute capability."""
    if target.platform is not None:
        return targets.PLATFORMS[target.platform].title
    gpus = [name for name, (major, minor) in targets.GPUS if major * 10 + minor == target.number]
    names = ", ".join(gpus) or target.architecture.family
    return f"PTX for {names} and newer" if target.kind == "ptx" else names


def rows(plans: Iterable[Plan]) -> list[tuple[object, ...]]:
    """The plans as rows of a table with `HEADERS`."""
    return [
        (plan.name, plan.arch, plan.about, plan.toolchain and f"NVRTC {plan.toolchain}", plan.driver or plan.help)
        for plan in plans
    ]


HEADERS = ("target", "code", "for", "built by", "loads on, or how to get it")
