"""Packages that lack something, or have too much, are noticed."""

from __future__ import annotations

import pytest
from tests.wheels.contents import source_faults, wheel_faults

SOURCE = [
    "pyproject.toml", "hatch_build.py", "LICENSE", "README.md", "src/slopewash/__init__.py", "src/slopewash/push.wgsl",
    "src/slopewash/studio/web/package-lock.json", "src/slopewash/studio/web/src/app.ts",
]  # fmt: skip
WHEEL = [
    "slopewash/__init__.py", "slopewash/push.wgsl", "slopewash/studio/page/index.html",
    "slopewash/studio/page/assets/app.js", "slopewash/studio/page/assets/app.css",
    "slopewash-0.2.0.dist-info/METADATA", "slopewash-0.2.0.dist-info/entry_points.txt",
    "slopewash-0.2.0.dist-info/licenses/LICENSE",
]  # fmt: skip


def test_good_packages_have_no_fault() -> None:
    assert source_faults(SOURCE) == []
    assert wheel_faults(WHEEL, SOURCE) == []


@pytest.mark.parametrize("name", SOURCE[:4] + SOURCE[6:7])
def test_sources_need_what_a_wheel_is_built_from(name: str) -> None:
    assert source_faults([other for other in SOURCE if other != name]) == [f"{name} is missing"]


@pytest.mark.parametrize(
    "name",
    [
        "src/slopewash/studio/web/node_modules/vite/index.js",
        "tests/conftest.py",
        "src/slopewash/studio/page/index.html",
    ],
)
def test_sources_have_nothing_that_is_installed_built_or_only_tested(name: str) -> None:
    assert source_faults([*SOURCE, name])


@pytest.mark.parametrize("name", [name for name in WHEEL if not name.endswith("METADATA")])
def test_wheels_need_code_kernels_page_licence_and_command(name: str) -> None:
    assert wheel_faults([other for other in WHEEL if other != name], SOURCE)


@pytest.mark.parametrize(
    "name",
    ["slopewash/studio/web/src/app.ts", "slopewash/tests/test_io.py", "tests/conftest.py", "hatch_build.py"],
)
def test_wheels_have_neither_tests_nor_sources_of_the_page(name: str) -> None:
    assert wheel_faults([*WHEEL, name], SOURCE)
