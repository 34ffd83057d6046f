"""Folders of files for other programs: one file per target, and what they share."""

from slopewash.exports.card import Card, Entry
from slopewash.exports.export import Exported, export
from slopewash.exports.targets import target_names

__all__ = ["Card", "Entry", "Exported", "export", "target_names"]
