"""`targets`: what can be built for, and by what."""

from __future__ import annotations

import argparse

from kbuild import targets
from kbuild.cli import toolchains as planning
from kbuild.cli.console import Console
from kbuild.errors import ExitCode

DESCRIPTION = """\
Lists architectures and Jetson platforms: which installed NVRTC would build each, the oldest driver that loads the
result, or what to install.

A target is ARCH[@CUDA][+ptx] or a platform: sm_90, sm_90a, sm_80@11.8 (for old drivers), sm_90+ptx (with PTX for GPUs
to come), compute_90 (PTX alone), jetson-orin-jp6.
"""

EXAMPLES = """\
examples:
  python -m kbuild targets
  python -m kbuild targets sm_90a@12.4 jetson-thor-jp7     only these
  python -m kbuild targets --json | jq '.targets[] | select(.toolchain == null)'
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    parser.add_argument("names", nargs="*", metavar="TARGET", help="targets to look at (default: all)")


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Lists the targets."""
    from kbuild.nvrtc import discover

    wanted = [targets.parse(name) for name in arguments.names] or supported()
    installed = discover()
    plans = [planning.plan(target, installed) for target in wanted]
    unsupported = {} if arguments.names else targets.UNSUPPORTED
    if console.as_json:
        console.result(
            {
                "targets": [plan.to_json() for plan in plans],
                "unsupported": [{"name": name, "reason": reason} for name, reason in unsupported.items()],
                "toolchains": [{"version": one.build, "source": one.source} for one in installed],
            }
        )
        return ExitCode.DONE
    console.table("targets", planning.HEADERS, planning.rows(plans))
    for name, reason in unsupported.items():
        console.line(f"{name}: {reason}")
    return ExitCode.DONE


def supported() -> list[targets.Target]:
    """One target for each architecture and platform that kbuild builds for, platforms first."""
    found = [targets.parse(name) for name in targets.PLATFORMS]
    tegra = {target.number for target in found}
    for architecture in targets.ARCHITECTURES.values():
        if not architecture.is_tegra or architecture.number in tegra:
            found.append(targets.parse(architecture.name))
    return found
