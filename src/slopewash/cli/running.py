"""Runs a plan under a progress bar and keeps what is done when the user interrupts."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slopewash.cli.console import interrupts_held
from slopewash.cli.plan import Plan
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Budget, Terrain, TriangleMesh


@dataclass(frozen=True)
class Outcome:
    """What a run gave, whole or cut short."""

    plan: Plan
    terrain: Terrain
    mesh: TriangleMesh | None
    """The ground as triangles, where the model has such."""
    budget: Budget
    backend: str
    seed: int
    steps: int
    settling_steps: int
    """Steps of settling done; a few more may be where an interrupt broke them off."""
    settled: bool
    """Whether the load is laid down."""
    interrupted: bool
    seconds: float

    @property
    def load(self) -> float:
        """What the water still carries, in cubic metres."""
        if "suspended" not in self.terrain:
            return 0.0
        return float(self.terrain["suspended"].sum(dtype="float64")) * self.terrain.cell_size**2

    @property
    def progress(self) -> str:
        """Steps done, in words."""
        done, wanted = self.steps, self.plan.steps
        words = f"{done} steps" if done == wanted else f"{done} of {wanted} steps"
        if self.settling_steps and self.settled:
            words += f" and {self.settling_steps} of settling"
        elif self.settling_steps:
            words += f" and at least {self.settling_steps} of {self.plan.settle} of settling"
        return words

    def as_dict(self) -> dict[str, Any]:
        """Facts for a report."""
        return {
            **self.plan.as_dict(),
            "backend": self.backend,
            "seed": self.seed,
            "steps": self.steps,
            "steps_wanted": self.plan.steps,
            "settling_steps": self.settling_steps,
            "settled": self.settled,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "rows": self.terrain.shape[0],
            "columns": self.terrain.shape[1],
            "cell_size": self.terrain.cell_size,
            "budget": self.budget.as_dict(),
        }


@contextmanager
def run_plan(
    terrain: Terrain,
    plan: Plan,
    *,
    backend: str,
    seed: int,
    settle: bool = True,
    dry: bool = False,
    threads: int | None = None,
) -> Iterator[Outcome]:
    """Run, lay the load down unless told not to, and give the state to the block that writes it.

    Ctrl-C cuts the run at a whole step and gives what is done. From then on it waits for the end of the block.
    """
    import slopewash as sw

    use_threads(threads)
    simulation = sw.Simulation(terrain, plan.model, backend=backend, edges=plan.edges, seed=seed)
    progress = sw.Progress()
    simulation.add(progress)
    interrupted = settling = settled = False
    begin = time.perf_counter()
    try:
        simulation.run(plan.steps)
        if settle:
            progress.done = 0
            settling = True
            simulation.settle(plan.settle, dry=dry)  # also of 0 steps: that lays the load down
            settled = True
    except KeyboardInterrupt:
        interrupted = True
    with interrupts_held(), simulation:
        progress.close()
        yield Outcome(
            plan=plan,
            terrain=simulation.terrain,
            mesh=simulation.mesh if plan.model.name == "mesh_particles" else None,
            budget=simulation.budget,
            backend=simulation.backend,
            seed=seed,
            steps=simulation.step,
            settling_steps=progress.done if settling else 0,
            settled=settled,
            interrupted=interrupted,
            seconds=time.perf_counter() - begin,
        )


def use_adapter(adapter: str | None, backend: str) -> str:
    """Choose the GPU by name; naming one asks for the gpu backend, unless another was asked for."""
    import slopewash as sw

    if adapter is not None and backend not in ("auto", "gpu"):
        raise InvalidParameter(f"--adapter is {adapter}; backend {backend} has none, take --backend gpu")
    sw.use_adapter(adapter)
    return backend if adapter is None else "gpu"


def use_threads(threads: int | None) -> None:
    """Limit the kernels to so many threads; the result is the same for any number."""
    if threads is None:
        return
    if threads < 1:
        raise InvalidParameter(f"--threads is {threads}; it must be 1 or more")
    if "numba" not in sys.modules:
        os.environ["NUMBA_NUM_THREADS"] = str(threads)  # read once, when Numba is imported
        return
    import numba

    try:
        numba.set_num_threads(threads)
    except ValueError:
        raise InvalidParameter(f"--threads is {threads}; this process was started with fewer") from None
