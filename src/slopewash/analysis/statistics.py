"""Statistics of a terrain's layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slopewash.terrain import Terrain


@dataclass(frozen=True)
class LayerStatistics:
    """Range, mean, standard deviation and percentiles of one layer, in its own units."""

    minimum: float
    maximum: float
    mean: float
    standard_deviation: float
    percentile_5: float
    median: float
    percentile_95: float


def statistics(terrain: Terrain) -> dict[str, LayerStatistics]:
    """Return the statistics of every layer by name; nodata cells are left out.

    >>> statistics(Terrain([[0.0, 1.0], [2.0, 3.0]]))["elevation"].mean
    1.5
    """
    result = {}
    for name, layer in terrain.items():
        values = layer.ravel() if terrain.nodata is None else layer[~terrain.nodata]
        low, middle, high = np.percentile(values, [5, 50, 95])
        result[name] = LayerStatistics(
            minimum=float(values.min()),
            maximum=float(values.max()),
            # Summed in float64: a large float32 sum loses centimetres.
            mean=float(values.mean(dtype=np.float64)),
            standard_deviation=float(values.std(dtype=np.float64)),
            percentile_5=float(low),
            median=float(middle),
            percentile_95=float(high),
        )
    return result
