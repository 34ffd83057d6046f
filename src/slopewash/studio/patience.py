"""HTTP connections that say nothing: each is closed after a while, and no client can hold many of them.

Without this, a few hundred sockets that never send a request, for which no access key is needed, keep everyone out.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""Time to send the header of a request."""
MOST_SILENT = 64
"""Connections of one client that have no request under way; the oldest gives way to a new one."""


class ImpatientProtocol(H11Protocol):
    """uvicorn's protocol, with a limit on how long and on how many connections are silent."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        silent = [other for other in self.connections if isinstance(other, ImpatientProtocol) and other._is_silent()]
        mine = [other for other in silent if other._address() == self._address() and other is not self]
        if len(mine) >= MOST_SILENT:
            min(mine, key=lambda other: other._since()).transport.abort()
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Pass data on; whoever has sent a whole header is no longer silent."""
        super().data_received(data)
        upgraded = self not in self.connections
        if upgraded or (self.cycle is not None and not self.cycle.response_complete):
            self._heard()
        elif self._deadline is None and not self.transport.is_closing():
            self._wait()  # for the rest of the next request's header

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the deadline."""
        self._heard()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._deadline = self.loop.call_later(HEADER_SECONDS, self._close_silent)

    def _heard(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _is_silent(self) -> bool:
        return self._deadline is not None and not self.transport.is_closing()

    def _since(self) -> float:
        return self._deadline.when() if self._deadline is not None else float("inf")

    def _address(self) -> str | None:
        return self.client[0] if self.client else None

    def _close_silent(self) -> None:
        self._deadline = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()
