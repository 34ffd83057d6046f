"""What a new user meets first: a page that shows that it is working, and texts that cover nothing."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow

# Pairs among some elements that overlap, by their selectors.
OVERLAPS = """
(selectors) => {
  const boxes = selectors.map((s) => [s, document.querySelector(s).getBoundingClientRect()]);
  if (boxes.some(([, box]) => box.width === 0)) return "something is hidden";
  return boxes.flatMap(([a, one], i) => boxes.slice(i + 1).filter(([, other]) =>
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
  ).map(([b]) => [a, b]));
}
"""

# The quality that is chosen in the list, and what the page shows when the change begins; no image is drawn for it.
CHOSEN = """
() => new Promise((done) => {
  const { pace, preparing, stage } = studio;
  requestAnimationFrame(() => stage.measured({ milliseconds: 1, trial: false })); // an image of the quality before
  pace.choose = (tier) => {
    delete pace.choose;
    done([tier, preparing.element.hidden ? null : preparing.element.textContent]);
  };
  const list = document.querySelector("select[aria-label=Quality]");
  list.value = "high";
  list.dispatchEvent(new Event("change", { bubbles: true }));
})
"""


@pytest.fixture
def resized(studio: Any) -> Any:
    """The shared page, whose window has its usual size again afterwards."""
    usual = studio.page.viewport_size
    yield studio
    studio.page.set_viewport_size(usual)


def test_a_quality_is_announced_before_its_first_image_blocks_the_page(studio: Any) -> None:
    note = studio.page.locator("[data-role=preparing]")
    assert not note.is_visible()
    assert studio.page.evaluate("new studio.preparing.constructor().element.hidden") is False  # until the first image
    assert studio.promised(CHOSEN) == ["high", "Preparing high quality …"]
    studio.page.evaluate("studio.stage.measured({ milliseconds: 1, trial: true })")
    assert note.is_visible()
    studio.page.evaluate("studio.stage.measured({ milliseconds: 1, trial: false })")
    assert not note.is_visible()
    studio.page.evaluate("studio.view.showTier('low')")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1100, 700), (390, 780)])
def test_messages_cover_neither_the_legend_nor_the_values(resized: Any, width: int, height: int) -> None:
    studio = resized
    studio.page.set_viewport_size({"width": width, "height": height})
    studio.ask(type="step", count=1)
    studio.page.evaluate("studio.showOverlay('slope')")
    studio.wait("studio.stage.frame.overlay?.layer === 'slope'")
    x, y = studio.place_on_screen(640.0, 640.0)
    studio.page.mouse.move(x, y)
    studio.page.evaluate(
        "studio.messages.say('A message that stays. '.repeat(3), 'good', { topic: 'long', stays: true })"
    )
    studio.wait("parseFloat(document.body.style.getPropertyValue('--legend')) > 0")
    parts = [".messages", ".legend", ".cursor", ".transport", ".panel", ".tools"]
    assert studio.page.evaluate(OVERLAPS, parts) == []
    message = studio.page.locator(".message", has_text="stays")
    message.get_by_role("button", name="Dismiss").click()
    message.wait_for(state="detached")
    studio.page.evaluate("studio.showOverlay(null)")


def test_undo_and_redo_stand_together_and_the_bar_stays_inside(resized: Any) -> None:
    studio = resized
    studio.page.evaluate("studio.transport.detail.textContent = 'compiling kernels (first run only)'")
    for width in (1100, 390):
        studio.page.set_viewport_size({"width": width, "height": 700})
        undo, redo = (studio.page.locator(f"[data-role={role}]").bounding_box() for role in ("undo", "redo"))
        assert undo["y"] == redo["y"]
        bar = studio.page.locator(".transport").evaluate("bar => [bar.scrollWidth, bar.clientWidth]")
        assert bar[0] <= bar[1]


def test_help_begins_at_its_top_with_keys_and_mouse_beside_each_other(resized: Any) -> None:
    studio = resized
    studio.page.set_viewport_size({"width": 1100, "height": 500})
    studio.page.keyboard.press("?")
    assert studio.page.evaluate("studio.help.element.scrollTop") == 0
    tops = studio.page.locator(".help[open] table").evaluate_all("all => all.map(t => t.getBoundingClientRect().top)")
    assert tops[0] == tops[1]
    studio.page.keyboard.press("Escape")


def test_overlays_begin_with_what_the_run_did(studio: Any) -> None:
    studio.page.keyboard.press("o")
    overlay = studio.page.locator("select[aria-label=Overlay]")
    assert overlay.input_value() == "elevation"
    names = overlay.locator("option").all_inner_texts()
    assert sorted(names[1:]) == sorted(name.replace("_", " ") for name in studio.state()["layers"])
    assert names.index("flow") < names.index("capacity")
    studio.page.evaluate("studio.showOverlay(null)")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the recipe is complete; reset it", "The recipe is complete; reset it."),
        ("pipe_area (A) is -1.0 cells²; it must be positive", "pipe_area (A) is -1.0 cells²; it must be positive."),
        ("gravity (g) is -1.0; it must be positive", "gravity (g) is -1.0; it must be positive."),
        ("own.png is not a readable PNG file.", "own.png is not a readable PNG file."),
    ],
)
def test_refusals_are_sentences_but_names_stay_as_they_are_typed(studio: Any, text: str, shown: str) -> None:
    studio.page.evaluate("text => studio.reportFailure(text)", text)
    assert studio.page.locator(".message.error").last.inner_text() == shown
    studio.page.locator(".message.error").last.get_by_role("button", name="Dismiss").click()
