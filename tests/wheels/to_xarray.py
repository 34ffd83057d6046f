"""Run in the environment: a terrain as a dataset of xarray, or the sentence of how to get it."""

from __future__ import annotations

import sys

import slopewash as sw


def main() -> int:
    try:
        data = sw.read("raw.exr").to_xarray()
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2
    assert data["elevation"].sel(x=0.0, method="nearest").shape == (48,), data
    return 0


if __name__ == "__main__":
    sys.exit(main())
