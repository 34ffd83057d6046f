"""What a GeoTIFF means is the same in memory, without GDAL and on tiles; what a path cannot honour it refuses.

Cases combine levels of many factors. The expected terrain is worked out here, from what was written. `TIFF_CASES` asks
for more of them than fit an ordinary run.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.io.expected import US_FOOT, Expected, told
from tests.io.tiffs import ASCII, COMPRESSIONS, DOUBLE, SHORT, Tag, tiff
from tests.io.windows import by_tiles

import slopewash as sw
from slopewash.errors import SlopewashError

CASES = int(os.environ.get("TIFF_CASES", "150"))
SEED = int(os.environ.get("TIFF_SEED", "29"))
SHAPE = (7, 9)

FACTORS: Mapping[str, tuple[str, ...]] = {
    "dtype": ("f4", "f8", "f2", "i2", "u2", "i4", "u4", "u1"),
    "compression": tuple(COMPRESSIONS),
    "predictor": ("none", "usual"),
    "order": ("<", ">"),
    "big": ("classic", "big"),
    "layout": ("strips", "tiles", "planes"),
    "orientation": tuple("12345678"),
    "place": (
        "utm", "nowhere", "size", "grid", "point", "picture", "south up", "rotated", "feet", "feet unstated", "yards",
        "compound", "compound unstated", "degrees", "oblong", "unknown unit", "gcps", "rpcs", "earth",
        "depths", "depths unstated", "negative", "flat", "two units", "two places",
    ),
    "unit": ("none", "metre", "ft", "US_survey_foot", "mm", "Fathom", "km", "furlong"),
    "holes": (
        "none", "tag", "tag nan", "tag and nan", "tag unused", "untagged nan", "option nan", "option", "both", "mask",
    ),
    "scale": ("none", "0.5 100", "2 -10"),
    "bands": ("one", "one by number", "named", "named backwards", "by number", "unnamed", "alpha", "rgb", "twice"),
    "option": ("none", "cell_size", "height_range", "height_unit", "allow_8bit"),
}  # fmt: skip
Case = dict[str, str]
USUAL: Case = {name: levels[0] for name, levels in FACTORS.items()}

METRES = {"metre": 1.0, "ft": 0.3048, "US_survey_foot": US_FOOT, "mm": 0.001, "Fathom": 1.8288, "km": 1000.0}
SIZES = {"feet": 30 * US_FOOT, "feet unstated": 30 * US_FOOT, "yards": 30 * 0.9144, "rotated": 30.0, "nowhere": 1.0}
PROJECTED = {"feet": 2229, "feet unstated": 2229, "yards": 32767}
ONLY_GDAL = ("feet unstated", "compound unstated")
"""Places whose units follow from a code that only a library of CRSs knows."""
CONTRADICTORY = ("depths", "depths unstated", "negative", "flat", "two units", "two places")
"""Places that no option makes clear."""
CRS_OF_GDAL = ("yards", "compound", "compound unstated")


def random_of(case: Case) -> np.random.Generator:
    return np.random.default_rng([SEED, *"".join(case.values()).encode()])


def samples_of(case: Case, random: np.random.Generator) -> NDArray[Any]:
    """Numbers that every type holds exactly, and that show where they are."""
    return random.integers(1, 100, SHAPE).astype(case["dtype"])


def stored_upright(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    """The picture that TIFF 6.0 asks to show for stored rows and columns."""
    rows, columns = array.shape
    shown = np.zeros((rows, columns) if orientation < 5 else (columns, rows), array.dtype)
    for row in range(rows):
        for column in range(columns):
            from_top, from_left = rows - 1 - row, columns - 1 - column
            place = {
                1: (row, column), 2: (row, from_left), 3: (from_top, from_left), 4: (from_top, column),
                5: (column, row), 6: (column, from_top), 7: (from_left, from_top), 8: (from_left, row),
            }[orientation]  # fmt: skip
            shown[place] = array[row, column]
    return shown


def keys(*pairs: tuple[int, int]) -> Tag:
    """Keys with their codes; a negative one is the tag of which the first number is meant."""
    entries = [(key, 0, 1, value) if value >= 0 else (key, -value, 1, 0) for key, value in sorted(pairs)]
    return SHORT, [1, 1, 0, len(pairs), *(number for entry in entries for number in entry)]


def place_tags(place: str) -> dict[int, Tag]:
    scale, tie = (DOUBLE, [30.0, 30.0, 0.0]), (DOUBLE, [0.0, 0.0, 0.0, 500.0, 9000.0, 0.0])
    utm = [(1024, 1), (1025, 1), (3072, 32611), (3076, 9001)]
    grid: dict[int, Tag] = {33550: scale, 33922: tie}

    def matrix(a: float, b: float, d: float, e: float) -> dict[int, Tag]:
        return {34264: (DOUBLE, [a, b, 0, 500, d, e, 0, 9000, 0, 0, 0, 0, 0, 0, 0, 1])}

    tags: dict[str, dict[int, Tag]] = {
        "nowhere": {}, "size": {33550: scale}, "grid": grid, "utm": {**grid, 34735: keys(*utm)},
        "point": {**grid, 34735: keys((1024, 1), (1025, 2), (3072, 32611), (3076, 9001))},
        "picture": matrix(30, 0, 0, 30), "south up": {**matrix(30, 0, 0, 30), 34735: keys(*utm)},
        "rotated": {**matrix(24, 18, 18, -24), 34735: keys(*utm)},
        "feet": {**grid, 34735: keys((1024, 1), (1025, 1), (3072, 2229), (3076, 9003))},
        "feet unstated": {**grid, 34735: keys((1024, 1), (1025, 1), (3072, 2229))},
        "yards": {
            **grid, 34736: (DOUBLE, [0.9144]),
            34735: keys((1024, 1), (1025, 1), (3072, 32767), (3076, 32767), (3077, -34736)),
        },
        "compound": {**grid, 34735: keys(*utm, (4096, 6360), (4099, 9003))},
        "compound unstated": {**grid, 34735: keys(*utm, (4096, 6360))},
        "degrees": {**grid, 33550: (DOUBLE, [1 / 3600] * 2 + [0.0]), 34735: keys((1024, 2), (1025, 1), (2048, 4326))},
        "oblong": {33550: (DOUBLE, [30.0, 20.0, 0.0]), 33922: tie, 34735: keys(*utm)},
        "unknown unit": {**grid, 34735: keys((1024, 1), (1025, 1), (3072, 32611), (3076, 9102))},
        "gcps": {33922: (DOUBLE, [0, 0, 0, 500, 9000, 0, 9, 0, 0, 790, 9010, 0]), 34735: keys(*utm)},
        "rpcs": {50844: (DOUBLE, [0.5] * 92)},
        "depths": {**grid, 34735: keys(*utm, (4096, 5715), (4099, 9001))},
        "depths unstated": {**grid, 34735: keys(*utm, (4096, 5866))},
        "negative": {**grid, 33550: (DOUBLE, [30.0, -30.0, 0.0]), 34735: keys(*utm)},
        "flat": {**grid, 33550: (DOUBLE, [0.0, 0.0, 0.0]), 34735: keys(*utm)},
        "two places": {**grid, **matrix(10, 0, 0, -10), 34735: keys(*utm)},
        "two units": {**grid, 34735: keys((1024, 1), (1025, 1), (3072, 32611), (3076, 9002))},
        "earth": {**grid, 34735: keys((1024, 3), (1025, 1), (2048, 4978))},
    }  # fmt: skip
    return tags[place]


def transform_of(place: str) -> tuple[float, ...] | None:
    known: dict[str, tuple[float, ...] | None] = {
        "nowhere": None, "size": None, "gcps": None, "rpcs": None, "picture": (30, 0, 500, 0, 30, 9000),
        "south up": (30, 0, 500, 0, -30, 9000 + 30 * SHAPE[0]), "rotated": (24, 18, 500, 18, -24, 9000),
        "point": (30, 0, 485, 0, -30, 9015), "degrees": (1 / 3600, 0, 500, 0, -1 / 3600, 9000),
        "oblong": (30, 0, 500, 0, -20, 9000),
    }  # fmt: skip
    return known.get(place, (30, 0, 500, 0, -30, 9000))


def crs_of(place: str) -> str | None:
    if place in ("nowhere", "size", "grid", "picture", "rpcs", "earth", "yards"):
        return None
    return {"degrees": "EPSG:4326", "feet": "EPSG:2229", "feet unstated": "EPSG:2229"}.get(place, "EPSG:32611")


def written(case: Case) -> tuple[bytes, dict[str, Any], Expected]:
    """A file, the options to read it with, and what it means."""
    random = random_of(case)
    ground, flow = samples_of(case, random), samples_of(case, random)
    dtype, whole = np.dtype(case["dtype"]), np.dtype(case["dtype"]).kind in "iu"
    holes, options = case["holes"], dict[str, Any]()
    hole = random.random(SHAPE) < 0.2
    hole[0, 0], hole[3, 5] = False, True
    second = np.zeros(SHAPE, bool)
    marker, other, mask = 111, 113, None
    missing, refused = np.zeros(SHAPE, bool), False
    if holes in ("tag", "both"):
        ground[hole], missing = marker, hole
    if holes in ("option", "both"):
        second = (random.random(SHAPE) < 0.1) & ~hole
        second[2, 3] = True
        ground[second], options["nodata"] = other, other
        missing = missing | second
    if holes in ("tag nan", "tag and nan", "untagged nan", "option nan") and not whole:
        ground[hole], missing = np.nan, hole
        refused = holes == "untagged nan"
    if holes == "option nan":
        options["nodata"] = np.nan
    if holes == "mask":
        mask, missing = ~hole, hole
    tag = {"tag": "111", "both": "111", "tag nan": "nan", "tag and nan": "-9999", "tag unused": "-77"}.get(holes)
    listed: dict[str, list[str | None]] = {
        "named": ["elevation", "flow"], "named backwards": ["flow", "elevation"], "by number": [None, None],
        "unnamed": [None, None], "alpha": [None, None], "rgb": [None] * 3, "twice": ["elevation", "elevation"],
    }  # fmt: skip
    names = listed.get(case["bands"], [None])
    bands = [ground] if len(names) == 1 else [ground, flow]
    number = 1
    if case["bands"] == "one by number":
        options["band"] = 1
    elif case["bands"] == "named backwards":
        bands, number = [flow, ground], 2
    elif case["bands"] == "by number":
        bands, number, options["band"] = [flow, ground], 2, 2
    elif case["bands"] == "alpha":
        clear = random.random(SHAPE) < 0.1
        clear[1, 1] = True
        bands, missing, options["band"] = [ground, np.where(clear, 0, 255).astype(dtype)], missing | clear, 1
    elif case["bands"] == "rgb":
        bands, number, options["band"] = [flow, flow, ground], 3, 3
    elif case["bands"] in ("unnamed", "twice"):
        refused = True
    tags = place_tags(case["place"])
    if tag is not None:
        tags[42113] = (ASCII, tag)
    scale, offset = (1.0, 0.0) if case["scale"] == "none" else map(float, case["scale"].split())
    items = [
        f'<Item name="DESCRIPTION" sample="{band}" role="description">{name}</Item>'
        for band, name in enumerate(names) if name
    ]  # fmt: skip
    if case["scale"] != "none":
        items.append(f'<Item name="SCALE" sample="{number - 1}" role="scale">{scale!r}</Item>')
        items.append(f'<Item name="OFFSET" sample="{number - 1}" role="offset">{offset!r}</Item>')
    if case["unit"] != "none":
        items.append(f'<Item name="UNITTYPE" sample="{number - 1}" role="unittype">{case["unit"]}</Item>')
    if items:
        tags[42112] = (ASCII, f"<GDALMetadata>{''.join(items)}</GDALMetadata>")
    orientation = int(case["orientation"])
    if orientation > 1:
        tags[274] = (SHORT, [orientation])
    if case["bands"] == "alpha":
        tags[338] = (SHORT, [2])
    elif len(bands) == 2:
        tags[338] = (SHORT, [0] * (len(bands) - 1))
    data = tiff(
        np.stack(bands), order="<" if case["order"] == "<" else ">", big=case["big"] == "big",
        compression=case["compression"],
        predictor=case["predictor"] == "usual", side=16 if case["layout"] == "tiles" else None,
        separate=case["layout"] == "planes", photometric=2 if case["bands"] == "rgb" else 1, tags=tags, mask=mask,
    )  # fmt: skip

    # What it means
    place = case["place"]
    if case["option"] == "cell_size":
        options["cell_size"] = 7.0
    elif case["option"] == "height_unit":
        options["height_unit"] = "us-ft"
    elif case["option"] == "height_range":
        options["height_range"] = (-50.0, 1000.0)
        refused |= not whole or case["scale"] != "none"
    if case["option"] == "allow_8bit" or case["dtype"] == "u1":
        options["allow_8bit"] = True
    refused |= (
        whole
        and place == "nowhere"
        and not (case["option"] == "height_range" or case["unit"] != "none" or case["scale"] != "none")
    )
    refused |= case["option"] != "cell_size" and place in (
        "degrees", "oblong", "unknown unit", "gcps", "rpcs", "earth",
    )  # fmt: skip
    refused |= place in CONTRADICTORY
    refused |= case["predictor"] == "usual" and case["compression"] in ("none", "packbits")
    refused |= orientation != 1 and place not in ("nowhere", "size", "rpcs")
    metres = METRES.get(case["unit"], US_FOOT if place.startswith("compound") and case["unit"] == "none" else 1.0)
    if case["option"] == "height_unit":
        metres = US_FOOT
    elif case["unit"] == "furlong" and case["option"] != "height_range":
        refused = True
    numbers = np.where(missing, 0, ground).astype(np.float64)
    if case["option"] == "height_range" and whole:
        low, high = float(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
        share = (numbers - low) / (high - low)
        heights = (-50.0 * (1 - share) + 1000.0 * share).astype(np.float32)
    else:
        heights = ((numbers * scale + offset) * metres).astype(np.float32)
    heights[missing] = 0
    layers = {"elevation": heights}
    if case["bands"].startswith("named"):
        layers["flow"] = np.where(missing, 0, flow).astype(np.float32)
    if place == "south up":
        layers = {name: layer[::-1] for name, layer in layers.items()}
        missing = missing[::-1]
    layers = {name: stored_upright(layer, orientation) for name, layer in layers.items()}
    expected = Expected(
        layers=layers, nodata=stored_upright(missing, orientation), refused=refused, crs=crs_of(place),
        transform=transform_of(place), cell_size=options.get("cell_size", SIZES.get(place, 30.0)),
    )  # fmt: skip
    return data, options, expected


# Paths


def in_memory(path: Path, options: dict[str, Any]) -> sw.Terrain:
    return sw.read(path, **options)


def without_gdal(path: Path, options: dict[str, Any]) -> sw.Terrain:
    with sw.without_gdal():
        return sw.read(path, **options)


Path_ = Callable[[Path, dict[str, Any]], sw.Terrain]
PATHS: tuple[Path_, ...] = (in_memory, without_gdal, by_tiles)


def may_be_refused(case: Case, path: Path_) -> bool:
    """Whether a path need not honour a case that means something."""
    if path is without_gdal:
        unit_known = case["option"] == "cell_size" or case["place"] != "feet unstated"
        heights_known = case["place"] != "compound unstated" or case["unit"] != "none"
        heights_known |= case["option"] in ("height_unit", "height_range")
        decodable = case["bands"].startswith("one") and case["holes"] != "mask"
        return not (unit_known and heights_known and decodable)
    return False


def check(case: Case, folder: Path) -> int:
    """Read a case by every path; returns by how many it was honoured."""
    data, options, expected = written(case)
    file = folder / "dem.tif"
    file.write_bytes(data)
    honoured = 0
    for path in PATHS:
        terrain, questions = _honoured(path, file, options)
        if isinstance(terrain, SlopewashError):
            refusable = expected.refused or may_be_refused(case, path)
            assert refusable, f"{path.__name__} refused {told(case, USUAL)}: {terrain}"
            continue
        where = f"{path.__name__} of {told(case, USUAL)}"
        assert not expected.refused, f"{where} was honoured: {terrain}"
        honoured += 1
        expected.check_values(terrain, where)
        questionable = case["unit"] == "none" and case["option"] not in ("height_unit", "height_range")
        questionable &= case["place"] == "feet" or (case["place"] == "feet unstated" and path is not without_gdal)
        assert sum("heights without a unit" in text for text in questions) == questionable, where
        assert terrain.cell_size == pytest.approx(expected.cell_size, rel=1e-12), where
        assert terrain.transform == expected.transform, where
        if case["place"] not in CRS_OF_GDAL:
            assert terrain.crs == expected.crs, where
    return honoured


def _honoured(path: Path_, file: Path, options: dict[str, Any]) -> tuple[sw.Terrain | SlopewashError, list[str]]:
    """What a path reads or refuses, and its questions about the place."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sw.errors.GeoreferenceWarning)
        try:
            terrain: sw.Terrain | SlopewashError = path(file, options)
        except SlopewashError as error:
            terrain = error
    return terrain, [str(warning.message) for warning in caught]


def pairwise(count: int) -> list[Case]:
    """Cases in which all levels of any two factors meet, as far as `count` of them go, and random ones beyond."""
    random = np.random.default_rng(SEED)
    names = list(FACTORS)
    chances = {
        name: np.array([0.7 if level == 0 and len(levels) > 4 else 1.0 for level in range(len(levels))])
        for name, levels in FACTORS.items()
    }
    for name in ("orientation", "place", "bands", "holes", "unit", "option"):  # most levels leave little of a case
        chances[name][0] = 2.0 * len(FACTORS[name])
    chances["place"][:12] *= 3
    chances = {name: weights / weights.sum() for name, weights in chances.items()}
    wanted = {
        ((a, x), (b, y))
        for i, a in enumerate(names) for b in names[i + 1 :] for x in FACTORS[a] for y in FACTORS[b]
    }  # fmt: skip
    cases: list[Case] = []
    for _ in range(count):
        tries = [
            {
                name: str(random.choice(levels, p=chances[name] / chances[name].sum()))
                for name, levels in FACTORS.items()
            }
            for _ in range(8)
        ]
        if wanted:
            (a, x), (b, y) = min(wanted) if len(cases) % 2 else max(wanted)
            for case in tries:
                case[a], case[b] = x, y
        best = max(tries, key=lambda case: (not written(case)[2].refused, len(_pairs(case) & wanted)))
        wanted -= _pairs(best)
        cases.append(best)
    return cases


def _pairs(case: Case) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    levels = list(case.items())
    return {(one, other) for i, one in enumerate(levels) for other in levels[i + 1 :]}


@pytest.mark.parametrize("name", FACTORS)
def test_every_level_of_every_factor_by_itself_means_the_same_on_every_path(tmp_path: Path, name: str) -> None:
    for level in FACTORS[name]:
        for place in ("utm", "nowhere"):
            for dtype in ("f4", "i2"):
                check({**USUAL, "place": place, "dtype": dtype, name: level}, tmp_path)


def test_pairs_of_levels_mean_the_same_on_every_path(tmp_path: Path) -> None:
    honoured = [check(case, tmp_path) for case in pairwise(CASES)]
    assert sum(count > 0 for count in honoured) > len(honoured) / 4  # or it would show little
