"""A finish that is read, opened or converted while it is replaced, discarded, or its server stops."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.studio.test_finish import serving, until
from tests.studio.test_keeping import wait_for
from tests.threads import apart

import slopewash as sw
from slopewash.studio import StudioServer, finishing
from slopewash.studio.app import _opened
from slopewash.studio.finish_files import TERRAIN_FILE
from slopewash.studio.messages import Finish, OpenFinish
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import Session
from slopewash.studio.uploads import Uploads

Page = Any
Open = Callable[[Any], Page]
SLEEPS = "import time; time.sleep(600)"
READS_LATE = """
import os, sys, time
import slopewash as sw
while os.path.exists(sys.argv[1]):
    time.sleep(0.05)
sw.write(sw.read(sys.argv[1]), sys.argv[2])
"""


def recipe() -> sw.Recipe:
    return first_recipe(preset="single_grid", size=32, extent=320.0, seed=3, backend="reference")


def finished(server: StudioServer, open_page: Open) -> Page:
    page = open_page(server)
    page.steps(2)
    page.do("finish", size=48)
    until(page, "done")
    return page


def test_a_file_is_sent_as_it_was_when_it_was_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "project.slopewash"
    file.write_bytes(b"the first" * 500_000)
    response = _opened(file, "mine.slopewash")
    file.unlink()
    file.write_bytes(b"another")  # of the next finish
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    apart(lambda: asyncio.run(response({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)))
    assert dict(sent[0]["headers"])[b"content-length"] == b"4500000"
    assert b"".join(message.get("body", b"") for message in sent[1:]) == b"the first" * 500_000


def test_a_result_that_is_discarded_while_it_is_converted_is_a_sentence(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "CONVERT", READS_LATE)
    with serving(recipe()) as server:
        page, answers = finished(server, open_page), list[Any]()
        asking = threading.Thread(target=lambda: answers.append(page.get("/finish/a.npy")))
        asking.start()
        wait_for(lambda: server.studio.finishing._converting)
        page.do("cancel_finish")
        asking.join(60)
        assert answers[0].status_code == 409
        assert answers[0].json()["message"].startswith("the result cannot be written as .npy: ")
        assert not server.studio.finishing._converting
        assert page.get("/finish/a.slopewash").status_code == 404
        page.steps(1)


def test_a_server_that_stops_ends_what_converts(open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finishing, "CONVERT", SLEEPS)
    server = serving(recipe()).start()
    page = finished(server, open_page)
    asking = threading.Thread(target=lambda: ask_and_forget(page), daemon=True)
    asking.start()
    wait_for(lambda: server.studio.finishing._converting)
    (process,) = server.studio.finishing._converting
    folder = server.studio.finishing._folder
    stopping = threading.Thread(target=server.stop, daemon=True)
    stopping.start()
    stopping.join(60)
    assert not stopping.is_alive()
    assert process.wait(5) != 0
    assert folder is not None
    assert not folder.exists()


def ask_and_forget(page: Page) -> None:
    try:
        page.get("/finish/a.npy")
    except Exception:
        return


@pytest.mark.parametrize("message", [OpenFinish(type="open_finish"), Finish(type="finish", size=64)])
def test_a_server_that_stops_waits_for_no_message_that_waits_for_the_run(message: Any, open_page: Open) -> None:
    server = serving(recipe()).start()
    finished(server, open_page).close()
    busy, over = threading.Event(), threading.Event()

    def work() -> None:
        busy.set()
        over.wait(60)

    server.session.submit(work)
    assert busy.wait(60)
    asked = server.studio.finishing.execute(message)
    stopping = threading.Thread(target=server.stop)
    stopping.start()
    wait_for(lambda: server.session._closing)
    over.set()
    stopping.join(60)
    assert not stopping.is_alive()
    assert "closing" in str(asked.exception(timeout=10))
    assert server.studio.finishing._scratch is not None
    assert not server.studio.finishing._scratch.path.exists()


def test_a_session_that_is_closed_answers_what_comes_too_late() -> None:
    session = Session(recipe(), Uploads())
    waiting = session.submit(lambda: 1)
    session.close()
    for late in (waiting, session.submit(lambda: 2), session.find("terrain")):
        assert str(late.exception(timeout=10)) == "the studio is closing"


def test_a_server_that_is_closing_writes_no_result(server: StudioServer, tmp_path: Path) -> None:
    job = server.studio.finishing
    (tmp_path / TERRAIN_FILE).touch()
    job._folder, job.state = tmp_path, {**job.state, "status": "done"}
    job.stop()
    with pytest.raises(sw.InvalidParameter, match="the studio is closing"):
        job.write(tmp_path / "it.npy")


def test_a_download_that_is_cancelled_leaves_no_folder(
    server: StudioServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    begun, end = threading.Event(), threading.Event()

    def write(file: Path) -> None:
        file.write_bytes(b"a part of it")
        begun.set()
        end.wait(60)

    async def ask() -> None:
        task = asyncio.create_task(server.studio._send("export", "it.npy", ".npy", write))
        await asyncio.to_thread(begun.wait, 60)
        assert len(list(tmp_path.glob("slopewash-export-*"))) == 1
        task.cancel()
        end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    apart(lambda: asyncio.run(ask()))
    assert list(tmp_path.glob("slopewash-export-*")) == []
