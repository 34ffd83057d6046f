"""What a recipe leaves: the terrain, its budget, and the files that it was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slopewash.claims import Claim, overwritten, twice
from slopewash.errors import InvalidFile
from slopewash.io.formats import format_of
from slopewash.io.mesh_files import is_mesh_file
from slopewash.paths import make_folder
from slopewash.recipes.definition import Recipe, Stage
from slopewash.recipes.manifest import CHECKPOINTS, MANIFEST, RECIPE, input_files, write_records
from slopewash.recipes.outputs import check_output_name, written_twice
from slopewash.simulation import Budget
from slopewash.terrain import Terrain, TriangleMesh

OURS = (RECIPE, MANIFEST, CHECKPOINTS)
"""What a run writes into its output folder besides its outputs."""


@dataclass(frozen=True, repr=False)
class Result:
    """Result of a recipe, complete or interrupted.

    >>> import slopewash as sw
    >>> result = sw.recipe("jako2011", size=16, steps=2, backend="reference").run()
    >>> result.steps, result.terrain.shape
    (2, (16, 16))
    """

    recipe: Recipe
    stage: Stage
    """The last stage that ran."""
    terrain: Terrain
    mesh: TriangleMesh | None
    """The ground as triangles, where the last model has such."""
    budget: Budget
    """Mass budget of the last stage that ran, all its levels together."""
    backend: str
    steps: int
    """Steps done; of all levels, where there are some."""
    steps_wanted: int
    level: tuple[int, int] | None
    """Level that was reached and the number of them, where there are some."""
    settling_steps: int
    """Of the level that was reached."""
    settled: bool
    """Whether all sediment is deposited."""
    interrupted: bool
    seconds: float
    resumable: bool = False
    """Whether it is interrupted, and its checkpoints continue it."""
    foreign: bool = False
    """Whether another user or machine began it: the files that its recipe names are none of this user's."""
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Checksum and length of each file that was read, as it was when the run began, where a manifest is written."""

    @property
    def carried(self) -> float:
        """Sediment still in the water, in cubic metres."""
        if "suspended" not in self.terrain:
            return 0.0
        return float(self.terrain["suspended"].sum(dtype="float64")) * self.terrain.cell_size**2

    @property
    def progress(self) -> str:
        """Steps done, in words."""
        wanted = self.steps_wanted
        plural = "step" if wanted == 1 else "steps"
        words = f"{self.steps} {plural}" if self.steps == wanted else f"{self.steps} of {wanted} {plural}"
        if self.level is not None and self.level[1] > 1:
            reached, levels = self.level
            words += f" on level {reached} of {levels}" if self.interrupted else f" on {levels} levels"
        if self.settling_steps and (self.level is None or self.interrupted):
            share = "" if self.settled else f" of {self.stage.settle}"
            words += f" and {self.settling_steps}{share} of settling"
        return words

    @property
    def notes(self) -> dict[str, Any]:
        """What made the terrain, for files and manifests: version, model, preset, seed and step."""
        from slopewash import __version__

        presets = [stage.preset or stage.model.name for stage in self.recipe.stages]
        return {
            "slopewash": __version__,
            "model": self.stage.model.name,
            "preset": self.stage.preset,
            "stages": presets,
            "seed": self.recipe.seed,
            "step": self.steps,
        }

    def write_outputs(self, folder: str | Path | None = None) -> tuple[Path, ...]:
        """Write the outputs of the recipe, and return where they are.

        Into a folder, which is created, with the recipe and a manifest; without one, each to its own path.
        """
        place = None if folder is None else Path(folder)
        if place is not None:
            make_folders(self.recipe, place)
        written = tuple(file for output in self.recipe.outputs_in(place) for file in output.write(self))
        return written if place is None else (*written, *write_records(self, place, written))

    def __repr__(self) -> str:
        rows, columns = self.terrain.shape
        state = "interrupted after" if self.interrupted else "complete,"
        return f"Result of {self.stage.model.name} on {columns} x {rows} cells: {state} {self.progress}"

    def as_dict(self) -> dict[str, Any]:
        """Facts for a report."""
        stage = self.stage.as_dict()
        return {
            **{name: stage[name] for name in ("model", "preset", "parameters", "edges")},
            "backend": self.backend,
            "seed": self.recipe.seed,
            "steps": self.steps,
            "steps_wanted": self.steps_wanted,
            "level": None if self.level is None else {"reached": self.level[0], "levels": self.level[1]},
            "settling_steps": self.settling_steps,
            "settled": self.settled,
            "interrupted": self.interrupted,
            "seconds": round(self.seconds, 3),
            "rows": self.terrain.shape[0],
            "columns": self.terrain.shape[1],
            "cell_size": self.terrain.cell_size,
            "budget": self.budget.as_dict(),
        }


def check_outputs(recipe: Recipe, folder: Path | None = None, *, force: bool = False) -> None:
    """Refuse outputs that could not be written, or that would overwrite an input, before the run."""
    outputs = recipe.outputs_in(folder)
    for output in outputs:
        output.check()
    check_kept(recipe, folder, force=force)


def check_kept(recipe: Recipe, folder: Path | None, *, force: bool = False) -> None:
    """Refuse outputs that cannot be written here, or would overwrite an input or what the run itself writes."""
    outputs = recipe.outputs_in(folder)
    for output in outputs:
        if output.kind == "terrain" and not is_mesh_file(output.path):
            format_of(output.path).check(output.path)
    for output in recipe.outputs if folder is not None else ():
        if output.path.parts[:1] and output.path.parts[0].lower() in OURS:
            raise InvalidFile(f"output {output.path} has a name that the run itself needs; choose another")
    claims = [output.claim for output in outputs]
    clash = twice(claims)
    if clash is not None:
        raise InvalidFile(written_twice(outputs[clash[0]], clash[1]))
    records = [] if folder is None else [Claim(folder, folder, OURS)]
    overlap = None if force else overwritten(input_files(recipe), [*claims, *records])
    if overlap is not None:
        raise InvalidFile(f"{overlap[1]} is an input of the recipe and would be overwritten; choose another name")


def prepare_outputs(recipe: Recipe, folder: Path, *, force: bool = False) -> None:
    """Create the output folder, and refuse before the run what could not be written into it."""
    for name in OURS if not recipe.outputs_anywhere else ():
        check_output_name(name, folder)
    check_kept(recipe, folder, force=force)
    make_folders(recipe, folder)
    check_outputs(recipe, folder, force=force)


def check_elsewhere(recipe: Recipe, folder: Path) -> None:
    """Refuse to overwrite what lies outside the output folder: it is no result of an earlier run there."""
    for output in recipe.outputs_in(folder):
        real = output.path.resolve()
        if real.exists() and not real.is_relative_to(folder.resolve()):
            raise InvalidFile(f"{output.path} exists, outside the output folder {folder}; add --force to overwrite it")


def make_folders(recipe: Recipe, folder: Path) -> None:
    """Create the folder for the outputs of a recipe, and those that their names ask for within it."""
    outputs = recipe.outputs_in(folder)
    try:
        for place in {folder, *(output.path.parent for output in outputs)}:
            make_folder(place)
    except OSError as error:
        raise InvalidFile(f"folder {folder} cannot be created: {error.strerror}") from None
