"""Which tests run: combinations of products, and tests on an adapter only where there is one; on CI there must be."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import crafted as crafted_files
from tests import products

from slopewash.backends.available import problem

pytest_plugins = ("pytester",)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every test that runs on the gpu backend, so that `-m "not gpu"` leaves it out."""
    callspec = getattr(item, "callspec", None)
    if callspec is not None and callspec.params.get("backend") == "gpu":
        item.add_marker(pytest.mark.gpu)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out combinations of parameters that show no pair of values for the first time, but for a few of them."""
    out = products.left_out(items)
    if out:
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]


def pytest_report_header() -> str:
    """Say which combinations run."""
    if products.SLICE == products.ALL:
        return "products of parameters: all combinations"
    return f"products of parameters: each pair of values, and of the rest what TEST_SLICE={products.SLICE} chooses"


@pytest.fixture(autouse=True, scope="session")
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep what a studio keeps out of the user's own folders."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def crafting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[crafted_files.Helper]:
    """The process that forks for crafted files."""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    with crafted_files.helper(tmp_path_factory.mktemp("crafting")) as helper:
        yield helper


@pytest.fixture
def crafted(tmp_path: Path, crafting: crafted_files.Helper) -> crafted_files.Place:
    """A folder for a crafted file, with canaries outside it."""
    return crafted_files.Place(tmp_path, crafting)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Let SIGINT arrive, here and in every process a test starts, even if this run was started with it ignored.

    Shells start background jobs that way (`pytest &` in a script), and children inherit an ignored signal. A handler is
    not inherited: exec resets it to the default.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for an adapter before a test that needs one."""
    if item.get_closest_marker("gpu") is None:
        return
    reason = problem("gpu")
    if reason is None:
        return
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(f"CI must run the gpu backend: {reason}", pytrace=False)
    pytest.skip(reason)
