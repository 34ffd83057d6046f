"""Observers of a run: progress on the terminal, pictures on disk."""

from slopewash.observers.base import Observer
from slopewash.observers.progress import Progress
from slopewash.observers.recorder import Recorder

__all__ = ["Observer", "Progress", "Recorder"]
