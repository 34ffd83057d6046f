"""Values as JSON has them, for checkpoints, reports and the studio."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """Reduce to what JSON has: infinity becomes "inf", which parameters and strata take as a number; NaN becomes null.

    >>> plain({"limit": math.inf, "size": (3, 4), "mean": math.nan})
    {'limit': 'inf', 'size': [3, 4], 'mean': None}
    """
    if hasattr(value, "tolist"):  # NumPy's numbers and arrays
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple | Iterator):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
