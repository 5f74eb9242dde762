"""`kb.launch(…, adjoint=True)`: the adjoint of one launch, without a tape."""

from __future__ import annotations

from .. import context, copying, ordering, pack, placing, providers, resolve
from ..array_class import array
from ..errors import LaunchError
from ..indexed import indexedarray
from . import arguments, steps, watching, workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def launch(
    kernel: Any,
    record_cmd: bool,
    dim: Any,
    inputs: Any,
    outputs: Any,
    adj_inputs: Any,
    adj_outputs: Any,
    device: Any,
    stream: Any,
    block_dim: int | None,
    grid: Any,
    block: Any,
    max_blocks: int,
) -> None:
    """See `kb.launch`. Raises LaunchError."""
    name = getattr(kernel, "name", kernel)
    if record_cmd:
        raise LaunchError(
            "%s: record_cmd and adjoint do not go together\n"
            "  help: capture the launch in a graph (kb.capture), or make it each time" % name
        )
    if watching.is_recording():
        raise LaunchError(
            "%s: a tape is recording in this thread, and cannot record an adjoint: there are no gradients of "
            "gradients\n"
            "  help: launch it after the `with tape:` block, or in `with kb.no_grad():`" % name
        )
    if grid is not None or block is not None:
        dim = resolve.grid_of(kernel, dim, grid, block, block_dim)
    args = resolve.joined(kernel, inputs, outputs)
    given = [*_padded(name, "adj_inputs", adj_inputs, inputs), *_padded(name, "adj_outputs", adj_outputs, outputs)]
    found = providers.backward_of(placing.kind_of(device, args), kernel, args)
    if len(args) != len(found.parameters):
        pack.arguments(found.name, found.parameters, args, frozenset())  # says so
    with watching.Aside():
        leaves = {leaf.path: leaf for leaf in arguments.leaves(kernel, arguments.names_of(kernel), args)}
        arguments.with_types(list(leaves.values()), found.parameters)
        if device is None and leaves:
            device = next(iter(leaves.values())).data.device
        place = context.get_device(device)
        scratch: list[tuple[array, array]] = []

        def before(path: str, one: Any) -> Any:
            leaf = leaves[path]
            if path not in found.scratch:
                return leaf.value
            copied = copying.clone(leaf.data, stream=stream, requires_grad=False)
            scratch.append((copied, leaf.data))
            return steps.seen_as(one, [copied, *leaf.arrays[1:]])

        primal = arguments.replaced(found.parameters, args, before)
        apart, adjoints = steps.Apart(found.owned), []
        for (parameter, type), value, asked in zip(found.parameters, args, given):
            if arguments.has_adjoint(type):
                if asked is None:
                    asked = arguments.adjoint(
                        type, value, parameter, lambda path, one: apart.put(path, _own(leaves[path].value))
                    )
                elif hasattr(asked.__class__, "_kb_array_"):
                    asked = apart.put(parameter, asked)
                adjoints.append(asked)
        work = workspace.Workspace(found, dim, place, block_dim, max_blocks, workspace.BUDGET)
        work.run([*primal, *adjoints], None if stream is None else _checked(name, stream), scratch)
        apart.join(str(name))


def _checked(name: Any, stream: Any) -> Any:
    try:
        ordering.stream_handle(stream)
    except TypeError as error:
        raise LaunchError("%s: %s" % (name, error)) from None
    return stream


def _padded(name: Any, what: str, given: Any, beside: Any) -> list[Any]:
    """The gradients, one for each argument."""
    listed = [] if given is None else list(given) if pack.is_sequence(given) else None
    if listed is None or len(listed) > len(beside):
        raise LaunchError(
            "%s: %s wants a list of arrays, or None, in the place of %d arguments at most, not %r"
            % (name, what, len(beside), given)
        )
    return listed + [None] * (len(beside) - len(listed))


def _own(value: Any) -> Any:
    """The gradient that an array has."""
    if isinstance(value, indexedarray):
        grad = value.data.grad
        return None if grad is None else steps.seen_as(value, [grad, *value._arrays[1:]])
    return value.grad
