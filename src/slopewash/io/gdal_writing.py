"""GeoTIFFs for geographic information systems: any CRS, one band per layer, compressed, with overviews."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from slopewash.crs_texts import names_files
from slopewash.drafts import staged
from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io.gdal import ENVIRONMENT, failures, is_available, rasterio_for
from slopewash.io.gdal_raster import CELL_SIZE_TAG, STEP_TAG
from slopewash.io.geotiff import step_of
from slopewash.io.ground_scale import question_step
from slopewash.io.height_units import as_in_crs
from slopewash.io.notes import Notes, notes_text
from slopewash.io.orientation import as_stored
from slopewash.terrain import Terrain, check_terrain

Compression = Literal["deflate", "lzw", "zstd", "none"]
COMPRESSIONS = ("deflate", "lzw", "zstd", "none")
BLOCK = 512


def write_geotiff(
    terrain: Terrain,
    path: str | os.PathLike[str],
    *,
    layers: Sequence[str] | Literal["all"] = ("elevation",),
    split: bool = False,
    cog: bool = True,
    compression: Compression = "deflate",
    notes: Notes | None = None,
) -> list[Path]:
    """Write a GeoTIFF for a geographic information system and return the files (needs the gis extra).

    Parameters
    ----------
    terrain
        What to write. Its CRS may be any text that PROJ understands; nodata cells are NaN, and declared so.
    path
        The file, .tif or .tiff; an existing one is replaced.
    layers
        Layers to write, each as a band with its name and unit; "all" for every layer. `read` finds them again.
    split
        Write one file per layer instead, named after it: out_elevation.tif, out_flow.tif.
    cog
        Write a cloud-optimised GeoTIFF: tiled, with overviews, readable over the network in parts.
    compression
        How samples are compressed, without loss: "deflate", "lzw", "zstd" or "none".
    notes
        What made the terrain, to record in the file: `Result.notes`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_geotiff(Terrain([[0.0, 1.0]], water=0.5), f"{folder}/hill.tif", layers="all", split=True)
    ...     [file.name for file in files]
    ['hill_elevation.tif', 'hill_water.tif']
    """
    check_terrain(terrain)
    path = Path(path)
    if path.suffix.lower() not in (".tif", ".tiff"):
        raise InvalidFile(f"{path} must end in .tif or .tiff")
    if compression not in COMPRESSIONS:
        raise InvalidParameter(f'compression is "{compression}"; it must be one of {", ".join(COMPRESSIONS)}')
    names = list(terrain) if layers == "all" else list(dict.fromkeys(layers))
    if isinstance(layers, str) and layers != "all":
        raise InvalidParameter(f'layers is "{layers}"; pass ("{layers}",) or "all"')
    if not names:
        raise InvalidParameter('layers is empty; name one, such as "elevation"')
    for name in names:
        terrain[name]  # an unknown layer raises before anything is written
    stored = as_stored(terrain)
    question_step(path, stored, keeps_size=True)
    files = {path: names}
    if split:
        files = {path.with_name(f"{path.stem}_{name}{path.suffix}"): [name] for name in names}
    for file, bands in files.items():
        _write(stored, file, bands, cog=cog, compression=compression, notes=notes)
    return list(files)


def write_layer(terrain: Terrain, path: Path, layer: str, notes: Notes) -> None:
    """Write one layer uncompressed, for programs that read little else."""
    _write(terrain, path, [layer], cog=False, compression="none", notes=notes)


def _write(
    terrain: Terrain,
    path: Path,
    names: Sequence[str],
    *,
    cog: bool,
    compression: Compression,
    notes: Notes | None = None,
) -> None:
    rasterio = rasterio_for(f"writing {path} as a GeoTIFF with this CRS, several bands or compression")
    size = terrain.cell_size
    place = terrain.transform or (size, 0.0, 0.0, 0.0, -size, terrain.height)
    options: dict[str, Any] = {
        "driver": "COG" if cog else "GTiff", "height": terrain.shape[0], "width": terrain.shape[1],
        "count": len(names), "dtype": "float32", "nodata": None if terrain.nodata is None else np.nan,
        "transform": rasterio.Affine(*place), "compress": compression.upper(), "bigtiff": "IF_SAFER",
    }  # fmt: skip
    if terrain.crs is not None and terrain.transform is not None:
        options["crs"] = parsed_crs(terrain.crs)
    if cog:
        options |= {"blocksize": BLOCK, "overview_resampling": "average"}
        options |= {} if compression == "none" else {"predictor": "YES"}
    else:
        options |= {"interleave": "band"} | ({} if compression == "none" else {"predictor": 3})
    with staged(path) as temporary:
        try:
            # The driver is named, so that the suffix of the temporary file does not matter.
            with rasterio.Env(**ENVIRONMENT), rasterio.open(temporary, "w", **options) as target:
                for band, name in enumerate(names, start=1):
                    values, unit = as_in_crs(terrain[name], name, terrain.crs)
                    if terrain.nodata is not None:
                        values = np.where(terrain.nodata, np.float32(np.nan), values)
                    target.write(values, band)
                    target.set_band_description(band, name)
                    target.set_band_unit(band, unit)
                made_by = {"TIFFTAG_IMAGEDESCRIPTION": notes_text(notes)} if notes else {}
                made_by |= {CELL_SIZE_TAG: repr(size), STEP_TAG: repr(step_of(place))}
                target.update_tags(**made_by, TIFFTAG_SOFTWARE="slopewash")
        except failures() as error:
            raise InvalidFile(f"cannot write {path}: {error}") from error


def parsed_crs(text: str) -> Any:
    """Return the CRS of a text, or raise."""
    rasterio = rasterio_for(f'the CRS "{shortened(text)}"')
    if names_files(text):
        raise InvalidParameter(
            f'CRS "{shortened(text)}" is neither a code nor a text that GDAL may read: it names a file; give a code '
            "such as EPSG:32611"
        )
    try:
        return rasterio.crs.CRS.from_user_input(text)
    except rasterio.errors.CRSError:
        raise InvalidParameter(
            f'CRS "{shortened(text)}" is unknown; it must be a code such as EPSG:32611, or well-known text'
        ) from None


def knows_crs(text: str | None) -> bool:
    """Whether GDAL is there and understands a CRS."""
    if text is None or not is_available():
        return False
    try:
        parsed_crs(text)
    except InvalidParameter:
        return False
    return True


def shortened(text: str) -> str:
    """Return the beginning of a long text.

    >>> shortened("EPSG:32611")
    'EPSG:32611'
    """
    return text if len(text) <= 60 else f"{text[:57]}..."
