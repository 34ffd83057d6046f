"""Observers of a run: progress on the terminal, pictures and checkpoints on disk."""

from slopewash.observers.checkpoints import Checkpoints
from slopewash.observers.progress import Progress
from slopewash.observers.recorder import Recorder
from slopewash.simulation.observing import Observer

__all__ = ["Checkpoints", "Observer", "Progress", "Recorder"]
