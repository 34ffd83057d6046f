"""Pictures of a run at intervals."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.paths import confined_to, make_folder, remove_tree
from slopewash.remedies import by_place
from slopewash.simulation.observing import Observer

if TYPE_CHECKING:
    from slopewash.simulation import Simulation
    from slopewash.terrain import Terrain


FRAME = re.compile(r"frame_\d{6,}\.")
"""How the names of recorded files begin."""


class Recorder(Observer):
    """Writes a picture of the terrain at intervals, named by the steps taken: `frame_000050.png`.

    `film` makes a time-lapse of the folder. Steps of runs and of settling count, however many are run at a time. The
    start is drawn too, and the end of settling or of a run of at least `every` steps; shorter runs count as pieces of
    one run. If the run continues, the picture of its end is removed. The stages of a recipe count as one run. Files
    are written atomically, so that a viewer may watch the folder. A run that begins at its first step refuses a folder
    with files of another run, because a time-lapse would show both.

    Parameters
    ----------
    folder
        Where the pictures go; created when the run starts.
    every
        Steps between two pictures.
    layer
        Draw this layer with a colour map instead of the landscape.
    data
        Suffix of a data file to write beside each picture, such as ".exr" or ".npz".
    pictures
        Whether to draw pictures; without them `data` is needed.
    steps_before
        Steps of a recipe's earlier stages, where one of the later is resumed.
    steps_taken
        Steps of all its stages so far, where it is resumed.
    replace
        Remove the files of another run from the folder instead of refusing it.

    >>> import slopewash as sw
    >>> sw.Recorder("frames", every=100, layer="flow")
    Recorder('frames', every=100, layer='flow')
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        every: int = 50,
        *,
        layer: str | None = None,
        data: str | None = None,
        pictures: bool = True,
        steps_before: int = 0,
        steps_taken: int = 0,
        replace: bool = False,
    ) -> None:
        super().__init__(every)
        if not pictures and data is None:
            raise InvalidParameter('pictures is False and data None; give data=".npz", else there is nothing to record')
        self.folder = Path(folder)
        self.layer = layer
        self.data = data
        self.pictures = pictures
        self.replace = replace
        self.files: list[Path] = []
        """Pictures written so far, in the order of the run, or data files if there are no pictures."""
        self._stages_before = steps_before
        """Steps of the stages before the present one."""
        self._has_started = False
        self._reached = max(steps_before, steps_taken)
        self._is_piece = False
        """Whether the phase may be one of many short runs."""
        self._end: Path | None = None
        """Picture of an end between two intervals."""

    def check_folder(self) -> list[Path]:
        """Return the files of another run, which a new one removes; refuse them unless `replace` is set."""
        others = sorted(file for file in self.folder.glob("frame_*") if FRAME.match(file.name))
        if others and not self.replace:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            raise InvalidFile(
                f"{self.folder} holds {others[0].name}{more} of another run; record into another folder, or remove "
                f"them with {by_place(python='replace=True', command='--force')}"
            )
        return others

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Create the folder and, before the first step, draw the start."""
        super().start(simulation, steps, label=label)
        self._is_piece = label != "settling" and steps < self.every
        if not self._has_started and simulation.steps_taken + self._reached == 0:
            for file in self.check_folder():
                remove_tree(self.folder, file.name)
        self._has_started = True
        make_folder(self.folder)
        if simulation.steps_taken == 0:  # the next stage of a recipe; the end of the last one stays
            self._stages_before, self._end = self._reached, None
        if simulation.steps_taken == 0 and not self.files:
            terrain = simulation.terrain
            if self.layer is None or self.layer in terrain:  # layers such as flow exist only after the first step
                self._record(terrain, 0)

    def observe(self, simulation: Simulation) -> None:
        """Draw the state, unless only a piece of a run ends here."""
        super().observe(simulation)
        self._reached = self._stages_before + simulation.steps_taken
        is_due = simulation.steps_taken % self.every == 0
        if not is_due and self._is_piece:
            return
        picture = self._record(simulation.terrain, simulation.steps_taken)
        self._remove_end()
        self._end = None if is_due else picture

    def _remove_end(self) -> None:
        """Remove the picture of an end after which the run continued."""
        if self._end is not None:
            self.files.remove(self._end)
            data = self._end.with_suffix(self.data or ".png")
            for file in (self._end, data, data.with_name(f"{data.name}.json")):  # some formats have a sidecar file
                remove_tree(self.folder, file.name)

    def _record(self, terrain: Terrain, number: int) -> Path:
        with confined_to(self.folder):
            return self._drawn(terrain, number)

    def _drawn(self, terrain: Terrain, number: int) -> Path:
        # Imported here, so that a run that is not recorded does not load drawing and file formats.
        from slopewash.io import write
        from slopewash.rendering import overlay, render

        picture = self.folder / f"frame_{self._stages_before + number:06d}.png"
        if self.pictures and self.layer is None:
            render(terrain, picture)
        elif self.pictures and self.layer is not None:
            overlay(terrain, self.layer, picture)
        if self.data is not None:
            data = write(terrain, picture.with_suffix(self.data))
            picture = picture if self.pictures else data
        self.files.append(picture)
        return picture

    def __repr__(self) -> str:
        layer = "" if self.layer is None else f", layer={self.layer!r}"
        data = "" if self.data is None else f", data={self.data!r}"
        drawn = "" if self.pictures else ", pictures=False"
        replace = ", replace=True" if self.replace else ""
        return f"Recorder({str(self.folder)!r}, every={self.every}{layer}{data}{drawn}{replace})"
