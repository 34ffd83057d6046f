"""The add-on for Blender: its bridge to the command line, and, where Blender's module is installed, the add-on."""

from __future__ import annotations

import importlib.util
import stat
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import slopewash as sw

FOLDER = Path(__file__).parents[2] / "integrations" / "blender"


def load(name: str, path: Path, **options: list[str]) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path, **options)  # type: ignore[arg-type]
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bridge() -> ModuleType:
    return load("slopewash_bridge", FOLDER / "slopewash_blender" / "bridge.py")


@pytest.fixture
def command(tmp_path: Path) -> str:
    script = tmp_path / "slopewash"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m slopewash "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    return str(script)


def test_the_grid_of_a_file_has_its_points_and_layers(bridge: ModuleType, tmp_path: Path) -> None:
    heights = np.arange(12.0).reshape(3, 4)
    hole = np.zeros((3, 4), bool)
    hole[2, 3] = True
    path = sw.write(sw.Terrain(heights, cell_size=10.0, wear=heights / 2, nodata=hole), tmp_path / "hill.npz")
    grid = bridge.read_grid(path)
    points = grid.points.reshape(3, 4, 3)
    assert points[0, 0].tolist() == [-15, 10, 0]  # north-west: y to the north
    assert points[2, 0].tolist() == [-15, -10, 8]
    assert len(grid.quads) == 5  # the corner without data is left out
    a, b, c = (grid.points[grid.quads[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    assert grid.layers["wear"][:11].tolist() == (heights / 2).ravel()[:11].tolist()


def test_the_command_erodes_and_its_layers_come_back(bridge: ModuleType, command: str, tmp_path: Path) -> None:
    path = sw.write(sw.generate("dome", size=24, seed=1), tmp_path / "dome.npz")
    worn = bridge.eroded(command, path, preset="single_grid", options=["--steps", "5", "--backend", "reference"])
    assert {"wear", "deposit", "flow"} <= set(worn.layers)
    assert worn.points.shape == (24 * 24, 3)
    moved = worn.points[:, 2] - sw.read(path)["elevation"].ravel()
    assert moved == pytest.approx(worn.layers["difference"], abs=1e-3)
    assert moved.any()


def test_what_the_command_says_is_the_error(bridge: ModuleType, command: str, tmp_path: Path) -> None:
    with pytest.raises(bridge.Failed, match="does not exist"):
        bridge.eroded(command, tmp_path / "missing.npz")
    with pytest.raises(bridge.Failed, match="set its path in the preferences"):
        bridge.eroded(str(tmp_path / "nowhere"), tmp_path / "missing.npz")


def test_the_add_on_makes_a_mesh_with_attributes(command: str, tmp_path: Path) -> None:
    bpy = pytest.importorskip("bpy", reason="Blender's module bpy is not installed: pip install bpy")
    package = FOLDER / "slopewash_blender"
    addon = load("slopewash_blender", package / "__init__.py", submodule_search_locations=[str(package)])
    path = sw.write(sw.Terrain(np.arange(12.0).reshape(3, 4), wear=2.0), tmp_path / "hill.npz")
    mesh = addon.build_mesh(addon.bridge.read_grid(path), "hill")
    assert len(mesh.vertices) == 12
    assert len(mesh.polygons) == 6
    assert mesh.attributes["wear"].data[5].value == 2.0
    addon.register()
    assert bpy.ops.import_mesh.slopewash(filepath=str(path), preset="landscape") == {
        "CANCELLED"
    }  # no such command in PATH
    addon.unregister()


def test_the_add_on_is_under_its_own_licence() -> None:
    assert "GNU GENERAL PUBLIC LICENSE" in (FOLDER / "LICENSE").read_text(encoding="utf-8")
    for path in (FOLDER / "slopewash_blender").glob("*.py"):
        assert path.read_text(encoding="utf-8").startswith("# SPDX-License-Identifier: GPL-3.0-or-later")
