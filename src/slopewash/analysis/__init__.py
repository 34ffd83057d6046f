"""Measurements of a terrain: slope, local minima, isotropy, statistics of its layers."""

from slopewash.analysis.isotropy import axis_preference
from slopewash.analysis.relief import local_minima, local_minima_mask, slope
from slopewash.analysis.statistics import LayerStatistics, statistics

__all__ = ["LayerStatistics", "axis_preference", "local_minima", "local_minima_mask", "slope", "statistics"]
