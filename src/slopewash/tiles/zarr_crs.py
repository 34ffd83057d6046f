"""The CRS of a Zarr group, by whichever convention it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from slopewash.errors import InvalidFile
from slopewash.io import gdal
from slopewash.io.crs import Crs, known, short, unknown
from slopewash.tiles.zarr_folder import ZarrArray, ZarrFacts

GRID_MAPPINGS = ("spatial_ref", "crs")
"""Usual names of the array that holds a CRS."""


def grid_mapping_of(facts: ZarrFacts) -> ZarrArray | None:
    """Array whose attributes give the CRS of the elevation, if there is one."""
    named = facts.arrays["elevation"].attributes.get("grid_mapping")
    if named is None:
        return next((facts.arrays[name] for name in GRID_MAPPINGS if _is_mapping(facts.arrays.get(name))), None)
    name = str(named).split(":")[0].strip()
    if name not in facts.arrays:
        raise InvalidFile(f'{facts.path} has no array "{name}", which grid_mapping of the elevation names; add it')
    return facts.arrays[name]


def _is_mapping(array: ZarrArray | None) -> bool:
    return array is not None and len(array.shape) == 0


def crs_of(facts: ZarrFacts) -> Crs:
    """The one CRS of a group; several that differ are refused."""
    found = list(dict.fromkeys(text for text in _texts(facts)))
    different = {crs.text: crs for crs in (known(facts.path, text) for text in found)}
    if len(different) > 1 and not _are_same(list(different)):
        one, other, *_ = (short(str(text)) for text in different)
        how = "" if gdal.is_available() else f", which without GDAL ({gdal.EXTRA}) are not known to be the same"
        raise InvalidFile(f"{facts.path} has the CRS {one} and the CRS {other}{how}; leave one of them out")
    return next(iter(different.values()), Crs())


def _are_same(texts: list[str | None]) -> bool:
    """Whether texts are of one CRS, in several versions of well-known text."""
    if not gdal.is_available():
        return False
    from slopewash.io.gdal_writing import parsed_crs

    first, *others = (parsed_crs(str(text)) for text in texts)
    return all(first == other for other in others)


def _texts(facts: ZarrFacts) -> Iterator[str]:
    """Whatever says which CRS it is, as a code, well-known text or PROJJSON."""
    elevation, mapping = facts.arrays["elevation"].attributes, grid_mapping_of(facts)
    for attributes in (facts.attributes, elevation):
        yield from _first(facts.path, attributes, ("proj:code", "proj:wkt2", "proj:projjson"))
    yield from _first(facts.path, facts.attributes, ("crs",))
    whole = elevation.get("_CRS")
    if whole is not None:
        yield from _first(facts.path, whole if isinstance(whole, Mapping) else {"_CRS": whole}, _OF_GDAL)
    if mapping is None:
        return
    given = list(_first(facts.path, mapping.attributes, ("crs_wkt", "spatial_ref")))
    yield from given
    if not given and "grid_mapping_name" in mapping.attributes:
        raise InvalidFile(
            f"{facts.path} describes its CRS by the parameters of {mapping.name} alone; add its well-known text as "
            "attribute crs_wkt, as rioxarray does"
        )


_OF_GDAL = ("wkt", "projjson", "url", "_CRS")


def _first(path: Path, attributes: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    """The first of these attributes that is there: a convention repeats one CRS in several forms."""
    for name in names:
        value = attributes.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, Mapping):
            yield json.dumps(value)
        elif isinstance(value, str):
            code = re.fullmatch(r"https?://www\.opengis\.net/def/crs/(\w+)/[^/]+/(\w+)", value)
            yield f"{code[1]}:{code[2]}" if code else value.strip()
        else:
            raise unknown(path, repr(value))
        return
