"""What kernels ask of the compiler: options of a translation unit, which kernels of other options never share.

Fusing products and sums is none of them: kbuild decides that itself (`ir.contract`), with `fast_math` too.
"""

from __future__ import annotations

from dataclasses import dataclass

from kbuild.loader.types import Kernel
from kbuild.scan.data import Request
from kbuild.warp import modules

_WARPS = {"fmad": "fuse_fp", "fast_math": "fast_math"}


def said(kernel: Kernel, name: str, otherwise: bool) -> bool:
    """`fmad` or `fast_math` as a kernel itself says, or in Warp's dialect its module, else as the project does."""
    own = kernel.options.get(name)
    if own is None and kernel.dialect == "warp":
        own = modules.said(kernel.module, _WARPS[name])
    return otherwise if own is None else bool(own)


@dataclass(frozen=True, order=True, slots=True)
class Options:
    """`fast_math`: division, roots and functions are approximate and flush subnormal numbers to zero. `max_registers`
    of a thread, 0 for as many as there are: so have adjoints, which are other code, and kernels with launch bounds,
    where compilers pass over the limit.
    """

    fast_math: bool
    max_registers: int

    @classmethod
    def usual(cls, request: Request, is_adjoint: bool) -> Options:
        """Those of the project."""
        return cls(request.fast_math, 0 if is_adjoint else request.max_registers)

    @classmethod
    def of(cls, kernel: Kernel, request: Request, is_adjoint: bool) -> Options:
        """Those of a kernel's decorator, where it says something, else those of the project."""
        usual = 0 if "launch_bounds" in kernel.options else request.max_registers
        registers = kernel.options.get("max_registers", usual)
        assert isinstance(registers, int)
        return cls(said(kernel, "fast_math", request.fast_math), 0 if is_adjoint else registers)

    def title(self, usual: Options) -> str:
        """What a unit's name says of options that are not the project's."""
        words = "" if self.fast_math == usual.fast_math else "#fast" if self.fast_math else "#precise"
        return words + ("" if self.max_registers == usual.max_registers else f"#registers{self.max_registers}")

    def command_line(self) -> list[str]:
        """The options as NVRTC takes them."""
        fast = ["-use_fast_math"] if self.fast_math else []
        return [*fast, *([f"-maxrregcount={self.max_registers}"] if self.max_registers else [])]
