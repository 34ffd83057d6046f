"""slopewash turns raw height fields into believable landscapes by simulating water and gravity."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slopewash import analysis
    from slopewash.analysis import axis_preference, local_minima, statistics
    from slopewash.analysis.breaching import breach_depressions
    from slopewash.analysis.drainage import drainage_area, fill_depressions
    from slopewash.analysis.rivers import add_water
    from slopewash.analysis.survey import analyse
    from slopewash.analysis.trunks import trunk_agreement
    from slopewash.backends import (
        adapters,
        available_backends,
        backend_names,
        copy_bandwidth,
        describe_backends,
        named_adapter,
        use_adapter,
    )
    from slopewash.errors import (
        BackendUnavailable,
        CheckpointError,
        CheckpointWarning,
        ForeignCheckpoint,
        GeoreferenceWarning,
        InvalidFile,
        InvalidMesh,
        InvalidParameter,
        InvalidRecipe,
        InvalidTerrain,
        MassNotConserved,
        NodataWarning,
        NotEnoughMemory,
        NotFinite,
        RangeWarning,
        SealWarning,
        SimulationClosed,
        SlopewashError,
        StabilityWarning,
        TooManySubsteps,
        UnknownName,
        UnusualWarning,
    )
    from slopewash.exports import Exported, export, target_names
    from slopewash.films import film, film_kinds
    from slopewash.generators import describe_generator, generate, generator_names, generator_options, strata_bands
    from slopewash.io import is_mesh_file, probe, read, read_mesh, read_strata, write
    from slopewash.io.formats import format_of
    from slopewash.io.gdal import without_gdal
    from slopewash.io.gdal_writing import write_geotiff
    from slopewash.io.masks import write_masks
    from slopewash.io.reprojecting import reproject
    from slopewash.models import (
        MeshParticles,
        Sides,
        SteepestTalus,
        VelocityField,
        VirtualPipes,
        find_model,
        find_preset,
        model_names,
        preset,
        presets,
    )
    from slopewash.observers import Checkpoints, Observer, Progress, Recorder
    from slopewash.recipes import (
        Beds,
        FromFile,
        FromTerrain,
        Generated,
        LayerFile,
        Look,
        Map,
        Output,
        Recipe,
        Recording,
        Result,
        Running,
        Stage,
        erode,
        looks,
        preset_beds,
        preset_source,
        recipe,
        recipe_schema,
        resume,
        usual_preset,
    )
    from slopewash.rendering import (
        contact_sheet,
        hillshade,
        overlay,
        palettes,
        render,
        render_mesh,
        render_view,
        side_by_side,
        wear_and_deposit,
    )
    from slopewash.reports import write_report
    from slopewash.simulation import (
        Budget,
        FolderLock,
        Simulation,
        brushes,
        find_checkpoints,
        newest_manifest,
        read_checkpoint,
        remove_checkpoints,
        write_checkpoint,
    )
    from slopewash.studio import studio
    from slopewash.terrain import (
        Emitter,
        Strata,
        Stratum,
        Terrain,
        TriangleMesh,
        WaterSource,
        add_gullies,
        erodibility_from_elevation,
    )
    from slopewash.tiles import (
        TiledResult,
        add_lakes_tiled,
        erode_tiled,
        open,
        read_tiled,
        resume_tiled,
        tiled_facts,
        write_tiled_geotiff,
    )

_HOMES = {
    "slopewash": ("analysis",),
    "slopewash.analysis": ("axis_preference", "local_minima", "statistics"),
    "slopewash.analysis.breaching": ("breach_depressions",),
    "slopewash.analysis.drainage": ("drainage_area", "fill_depressions"),
    "slopewash.analysis.rivers": ("add_water",),
    "slopewash.analysis.survey": ("analyse",),
    "slopewash.analysis.trunks": ("trunk_agreement",),
    "slopewash.backends": (
        "adapters", "available_backends", "backend_names", "copy_bandwidth", "describe_backends", "named_adapter",
        "use_adapter",
    ),
    "slopewash.errors": (
        "BackendUnavailable", "CheckpointError", "CheckpointWarning", "ForeignCheckpoint", "GeoreferenceWarning",
        "InvalidFile", "InvalidMesh", "InvalidParameter", "InvalidRecipe", "InvalidTerrain", "MassNotConserved",
        "NodataWarning", "NotEnoughMemory", "NotFinite", "RangeWarning", "SealWarning", "SimulationClosed",
        "SlopewashError", "StabilityWarning", "TooManySubsteps", "UnknownName", "UnusualWarning",
    ),
    "slopewash.exports": ("Exported", "export", "target_names"),
    "slopewash.films": ("film", "film_kinds"),
    "slopewash.generators": ("describe_generator", "generate", "generator_names", "generator_options", "strata_bands"),
    "slopewash.io": ("is_mesh_file", "probe", "read", "read_mesh", "read_strata", "write"),
    "slopewash.io.formats": ("format_of",),
    "slopewash.io.gdal": ("without_gdal",),
    "slopewash.io.gdal_writing": ("write_geotiff",),
    "slopewash.io.masks": ("write_masks",),
    "slopewash.io.reprojecting": ("reproject",),
    "slopewash.models": (
        "MeshParticles", "Sides", "SteepestTalus", "VelocityField", "VirtualPipes", "find_model", "find_preset",
        "model_names", "preset", "presets",
    ),
    "slopewash.observers": ("Checkpoints", "Observer", "Progress", "Recorder"),
    "slopewash.recipes": (
        "Beds", "FromFile", "FromTerrain", "Generated", "LayerFile", "Look", "Map", "Output", "Recipe", "Recording",
        "Result", "Running", "Stage", "erode", "looks", "preset_beds", "preset_source", "recipe", "recipe_schema",
        "resume", "usual_preset",
    ),
    "slopewash.rendering": (
        "contact_sheet", "hillshade", "overlay", "palettes", "render", "render_mesh", "render_view", "side_by_side",
        "wear_and_deposit",
    ),
    "slopewash.reports": ("write_report",),
    "slopewash.simulation": (
        "Budget",
        "FolderLock",
        "Simulation",
        "brushes",
        "find_checkpoints",
        "newest_manifest",
        "read_checkpoint",
        "remove_checkpoints",
        "write_checkpoint",
    ),
    "slopewash.studio": ("studio",),
    "slopewash.terrain": (
        "Emitter", "Strata", "Stratum", "Terrain", "TriangleMesh", "WaterSource", "add_gullies",
        "erodibility_from_elevation",
    ),
    "slopewash.tiles": (
        "TiledResult", "add_lakes_tiled", "erode_tiled", "open", "read_tiled", "resume_tiled", "tiled_facts",
        "write_tiled_geotiff",
    ),
}  # fmt: skip
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__version__ = "0.2.0"

__all__ = [
    "BackendUnavailable",
    "Beds",
    "Budget",
    "CheckpointError",
    "CheckpointWarning",
    "Checkpoints",
    "Emitter",
    "Exported",
    "FolderLock",
    "ForeignCheckpoint",
    "FromFile",
    "FromTerrain",
    "Generated",
    "GeoreferenceWarning",
    "InvalidFile",
    "InvalidMesh",
    "InvalidParameter",
    "InvalidRecipe",
    "InvalidTerrain",
    "LayerFile",
    "Look",
    "Map",
    "MassNotConserved",
    "MeshParticles",
    "NodataWarning",
    "NotEnoughMemory",
    "NotFinite",
    "Observer",
    "Output",
    "Progress",
    "RangeWarning",
    "Recipe",
    "Recorder",
    "Recording",
    "Result",
    "Running",
    "SealWarning",
    "Sides",
    "Simulation",
    "SimulationClosed",
    "SlopewashError",
    "StabilityWarning",
    "Stage",
    "SteepestTalus",
    "Strata",
    "Stratum",
    "Terrain",
    "TiledResult",
    "TooManySubsteps",
    "TriangleMesh",
    "UnknownName",
    "UnusualWarning",
    "VelocityField",
    "VirtualPipes",
    "WaterSource",
    "__version__",
    "adapters",
    "add_gullies",
    "add_lakes_tiled",
    "add_water",
    "analyse",
    "analysis",
    "available_backends",
    "axis_preference",
    "backend_names",
    "breach_depressions",
    "brushes",
    "contact_sheet",
    "copy_bandwidth",
    "describe_backends",
    "describe_generator",
    "drainage_area",
    "erode",
    "erode_tiled",
    "erodibility_from_elevation",
    "export",
    "fill_depressions",
    "film",
    "film_kinds",
    "find_checkpoints",
    "find_model",
    "find_preset",
    "format_of",
    "generate",
    "generator_names",
    "generator_options",
    "hillshade",
    "is_mesh_file",
    "local_minima",
    "looks",
    "model_names",
    "named_adapter",
    "newest_manifest",
    "open",
    "overlay",
    "palettes",
    "preset",
    "preset_beds",
    "preset_source",
    "presets",
    "probe",
    "read",
    "read_checkpoint",
    "read_mesh",
    "read_strata",
    "read_tiled",
    "recipe",
    "recipe_schema",
    "remove_checkpoints",
    "render",
    "render_mesh",
    "render_view",
    "reproject",
    "resume",
    "resume_tiled",
    "side_by_side",
    "statistics",
    "strata_bands",
    "studio",
    "target_names",
    "tiled_facts",
    "trunk_agreement",
    "use_adapter",
    "usual_preset",
    "wear_and_deposit",
    "without_gdal",
    "write",
    "write_checkpoint",
    "write_geotiff",
    "write_masks",
    "write_report",
    "write_tiled_geotiff",
]


def __getattr__(name: str) -> Any:
    """Import a public name on first use, so that `import slopewash` stays instant."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'slopewash' has no attribute {name!r}")
    home = _HOME_OF[name]
    value = (
        importlib.import_module(f"{home}.{name}") if home == __name__ else getattr(importlib.import_module(home), name)
    )
    globals()[name] = value
    _register_displays()
    return value


def _register_displays() -> None:
    """Let terrains and simulations show themselves in notebooks; what draws them is imported when first asked to."""
    terrain, simulation = (sys.modules.get(f"slopewash.{name}") for name in ("terrain", "simulation"))
    if terrain is not None and terrain.Terrain.picture is None:
        terrain.Terrain.picture = staticmethod(
            lambda shown: importlib.import_module("slopewash.rendering").picture(shown)
        )
    if simulation is not None and simulation.Simulation.viewer is None:
        simulation.Simulation.viewer = staticmethod(
            lambda shown, **options: importlib.import_module("slopewash.studio").view(shown, **options)
        )


class _Package(ModuleType):
    """Keeps `slopewash.studio` the function: importing the folder of that name would otherwise replace it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return sorted(__all__)
