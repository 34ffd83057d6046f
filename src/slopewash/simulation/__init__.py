"""Runs a model on a terrain and keeps the books."""

from slopewash.simulation.brushes import brushes
from slopewash.simulation.budget import Budget
from slopewash.simulation.simulation import Observer, Simulation, erode

__all__ = ["Budget", "Observer", "Simulation", "brushes", "erode"]
