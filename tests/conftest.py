"""What needs a graphics adapter: skipped where there is none, with the reason; on CI a missing adapter fails."""

from __future__ import annotations

import os

import pytest

from slopewash.backends.available import problem


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for an adapter before a test that is marked `gpu` or runs on the gpu backend."""
    callspec = getattr(item, "callspec", None)
    wanted = callspec is not None and callspec.params.get("backend") == "gpu"
    if not wanted and item.get_closest_marker("gpu") is None:
        return
    reason = problem("gpu")
    if reason is None:
        return
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI must run the gpu backend: {reason}", pytrace=False)
    pytest.skip(reason)
