"""What bounds the fused kernel from below: its row functions alone, and the divider alone.

A sweep calls one row function after another on rows that lie in rings. Here each works on the same few rows, over and
over, which stay in the cache nearest to the processor that has room for them: what a sweep takes beyond their sum is
spent on moving rows, on borders and on those sums of the budget that are loops of their own. Divisions and
square roots share one slow unit of the processor: their number times what one takes is a bound that no order of loops
can beat.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from slopewash.backends.aligned import aligned_rows
from slopewash.backends.compiled import row_kernel
from slopewash.models.virtual_pipes import rows

WIDTH = 1026
REPEATS, ROUNDS = 1000, 12
ROWS = {
    "table 2": (
        "pour", "push_pipes", "weigh_slides", "exchange_on_tilt", "slide_and_wear", "carry_both",
    ),
    "single_grid": (
        "pour", "push_pipes_along_flow", "gradient", "flux_faces", "work_between_faces", "carry_both",
    ),
    "landscape": (
        "pour", "push_eight_pipes", "gradient", "flux_faces", "work_between_faces_eight",
        "carry_both_eight",
    ),
}  # fmt: skip
"""Row functions of an iteration."""
NUMBERS = {
    "rain", "dt", "kappa", "push", "flow_kept", "Kc", "sin_min", "ramp_0", "ramp_1", "talus_0", "talus_1", "half_slide",
    "slide", "creep", "keep", "Kh",
}  # fmt: skip
CELLS = {"begin": 1, "end": WIDTH - 1, "counted": True}
"""Which of a row count in the budget."""


def floors(laws: str) -> dict[str, Any]:
    """Nanoseconds per cell and iteration of the row functions, and of the divisions and roots in them."""
    names = ROWS[laws]
    divisions, roots = (sum(count_of(kind, name) for name in names) for kind in ("divisions", "roots"))
    return {
        "kind": "floors", "laws": laws, "divisions": divisions, "roots": roots,
        "row_kernels_ns": sum(seconds_of_row(name) for name in names) * 1e9 / (WIDTH - 2),
        "divider_ns": (divisions * seconds_of(divide) + roots * seconds_of(take_root)) * 1e9 / (WIDTH - 2),
    }  # fmt: skip


@row_kernel
def divide(a: Any, b: Any, to: Any) -> None:
    for x in range(np.uintp(1), np.uintp(a.size - 1)):
        to[x] = a[x] / b[x]


@row_kernel
def take_root(a: Any, b: Any, to: Any) -> None:
    for x in range(np.uintp(1), np.uintp(a.size - 1)):
        to[x] = np.sqrt(a[x])


def seconds_of(function: Any) -> float:
    """Least CPU time of a call with three rows."""
    return least_time(function, tuple(some_rows(3)))


def seconds_of_row(name: str) -> float:
    """Least CPU time of a call of a row function of the model."""
    function: Any = getattr(rows, name)
    names = list(inspect.signature(function.__wrapped__).parameters)
    room = iter(some_rows(len(names)))
    coefficients: Any = rows.Carrying if name.startswith("push") else rows.Exchange
    half = np.float32(0.5)
    known = {"c": coefficients(*(half for _ in coefficients._fields)), "sums": np.zeros(8), **CELLS}
    values = (known[n] if n in known else half if n in NUMBERS else next(room) for n in names)
    return least_time(function, tuple(values))


def some_rows(count: int) -> list[Any]:
    room = aligned_rows(count, width=WIDTH)
    room[...] = 0.5 + 0.5 * np.random.default_rng(1).random(room.shape)
    return [row[:WIDTH] for row in room]


def least_time(function: Any, values: tuple[Any, ...]) -> float:
    """Call it from a kernel, as a sweep does."""
    names = [f"a{k}" for k in range(len(values))]
    source = f"def repeat(n, {', '.join(names)}):\n    for _ in range(n):\n        function({', '.join(names)})\n"
    place: dict[str, Any] = {"function": function}
    exec(source, place)  # Numba passes a tuple of rows and numbers on in no other way
    repeat: Callable[..., None] = numba.njit(place["repeat"])
    repeat(1, *values)
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        repeat(REPEATS, *values)
        best = min(best, (time.process_time() - begin) / REPEATS)
    return best


def count_of(kind: str, name: str) -> int:
    """Divisions or square roots per cell of a row function and of the functions of `rows` that it calls."""
    function: Any = getattr(rows, name)
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(getattr(function, "py_func", function)))))
    loop = next((node for node in ast.walk(tree) if isinstance(node, ast.For)), tree)  # what is before it counts once
    found = 0
    for node in ast.walk(loop):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            found += kind == "divisions"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sqrt":
            found += kind == "roots"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and hasattr(rows, node.func.id):
            found += count_of(kind, node.func.id)
    return found


if __name__ == "__main__":
    for laws in ROWS:
        print(floors(laws))
