"""The quality follows how long images take, and a page never stays frozen."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.slow

# A pace of its own, fed with times; returns the tiers it used and those it gave up.
FEED = """
({ promised, times, choose }) => {
  const used = [], given = [];
  const pace = new studio.pace.constructor(promised, (tier) => used.push(tier), (slow) => given.push(slow));
  if (choose) pace.choose(choose);
  for (const milliseconds of times) pace.take({ milliseconds, trial: false });
  return { used, given };
}
"""


@pytest.mark.parametrize(
    ("promised", "choose", "times", "used"),
    [
        ("high", None, [900, 5, 4, 6], ["high"]),  # the first image compiles shaders
        ("high", None, [900, 40, 45, 60], []),
        ("low", None, [900, 2, 2, 2], []),
        ("high", None, [900, 5, 4, 6, 200, 190, 210], ["high", "medium"]),
        ("high", None, [900, 5, 4, 6, 200, 190, 20, 200, 200], ["high"]),  # one quick image: others were disturbed
        ("medium", None, [900, 5, 4, 6, 2000], ["medium", "low"]),
        ("low", "medium", [900, 400, 400, 400], ["medium"]),  # slow, but the user wants it
        ("low", "high", [900, 90_000, 1600], ["high", "medium", "low"]),
    ],
)
def test_the_tier_follows_the_time_of_images(
    studio: Any, promised: str, choose: str | None, times: list[float], used: list[str]
) -> None:
    found = studio.page.evaluate(FEED, {"promised": promised, "times": times, "choose": choose})
    assert found["used"] == used


@pytest.mark.usefixtures("in_every_pixel")
def test_a_software_renderer_starts_low_and_comes_back_from_more(studio: Any) -> None:
    assert studio.page.evaluate("studio.stage.tier") == "low"
    studio.tab("view")
    studio.page.evaluate("studio.pace.limits.frozen = 1")  # no image is that quick
    studio.page.select_option("select[aria-label='Quality']", "medium")
    studio.page.locator(".message", has_text="Quality medium takes about").wait_for()
    assert studio.page.input_value("select[aria-label='Quality']") == "low"
    studio.settle_picture()
    assert studio.page.evaluate("[studio.stage.tier, document.body.dataset.tier]") == ["low", "low"]
    studio.page.evaluate("studio.pace.limits.frozen = 1500")
