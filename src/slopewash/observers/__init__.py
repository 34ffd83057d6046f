"""Observers of a run: progress on the terminal, pictures and checkpoints on disk."""

from slopewash.observers.base import Observer
from slopewash.observers.checkpoints import Checkpoints
from slopewash.observers.progress import Progress
from slopewash.observers.recorder import Recorder

__all__ = ["Checkpoints", "Observer", "Progress", "Recorder"]
