"""Frames that cross with what a page asks for: none is lost, and none counts for what it does not hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from types import SimpleNamespace
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


def ask(connection: Connection, watch: Watch) -> None:
    """Let a page ask for other things, which the session accepts."""
    connection._hub = cast(Any, SimpleNamespace(ask=lambda: None))
    accepted: Future[None] = Future()
    accepted.set_result(None)
    apart(lambda: asyncio.run(connection._report(watch, accepted)))


def test_an_abridged_frame_keeps_the_ground_of_a_page_that_asks_for_another_layer(
    session: Session, connection: Connection
) -> None:
    connection.watch = WITH_GROUND
    send(connection, session._snapshot(Demand(now_and_then=GROUND), running=True))
    assert connection.has_ground
    abridged = session._snapshot(Demand(now_and_then=GROUND), running=True)
    assert abridged.abridged
    ask(connection, Watch(type="watch", ground=True, overlay="slope"))
    (view,) = connection.views(abridged)
    assert (view.ground, view.ground_as_before) == (False, True)


def test_a_page_that_had_a_frame_without_the_ground_does_not_keep_what_came_before(
    session: Session, connection: Connection
) -> None:
    connection.watch = WITH_GROUND
    whole = session._snapshot(Demand(layers=GROUND), running=False)
    views = connection.views(whole)
    ask(connection, Watch(type="watch"))
    connection.set_frames(whole, views, [b""])  # which was on its way
    send(connection, session._snapshot(Demand(), running=False))
    ask(connection, WITH_GROUND)
    assert not connection.has_ground
    (view,) = connection.views(session._snapshot(Demand(), running=False))
    assert not view.ground_as_before


def test_what_arrives_while_a_frame_is_encoded_reaches_the_page(
    session: Session, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    finishing = Finishing(session, Uploads(), b"")
    hub = Hub(session, finishing)
    second = Connection(cast(Any, None), hub)
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
        second.seen = 7  # so that the first snapshot is not for it, and the next one is
        hub.add(second)
        sending = asyncio.create_task(hub.run())
        session._publish()
        assert await asyncio.to_thread(encoding.wait, 60)
        session._version += 1
        hub._take_snapshot(session._snapshot(Demand(), running=False))
        go_on.set()
        async with asyncio.timeout(60):  # and no other snapshot follows
            while second.seen < 8:
                await asyncio.sleep(0.001)
        sending.cancel()

    apart(lambda: asyncio.run(scenario()))
    finishing.close()
    assert connection.seen == 7
