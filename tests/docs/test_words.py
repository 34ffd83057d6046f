"""Texts that users read keep to the project's vocabulary: one usual word for each idea.

What is not checked, because the word has good uses beside the one to avoid: "load" (of a machine, of a file; only that
of water is found), "wall", "gap" and "hole" where nodata is meant (blocks, cliffs and Terrain3D have walls and holes),
"parts" for sub-steps, "enter" for what is validated (a key is called Enter), and "say" of people and papers.
"""

from __future__ import annotations

import re

import pytest
from tests.docs.texts import all_texts

AVOIDED = {
    r"\b(the|its|our) books\b|\bbooks? balance\b|\bledgers?\b|\btall(y|ies)\b|\boff by\b":
        "mass budget, mass-balance error",
    r"\b(is|are|was|were|be) told\b|\btells? (you|us|the user|users)\b": "report, show, print",
    r"(?<![\w.])(`[^`]+`|command line|command|page|note|message|error|option|files?|texts?) (says?|said)\b":
        "report, show, state",
    r"\bone result\b|\bsame bits\b": "deterministic, bit-identical",
    r"\bdepart(s|ed|ing|ures?)? from print\b|\bke(eps?|pt) print\b": "deviations from the paper; as published",
    r"\bwears\b|\bworn\b|\bla(ys?|id) down\b": "erodes, deposits, settles",
    r"\b(sediment|suspended|soil|river'?s?|its) load\b": "sediment",
    r"\b(springs|a spring)\b(?! and (a )?damper)": "water source",
    r"\bno-?data (walls?|gaps?|holes?)\b|\b(walls?|gaps?|holes?) of nodata\b": "nodata",
    r"\bnumber that the landscape follows from\b": "random seed",
    r"\bbr(eaks?|oke|oken|eaking) off\b": "cancel, interrupt",
    r"\bheirs?\b|\bonlookers?\b": "subclass, observer",
    r"\bdoors?\b": "validate at the boundary; convert",
    r"\*(Books|Out)\*": "Budget, Export",
}  # fmt: skip
"""Phrases that no text has, and what to write instead."""

TEXTS = list(all_texts())

NAMES = (r"`Model\.springs` is `has_sources\(\)`",)
"""Names of the past, where they are explained."""


@pytest.mark.parametrize("phrase", AVOIDED, ids=lambda phrase: AVOIDED[phrase])
def test_no_text_has_a_phrase_that_the_vocabulary_replaces(phrase: str) -> None:
    found = [
        f"{place}: {text[max(0, match.start() - 40) : match.end() + 30]!r}"
        for place, text in TEXTS
        if (match := re.search(phrase, text, re.IGNORECASE)) and not any(re.search(name, text) for name in NAMES)
    ]
    assert not found, f"write {AVOIDED[phrase]}:\n" + "\n".join(found)


def test_texts_of_every_kind_are_read() -> None:
    places = [place for place, _ in TEXTS]
    for beginning in (
        "README.md:",
        "docs/guides/",
        "CHANGELOG.md:",
        "src/slopewash/errors",
        "sw.erode",
        "slopewash run",
    ):
        assert any(place.startswith(beginning) for place in places), beginning
    assert any(place.endswith(".html:1") for place in places)
    assert any(".ts:" in place for place in places)
    assert any("it must be positive" in text or "must be" in text for place, text in TEXTS if "/models/" in place)


@pytest.mark.parametrize(
    "sentence",
    [
        "the books balance", "pages are told", "`slopewash info` says so", "to the same bits", "it departs from print",
        "what was worn", "the suspended load", "a spring", "nodata holes", "broken off", "its heirs", "the *Books* tab",
    ],
)  # fmt: skip
def test_phrases_are_found(sentence: str) -> None:
    assert any(re.search(phrase, sentence, re.IGNORECASE) for phrase in AVOIDED)


@pytest.mark.parametrize(
    "sentence",
    [
        "the load of the machine", "walls of the block show the strata", "press Enter", "parts of a GLB",
        "with a spring and a damper", "wall times", "Horton's ratios say little", "the paper says that",
    ],
)  # fmt: skip
def test_good_uses_are_left_alone(sentence: str) -> None:
    assert not any(re.search(phrase, sentence, re.IGNORECASE) for phrase in AVOIDED)
