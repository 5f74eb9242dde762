"""What a tape asks of a launched kernel: how it uses its arrays, and the launch of its adjoint.

    backward_of("cuda", kernel, args) → Backward, or LaunchError that says why there is none

Nothing here is looked at before somebody asks: a program without gradients does not import this module, and the code of
adjoints, which are translation units of their own, is loaded at their first launch.
"""

from __future__ import annotations

from .errors import LaunchError
from .schema import ADJOINT as ADJOINT
from .schema import SAVED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from . import abi
    from .kernel import BundleKernel

    Row = dict[str, Any]

_WITHOUT = (
    "%s was built without its gradient\n"
    "  help: leave out `enable_backward=False` of its decorator, and `backward = false` in [tool.kbuild]"
)


class Backward:
    """How a kernel uses its arrays, named by path (`x`, `model.mass`), and its adjoint.

    `read`, `written`, `accumulated`, `before`, `after`, `scratch`, `owned` and `saved` are those of the manifest (see
    docs/design/gradients.md); `saved` is in the order of the adjoint's parameters. `name` and `parameters` are the
    kernel's own, `kernel` is the adjoint: its `parameters` are the kernel's, `adj_…`, and what is saved.
    """

    __slots__ = (
        "_find",
        "_kernel",
        "accumulated",
        "after",
        "before",
        "name",
        "owned",
        "parameters",
        "read",
        "saved",
        "scratch",
        "written",
    )

    def __init__(self, name: str, parameters: list[tuple[str, abi.Type]], row: Row, find: Callable[[], Any]) -> None:
        """`row` is the kernel's `backward` in a manifest, `find` gives the adjoint kernel when it is wanted."""
        self.name, self.parameters = name, parameters
        self.read: frozenset[str] = frozenset(row["read"])
        self.written: frozenset[str] = frozenset(row["written"])
        self.accumulated: frozenset[str] = frozenset(row["accumulated"])
        self.before: frozenset[str] = frozenset(row["before"])
        self.after: frozenset[str] = frozenset(row["after"])
        self.scratch: frozenset[str] = frozenset(row["scratch"])
        self.owned: frozenset[str] = frozenset(row["owned"])
        self.saved: dict[str, int | None] = {t: row["saved"][t] for t in SAVED if t in row["saved"]}
        self._find, self._kernel = find, None

    def __repr__(self) -> str:
        return "<adjoint of %s>" % self.name

    @property
    def kernel(self) -> Any:
        """The adjoint kernel; the same object every time."""
        if self._kernel is None:
            self._kernel = self._find()
        return self._kernel

    def launch(
        self,
        dim: Any,
        args: Any = (),
        stream: Any = None,
        device: Any = None,
        block_dim: int | None = None,
        max_blocks: int = 0,
    ) -> None:
        """Launches the adjoint kernel; `args` in the order of its parameters. See `BundleKernel.launch`.

        No tape looks at it: who calls this is one, or stands for one.
        """
        self.kernel.unwatched()(dim, args, stream, device, block_dim, max_blocks)


class Refused:
    """Stands in the place of a `Backward` where a kernel cannot be differentiated: every use of it says why."""

    __slots__ = ("line", "name", "reason")

    def __init__(self, name: str, reason: str, line: int) -> None:
        self.name, self.reason, self.line = name, reason, line

    def __repr__(self) -> str:
        return "<no adjoint of %s: %s>" % (self.name, self.reason)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # what Python asks of any object
            raise AttributeError(attribute)
        raise self.error()

    def error(self) -> LaunchError:
        """The error of whoever needs the adjoint."""
        return LaunchError(
            "%s has no gradient: line %d: %s\n"
            "  help: change that line; where no gradient is to pass through the kernel, launch it outside the tape"
            % (self.name, self.line, self.reason)
        )


def read(kernel: BundleKernel) -> Backward | Refused | None:
    """What the manifest says of a kernel's adjoint; None where it was built without. Raises BundleError."""
    bundle = kernel.bundle
    row = bundle.manifest["kernels"][kernel.index].get("backward")
    if row is None:
        return None
    if "refused" in row:
        return Refused(kernel.name, row["refused"], row["line"])
    from . import schema_backward

    if not bundle.has_checked_backward:
        schema_backward.check(bundle.manifest)
        bundle.has_checked_backward = True
    return Backward(kernel.name, kernel.parameters, row, lambda: bundle.kernel(row["kernel"]))


def checked(found: Backward | Refused | None, name: str) -> Backward:
    """The adjoint. Raises LaunchError where there is none, and says why."""
    if found is None:
        raise LaunchError(_WITHOUT % name)
    if isinstance(found, Refused):
        raise found.error()
    return found


def on_gpu(kernel: Any, args: Any) -> Backward:
    """See `providers.backward_of`, for GPUs."""
    from . import resolve

    found = resolve.compiled(kernel, args)
    return checked(found.backward, found.name)
