"""The last terrains and the last project that were given to a studio, by their ids."""

from __future__ import annotations

import slopewash as sw
from slopewash.errors import InvalidParameter
from slopewash.studio.projects import Project

KEPT = 4
"""Terrains that are remembered."""


class Given:
    """Remembers what messages name: on the server, and in the run's process, which gets it with the message."""

    def __init__(self) -> None:
        self._terrains: dict[str, sw.FromTerrain] = {}
        self._project: tuple[str, Project] | None = None

    def put(self, key: str, given: sw.FromTerrain | Project) -> None:
        """Remember one; of projects, the last only."""
        if isinstance(given, Project):
            self._project = key, given
            return
        self._terrains[key] = given
        while len(self._terrains) > KEPT:
            del self._terrains[next(iter(self._terrains))]

    def find(self, key: str) -> sw.FromTerrain:
        """Find an upload by its id."""
        if key not in self._terrains:
            raise InvalidParameter(f"there is no upload {key!r} any more; upload the file again")
        return self._terrains[key]

    def find_project(self, key: str) -> Project:
        """Find the last project by its id."""
        if self._project is None or self._project[0] != key:
            raise InvalidParameter(f"there is no project {key!r} any more; open the file again")
        return self._project[1]

    def forget_project(self, key: str) -> None:
        """Release a project that was opened: its run holds everything."""
        if self._project is not None and self._project[0] == key:
            self._project = None
