"""What a page may send, validated as it arrives: see docs/studio-protocol.md.

The page's types are generated from these and from protocol.py: run web/generate_types.py after a change.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypeAliasType

from slopewash.errors import InvalidParameter

LARGEST_MESSAGE = 256 * 1024
"""Bytes; a stroke of a thousand points takes a sixth of it."""
MOST_POINTS = 4096
MOST_SOURCES = 256
MOST_STEPS = 100_000
SIZES = (16, 2048)
"""Cells per side of a terrain the studio takes."""

LARGEST_FINISH = 4096
"""Cells per side of a finish."""

ParameterValue = TypeAliasType("ParameterValue", bool | int | float | Annotated[str, Field(max_length=64)])
Edges = TypeAliasType("Edges", Literal["open", "closed", "periodic"])
Name = Annotated[str, Field(max_length=64)]
Number = Annotated[float, Field(ge=-1e12, le=1e12)]


class Strict(BaseModel):
    """Refuses keys it does not know and numbers that are not finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True, use_attribute_docstrings=True)


class Message(Strict):
    """A message; one with an `id` is answered with the same `id`."""

    id: int | Annotated[str, Field(max_length=64)] | None = None


class Play(Message):
    """Run until paused, or until the steps that the preset is made for."""

    type: Literal["play"]


class Pause(Message):
    """Stop after a whole step."""

    type: Literal["pause"]


class Step(Message):
    """Advance by so many steps, then pause."""

    type: Literal["step"]
    count: int = Field(default=1, ge=1, le=MOST_STEPS)


class RunTo(Message):
    """Run until a step, then pause."""

    type: Literal["run_to"]
    step: int = Field(ge=0, le=1_000_000_000)


class Speed(Message):
    """Limit the steps per second."""

    type: Literal["speed"]
    steps_per_second: Annotated[float, Field(gt=0, le=1e6)] | None


class Reset(Message):
    """Go back to the start."""

    type: Literal["reset"]


class BringBack(Message):
    """Return to the run before this one."""

    type: Literal["bring_back"]


class GoOn(Message):
    """Go on with what a complete recipe has made, on one grid and without an end."""

    type: Literal["go_on"]


class Generator(Strict):
    """A generated terrain; what is left out stays as it is."""

    kind: Name | None = None
    size: Annotated[int, Field(ge=SIZES[0], le=SIZES[1])] | None = None
    cell_size: Annotated[float, Field(gt=0, le=1e6)] | None = None
    extent: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """Side in metres, which more cells leave as it is; instead of `cell_size`."""
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    relief: Annotated[float, Field(gt=0, le=1e7)] | None = None
    options: dict[Name, ParameterValue] | None = Field(default=None, max_length=32)


class Start(Message):
    """Start a new run; what is left out stays as it is."""

    type: Literal["start"]
    look: Name | None = None
    """A named landscape, with its own terrain, model and seed: nothing but `size` and `backend` goes with it."""
    generator: Generator | None = None
    preset: Name | None = None
    model: Name | None = None
    parameters: dict[Name, ParameterValue] = Field(default_factory=dict, max_length=256)
    edges: Edges | None = None
    backend: Name | None = None
    upload: Name | None = None
    size: Annotated[int, Field(ge=SIZES[0], le=SIZES[1])] | None = None
    """Cells along the longer side, of a generated terrain or a file."""
    levels: bool | None = None
    """Whether a preset that has levels goes from coarse to fine, to its end; else it runs on one grid, endlessly."""


class Parameters(Message):
    """Change parameters during the run."""

    type: Literal["parameters"]
    values: dict[Name, ParameterValue] = Field(max_length=256)


class Slide(Message):
    """Move one of the five sliders, and with it the parameters that it stands for."""

    type: Literal["slide"]
    name: Name
    position: float = Field(ge=-1, le=1)
    """From one end to the other; the middle, 0, is the preset."""


class Scrub(Message):
    """Go back, or forward again, to the keyframe nearest to a moment of a branch."""

    type: Literal["scrub"]
    branch: int = Field(ge=1)
    moment: int = Field(ge=0)


class Settle(Message):
    """End a run: erosion fades out, then the water deposits its sediment."""

    type: Literal["settle"]
    steps: int = Field(default=600, ge=0, le=MOST_STEPS)
    dry: bool = False


class Paint(Message):
    """One dab per point. Messages with the same `stroke` make one edit."""

    type: Literal["paint"]
    tool: Name
    points: list[tuple[Number, Number]] = Field(min_length=1, max_length=MOST_POINTS)
    radius: float = Field(gt=0, le=1e7)
    strength: Number | None = None
    falloff: float = Field(default=0.5, ge=0, le=1)
    stroke: int | None = None


class WaterSource(Strict):
    """A disc on the ground where water wells up."""

    x: Number
    y: Number
    radius: float = Field(gt=0, le=1e7)
    rate: float = Field(ge=0, le=1e6)


class Sources(Message):
    """Replace all water sources."""

    type: Literal["sources"]
    sources: list[WaterSource] = Field(max_length=MOST_SOURCES)
    stroke: int | None = None


class Emitter(Strict):
    """A disc on the ground where particles start."""

    x: Number
    y: Number
    radius: float = Field(gt=0, le=1e7)
    rate: float = Field(ge=0, le=1e6)
    speed: float = Field(ge=0, le=1e6)
    direction: Number
    """Degrees clockwise from north."""


class Emitters(Message):
    """Replace all emitters."""

    type: Literal["emitters"]
    emitters: list[Emitter] = Field(max_length=MOST_SOURCES)
    stroke: int | None = None


class Undo(Message):
    """Undo the last edit."""

    type: Literal["undo"]


class Redo(Message):
    """Redo the edit undone last."""

    type: Literal["redo"]


class Watch(Message):
    """Choose what frames hold."""

    type: Literal["watch"]
    overlay: Name | None = None
    resolution: int = Field(default=1024, ge=16, le=SIZES[1])
    before: bool = False
    ground: bool = False
    """Also what the simulation did to the ground: it colours the terrain."""
    against: int | None = Field(default=None, ge=1)
    """Branch that `before` shows instead of the start: its keyframe nearest to the moment shown."""


class Pose(Strict):
    """Where the camera stands, and where it looks."""

    eye: tuple[Number, Number, Number]
    heading: Number
    pitch: Number
    walking: Number | None
    """Height above the ground while walking."""


class SavedView(Strict):
    """What a page shows its terrain from, in the page's own units."""

    pose: Pose
    plan: bool
    plan_view: tuple[Number, Number, Number]


class Look(Message):
    """Report where the page looks from, so that it is kept with the run; null for a view of the whole."""

    type: Literal["look"]
    view: SavedView | None


class Open(Message):
    """Open a project that was uploaded."""

    type: Literal["open"]
    upload: Name


class Finish(Message):
    """Do again what was done to this run on other cells, in the background; a recipe is run to its end."""

    type: Literal["finish"]
    size: int = Field(ge=SIZES[0], le=LARGEST_FINISH)
    """Cells along the longer side."""


class CancelFinish(Message):
    """End a finish that is under way, or discard what it has made."""

    type: Literal["cancel_finish"]


class ContinueFinish(Message):
    """Go on with a finish whose process ended, from its last checkpoint."""

    type: Literal["continue_finish"]


class OpenFinish(Message):
    """Show what was finished."""

    type: Literal["open_finish"]


class SideBySide(Message):
    """Show two or four runs from the same terrain beside each other; the run that was there waits."""

    type: Literal["side_by_side"]
    panes: Literal[2, 4] = 2
    """The first has the present settings, the others another model each; panes that are there already stay."""


class ChoosePane(Message):
    """Choose the pane that parameters, edits, exports and questions are for."""

    type: Literal["choose_pane"]
    pane: int = Field(ge=0, le=3)
    """Counted from 0."""


class CopyPane(Message):
    """Give the chosen pane the settings of another; all begin again."""

    type: Literal["copy_pane"]
    pane: int = Field(ge=0, le=3)
    """The other one."""


class LeaveSideBySide(Message):
    """Return to the run that was there before, or go on with the pane that is chosen."""

    type: Literal["leave_side_by_side"]
    keep: bool = False
    """Whether the pane that is chosen becomes the run; the one before can then be restored."""


class Ack(Message):
    """Report that a frame is drawn."""

    type: Literal["ack"]
    frame: int


ClientMessage = Annotated[
    Play | Pause | Step | RunTo | Speed | Reset | BringBack | Start | Parameters | Slide | Scrub | Settle | Paint
    | Sources | Emitters | Undo | Redo | Watch | Look | Open | Finish | CancelFinish | ContinueFinish | OpenFinish
    | GoOn | SideBySide | ChoosePane | CopyPane | LeaveSideBySide | Ack,
    Field(discriminator="type"),
]  # fmt: skip
_ADAPTER: TypeAdapter[Any] = TypeAdapter(ClientMessage)


def parse(text: str | bytes) -> Any:
    """Read one message, or raise `InvalidParameter` with one sentence.

    >>> parse('{"type": "step", "count": 3}').count
    3
    >>> parse('{"type": "step", "much": 3}')
    Traceback (most recent call last):
    slopewash.errors.InvalidParameter: step: much: Extra inputs are not permitted
    """
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        raise InvalidParameter(_sentence(error)) from None
    except RecursionError:
        raise InvalidParameter("message is nested too deeply") from None


def id_of(text: str | bytes) -> int | str | None:
    """The `id` of a message that was refused, if it has a valid one."""
    try:
        given = json.loads(text).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None
    return given if isinstance(given, int) or (isinstance(given, str) and len(given) <= 64) else None


def _sentence(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    # A value that may be of several types has an error for each of them; "not finite" is the most helpful.
    first = next((one for one in found if one["type"] == "finite_number"), found[0])
    place = ": ".join(str(part)[:64] for part in first["loc"][:4])
    return f"{place}: {first['msg']}" if place else f"message: {first['msg']}"
