from __future__ import annotations

import json

from benchmarks import numerics


def test_the_table_of_the_site_is_that_of_the_result_file() -> None:
    result = json.loads(numerics.RESULT.read_text(encoding="utf-8"))
    assert {row["case"] for row in result["rows"]} == set(numerics.CASES)
    assert numerics.TABLE.read_text(encoding="utf-8") == "\n".join(numerics.table(result)) + "\n"


def test_a_case_gives_a_small_error() -> None:
    assert numerics.rain_and_evaporation("reference") < 2e-5
