"""Row functions must compile to packed SIMD instructions: a scalar kernel is right, and eight times too slow."""

from __future__ import annotations

import inspect
import platform
import re
from typing import Any

import numba
import numpy as np
import pytest

from slopewash.models.virtual_pipes import rock_rows, rows
from slopewash.models.virtual_pipes.coefficients import Coefficients, coefficients
from slopewash.models.virtual_pipes.model import VirtualPipes

LOOPS = {
    name: function
    for name, function in sorted((vars(rows) | vars(rock_rows)).items())
    if hasattr(function, "py_func") and "for " in inspect.getsource(function.py_func)
}
PACKED = {"x86_64": r"\b(v?(mul|add|sub|max|min)ps)\s+.*%[xyz]mm", "aarch64": r"\bf(mul|add|sub|max|min)\w*\s+v\d+\.4s"}


def arguments(function: Any) -> list[Any]:
    """Arrays for one-letter and row names, numbers for the rest, as the sweep passes them."""
    c = coefficients(VirtualPipes(), 1)
    single = Coefficients(*(np.float32(v) if isinstance(v, float) else v for v in c))  # type: ignore[arg-type]
    numbers = {"rain", "dt", "kappa", "push", "flow_kept", "Kc", "sin_min", "ramp_0", "ramp_1", "talus_0", "talus_1"}
    numbers |= {
        "half_slide",
        "slide",
        "creep",
        "Kh",
        "keep",
        "per_cover",
        "per_bed",
        "bed_contrast",
        "weather",
        "per_weather",
        "eight",
    }
    known: dict[str, Any] = {"c": single, "begin": 1, "end": 65, "counted": True, "sums": np.zeros(8)}
    known |= dict.fromkeys(numbers, np.float32(0.5))
    return [known.get(name, np.ones(66, np.float32)) for name in inspect.signature(function).parameters]


@pytest.mark.slow
@pytest.mark.parametrize("name", LOOPS)
def test_rows_are_packed(name: str) -> None:
    pattern = PACKED.get(platform.machine())
    if pattern is None:
        pytest.skip(f"no pattern of packed instructions for {platform.machine()}")
    compiled = LOOPS[name]
    function = compiled.py_func
    # Compiled anew, with the kernel's own options: what comes from the cache has no assembly to look at.
    fresh: Any = numba.jit(pipeline_class=compiled._compiler.pipeline_class, **compiled.targetoptions)(function)
    fresh(*arguments(function))
    assembly = fresh.inspect_asm(fresh.signatures[0])
    if name == "copy":  # moves, no arithmetic
        assert re.search(r"movups\s+.*%[xyz]mm|memcpy|memmove|ldp\s+q", assembly)
        return
    wanted = pattern.replace("ps)", "(ps|pd))") if name.startswith("total") else pattern
    assert re.search(wanted, assembly), f"{name} is scalar"
    if "add_in_any_order" in inspect.getsource(function):
        assert re.search(pattern.replace("ps)", "pd)").replace(".4s", ".2d"), assembly), f"{name} sums one by one"
    assert not re.search(r"\bpowf?\b|_pow", assembly), f"{name} calls a power function: roots of the discharge suffice"


def test_the_rows_of_eight_pipes_are_among_them() -> None:
    assert {"push_eight_pipes", "move_depth_eight", "carry_both_eight", "work_ground", "expose"} <= set(LOOPS)
