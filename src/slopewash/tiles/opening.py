"""The result of a run on tiles as others read it: lazily in xarray, or as a GeoTIFF."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slopewash.errors import InvalidFile, InvalidParameter, unknown_name
from slopewash.terrain.fields import layer_spec
from slopewash.tiles.ground import Ground
from slopewash.tiles.output import opened, transform_of
from slopewash.tiles.run import FINISHED, MANIFEST
from slopewash.tiles.store import Store

if TYPE_CHECKING:
    import xarray


def open_result(url: str | Path) -> xarray.Dataset:
    """Open the result of a run on tiles as an xarray Dataset that reads what is asked for, with coordinates.

    Coordinates are those of cell centres, in metres from the south-west corner where the terrain has no place of its
    own. Cells without ground are NaN.
    """
    try:
        import xarray
    except ImportError:
        raise InvalidParameter('sw.open needs the tiles extra: pip install "slopewash[tiles]"') from None
    store = Store(str(url))
    ground = finished(store)
    chunks: Any = {} if find_spec("dask") else None
    data = xarray.open_zarr(store.url, consolidated=False, zarr_format=3, chunks=chunks)
    a, b, c, d, e, f = transform_of(ground)
    rows, columns = ground.shape
    if b == 0 and d == 0:
        data = data.assign_coords(y=f + e * (np.arange(rows) + 0.5), x=c + a * (np.arange(columns) + 0.5))
    if "nodata" in data:
        nodata = data["nodata"]
        data = data.drop_vars("nodata")
        data = data.where(~nodata)
    return data


def finished(store: Store) -> Ground:
    """What is known of a finished run."""
    facts = store.attributes().get(FINISHED)
    if facts is None:
        under_way = store.read_json(MANIFEST)
        if under_way is not None:
            raise InvalidFile(f"{store.url} holds a run at round {under_way['round']}; finish it with slopewash resume")
        raise InvalidFile(f"{store.url} holds no result of a run on tiles")
    return opened(store, facts)


def write_tiled_geotiff(url: str | Path, path: str | Path, layers: Sequence[str] | None = None) -> None:
    """Write the result of a run on tiles to a tiled GeoTIFF with overviews, a band for each layer, window by window."""
    try:
        import rasterio
        from rasterio.enums import Resampling
        from rasterio.transform import Affine
        from rasterio.windows import Window
    except ImportError:
        raise InvalidParameter('GeoTIFFs by windows need the gis extra: pip install "slopewash[gis]"') from None
    store = Store(str(url))
    ground = finished(store)
    names = list(ground.layers if layers is None else layers)
    for name in names:
        if name not in ground.layers:
            raise unknown_name("layer", name, ground.layers)
    rows, columns = ground.shape
    with rasterio.open(
        path, "w", driver="GTiff", width=columns, height=rows, count=len(names), dtype="float32", tiled=True,
        blockxsize=512, blockysize=512, compress="deflate", predictor=3, bigtiff="if_safer", crs=ground.crs,
        transform=Affine(*transform_of(ground)), nodata=float("nan") if ground.has_nodata else None,
    ) as file:  # fmt: skip
        for band, name in enumerate(names, 1):
            file.set_band_description(band, name)
            file.update_tags(band, units=layer_spec(name).units)
        for window in ground.grid:
            part = ground.part(window, names)
            place = Window(window[1].start, window[0].start, part.shape[1], part.shape[0])
            for band, name in enumerate(names, 1):
                values = part[name] if part.nodata is None else np.where(part.nodata, np.float32(np.nan), part[name])
                file.write(values, band, window=place)
        factors = [2**k for k in range(1, 12) if max(rows, columns) / 2**k >= 256]
        if factors:
            file.build_overviews(factors, Resampling.average)


def tiled_facts(url: str | Path) -> dict[str, Any] | None:
    """What is known of a run on tiles, finished or under way; None if there is none."""
    store = Store(str(url))
    facts = store.attributes().get(FINISHED)
    if facts is not None:
        return {"finished": True, **{name: value for name, value in facts.items() if name != "recipe"}}
    facts = store.read_json(MANIFEST)
    if facts is None:
        return None
    ground = facts["ground"] or facts["start"]
    return {
        "finished": False, "slopewash": facts["slopewash"], "shape": ground["grid"]["shape"],
        "tile": ground["grid"]["tile"], "stage": facts["number"] + 1, "stages": len(facts["stages"]),
        "model": facts["stages"][facts["number"]]["model"], "round": facts["round"], "iterations": facts["done"],
        "backend": facts["backend"], "seconds": facts["spent"]["seconds"],
    }  # fmt: skip
