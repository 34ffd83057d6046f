"""Runs the NumPy reference."""

from __future__ import annotations

from slopewash.models.backend import HostBackend
from slopewash.models.state import Domain, State
from slopewash.models.virtual_pipes.reference import step


class ReferenceBackend(HostBackend):
    """Steps the state with the specification."""

    def __init__(self, state: State, domain: Domain) -> None:
        super().__init__(state, domain, step)
