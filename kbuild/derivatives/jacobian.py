"""`kb.jacobian`: the derivative of one array of a launch by another one, row by row."""

from __future__ import annotations

from kbuild.derivatives.problem import Problem
from kbuild.loader import resolve
from kbuild.loader.errors import LaunchError, did_you_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ("jacobian",)


def jacobian(
    kernel: Any,
    dim: Any,
    inputs: Any = (),
    outputs: Any = (),
    input: str | None = None,
    output: str | None = None,
    device: Any = None,
    **options: Any,
) -> Any:
    """The derivatives of what a launch writes to parameter `output` by what parameter `input` holds; as an ndarray.

    Its axes are those of the output, then those of the input, with the components of vectors and matrices as axes of
    their own. A field of a struct is named with its path (`model.mass`). Where there is one candidate only, `input` and
    `output` can be left out. The arrays given are not changed. One adjoint launch for each number of the output. Raises
    LaunchError.
    """
    import numpy as np

    problem = Problem("kb.jacobian", kernel, dim, resolve.joined(kernel, inputs, outputs), device, options)
    results = problem.outputs
    read = problem.floats(problem.backward.read) or problem.inputs
    source = _chosen("input", input, problem.inputs, [path for path in read if path not in results] or read)
    target = _chosen("output", output, results, results)
    tape = problem.recorded()
    by, of = problem.arrays[source], problem.arrays[target]
    shape = problem.start[target].shape
    rows = []
    for place in range(int(np.prod(shape))):
        seed = np.zeros(shape, problem.start[target].dtype)
        seed.flat[place] = 1
        tape.zero()
        tape.backward(grads={of: seed})
        rows.append(by.grad.numpy().copy())
    return np.array(rows, dtype=problem.start[source].dtype).reshape(shape + problem.start[source].shape)


def _chosen(what: str, name: Any, known: list[str], usual: list[str]) -> str:
    if name is None and len(usual) == 1:
        return usual[0]
    if name in known:
        return str(name)
    listed = ", ".join(known) or "none"
    if name is None:
        raise LaunchError("kb.jacobian: %s wants the name of an array: one of %s" % (what, listed))
    raise LaunchError(
        "kb.jacobian: %s=%r is no array of numbers that the launch %s; known: %s%s"
        % (what, name, "reads" if what == "input" else "writes", listed, did_you_mean(str(name), known))
    )
