"""Runs a plan under a progress bar and keeps what is done when the user interrupts."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from slopewash.cli.plan import Plan
from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Budget, Terrain

DRY_STEPS = 600
"""Steps of settling when the user asks for dry land and the preset suggests none."""


@dataclass(frozen=True)
class Outcome:
    """What a run gave, whole or cut short."""

    plan: Plan
    terrain: Terrain
    budget: Budget
    backend: str
    seed: int
    steps: int
    settled: bool
    interrupted: bool
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Facts for a report."""
        return {
            **self.plan.as_dict(),
            "backend": self.backend,
            "seed": self.seed,
            "steps": self.steps,
            "steps_wanted": self.plan.steps,
            "settled": self.settled,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "rows": self.terrain.shape[0],
            "columns": self.terrain.shape[1],
            "cell_size": self.terrain.cell_size,
            "budget": self.budget.as_dict(),
        }


def run_plan(
    terrain: Terrain,
    plan: Plan,
    *,
    backend: str,
    seed: int,
    settle: bool = True,
    dry: bool = False,
    threads: int | None = None,
) -> Outcome:
    """Run, settle, and return the state; Ctrl-C cuts the run at a whole step and returns what is done."""
    import slopewash as sw

    use_threads(threads)
    simulation = sw.Simulation(terrain, plan.model, backend=backend, edges=plan.edges, seed=seed)
    progress = sw.Progress()
    simulation.add(progress)
    interrupted = settled = False
    steps = 0
    begin = time.perf_counter()
    try:
        try:
            simulation.run(plan.steps)
        finally:
            steps = simulation.step
        if settle and (plan.settle or dry):
            simulation.settle(plan.settle or DRY_STEPS, dry=dry)
            settled = True
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.close()
    return Outcome(
        plan=plan,
        terrain=simulation.terrain,
        budget=simulation.budget,
        backend=simulation.backend,
        seed=seed,
        steps=steps,
        settled=settled,
        interrupted=interrupted,
        seconds=time.perf_counter() - begin,
    )


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
