"""Layers that colour the ground change slowly: frames of a run have them now and then, and the last frame always."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slopewash.studio import StudioServer, loop
from slopewash.studio.messages import parse
from slopewash.studio.recipes import first_recipe
from slopewash.studio.session import Session
from slopewash.studio.snapshot import HISTORY, Demand
from slopewash.studio.uploads import Uploads

Page = Any
Open = Callable[[Any], Page]
FRAMES = 1000
"""Frames to wait for what should come at once, at most."""


def frames_until_at_rest(page: Page) -> list[dict[str, Any]]:
    """Headers of the newest frame and of all that follow, until one of the paused run has come."""
    headers = [page.frame[0]]  # the last may have come while a state was waited for
    while page.state["playing"] or headers[-1]["step"] != page.state["step"] or "ground" in headers[-1]:
        headers.append(page.read("frame")[0])
    return headers


def wait_for_an_abridged_frame(page: Page) -> None:
    """Read frames until one leaves the ground out; of a run that goes on, they never end."""
    assert any("ground" in page.read("frame")[0] for _ in range(FRAMES)), f"all of {FRAMES} frames had the ground"


def names(header: dict[str, Any]) -> set[str]:
    return {block["name"] for block in header["blocks"]}


def test_frames_of_a_run_have_the_ground_now_and_then_and_the_last_one_has_it(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.do("watch", ground=True)
    page.steps(2)
    page.shown(2)
    page.do("run_to", step=10**9)
    headers: list[dict[str, Any]] = []
    for seconds, ground in ((1e9, "as before"), (0.0, None)) * 3:  # however fast this machine is
        monkeypatch.setattr(loop, "SLOW_LAYERS_SECONDS", seconds)
        while len(headers) < 2 or any(header.get("ground") != ground for header in headers[-2:]):
            assert len(headers) < FRAMES, f"no two frames in a row with ground={ground}"
            headers.append(page.read("frame")[0])
    page.do("pause")
    page.until(lambda state: not state["playing"])
    headers += frames_until_at_rest(page)
    whole = [header for header in headers if "ground" not in header]
    abridged = [header for header in headers if header.get("ground") == "as before"]
    assert len(whole) + len(abridged) == len(headers)
    assert len(abridged) >= 6
    assert len(whole) >= 6
    assert all(names(header) >= {*HISTORY} for header in whole)
    assert not any(names(header) & {*HISTORY} for header in abridged)
    assert all("elevation" in names(header) for header in abridged)


def test_a_pause_right_after_a_frame_without_the_ground_brings_the_rest(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.do("watch", ground=True)
    page.steps(2)
    page.shown(2)
    monkeypatch.setattr(loop, "SLOW_LAYERS_SECONDS", 1e9)  # no further frame of this run has it
    page.do("run_to", step=10**9)
    wait_for_an_abridged_frame(page)
    page.do("pause")
    page.until(lambda state: not state["playing"])
    header = frames_until_at_rest(page)[-1]
    assert names(header) >= {*HISTORY}


def test_a_page_that_has_no_ground_yet_gets_it_at_once(
    page: Page, server: StudioServer, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "SLOW_LAYERS_SECONDS", 1e9)
    page.do("watch", ground=True)
    page.do("run_to", step=10**9)
    wait_for_an_abridged_frame(page)
    other = open_page(server)
    other.do("watch", ground=True)
    seen = other.frames
    while other.frames < seen + 20 and (other.frame is None or not names(other.frame[0]) >= {*HISTORY}):
        other.read("frame")
    assert names(other.frame[0]) >= {*HISTORY}
    run = page.state["run"]
    page.send("start", generator={"seed": 4})  # another run, whose first frame is whole
    header = page.read("frame")[0]
    while header["run"] == run:
        header = page.read("frame")[0]
    assert "ground" not in header


def test_a_frame_for_another_page_does_not_count_as_the_rest() -> None:
    session = Session(first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference"), Uploads())
    ground = Demand(now_and_then=frozenset(HISTORY))
    assert not session._snapshot(ground, running=True).abridged
    assert session._snapshot(ground, running=True).abridged
    session._snapshot(Demand(), running=True)  # for a page that wants no ground
    version = session._version
    session._publish()  # at rest
    assert session._version == version + 1
    session.close()


def test_another_run_in_any_pane_brings_all_layers() -> None:
    session = Session(first_recipe(preset="single_grid", size=32, extent=320.0, backend="reference"), Uploads())
    session._do_side_by_side(parse('{"type": "side_by_side", "panes": 2}'))
    ground, panes = Demand(now_and_then=frozenset(HISTORY)), session._panes
    assert panes is not None
    session._snapshot(ground, running=True)
    assert session._snapshot(ground, running=True).abridged
    panes._panes[1].run.number += 100  # as at the next level of its recipe
    assert not session._snapshot(ground, running=True).abridged
    session.close()


def test_pages_that_do_not_ask_for_the_ground_are_told_nothing_of_it(page: Page) -> None:
    page.do("run_to", step=10**9)
    headers = [page.read("frame")[0] for _ in range(10)]
    assert not any("ground" in header or names(header) & {*HISTORY} for header in headers)
    page.do("pause")
