"""Runs a model on a terrain and accounts for its mass."""

from slopewash.simulation.brush import brushes
from slopewash.simulation.budget import Budget
from slopewash.simulation.checkpoints import (
    find_checkpoints,
    newest_manifest,
    read_checkpoint,
    remove_checkpoints,
    write_checkpoint,
)
from slopewash.simulation.locks import FolderLock
from slopewash.simulation.observing import Observer
from slopewash.simulation.simulation import Simulation

__all__ = [
    "Budget",
    "FolderLock",
    "Observer",
    "Simulation",
    "brushes",
    "find_checkpoints",
    "newest_manifest",
    "read_checkpoint",
    "remove_checkpoints",
    "write_checkpoint",
]
