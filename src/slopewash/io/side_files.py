"""Files beside a map in which other programs keep what it stands for: none is read.

What they would change is said aloud.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from slopewash.errors import GeoreferenceWarning, InvalidFile
from slopewash.io.meaning import Meaning
from slopewash.io.units import metres_per
from slopewash.paths import read_beside
from slopewash.remedies import by_file

LONGEST = 1 << 20
_IN_XML = r"<{0}(?:\s[^>]*)?>\s*([^<]+?)\s*</{0}>"


def check_replaceable(side: Path, main: Path) -> None:
    """Refuse to write a file whose side file is there without it: that belongs to something else."""
    if os.path.lexists(side) and not os.path.lexists(main):
        raise side_of_another(side, main)


def side_of_another(side: Path, main: Path) -> InvalidFile:
    """Refusal to replace or remove what another program may have written."""
    return InvalidFile(
        f"{side} is there, and belongs to something else; move it, or choose another name than {main.name}, with which "
        "it would be replaced"
    )


def question_side_files(meaning: Meaning) -> None:
    """Warn of a place, nodata, scale or unit that stands beside a file and not in it."""
    path = meaning.path
    for side, what in _ignored(meaning):
        warnings.warn(
            f"{side} gives the {what} of {path.name} and is not read; put it into the file itself, as gdal_translate "
            + by_file(ground="does, or give it as an option of reading", other="does"),
            GeoreferenceWarning,
            stacklevel=2,
        )


def _ignored(meaning: Meaning) -> Iterator[tuple[Path, str]]:
    path = meaning.path
    suffix = path.suffix
    if meaning.transform is None:
        world = (f"{suffix[:2]}{suffix[-1]}w", f"{suffix}w", ".wld")
        found = _first(path.with_suffix(ending) for ending in world)
        if found is not None:
            yield found, "place"
    mask, notes = (_first([path.with_name(path.name + ending)]) for ending in (".msk", ".aux.xml"))
    if mask is not None:
        yield mask, "cells without data"
    if notes is not None and (words := list(_in_notes(notes, meaning))):
        yield notes, " and ".join(words)


def _first(paths: Iterable[Path]) -> Path | None:
    """The first that exists, in small or capital letters."""
    both = (other for path in paths for other in (path, path.with_suffix(path.suffix.upper())))
    return next((path for path in both if path.is_file()), None)


def _in_notes(side: Path, meaning: Meaning) -> Iterator[str]:
    """What the notes of GDAL say that the file does not."""
    try:
        text = (read_beside(side, LONGEST) or b"").decode("utf-8", "replace")
    except ValueError:  # much of what nobody needs
        return
    band = meaning.bands[0]
    if meaning.crs is None and "<SRS" in text:
        yield "CRS"
    if meaning.transform is None and re.search("<GeoTransform|<GCPList", text):
        yield "place"
    if any(not _is_known(number, band.nodata) for number in _numbers(text, "NoDataValue")):
        yield "nodata"
    scales, offsets = _numbers(text, "Scale"), _numbers(text, "Offset")
    if not band.is_scaled and ({*scales} - {1.0} or {*offsets} - {0.0}):
        yield "scale"
    if any(metres_per(unit) not in (None, band.metres) for unit in re.findall(_IN_XML.format("UnitType"), text)):
        yield "unit"


def _numbers(text: str, element: str) -> list[float]:
    found = []
    for word in re.findall(_IN_XML.format(element), text):
        try:
            found.append(float(word))
        except ValueError:
            continue
    return found


def _is_known(number: float, nodata: tuple[float, ...]) -> bool:
    return number in nodata or (number != number and any(other != other for other in nodata))
