"""Names, contrast, the keyboard, reduced motion, and icons that need no font."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

# Controls whose accessible name lacks the text that is visible on them or in front of them (WCAG 2.5.3).
MISNAMED = """
() => [...document.querySelectorAll("button, input, select, summary")].flatMap((element) => {
  const label = element.closest("label")?.querySelector("span")?.textContent ?? "";
  const visible = (element.matches("button, summary") ? element.textContent : label).trim().toLowerCase();
  const name = (element.ariaLabel ?? (element.textContent || label)).trim().toLowerCase();
  return name && name.includes(visible) ? [] : [`${visible} | ${name} | ${element.outerHTML.slice(0, 120)}`];
})
"""

# Contrast of every text with what lies behind it; behind the glass of the panels there may be snow.
CONTRASTS = """
() => {
  const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const bright = (colour) => {
    const [r, g, b] = colour.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const text = own || element.matches("input[type=text], select");
    if (!text || element.matches("option, :disabled, svg *") || !element.checkVisibility({ visibilityProperty: true })
      || element.closest("[hidden], noscript")) continue;
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(parse(getComputedStyle(e).backgroundColor));
    const behind = chain.slice(2).reduce((below, top) => over(top, below), [250, 250, 250]);
    for (const pseudo of element.matches("input:placeholder-shown") ? ["::placeholder"] : [null]) {
      const [a, b] = [bright(over(parse(getComputedStyle(element, pseudo).color), behind)), bright(behind)];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      found.push([contrast, (element.textContent || element.value).trim().slice(0, 40)]);
    }
  }
  return found;
}
"""


def test_names_contain_what_is_visible(studio: Any) -> None:
    assert studio.page.evaluate(MISNAMED) == []


@pytest.mark.parametrize("tab", ["start", "model", "view", "budget", "export"])
def test_text_stands_out_from_its_background(studio: Any, tab: str) -> None:
    studio.tab(tab)
    found = studio.page.evaluate(CONTRASTS)
    assert len(found) > 15
    assert [text for contrast, text in found if contrast < 4.5] == []
    studio.tab("model")


def test_icons_need_no_font(studio: Any) -> None:
    symbols = studio.page.evaluate(
        "[...document.querySelectorAll('button')].map(b => b.textContent)"
        ".filter(t => /[\\u2190-\\u2bff\\u2039\\u203a\\u{1f000}-\\u{1faff}]/u.test(t))"
    )
    assert symbols == []
    icons = studio.page.locator("button[title='New random seed'] svg path")
    assert icons.count() == 1


def test_a_brush_is_used_without_a_mouse(studio: Any) -> None:
    before = studio.layer("elevation")
    studio.page.keyboard.press("f")
    studio.take_tool("raise")
    studio.page.focus("#picture")
    studio.page.mouse.move(1200, 300)  # over the panel
    studio.page.keyboard.press("Enter")
    studio.wait("studio.store.state.can_undo")
    assert (studio.layer("elevation") - before).max() > 0.5
    studio.page.keyboard.press("Control+z")
    studio.wait("!studio.store.state.can_undo")
    studio.page.keyboard.press("+")
    studio.wait("!studio.stage.cameras.isFramed")
    studio.page.keyboard.press("f")


def test_every_control_can_be_reached_by_tab(studio: Any) -> None:
    studio.page.keyboard.press("Escape")
    studio.page.focus("#picture")
    for _ in range(120):
        studio.page.keyboard.press("Tab")
        studio.page.evaluate("document.activeElement.dataset.reached = 'true'")
    missed = studio.page.evaluate(
        "[...document.querySelectorAll('button, input, select, summary')].filter(e => e.checkVisibility"
        "({ visibilityProperty: true }) && !e.disabled && !e.dataset.reached && e.tabIndex >= 0"
        " && e.type !== 'file').map(e => e.outerHTML.slice(0, 100))"
    )
    assert missed == []


def test_nothing_moves_for_those_who_want_no_motion(open_page: Callable[..., Any], studio: Any) -> None:
    other = open_page(500, 400, reduced_motion="reduce")
    other.open(studio.server.url)
    other.wait("studio.stage.drawn > 1")
    assert other.page.evaluate("studio.stage.uniforms.ripple.value") == 0
    assert studio.page.evaluate("studio.stage.uniforms.ripple.value") > 0


def test_commands_named_without_webgl2_exist(open_page: Callable[..., Any], studio: Any) -> None:
    from slopewash.cli.app import COMMANDS

    page = open_page().page
    page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {"
        " return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest) }"
    )
    page.goto(studio.server.url)
    text = page.locator("[role=alert]").inner_text()
    named = re.findall(r"slopewash (\w+)", text)
    assert named
    assert set(named) <= set(COMMANDS)
