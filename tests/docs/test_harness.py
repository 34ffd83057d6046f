"""What follows the pages notices when a page is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.docs import pages as pages_module
from tests.docs.following import follow

GOOD = """# A page

<!-- makes: raw.exr -->
```sh
slopewash generate dome -o raw.exr --size 512   # small in tests
```

```python
import slopewash as sw

assert sw.read("raw.exr").shape == (40, 40), "another size"
print("read")
```
"""


@pytest.fixture
def try_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.setattr(pages_module, "ROOT", tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()

    def try_page(text: str) -> str:
        page = tmp_path / "page.md"
        page.write_text(text, encoding="utf-8")
        return follow(page, folder)

    return try_page


def test_a_good_page_is_followed_at_small_size(try_page: Callable[[str], str]) -> None:
    assert try_page(GOOD).splitlines()[-1] == "read"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (GOOD.replace("generate dome", "generate dom"), "dome"),
        (GOOD.replace("makes: raw.exr", "makes: other.exr"), "did not make other.exr"),
        (GOOD.replace("makes:", "made:"), "unknown comment"),
        (GOOD.replace("makes: raw.exr", "refused: no such generator"), "was to be refused"),
        (GOOD.replace("makes: raw.exr", "smaller: --wide 1 -> --wide 2"), "is not there"),
        (GOOD.replace("(40, 40)", "(512, 512)"), "another size"),
        (GOOD.replace("```sh", "```perl"), "nobody knows"),
        ('```sh\npip install "path/to/slopewash[everything]"\n```\n', "no extra"),
        ('```sh\npip install "slopewash[studio]"\n```\n', "studio"),
        ("```sh\nmake nothing\n```\n", "no target"),
    ],
)
def test_a_wrong_page_is_noticed(try_page: Callable[[str], str], wrong: str, reason: str) -> None:
    with pytest.raises(AssertionError, match=reason):
        try_page(wrong)


def test_a_page_may_show_what_is_refused(try_page: Callable[[str], str]) -> None:
    try_page("<!-- refused: did you mean -->\n```sh\nslopewash generate dom -o raw.exr\n```\n")
