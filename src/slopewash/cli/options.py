"""Options shared by several commands."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

from cyclopts import Parameter

from slopewash.errors import InvalidParameter

if TYPE_CHECKING:
    from slopewash import Emitter, LayerFile, Map
    from slopewash.rendering.light import SunName

Edges = Literal["open", "closed", "periodic"]
Out = Annotated[Path, Parameter(name=["--out", "-o"])]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Json = Annotated[Flag, Parameter(help="Print the report as JSON.")]
Backend = Annotated[str, Parameter(help="auto, gpu, cpu or reference.")]
Adapter = Annotated[str | None, Parameter(help="Part of the name of the GPU to run on; `slopewash doctor` lists them.")]
Threads = Annotated[int | None, Parameter(help="Threads to use; the result is the same for any number.")]
Settings = Annotated[tuple[str, ...], Parameter(name="--set", negative="", show_default=False)]

OutHeightRange = Annotated[
    str | None,
    Parameter(
        allow_leading_hyphen=True,
        help="LOW..HIGH: metres that black and white of a 16-bit output stand for; the range of its heights if not "
        "given, which is printed.",
    ),
]
Cog = Annotated[
    Flag,
    Parameter(
        help="Write a .tif as a cloud-optimised GeoTIFF: tiled, compressed, with overviews, one band per layer. Needs "
        "the gis extra."
    ),
]
Layers = Annotated[
    str | None,
    Parameter(
        help="Layers to write as 16-bit masks into the folder of --out, such as flow,wear,deposit: each on a scale "
        "that shows it, which layers.json records. The elevation is always among them; river and lake are drawn along "
        "the drainage. With --tiles, the layers that OUT.zarr holds: all but lake if not given; neither river nor "
        "drainage."
    ),
]
Allow8bit = Annotated[Flag, Parameter(name="--allow-8bit", help="Accept 8-bit heights, which show as terraces.")]

LayerFiles = Annotated[tuple[str, ...], Parameter(name="--layer", negative="", show_default=False)]
Maps = Annotated[tuple[str, ...], Parameter(name="--map", negative="", show_default=False)]
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


def parse_height_range(text: str | None, option: str = "--height-range") -> tuple[float, float] | None:
    """Read `LOW..HIGH` in metres.

    >>> parse_height_range("-20..1400")
    (-20.0, 1400.0)
    """
    if text is None:
        return None
    if "," in text:
        raise InvalidParameter(f"{option} is {text}; write {option} {text.replace(',', '..')}")
    low, high = _two_numbers(option, text.replace("..", ",", 1), "LOW..HIGH, such as 0..1400", text)
    if not low < high:
        raise InvalidParameter(f"{option} is {text}; the first number must be below the second")
    return low, high


def parse_layers(text: str) -> tuple[str, ...]:
    """Read names with commas between them; the elevation is always the first.

    >>> parse_layers("flow, wear")
    ('elevation', 'flow', 'wear')
    """
    names = [name.strip() for name in text.split(",")]
    return tuple(dict.fromkeys(["elevation", *(name for name in names if name)]))


def parse_layer_files(texts: tuple[str, ...]) -> dict[str, float | LayerFile]:
    """Read `NAME=FILE`, `NAME=FILE:LOW..HIGH` or `NAME=NUMBER` of each layer.

    >>> parse_layer_files(("rainfall=2",))
    {'rainfall': 2.0}
    >>> parse_layer_files(("erodibility=rock.png:0.1..1",))["erodibility"].range
    (0.1, 1.0)
    """
    import slopewash as sw

    layers: dict[str, float | LayerFile] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InvalidParameter(f"--layer {text} is not a layer; write --layer rainfall=rain.tif or rainfall=2")
        try:
            layers[name] = float(value)
        except ValueError:
            file, black_white = _file_and_range(value, f"--layer {name}")
            layers[name] = sw.LayerFile(path=Path(file), range=black_white)
    return layers


def parse_maps(texts: tuple[str, ...]) -> dict[str, Map]:
    """Read `PARAMETER=FILE` or `PARAMETER=FILE:LOW..HIGH` of each map; a name without a suffix is a layer.

    >>> parse_maps(("rain-rate=rain.png:0..0.05",))
    {'rain_rate': Map('rain.png', low=0.0, high=0.05)}
    """
    import slopewash as sw

    maps: dict[str, Map] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise InvalidParameter(f"--map {text} is not a map; write --map rain_rate=rain.tif or rain.tif:0..0.05")
        source, span = _file_and_range(value, f"--map {name}")
        maps[name.replace("-", "_")] = sw.Map(source, *(span or ()))
    return maps


def _file_and_range(text: str, option: str) -> tuple[str, tuple[float, float] | None]:
    """Split `FILE:LOW..HIGH`; the range may be missing."""
    file, colon, span = text.rpartition(":")
    if colon and (hyphen := re.fullmatch(r"(-?[0-9.]+)-([0-9.]+)", span)):
        raise InvalidParameter(f"the range of {option}={file} is {span}; write {file}:{hyphen[1]}..{hyphen[2]}")
    if not colon or ".." not in span:
        return text, None
    return file, parse_height_range(span, f"the range of {option}={file}")


def parse_sun(text: str) -> tuple[float, float] | SunName:
    """Read `AZIMUTH,ALTITUDE` in degrees, or the name of a time of day.

    >>> parse_sun("135,20"), parse_sun("noon")
    ((135.0, 20.0), 'noon')
    """
    if "," in text:
        return _two_numbers("--sun", text, "AZIMUTH,ALTITUDE in degrees, such as 135,20")
    return cast("SunName", text)  # names are checked where they are used


def parse_snow_line(text: str) -> float | Literal["auto"] | None:
    """Read a height in metres, `none` or `auto`.

    >>> parse_snow_line("1200"), parse_snow_line("none"), parse_snow_line("auto")
    (1200.0, None, 'auto')
    """
    if text in ("auto", "none"):
        return "auto" if text == "auto" else None
    try:
        height = float(text)
    except ValueError:
        height = math.nan
    if not math.isfinite(height):
        raise InvalidParameter(f"--snow-line is {text}; it must be a height in metres, none or auto")
    return height


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


def _two_numbers(option: str, text: str, wanted: str, given: str | None = None) -> tuple[float, float]:
    refusal = InvalidParameter(f"{option} is {given or text}; it must be {wanted}")
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise refusal from None
    if not (math.isfinite(first) and math.isfinite(second)):
        raise refusal
    return first, second
