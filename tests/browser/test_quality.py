"""The quality follows how long images take, and a page never stays frozen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def own_limits(studio: Any) -> Iterator[None]:
    """Limits that the test may change; the page is as before afterwards."""
    before = studio.page.evaluate("({ limits: { ...studio.pace.limits }, promised: studio.pace.promised })")
    yield
    restore = """
    ({ limits, promised }) => {
      for (const name of ["drawPicture", "viewFrom"]) delete studio.stage[name];
      delete studio.pace.choose;
      Object.assign(studio.pace.limits, limits);
      Object.assign(studio.pace, { promised, probing: false });
    }
    """
    studio.page.evaluate(restore, before)


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
        ("high", None, [900, 5, 4, 6, 900, 200, 190, 210], ["high", "medium"]),
        ("high", None, [900, 5, 4, 6, 2000, 5, 4, 6], ["high"]),  # another tier has other shaders
        ("high", None, [900, 5, 4, 6, 900, 200, 190, 20, 200, 200], ["high"]),  # one quick image: others were disturbed
        ("medium", None, [900, 5, 4, 6, 900, 2000], ["medium", "low"]),
        ("medium", None, [900, 5, 4, 6, 9000], ["medium", "low"]),  # no shader takes so long on a graphics card
        ("low", "medium", [900, 400, 400, 400], ["medium"]),  # slow, but the user wants it
        ("low", "high", [9000, 300], ["high"]),  # a slow compiler is no reason to refuse what the user wants
        ("low", "high", [900, 90_000, 900, 1600], ["high", "medium", "low"]),
    ],
)
def test_the_tier_follows_the_time_of_images(
    studio: Any, promised: str, choose: str | None, times: list[float], used: list[str]
) -> None:
    found = studio.page.evaluate(FEED, {"promised": promised, "times": times, "choose": choose})
    assert found["used"] == used


@pytest.mark.usefixtures("in_every_pixel", "own_limits")
def test_a_software_renderer_starts_low_and_comes_back_from_more(studio: Any) -> None:
    assert studio.page.evaluate("studio.stage.tier") == "low"
    studio.tab("view")
    studio.page.evaluate("studio.pace.limits.frozen = 1")  # no image is that quick
    studio.page.select_option("select[aria-label='Quality']", "medium")
    studio.page.locator(".message", has_text="Quality medium takes about").wait_for()
    assert studio.page.input_value("select[aria-label='Quality']") == "low"
    studio.settle_picture()
    assert studio.page.evaluate("[studio.stage.tier, document.body.dataset.tier]") == ["low", "low"]


# What happens with a renderer that promises too much: quality and resolution of all images until it is left.
PROMISE = """
() => new Promise((done) => {
  const { pace, stage } = studio, { drawPicture } = stage, images = [];
  stage.drawPicture = (...size) => {
    drawPicture.apply(stage, size);
    images.push({ tier: stage.tier, scale: stage.drawnScale });
    if (stage.tier !== "low" || images.every(({ tier }) => tier === "low")) return;
    delete stage.drawPicture;
    done(images);
  };
  Object.assign(pace.limits, { quick: Infinity, frozen: 1, compiling: Infinity });
  Object.assign(pace, { promised: "medium", probing: true, samples: [], chosenByUser: false });
  stage.invalidate();
})
"""


# Another quality while an image is in flight: the times that are taken, before and after one of it is drawn.
IN_FLIGHT = """
() => {
  const { stage } = studio, { measured } = stage, waiting = [], taken = [];
  stage.stopwatch.time = (began, done) => waiting.push(done);
  stage.measured = (image) => taken.push(image.milliseconds);
  stage.draw(performance.now());
  stage.setTier("low");
  waiting.pop()(5);
  const before = [...taken];
  stage.draw(performance.now());
  waiting.pop()(7);
  delete stage.stopwatch.time;
  stage.measured = measured;
  return [before, taken];
}
"""


def test_an_image_of_the_quality_before_is_not_timed_for_the_next(studio: Any) -> None:
    assert studio.page.evaluate(IN_FLIGHT) == [[], [7]]


@pytest.mark.usefixtures("in_every_pixel", "own_limits")
def test_a_tier_that_was_promised_but_is_slow_is_left_by_itself(studio: Any) -> None:
    images = studio.promised(PROMISE)
    tried = [image["scale"] for image in images if image["tier"] == "medium"]
    assert set(tried) == {0.25}  # a full image would freeze the page
    assert images[-1]["tier"] == "low"
    studio.settle_picture()
    assert studio.page.evaluate("studio.stage.tier") == "low"


# Choices in quick succession, none of which has begun when the next one is made: what is carried out.
CHOICES = """
(tiers) => new Promise((done) => {
  const { pace, preparing } = studio, chosen = [];
  pace.choose = (tier) => chosen.push(tier);
  for (const tier of tiers) studio.chooseTier(tier);
  const later = (images, then) => (images ? requestAnimationFrame(() => later(images - 1, then)) : then());
  later(4, () => {
    preparing.end();
    done([chosen, preparing.element.hidden]);
  });
})
"""


@pytest.mark.usefixtures("own_limits")
@pytest.mark.parametrize("last", ["low", "high"])
def test_the_last_of_several_choices_holds(studio: Any, last: str) -> None:
    assert studio.promised(CHOICES, ["high", "medium", last]) == [[last], True]


# Share of the trees in an image that is saved right after a change of quality, and in the first one that is timed.
TREES = """
() => {
  const { stage } = studio, { viewFrom } = stage, shares = [];
  stage.viewFrom = (...from) => {
    const view = viewFrom.apply(stage, from);
    shares.push(view.trees / stage.quality.trees);
    return view;
  };
  stage.setTier("medium", true);
  stage.drawPicture(32, 32, true);
  const saved = shares.splice(0);
  stage.draw(performance.now());
  stage.setTier("low");
  return { saved, timed: shares };
}
"""


@pytest.mark.usefixtures("own_limits")
def test_a_picture_saved_before_the_first_trial_has_all_trees(studio: Any) -> None:
    shares = studio.page.evaluate(TREES)
    assert set(shares["saved"]) == {1}
    assert max(shares["timed"]) < 0.1
