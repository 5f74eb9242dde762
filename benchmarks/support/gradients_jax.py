"""JAX's way of benchmarks/gradients.py: one compiled function forward, and one for both directions."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from support import peers
from support.gradient_cases import DAMPING, DRAG, DT, FACTOR, GRAVITY, SPRING_DT, STIFFNESS, Case, Way


def ways(case: Case, device: str) -> dict[str, Callable[[], Way]]:
    """What makes the way. Raises peers.Missing."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = peers.need("jax")
    if device != "sim" and jax.default_backend() != "gpu":
        raise peers.Missing("JAX finds no GPU")
    return {"JAX": lambda: _way(jax, case)}


def _way(jax: Any, case: Case) -> Way:
    arrays = {name: jax.numpy.asarray(data) for name, data in case.inputs.items()}
    rest = {name: one for name, one in arrays.items() if name not in case.wanted}
    wanted = {name: arrays[name] for name in case.wanted}
    run = _programs(jax, case)[case.name]
    forward = jax.jit(lambda wanted, rest: run({**rest, **wanted}))
    both = jax.jit(jax.grad(lambda wanted, rest: run({**rest, **wanted}).sum()))
    analysis = both.lower(wanted, rest).compile().memory_analysis()
    memory = {} if analysis is None else {"all": int(analysis.temp_size_in_bytes)}
    last: list[Any] = [None]

    def begin(function: Any) -> Callable[[], None]:
        def call() -> None:
            last[0] = function(wanted, rest)

        return call

    def gradients() -> dict[str, Any]:
        return {name: jax.device_get(last[0][name]) for name in case.wanted}

    return Way(begin(forward), begin(both), lambda: jax.block_until_ready(last[0]), gradients, memory)


def _programs(jax: Any, case: Case) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Inputs to the result, in the terms of JAX."""
    jnp = jax.numpy
    gravity = jnp.asarray(GRAVITY, jnp.float32)

    def particles(given: dict[str, Any]) -> Any:
        def step(state: Any, _: Any) -> Any:
            pos, vel = state
            speed = jnp.sqrt((vel * vel).sum(1, keepdims=True))
            vel = vel + (gravity - vel * (DRAG * speed)) * DT
            return (pos + vel * DT, vel), None

        return jax.lax.scan(step, (given["pos"], given["vel"]), None, length=case.steps)[0][0]

    def springs(given: dict[str, Any]) -> Any:
        first, second = given["springs"].T

        def step(state: Any, _: Any) -> Any:
            pos, vel = state
            along = pos[second] - pos[first]
            length = jnp.sqrt((along * along).sum(1, keepdims=True))
            direction = along / length
            speed = ((vel[second] - vel[first]) * direction).sum(1, keepdims=True)
            pull = direction * (STIFFNESS * (length - given["rest"][:, None]) + DAMPING * speed)
            force = jnp.zeros_like(pos).at[first].add(pull).at[second].add(-pull)
            vel = vel + force * SPRING_DT
            return (pos + vel * SPRING_DT, vel), None

        return jax.lax.scan(step, (given["pos"], given["vel"]), None, length=case.steps)[0][0]

    def rollout(given: dict[str, Any]) -> Any:
        def step(h: Any, _: Any) -> Any:
            return jnp.tanh(jnp.dot(h, given["w"].T, precision="highest") + given["b"]), None

        return jax.lax.scan(step, given["start"], None, length=case.steps)[0]

    return {
        "axpy": lambda given: FACTOR * given["x"] + given["y"],
        "particles": particles,
        "springs": springs,
        "rollout": rollout,
    }
