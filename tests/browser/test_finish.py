"""Draft and finish in the page: started, watched, shown, saved and cancelled while the page stays usable."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import slopewash as sw

pytestmark = pytest.mark.slow


def short_recipe() -> sw.Recipe:
    """Levels of few steps: low water would take as many as there are cells along a side."""
    recipe = sw.recipe("landscape", size=64, seed=4, strength=0.003, gullies=0.0, backend="reference")
    return recipe.replace(low_water={})


@pytest.fixture
def draft(open_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A page that shows a recipe of levels on 64 cells."""
    from slopewash.studio.server import StudioServer

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    recipe = short_recipe()
    with StudioServer(recipe, port=0) as server:
        server.studio.finishing.niceness = 0
        studio = open_page(1100, 700)
        studio.server = server
        studio.open(server.url)
        studio.tab("export")
        yield studio
        assert studio.complaints == []


def test_a_finish_is_shown_and_saved(draft: Any, tmp_path: Path) -> None:
    expected = draft.server.session.run.recipe.replace(size=256).run().terrain["elevation"]
    draft.page.select_option("[aria-label='Cells of the finish']", "256")
    draft.click("finish")
    draft.click("step-one")  # the page stays usable
    draft.wait("studio.store.state.step === 1")
    draft.wait("studio.finish.last.status === 'done'")
    assert draft.page.evaluate("studio.finish.last.words") == "level 3 of 3 (256 x 256)"
    draft.wait("document.querySelector('.finish-picture').naturalWidth > 0")
    draft.page.select_option("[aria-label='Format of the finish']", ".npy")
    file = draft.download(lambda: draft.click("save-finish"), tmp_path)
    assert file.name.startswith("landscape-seed4-256cells-step")
    assert np.array_equal(np.load(file), expected)
    offer = draft.page.locator(".message", has_text="Finished on 256 cells")
    assert offer.is_visible()
    draft.click("open-finish")
    assert offer.count() == 0
    draft.wait("studio.store.state.rows === 256 && studio.store.state.busy === null")
    draft.settle_picture()
    assert draft.page.evaluate("studio.stage.frame.header.rows") == 256
    assert np.array_equal(draft.layer("elevation"), expected)


def test_a_finish_can_be_cancelled(draft: Any) -> None:
    draft.page.select_option("[aria-label='Cells of the finish']", "1024")
    draft.click("finish")
    cancel = draft.page.locator("[data-role=cancel-finish]")
    cancel.wait_for(state="visible")
    cancel.click()
    draft.page.locator("[data-role=finish-words]", has_text="It was cancelled.").wait_for()
    assert draft.page.locator("[data-role=finish]").is_visible()
    discard = draft.page.locator("[data-role=discard-finish]")
    assert not discard.is_visible()
    draft.page.evaluate("studio.finish.receive({...studio.finish.last, status: 'failed', can_continue: true})")
    assert discard.is_visible()
    assert draft.page.locator("[data-role=continue-finish]").is_visible()


def test_a_finish_goes_on_after_a_restart_and_is_discarded(
    open_page: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from slopewash.studio import messages
    from slopewash.studio.keeping import Keeper
    from slopewash.studio.server import StudioServer

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    recipe = short_recipe()
    studio = open_page()
    for new in (True, False):
        keeper = Keeper(tmp_path / "kept")
        with StudioServer(recipe, port=0, keeper=keeper) as server:
            finishing = server.studio.finishing
            finishing.niceness = 0
            if new:
                finishing.execute(messages.Finish(type="finish", size=128)).result(60)
            else:
                studio.open(server.url)
                told = re.compile("The finish of dome on 128 cells goes on|Finished on 128 cells")  # by then, perhaps
                studio.page.locator(".message", has_text=told).first.wait_for()
                assert studio.page.evaluate("studio.finish.last.resumed")
                studio.wait("studio.finish.last.status === 'done'")
                studio.tab("export")
                studio.page.select_option("[aria-label='Format of the finish']", ".npy")
                file = studio.download(lambda: studio.click("save-finish"), tmp_path)
                assert file.name.startswith("landscape-seed4-128cells-step")
                assert np.array_equal(np.load(file), recipe.replace(size=128).run().terrain["elevation"])
                studio.click("discard-finish")
                ask = studio.page.get_by_role("alertdialog", name="Discard the finish?")
                assert "Dome on 128 × 128 cells" in ask.inner_text()
                assert "cannot be undone" in ask.inner_text()
                studio.page.keyboard.press("Escape")
                ask.wait_for(state="hidden")
                studio.click("discard-finish")
                studio.page.keyboard.press("Enter")  # the button that keeps it has the focus
                ask.wait_for(state="hidden")
                studio.page.locator("[data-role=discard-finish]").focus()
                studio.page.keyboard.press("Enter")
                studio.page.mouse.click(3, 3)  # beside the dialog
                ask.wait_for(state="hidden")
                studio.click("finish")  # which would take its place
                studio.page.get_by_role("alertdialog", name="Replace the finish?").wait_for()
                studio.click("confirm-no")
                assert studio.page.evaluate("studio.finish.last.status") == "done"
                assert (tmp_path / "kept" / "finish").exists()
                studio.page.locator("[data-role=discard-finish]").press("Enter")
                ask.wait_for()
                studio.page.keyboard.press("Tab")
                studio.page.keyboard.press("Enter")
                studio.wait("studio.finish.last.status === 'idle'")
                assert not ask.is_visible()
                assert not studio.page.locator("[data-role=open-finish]").is_visible()
                assert not (tmp_path / "kept" / "finish").exists()
        keeper.close()
    assert studio.complaints == []


def test_long_work_is_not_cancelled_without_asking(draft: Any) -> None:
    draft.page.evaluate("studio.sent = []")
    draft.page.evaluate("() => { studio.connection.send = async (message) => studio.sent.push(message.type) }")

    def running(share: float, left: float | None, *, resumed: bool = False) -> None:
        state = {"status": "running", "share": share, "seconds_left": left, "step": 5, "steps": 9, "size": 2048}
        state |= {"resumed": resumed}
        draft.page.evaluate("state => studio.finish.receive({...studio.finish.last, ...state})", state)

    running(0.1, 90.0)
    draft.click("cancel-finish")
    assert draft.page.evaluate("studio.sent") == ["cancel_finish"]
    running(0.5, 600.0)
    draft.click("cancel-finish")
    ask = draft.page.get_by_role("alertdialog", name="Cancel the finish?")
    assert "2048 × 2048 cells, at step 5 of 9" in ask.inner_text()
    seen = "[studio.sent.length, studio.stage.cameras.planShown, studio.toolbar.tool.kind, document.body.className]"
    before = draft.page.evaluate(seen)
    for key in ("r", "n", "m", "p", "h", "2", ".", "k", "c", "?", "Control+z", "Control+s"):
        draft.page.keyboard.press(key)
    assert draft.page.evaluate(seen) == before  # what lies behind a question does not act
    assert draft.page.locator("dialog[open]").count() == 1
    draft.page.evaluate("studio.finish.receive({...studio.finish.last, status: 'failed', message: 'it ended'})")
    ask.wait_for(state="hidden")  # what it asked about is over
    running(0.5, 600.0)
    draft.click("cancel-finish")
    draft.click("confirm-yes")
    draft.wait("studio.sent.length === 2")
    for share, resumed in ((0.8, False), (0.0, True)):  # one that goes on: how long it has worked is not known yet
        running(share, None, resumed=resumed)
        draft.click("cancel-finish")
        ask.wait_for()
        draft.click("confirm-no")
    assert len(draft.page.evaluate("studio.sent")) == 2
    running(0.5, 600.0)
    draft.click("cancel-finish")
    assert draft.promised(DONE_MEANWHILE) == "Discard the finish?"
    draft.click("confirm-yes")
    draft.wait("studio.sent.length === 3")


# The finish ends while the page asks, and the next question comes before the event that the first one was closed.
DONE_MEANWHILE = """
() => new Promise((done) => {
  const { element } = studio.confirm;
  const closed = () => done(element.open && element.querySelector("h2").textContent);
  element.addEventListener("close", closed, { once: true });
  studio.finish.receive({ ...studio.finish.last, status: "done" });
  document.querySelector("[data-role=discard-finish]").click();
})
"""


def test_a_draft_is_the_same_ground_on_256_cells(studio: Any) -> None:
    extent = studio.page.evaluate("studio.store.state.generator.extent")
    studio.tab("export")
    studio.click("draft")
    studio.wait("studio.store.state.rows === 256 && studio.store.state.busy === null")
    assert studio.page.evaluate("studio.store.state.generator.extent") == extent
