"""What the header of a file contains, known before a pixel is decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slopewash.errors import InvalidFile
from slopewash.remedies import by_file


@dataclass(frozen=True, kw_only=True)
class FileInfo:
    """Contents of a file, from its header alone.

    `bits` is the depth of one sample and `dtype` the NumPy name of the type that holds it. `channels` counts samples
    per cell; `layers` names them where the format has names, and is ("elevation",) where it has a single channel.

    >>> FileInfo(format="PNG", width=4, height=3, bits=16, dtype="uint16", layers=("elevation",))
    FileInfo(format='PNG', width=4, height=3, bits=16, dtype='uint16', channels=1, layers=('elevation',))
    """

    format: str
    width: int
    height: int
    bits: int
    dtype: str
    channels: int = 1
    layers: tuple[str, ...] = ()
    height_range: tuple[float, float] | None = field(default=None, repr=False)
    """Heights of black and of white, the lowest and the highest possible integer, where they are recorded."""
    made_by: Mapping[str, Any] | None = field(default=None, repr=False)
    """Version, preset, seed and step that made it, if it is one of ours."""


def not_grey(path: Path, info: FileInfo) -> InvalidFile:
    """Error for a picture in colours, or with a palette."""
    found = "a palette of colours" if info.layers == ("palette",) else f"channels {', '.join(info.layers)}"
    remedy = by_file(ground="save heights as grey, with 16 bits", other="save it as grey")
    return InvalidFile(f"{path} is a picture with {found}, and a single grey channel is needed; {remedy}")
