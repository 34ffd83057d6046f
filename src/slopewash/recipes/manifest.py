"""What made an output folder: the recipe used, and a manifest with version, seed, checksums and mass budget."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.drafts import staged
from slopewash.paths import confined_to
from slopewash.plain import plain
from slopewash.recipes.layers import LayerFile
from slopewash.recipes.maps import map_files
from slopewash.recipes.sources import FromFile
from slopewash.recipes.writing import relative, write_recipe

if TYPE_CHECKING:
    from slopewash.recipes.definition import Recipe
    from slopewash.recipes.results import Result

RECIPE, MANIFEST = "recipe.toml", "manifest.json"
CHECKPOINTS = "checkpoints"
"""Folder within the output folder of a recipe, while it is not complete."""


def input_files(recipe: Recipe) -> list[Path]:
    """Files that a recipe reads: its source, its layers and its maps."""
    files = [recipe.source.path] if isinstance(recipe.source, FromFile) else []
    layers = [layer.path for layer in recipe.layers.values() if isinstance(layer, LayerFile)]
    return list(dict.fromkeys([*files, *layers, *map_files(recipe.stages)]))


def write_records(result: Result, folder: Path, outputs: Iterable[Path]) -> tuple[Path, Path]:
    """Write the recipe and the manifest of a run into its folder, the manifest last; two runs give the same bytes."""
    recipe, manifest = folder / RECIPE, folder / MANIFEST
    with confined_to(folder):
        write_recipe(result.recipe, recipe)
        facts = manifest_facts(result, folder, outputs)
        text = json.dumps(plain(facts), indent=2, ensure_ascii=False, allow_nan=False)
        with staged(manifest) as temporary:
            temporary.write_text(f"{text}\n", encoding="utf-8")
    return recipe, manifest


def manifest_facts(result: Result, folder: Path, outputs: Iterable[Path]) -> dict[str, Any]:
    """What made the files of a folder; nothing in it depends on the time or on the machine's speed."""
    rows, columns = result.terrain.shape
    return {
        **result.notes,
        "backend": result.backend,
        "interrupted": result.interrupted,
        "rows": rows,
        "columns": columns,
        "cell_size": result.terrain.cell_size,
        "recipe": RECIPE,
        "inputs": [] if result.foreign else _placed(result.inputs, folder),
        "outputs": _placed(checksums([folder / RECIPE, *sorted(outputs)]), folder),
        "budget": result.budget.as_dict(),
    }


def checksums(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Checksum and length of each file as it is now."""
    return {
        str(file.absolute()): {"sha256": _sha256(file), "bytes": file.stat().st_size}
        for file in files
        if file.is_file()
    }  # fmt: skip


def _placed(known: Mapping[str, Mapping[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The same as a list, with names as seen from the folder."""
    return [{"file": relative(Path(file), folder.absolute()), **facts} for file, facts in known.items()]


def _sha256(file: Path) -> str:
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
