"""The scrubber: back through the keyframes, on along a branch, and two branches under the wipe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.slow


def advance(studio: Any, count: int) -> None:
    target = studio.state()["step"] + count
    studio.ask(type="step", count=count)
    studio.wait("step => studio.store.state.step === step && !studio.store.state.playing", target)


def scrub(studio: Any, position: int) -> None:
    """Move the scrubber as a drag does, and wait for what it stands for."""
    studio.page.locator("[data-role=scrubber]").fill(str(position))
    studio.wait("position => document.querySelector('[data-role=scrubber]').value === String(position)", position)


@pytest.fixture
def played(studio: Any) -> Any:
    """A run with keyframes at 0 and 128, and its end at 130."""
    advance(studio, 130)
    studio.wait("studio.store.state.timeline.branches[0].keyframes.length === 2")
    return studio


def test_dragging_goes_back_and_playing_on_gives_the_same_bits(played: Any) -> None:
    studio, first = played, played.layer("elevation")
    scrub(studio, 0)
    studio.wait("studio.store.state.step === 0 && !studio.store.state.timeline.at_end")
    studio.wait("studio.stage.frame.header.step === 0")
    assert studio.page.inner_text("[data-role=moment]") == "step 0 of 130"
    advance(studio, 130)
    assert np.array_equal(studio.layer("elevation"), first)
    studio.wait("studio.store.state.timeline.branch === 2")
    names = studio.page.locator("[data-role=branch] option").all_inner_texts()
    assert names == ["branch 1: to 130", "branch 2: 0 to 130"]


def test_the_lists_stay_as_they_are_while_nothing_in_them_changes(played: Any) -> None:
    studio, kept = played, "[data-role=against] option"
    scrub(studio, 0)
    studio.wait("studio.store.state.step === 0")
    advance(studio, 1)
    studio.wait("document.querySelectorAll('[data-role=against] option').length === 2")
    studio.page.evaluate(f"document.querySelector('{kept}').dataset.kept = 'yes'")
    advance(studio, 2)  # states come meanwhile, and an open list would close with each
    assert studio.page.evaluate(f"document.querySelector('{kept}').dataset.kept") == "yes"


def test_the_old_branch_is_chosen_again(played: Any) -> None:
    studio, old = played, played.layer("elevation")
    scrub(studio, 1)
    studio.wait("studio.store.state.step === 128")
    studio.ask(type="slide", name="rain", position=1)
    advance(studio, 2)
    assert not np.array_equal(studio.layer("elevation"), old)
    studio.page.select_option("[data-role=branch]", "1")
    studio.wait("studio.store.state.timeline.branch === 1 && studio.store.state.timeline.at_end")
    assert np.array_equal(studio.layer("elevation"), old)


def test_two_branches_are_compared_with_the_wipe(played: Any) -> None:
    studio = played
    scrub(studio, 0)
    studio.wait("studio.store.state.step === 0")
    studio.ask(type="paint", tool="raise", points=[[640.0, 640.0]], radius=300.0, strength=200.0)
    advance(studio, 2)
    assert not studio.page.locator("[data-role=against]").is_visible()
    studio.click("compare")
    studio.page.select_option("[data-role=against]", "1")
    studio.wait("document.querySelector('.compare .tag.left').textContent === 'branch 1, step 0'")
    before, now = (
        studio.page.evaluate(f"(() => {{ const f = studio.stage.{which}; return f.high }})()")
        for which in ("before", "frame.elevation")
    )
    assert now > before + 100
    studio.page.select_option("[data-role=against]", "")
    studio.wait("document.querySelector('.compare .tag.left').textContent === 'before'")
    studio.page.select_option("[data-role=against]", "1")
    studio.click("compare")
    advance(studio, 1)
    assert not studio.page.locator("[data-role=against]").is_visible()


def test_a_branch_made_under_the_wipe_can_be_compared_with(played: Any) -> None:
    studio, others = played, played.page.locator("[data-role=against]")
    studio.click("compare")
    assert not others.is_visible()  # there is only the start
    scrub(studio, 0)
    studio.wait("studio.store.state.step === 0")
    advance(studio, 1)
    others.wait_for()
    studio.click("compare")
    assert not others.is_visible()
