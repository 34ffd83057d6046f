"""What belongs into the source distribution and the wheel, and what does not, by the names of the files in them."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

WEB = "slopewash/studio/web/"
PAGE = "slopewash/studio/page/"
NEVER = ("node_modules", "__pycache__", "tests", ".venv", "out", "docs")
"""Folders that neither has at any depth."""
BESIDE_THE_CODE = {
    "pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "PKG-INFO",
    ".gitignore",
}  # fmt: skip


def names_in(archive: Path) -> list[str]:
    """Files of a wheel, or of a source distribution without its outer folder."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return [name for name in wheel.namelist() if not name.endswith("/")]
    with tarfile.open(archive) as source:
        return [member.name.partition("/")[2] for member in source.getmembers() if member.isfile()]


def source_faults(names: Iterable[str]) -> list[str]:
    """What a source distribution lacks to build a wheel, and what it has too much."""
    present = set(names)
    code = {name for name in present if name.startswith("src/slopewash/")}
    return [
        *_misplaced(present),
        *(f"{name} has no business there" for name in sorted(present - code - BESIDE_THE_CODE)),
        *(f"{name} is not for sources: it is built" for name in sorted(code) if name.startswith(f"src/{PAGE}")),
        *_missing(present, "pyproject.toml", "hatch_build.py", "LICENSE", "README.md", f"src/{WEB}package-lock.json"),
    ]


def wheel_faults(names: Iterable[str], source: Iterable[str]) -> list[str]:
    """What a wheel lacks of its sources and of the built page, and what it has too much."""
    present = set(names)
    described = {name for name in present if ".dist-info/" in name}
    page = {name for name in present if name.startswith(PAGE)}
    wanted = {
        name.removeprefix("src/")
        for name in source
        if name.startswith("src/slopewash/") and not name.startswith(f"src/{WEB}")
    }
    kinds = {Path(name).suffix for name in page}
    return [
        *_misplaced(present),
        *_missing(present, *sorted(wanted), f"{PAGE}index.html"),
        *(f"{name} has no business there" for name in sorted(present - wanted - page - described)),
        *(f"the page has no {kind}" for kind in (".js", ".css") if kind not in kinds),
        *([] if any(name.endswith("/licenses/LICENSE") for name in described) else ["the licence is missing"]),
        *([] if any(name.endswith("/entry_points.txt") for name in described) else ["the command is missing"]),
    ]


def _missing(present: set[str], *names: str) -> list[str]:
    return [f"{name} is missing" for name in names if name not in present]


def _misplaced(names: set[str]) -> list[str]:
    return [
        f"{name} is in a folder that is not for packages"
        for name in sorted(names)
        if set(NEVER) & set(Path(name).parts[:-1])
    ]
