"""The page's types are those of the server, and messages are as declared."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import ValidationError

from slopewash.studio import protocol

SCRIPT = Path(__file__).parents[2] / "src/slopewash/studio/web/generate_types.py"


@pytest.fixture
def generate_types() -> ModuleType:
    """The script; it belongs to the page's sources, which are no package."""
    spec = importlib.util.spec_from_file_location("generate_types", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_types_of_the_page_are_up_to_date(generate_types: ModuleType) -> None:
    committed = generate_types.TARGET.read_text(encoding="utf-8")
    assert committed == generate_types.generate(), f"run python {SCRIPT.name} and commit what it writes"


def test_a_message_that_is_not_as_declared_fails_validation() -> None:
    protocol.SERVER_MESSAGE.validate_python({"type": "notice", "message": "compiling"})
    for wrong in ({"type": "notice"}, {"type": "notice", "message": "a", "more": 1}, {"type": "news"}):
        with pytest.raises(ValidationError):
            protocol.SERVER_MESSAGE.validate_python(wrong)
