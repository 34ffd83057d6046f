"""Points in another CRS, by PROJ, which comes with GDAL."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopewash.io.gdal import ENVIRONMENT, failures, rasterio_for

Points = tuple[NDArray[np.float64], NDArray[np.float64]]


def projected(points: Points, source: Any, wanted: Any) -> Points | None:
    """Points of one CRS in another; None where nothing leads to it, as from one planet to another.

    They are not finite where the other CRS is not defined.
    """
    rasterio = rasterio_for("a point in another CRS")
    from rasterio.warp import transform

    x, y = points
    try:
        with rasterio.Env(**ENVIRONMENT):
            found = transform(source, wanted, np.ravel(x), np.ravel(y))[:2]
    except failures():
        return None
    across, down = (np.asarray(axis, np.float64).reshape(np.shape(x)) for axis in found)
    return across, down
