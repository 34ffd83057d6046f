"""Measurements of a terrain: slope, local minima, statistics of its layers."""

from slopewash.analysis.relief import local_minima, local_minima_mask, slope
from slopewash.analysis.statistics import LayerStatistics, statistics

__all__ = ["LayerStatistics", "local_minima", "local_minima_mask", "slope", "statistics"]
