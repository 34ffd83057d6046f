"""Text in Pillow's built-in font, which has no superscript digits: they are drawn small and raised."""

from __future__ import annotations

from PIL import ImageDraw, ImageFont

PAPER = "#fbfaf7"
INK = "#2b2a28"
RAISED = {"²": "2", "³": "3", "⁻": "-"}
RAISED_SCALE = 0.68


def _runs(text: str) -> list[tuple[str, bool]]:
    runs: list[tuple[str, bool]] = []
    for letter in text.replace("−", "-").replace("–", "-"):
        raised = letter in RAISED
        drawn = RAISED.get(letter, letter)
        if runs and runs[-1][1] == raised:
            runs[-1] = (runs[-1][0] + drawn, raised)
        else:
            runs.append((drawn, raised))
    return runs


def _font(size: int, raised: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(max(6, round(size * RAISED_SCALE) if raised else size))


def text_width(text: str, size: int) -> float:
    """Width of a line in pixels."""
    return float(sum(_font(size, raised).getlength(run) for run, raised in _runs(text)))


def draw_text(
    draw: ImageDraw.ImageDraw, position: tuple[float, float], text: str, size: int, fill: str, anchor: str = "la"
) -> None:
    """Draw one line; `anchor` as in Pillow, of which l and r, a (ascender) and m (middle) are supported."""
    x, y = position
    if anchor[0] == "r":
        x -= text_width(text, size)
    for run, raised in _runs(text):
        font = _font(size, raised)
        draw.text(
            (x, y - (0.25 * size if raised and anchor[1] == "m" else 0)),
            run,
            fill=fill,
            font=font,
            anchor="l" + anchor[1],
        )
        x += font.getlength(run)
