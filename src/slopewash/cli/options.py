"""Options shared by several commands."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Emitter

Edges = Literal["open", "closed", "periodic"]
Out = Annotated[Path, Parameter(name=["--out", "-o"])]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Json = Annotated[Flag, Parameter(name="--json")]
Pair = Annotated[str | None, Parameter(allow_leading_hyphen=True)]
Adapter = Annotated[str | None, Parameter(name="--adapter")]
Settings = Annotated[tuple[str, ...], Parameter(name="--set", negative="", show_default=False)]

Emitters = Annotated[
    tuple[str, ...], Parameter(name="--emitter", negative="", show_default=False, allow_leading_hyphen=True)
]


def parse_emitters(texts: tuple[str, ...]) -> list[Emitter]:
    """Read `X,Y,RADIUS,RATE,SPEED,DIRECTION` of each emitter.

    >>> parse_emitters(("120,80,30,20,2,90",))
    [Emitter(x=120.0, y=80.0, radius=30.0, rate=20.0, speed=2.0, direction=90.0)]
    """
    import slopewash as sw

    emitters = []
    for text in texts:
        try:
            x, y, radius, rate, speed, direction = (float(part) for part in text.split(","))
        except ValueError:
            raise InvalidParameter(
                f"--emitter is {text}; it must be X,Y,RADIUS,RATE,SPEED,DIRECTION in metres, particles per second, m/s "
                "and degrees from north, such as 120,80,30,20,2,90"
            ) from None
        emitters.append(sw.Emitter(x=x, y=y, radius=radius, rate=rate, speed=speed, direction=direction))
    return emitters


def parse_height_range(text: str | None) -> tuple[float, float] | None:
    """Read `LOW,HIGH` in metres.

    >>> parse_height_range("-20,1400")
    (-20.0, 1400.0)
    """
    if text is None:
        return None
    low, high = _two_numbers("--height-range", text, "LOW,HIGH in metres, such as 0,1400")
    if not low < high:
        raise InvalidParameter(f"--height-range is {text}; the first number must be below the second")
    return low, high


def parse_shape(text: str | None) -> tuple[int, int] | None:
    """Read `ROWS,COLUMNS`.

    >>> parse_shape("512,1024")
    (512, 1024)
    """
    if text is None:
        return None
    rows, columns = _two_numbers("--shape", text, "ROWS,COLUMNS, such as 512,1024")
    if not (rows >= 1 and columns >= 1 and rows == int(rows) and columns == int(columns)):
        raise InvalidParameter(f"--shape is {text}; rows and columns must be whole numbers, 1 or more")
    return int(rows), int(columns)


def _two_numbers(option: str, text: str, wanted: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise InvalidParameter(f"{option} is {text}; it must be {wanted}") from None
    if not (math.isfinite(first) and math.isfinite(second)):
        raise InvalidParameter(f"{option} is {text}; it must be {wanted}")
    return first, second
