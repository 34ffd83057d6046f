"""Work that is kept: projects saved and opened, runs continued after a crash, files named after their run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.test_connection import Server

import slopewash as sw

pytestmark = pytest.mark.slow

VIEW = "studio.stage.cameras.saved"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "state")
    try:
        made.start()
        yield made
    finally:
        made.kill()


def numbers(view: dict[str, Any]) -> list[float]:
    return [*view["pose"]["eye"], view["pose"]["heading"], view["pose"]["pitch"], *view["plan_view"]]


def heights(studio: Any, folder: Path) -> np.ndarray:
    studio.tab("export")
    return np.load(studio.download(lambda: studio.page.click("[data-suffix='.npy']"), folder))


def has_source(kept: Path) -> bool:
    """Whether the newest checkpoint is one after the last edit."""
    try:
        _, arrays = sw.read_checkpoint(kept, trust=True)  # the server has a secret of its own
    except sw.CheckpointError:  # replaced at this moment
        return False
    return b'"sources"' in arrays["recording.actions"].tobytes()


def work(studio: Any) -> dict[str, Any]:
    """Some steps, a stroke, a source and a view of one's own."""
    studio.ask(type="step", count=3)
    studio.wait("studio.store.state.step === 3 && !studio.store.state.playing")
    studio.ask(type="paint", tool="raise", points=[[2000.0, 2500.0]], radius=700.0)
    studio.ask(type="sources", sources=[{"x": 1000.0, "y": 1200.0, "radius": 200.0, "rate": 0.1}])
    studio.page.mouse.move(300, 250)
    studio.page.mouse.wheel(0, -300)
    studio.wait("!studio.stage.cameras.isFramed")
    return studio.page.evaluate(VIEW)


def test_a_project_is_opened_by_another_server_with_the_same_bits_and_view(
    open_page: Callable[..., Any], server: Server, tmp_path: Path
) -> None:
    studio = open_page(1000, 500)
    studio.open(server.url)
    view = work(studio)
    studio.tab("export")
    project = studio.download(lambda: studio.click("save-project"), tmp_path)
    assert project.name == "landscape-seed7-step3.slopewash"
    before = heights(studio, tmp_path)
    server.kill()  # SIGKILL
    server.environment["XDG_STATE_HOME"] = str(tmp_path / "other")  # another user: no seal is known there
    server.start()
    opened = open_page(1000, 500)
    opened.open(server.url)
    assert opened.page.evaluate("studio.store.state.step") == 0
    opened.page.set_input_files("input[type=file]", project)
    opened.page.locator(".message", has_text=f"Opened {project.name} at step 3.").wait_for()
    opened.settle_picture()
    assert np.array_equal(heights(opened, tmp_path), before)
    assert numbers(opened.page.evaluate(VIEW)) == pytest.approx(numbers(view), abs=1e-6)
    assert len(opened.page.evaluate("studio.store.state.sources")) == 1
    assert opened.page.evaluate("studio.store.state.can_undo")
    assert opened.complaints == []


def test_a_page_opened_after_a_crash_is_where_it_was(
    open_page: Callable[..., Any], server: Server, tmp_path: Path
) -> None:
    studio = open_page(1000, 500)
    studio.open(server.url)
    view = work(studio)
    before = heights(studio, tmp_path)
    kept = tmp_path / "state" / "slopewash" / "studio"
    noted = json.dumps(studio.page.evaluate("studio.store.state.sources"))
    studio.wait("view => JSON.stringify(studio.store.state.view) === JSON.stringify(view)", view)
    deadline = time.monotonic() + 120
    while sw.newest_manifest(kept) is None or not has_source(kept):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.kill()  # SIGKILL
    server.start("--backend", "reference")
    again = open_page(1000, 500)  # has nothing in its own memory
    again.open(server.url)
    message = again.page.locator(".message", has_text="Continued where you were: dome, step 3.")
    message.wait_for()
    assert message.get_by_role("button", name="Start anew").is_visible()
    again.settle_picture()
    assert numbers(again.page.evaluate(VIEW)) == pytest.approx(numbers(view), abs=1e-6)
    assert json.dumps(again.page.evaluate("studio.store.state.sources")) == noted
    assert np.array_equal(heights(again, tmp_path), before)
    assert again.complaints == []


def test_a_new_run_offers_to_continue_the_last_one(
    open_page: Callable[..., Any], server: Server, tmp_path: Path
) -> None:
    studio = open_page(1000, 500)
    studio.open(server.url)
    studio.ask(type="step", count=2)
    studio.wait("studio.store.state.step === 2 && !studio.store.state.playing")
    kept = tmp_path / "state" / "slopewash" / "studio"
    deadline = time.monotonic() + 120
    while (sw.newest_manifest(kept) or {"step": 0})["step"] != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    server.kill()
    server.start("--new", "--size", "32", "--backend", "reference")
    again = open_page(1000, 500)
    again.open(server.url)
    again.page.get_by_role("button", name="Continue where you were (K)").click()
    again.wait("studio.store.state.step === 2 && studio.store.state.cells === 64")
    assert again.complaints == []


def test_files_are_named_after_recipe_seed_and_step(studio: Any, tmp_path: Path) -> None:
    studio.ask(type="step", count=2)
    studio.wait("studio.store.state.step === 2 && !studio.store.state.playing")
    studio.tab("export")
    for role, suffix in (("screenshot", "png"), ("script", "py"), ("recipe", "toml")):
        file = studio.download(lambda role=role: studio.click(role), tmp_path)
        assert file.name == f"single_grid-seed7-step2.{suffix}"
