"""The pages of the site and what they show: fenced blocks, and the comments that say how the tests run them.

A comment `<!-- key: value -->` stands before a block, or for a whole page anywhere on it:

- `needs: dem.tif, raw.exr` (page): files that a reader has already; `inputs.py` makes them.
- `sizes: as given` (page): its numbers are small as they stand.
- `file: valley.toml`: the block is that file, which the page asks the reader to save.
- `part of: valley.toml`: the block is added to that file, or to a short recipe where there is none.
- `given: code`: what the reader has already when the block begins, as Python.
- `smaller: size=4096 -> size=64; wide -> narrow`: what is replaced to run it quickly, beyond the rules of `smaller.py`.
- `makes: eroded.tif, masks/flow.png`: what must exist after the block.
- `refused: a sentence`: the block ends with an error that contains these words, as the page explains.
- `not run: reason`: the block is only shown.

Blocks in the language `text` are drawings and output, and are not run either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^(?P<indent> *)(?P<marks>```+)(?P<language>[^`]*)$")
COMMENT = re.compile(r"^ *<!-- (?P<key>[a-z ]+): (?P<value>.*?) -->$")
KEYS = {"needs", "sizes", "file", "part of", "smaller", "given", "makes", "refused", "not run"}
COMMANDS = ("", "sh", "console")
FOREIGN = ("csharp",)
"""Languages of other programs: only shown, with the reason."""
RUN = (*COMMANDS, "python", "toml")
SHOWN = ("text",)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with the comments before it."""

    page: Path
    line: int
    language: str
    text: str
    notes: tuple[tuple[str, str], ...]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def all(self, key: str) -> list[str]:
        return [value for name, value in self.notes if name == key]

    def note(self, key: str) -> str | None:
        values = self.all(key)
        assert len(values) <= 1, f"{self.place}: two comments {key!r}"
        return values[0] if values else None


def pages() -> list[Path]:
    """Every page of the site that someone wrote, the README, and how to contribute."""
    written = [path for path in sorted((ROOT / "docs").rglob("*.md")) if path.parent.name != "api"]
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *written]


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT)).removeprefix("docs/")


def page_notes(page: Path) -> dict[str, str]:
    """Comments that hold for the whole page."""
    found = [match for line in page.read_text(encoding="utf-8").splitlines() if (match := COMMENT.match(line))]
    return {match["key"]: match["value"] for match in found if match["key"] in ("needs", "sizes")}


def blocks(page: Path) -> list[Block]:
    """Fenced blocks in their order; those of Sphinx, such as {toctree}, are left out."""
    found: list[Block] = []
    notes: list[tuple[str, str]] = []
    lines = iter(enumerate(page.read_text(encoding="utf-8").splitlines(), 1))
    for number, line in lines:
        if comment := COMMENT.match(line):
            assert comment["key"] in KEYS, f"{page}:{number}: unknown comment {comment['key']!r}"
            notes.append((comment["key"], comment["value"]))
        elif fence := FENCE.match(line):
            indent, marks = fence["indent"], fence["marks"]
            inside: list[str] = []
            for _, text in lines:
                if text.strip() == marks:
                    break
                inside.append(text.removeprefix(indent))
            if not fence["language"].startswith("{"):
                text = "".join(f"{part}\n" for part in inside)
                found.append(Block(page, number, fence["language"].strip(), text, tuple(notes)))
            notes = []
        elif line.strip():
            notes = []
    return found
