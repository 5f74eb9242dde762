"""PyTorch's way of benchmarks/gradients.py: its autograd, one operation after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support import peers
from support.gradient_cases import DAMPING, DRAG, DT, FACTOR, GRAVITY, SPRING_DT, STIFFNESS, Case, Way


def ways(case: Case, device: str) -> dict[str, Callable[[], Way]]:
    """What makes the way. Raises peers.Missing."""
    torch = peers.need("torch")
    if device != "sim" and not torch.cuda.is_available():
        raise peers.Missing("PyTorch finds no GPU")
    return {"PyTorch": lambda: _way(torch, case, "cpu" if device == "sim" else "cuda")}


def _way(torch: Any, case: Case, device: str) -> Way:
    given = {name: torch.tensor(data, device=device) for name, data in case.inputs.items()}
    for name in case.wanted:
        given[name].requires_grad_(True)
    run = _programs(torch, case, device)[case.name]
    ones = torch.ones_like(run(given))

    def both() -> None:
        for name in case.wanted:
            given[name].grad = None
        run(given).backward(ones)

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    memory = {}
    if device == "cuda":
        both()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        both()
        memory = {"all": torch.cuda.max_memory_allocated() - before}
    return Way(lambda: run(given), both, wait, lambda: {n: given[n].grad.cpu().numpy() for n in case.wanted}, memory)


def _programs(torch: Any, case: Case, device: str) -> dict[str, Callable[[dict[str, Any]], Any]]:
    gravity = torch.tensor(GRAVITY, device=device)

    def particles(given: dict[str, Any]) -> Any:
        pos, vel = given["pos"], given["vel"]
        for _ in range(case.steps):
            vel = vel + (gravity - vel * (DRAG * vel.norm(dim=1, keepdim=True))) * DT
            pos = pos + vel * DT
        return pos

    def springs(given: dict[str, Any]) -> Any:
        pos, vel = given["pos"], given["vel"]
        first, second = given["springs"].T
        for _ in range(case.steps):
            along = pos[second] - pos[first]
            length = along.norm(dim=1, keepdim=True)
            direction = along / length
            speed = ((vel[second] - vel[first]) * direction).sum(1, keepdim=True)
            pull = direction * (STIFFNESS * (length - given["rest"][:, None]) + DAMPING * speed)
            force = torch.zeros_like(pos).index_add(0, first, pull).index_add(0, second, -pull)
            vel = vel + force * SPRING_DT
            pos = pos + vel * SPRING_DT
        return pos

    def rollout(given: dict[str, Any]) -> Any:
        h = given["start"]
        for _ in range(case.steps):
            h = torch.tanh(h @ given["w"].T + given["b"])
        return h

    return {
        "axpy": lambda given: FACTOR * given["x"] + given["y"],
        "particles": particles,
        "springs": springs,
        "rollout": rollout,
    }
