"""Every block of every page runs, page by page and in order, as a reader would do it; `pages.py` says how."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.following import follow
from tests.docs.inputs import INPUTS
from tests.docs.outcomes import OUTCOMES
from tests.docs.pages import FOREIGN, ROOT, RUN, SHOWN, Block, blocks, page_name, page_notes, pages

WITH_BLOCKS = [page for page in pages() if any(block.note("not run") is None for block in blocks(page))]
ALL = [block for page in pages() for block in blocks(page)]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=page_name)
def test_a_page_can_be_followed_from_its_first_block_to_its_last(page: Path, tmp_path: Path) -> None:
    printed = follow(page, tmp_path)
    if (check := OUTCOMES.get(page_name(page))) is not None:
        check(tmp_path, printed)


@pytest.mark.parametrize("block", ALL, ids=lambda block: block.place)
def test_no_block_is_left_out_without_a_reason(block: Block) -> None:
    assert block.language in (*RUN, *SHOWN, *FOREIGN), f"{block.place}: {block.language!r} is neither run nor shown"
    reason = block.note("not run")
    assert reason or block.language not in FOREIGN, f"{block.place}: it cannot be run"
    assert reason is None or len(reason.split()) >= 3, f"{block.place}: why is it not run?"
    if block.language == "toml" and reason is None:
        assert block.note("file") or block.note("part of"), f"{block.place}: of which file is this?"


def test_what_pages_need_is_made_and_used() -> None:
    wanted = {name for page in pages() for name in page_notes(page).get("needs", "").split(", ") if name}
    assert wanted == set(INPUTS)


def test_every_outcome_belongs_to_a_page() -> None:
    assert set(OUTCOMES) <= {page_name(page) for page in WITH_BLOCKS}


def test_there_are_pages_and_blocks_to_run() -> None:
    assert ROOT / "README.md" in WITH_BLOCKS
    assert {"python", "toml"} < {block.language for block in ALL}
