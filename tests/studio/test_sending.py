"""Frames that cross with what a page asks for: none is lost, and none counts for what it does not hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, cast

import pytest
from tests.threads import apart

from slopewash.studio.connection import Connection
from slopewash.studio.finishing import Finishing
from slopewash.studio.hub import Hub
from slopewash.studio.messages import Watch
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import Session
from slopewash.studio.snapshot import GROUND, Demand, Snapshot
from slopewash.studio.uploads import Uploads

WITH_GROUND = Watch(type="watch", ground=True)


@pytest.fixture
def session() -> Iterator[Session]:
    """One whose thread is not started: what it does, the test does."""
    recipe = first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference")
    session = Session(recipe, Uploads())
    session._version = 7
    yield session
    session.close()


@pytest.fixture
def connection() -> Connection:
    """One that nothing leaves yet."""
    return Connection(cast(Any, None), cast(Any, None))


def send(connection: Connection, snapshot: Snapshot) -> None:
    views = connection.views(snapshot)
    connection.set_frames(snapshot, views, [b"" for _ in views])


def test_a_frame_without_the_ground_that_is_asked_for_meanwhile_does_not_count(
    session: Session, connection: Connection
) -> None:
    snapshot = session._snapshot(Demand(), running=False)
    connection.watch = WITH_GROUND
    send(connection, snapshot)
    assert (connection.seen, connection.has_ground) == (0, False)
    send(connection, session._snapshot(Demand(layers=GROUND), running=False))
    assert (connection.seen, connection.has_ground) == (7, True)


def test_a_frame_made_for_another_page_keeps_the_ground_but_does_not_count(
    session: Session, connection: Connection
) -> None:
    connection.watch = WITH_GROUND
    send(connection, session._snapshot(Demand(layers=GROUND), running=False))
    other = session._snapshot(Demand(), running=False)
    (view,) = connection.views(other)
    assert (view.ground, view.ground_as_before) == (False, True)
    send(connection, other)
    assert (connection.seen, connection.has_ground) == (0, True)


def test_another_run_does_not_keep_the_ground_of_the_one_before(session: Session, connection: Connection) -> None:
    connection.watch = WITH_GROUND
    send(connection, session._snapshot(Demand(layers=GROUND), running=False))
    session.run.number += 1
    (view,) = connection.views(session._snapshot(Demand(), running=False))
    assert (view.ground, view.ground_as_before) == (False, False)


def test_what_arrives_while_a_frame_is_encoded_reaches_the_page(
    session: Session, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    finishing = Finishing(session, Uploads(), b"")
    hub = Hub(session, finishing)
    connection._hub = hub
    encoding, go_on, encode = threading.Event(), threading.Event(), hub._encode

    def encode_slowly(snapshot: Snapshot, views: Any) -> list[bytes]:
        encoding.set()
        assert go_on.wait(60)
        return encode(snapshot, views)

    monkeypatch.setattr(hub, "_encode", encode_slowly)

    async def scenario() -> None:
        hub.attach(asyncio.get_running_loop())
        hub.add(connection)
        sending = asyncio.create_task(hub.run())
        session._publish()
        assert await asyncio.to_thread(encoding.wait, 60)
        session._version += 1
        hub._take_snapshot(session._snapshot(Demand(), running=False))
        go_on.set()
        async with asyncio.timeout(60):
            for version in (7, 8):
                while connection.seen < version:
                    await asyncio.sleep(0.001)
                    session._publish()
                connection._frames = []  # sent
                connection._acknowledge(version)
        sending.cancel()

    apart(lambda: asyncio.run(scenario()))
    finishing.close()
