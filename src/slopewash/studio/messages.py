"""What a page may say, checked at the door: see docs/studio-protocol.md."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from slopewash.errors import InvalidParameter

LARGEST_MESSAGE = 256 * 1024
"""Bytes; a stroke of a thousand points takes a sixth of it."""
MOST_POINTS = 4096
MOST_SOURCES = 256
MOST_STEPS = 100_000
SIZES = (16, 2048)
"""Cells per side of a terrain the studio takes."""

Value = bool | int | float | Annotated[str, Field(max_length=64)]
Name = Annotated[str, Field(max_length=64)]
Number = Annotated[float, Field(ge=-1e12, le=1e12)]


class Strict(BaseModel):
    """Refuses keys it does not know and numbers that are not finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Message(Strict):
    """What every message may carry."""

    id: int | Annotated[str, Field(max_length=64)] | None = None


class Play(Message):
    """Run on."""

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
    """Go back to the run that was left for this one."""

    type: Literal["bring_back"]


class Generator(Strict):
    """A terrain out of nothing."""

    kind: Name | None = None
    size: Annotated[int, Field(ge=SIZES[0], le=SIZES[1])] | None = None
    cell_size: Annotated[float, Field(gt=0, le=1e6)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**53)] | None = None
    relief: Annotated[float, Field(gt=0, le=1e7)] | None = None
    options: dict[Name, Value] | None = Field(default=None, max_length=32)


class Start(Message):
    """Begin a new simulation; what is not named stays as it was."""

    type: Literal["start"]
    generator: Generator | None = None
    preset: Name | None = None
    model: Name | None = None
    parameters: dict[Name, Value] = Field(default_factory=dict, max_length=256)
    edges: Literal["open", "closed", "periodic"] | None = None
    backend: Name | None = None
    upload: Name | None = None
    size: Annotated[int, Field(ge=SIZES[0], le=SIZES[1])] | None = None
    """Cells along the longer side, wherever the terrain comes from."""


class Parameters(Message):
    """Change parameters while it runs."""

    type: Literal["parameters"]
    values: dict[Name, Value] = Field(max_length=256)


class Settle(Message):
    """End a run."""

    type: Literal["settle"]
    steps: int = Field(default=600, ge=0, le=MOST_STEPS)
    dry: bool = False


class Paint(Message):
    """One edit, or with the same `stroke` as before a piece of one."""

    type: Literal["paint"]
    tool: Name
    points: list[tuple[Number, Number]] = Field(min_length=1, max_length=MOST_POINTS)
    radius: float = Field(gt=0, le=1e7)
    strength: Number | None = None
    falloff: float = Field(default=0.5, ge=0, le=1)
    stroke: int | None = None


class Source(Strict):
    """A spring."""

    x: Number
    y: Number
    radius: float = Field(gt=0, le=1e7)
    rate: float = Field(ge=0, le=1e6)


class Sources(Message):
    """Replace all springs."""

    type: Literal["sources"]
    sources: list[Source] = Field(max_length=MOST_SOURCES)
    stroke: int | None = None


class Emitter(Strict):
    """Where particles enter."""

    x: Number
    y: Number
    radius: float = Field(gt=0, le=1e7)
    rate: float = Field(ge=0, le=1e6)
    speed: float = Field(default=0.0, ge=0, le=1e6)
    direction: Number = 0.0


class Emitters(Message):
    """Replace all emitters."""

    type: Literal["emitters"]
    emitters: list[Emitter] = Field(max_length=MOST_SOURCES)
    stroke: int | None = None


class Undo(Message):
    """Take the last edit back."""

    type: Literal["undo"]


class Redo(Message):
    """Do it again."""

    type: Literal["redo"]


class Watch(Message):
    """What frames hold."""

    type: Literal["watch"]
    overlay: Name | None = None
    resolution: int = Field(default=1024, ge=16, le=SIZES[1])
    before: bool = False


class Ack(Message):
    """A frame is drawn."""

    type: Literal["ack"]
    frame: int


AnyMessage = Annotated[
    Play | Pause | Step | RunTo | Speed | Reset | BringBack | Start | Parameters | Settle | Paint | Sources | Emitters
    | Undo | Redo | Watch | Ack,
    Field(discriminator="type"),
]  # fmt: skip
_ADAPTER: TypeAdapter[Any] = TypeAdapter(AnyMessage)


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
    """The `id` of a message that was refused, if it can be told."""
    try:
        given = json.loads(text).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None
    return given if isinstance(given, int) or (isinstance(given, str) and len(given) <= 64) else None


def _sentence(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    # A value that may be of several types has an error for each of them; that it is not finite says most.
    first = next((one for one in found if one["type"] == "finite_number"), found[0])
    place = ": ".join(str(part)[:64] for part in first["loc"][:4])
    return f"{place}: {first['msg']}" if place else f"message: {first['msg']}"
