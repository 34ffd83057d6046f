"""Checkpoints of a run at intervals."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.errors import CheckpointError, CheckpointWarning
from slopewash.simulation.checkpoints import check_kind, check_owner
from slopewash.simulation.locks import FolderLock
from slopewash.simulation.observing import Observer

if TYPE_CHECKING:
    from slopewash.simulation import Simulation


class Checkpoints(Observer):
    """Writes a checkpoint every `every` steps, and at the end of each phase.

    If one cannot be written, as on a full disk, it warns (`CheckpointWarning`), and the run goes on.

    Parameters
    ----------
    folder
        Where the checkpoints go; the newest two are kept.
    every
        Steps between two checkpoints.
    recipe
        Returns what the run is part of; it is stored for `Running.resumed`.

    >>> import tempfile
    >>> import slopewash as sw
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     simulation.add(sw.Checkpoints(folder, every=2)).run(5)
    ...     sw.Simulation.resume(folder).step
    5
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        every: int = 500,
        recipe: Callable[[], Mapping[str, Any]] | None = None,
        arrays: Callable[[], Mapping[str, Any]] | None = None,
    ) -> None:
        super().__init__(every)
        self.folder = Path(folder)
        self._recipe, self._arrays = recipe, arrays
        self._lock: FolderLock | None = None

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Lock the folder until the phase is over; `CheckpointError` if it holds another run, or is in use."""
        super().start(simulation, steps, label=label)
        self._unlock()
        check_kind(self.folder)
        self._lock = FolderLock(self.folder)
        check_owner(self.folder, simulation.run_id)

    def finish(self, simulation: Simulation) -> None:
        """Release the folder."""
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def observe(self, simulation: Simulation) -> None:
        """Write a checkpoint."""
        super().observe(simulation)
        try:
            simulation.checkpoint(
                self.folder,
                recipe=None if self._recipe is None else self._recipe(),
                arrays=None if self._arrays is None else self._arrays(),
            )
        except CheckpointError as error:
            warnings.warn(f"{error}; the run goes on", CheckpointWarning, stacklevel=2)
