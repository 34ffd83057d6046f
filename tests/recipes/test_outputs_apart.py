"""Outputs of a recipe: no two write one file, and each says beforehand which files it writes."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import slopewash as sw
from slopewash.claims import Claim, twice
from slopewash.errors import InvalidFile, InvalidParameter, InvalidRecipe
from slopewash.exports import target_names
from slopewash.exports.targets import find_target
from slopewash.recipes.outputs import output_kinds

RECIPE = """backend = "reference"
[source]
generator = "dome"
size = 33
[[stages]]
model = "steepest_talus"
steps = 1
"""
LAYERS = {"kind": "layers", "path": "m", "layers": ["elevation"]}
EXPORT = {"kind": "export", "path": "m", "target": "blender"}
FILM = {"kind": "film", "path": "v.webm", "motion": "timelapse"}
MEETING: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"path": "a.npz"}, {"path": "a.npz"}),
    (LAYERS, {"kind": "picture", "path": "m/elevation.png"}),
    (LAYERS, {"path": "m/elevation.png"}),
    (EXPORT, {"path": "m/height.exr"}),
    (EXPORT, {"path": "m/terrain.glb"}),
    (EXPORT, {"kind": "picture", "path": "m/weight_grass.png"}),
    ({"kind": "export", "path": "m", "target": "gis"}, {"path": "m/flow.tif"}),
    (LAYERS, {**LAYERS, "layers": ["flow"]}),
    (LAYERS, {"path": "M/../m/elevation.png"}),
]
APART: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (LAYERS, {"path": "m/wear.png"}),
    (EXPORT, {"path": "m/heights.exr"}),
    (LAYERS, {"kind": "export", "path": "n", "target": "godot"}),
    ({"path": "a.npz"}, {"path": "b/a.npz"}),
    ({"path": "a.tif"}, {"path": "a.png"}),
]


def text(*outputs: dict[str, Any]) -> str:
    def value(given: Any) -> str:
        return "[" + ", ".join(map(value, given)) + "]" if isinstance(given, list) else f'"{given}"'

    tables = ("".join(f"{key} = {value(each)}\n" for key, each in output.items()) for output in outputs)
    return RECIPE + "".join(f"[[outputs]]\n{table}" for table in tables)


def made(facts: dict[str, Any]) -> sw.Output:
    options: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in facts.items()}
    return sw.Output(Path(options.pop("path")), options.pop("kind", "terrain"), options)


@pytest.mark.parametrize("pair", [order for pair in MEETING for order in permutations(pair)])
def test_two_outputs_of_one_file_are_refused(
    pair: tuple[dict[str, Any], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "r.toml"
    file.write_text(text(*pair))
    if not any(".." in each["path"] for each in pair):
        with pytest.raises(
            (InvalidRecipe, InvalidParameter), match=r"outputs\[2\]\.path: .* written by an output before"
        ):
            sw.Recipe.read(file)
    recipe = sw.Recipe(
        source=sw.Generated(kind="dome", size=33), stages=(sw.Stage.of(sw.SteepestTalus(), steps=1),),
        backend="reference", outputs=tuple(map(made, pair)), outputs_anywhere=True,
    )  # fmt: skip
    for folder in (None, tmp_path / "out"):
        Path("m").mkdir(parents=True, exist_ok=True)
        Path("M").mkdir(exist_ok=True)
        with pytest.raises(InvalidFile, match="written by an output before it"):
            recipe.run(folder=folder)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path != file]


@pytest.mark.parametrize("pair", [order for pair in APART for order in permutations(pair)])
def test_outputs_side_by_side_are_taken(pair: tuple[dict[str, Any], ...], tmp_path: Path) -> None:
    file = tmp_path / "r.toml"
    file.write_text(text(*pair))
    assert len(sw.Recipe.read(file).outputs) == 2


@pytest.mark.parametrize("kind", output_kinds())
def test_each_kind_claims_what_it_writes(kind: str, tmp_path: Path) -> None:
    options: dict[str, list[tuple[str, dict[str, Any]]]] = {
        "terrain": [
            (f"a{suffix}", {}) for suffix in (".exr", ".asc", ".r16", ".raw", ".tif", ".png", ".npz", ".glb", ".obj")
        ],
        "layers": [("m", {"layers": ("elevation", "wear")})],
        "picture": [("v.png", {})],
        "export": [("m", {"target": target}) for target in ("unreal", "godot", "blender", "gis")],
        "film": [("v.webm", {"seconds": 0.1, "size": (64, 48)})],
    }
    if kind == "film":
        pytest.importorskip("av")
    stage = sw.Stage.of(sw.SteepestTalus(), steps=1)
    terrain = sw.generate("dome", size=127).replace(crs="EPSG:32632")
    result = sw.Recipe(source=sw.FromTerrain(terrain=terrain), stages=(stage,), backend="reference").run()
    for number, (name, given) in enumerate(options[kind]):
        folder = tmp_path / str(number)
        folder.mkdir()
        if kind == "export" and given["target"] == "godot":
            given = {**given, "size": 256, "fit": "resample"}
        output = sw.Output(folder / name, kind, given)
        claim = output.claim
        output.write(result)
        written = [path for path in folder.rglob("*") if path.is_file()]
        assert written
        assert [path for path in written if not claim.overwrites(path)] == []


@pytest.mark.parametrize("tiles", [(1, 1), (2, 2)])
@pytest.mark.parametrize("target", target_names())
def test_each_target_claims_what_it_writes(target: str, tiles: tuple[int, int], tmp_path: Path) -> None:
    if tiles != (1, 1) and not find_target(target).sizes.tiled:
        pytest.skip("one file")
    if target == "houdini":
        pytest.importorskip("pxr")
    size = {"unreal": 127, "unity": 33, "godot": 256}.get(target, 33)
    terrain = sw.generate("dome", size=64)
    claim = find_target(target).claim(tmp_path, terrain)
    done = sw.export(terrain, target, tmp_path, size=size, tiles=tiles, fit="resample")
    assert [file.name for file in done.files if not claim.has(file.name)] == []


def test_many_outputs_are_compared_at_once() -> None:
    claims = [Claim.of_file(Path(f"out/{number}/a.npz")) for number in range(2000)]
    assert twice(claims) is None
    assert twice([*claims, Claim.of_file(Path("out/7/a.npz"))]) == (2000, "a.npz")


def test_a_run_on_tiles_does_not_replace_its_source(tmp_path: Path) -> None:
    store, cone = tmp_path / "tt.zarr", sw.generate("cone", size=32)
    options: dict[str, Any] = {"tile": 32, "workers": 0, "backend": "reference", "steps": 1}
    sw.erode_tiled(cone, sw.SteepestTalus(), out=store, **options)
    before = {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}
    for force in (False, True):
        with pytest.raises(InvalidParameter, match=r"tt\.zarr would replace .*tt\.zarr, which the run reads"):
            sw.erode_tiled(store, sw.SteepestTalus(), out=store, force=force, **options)
    assert {path: path.read_bytes() for path in store.rglob("*") if path.is_file()} == before
