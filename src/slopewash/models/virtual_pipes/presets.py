"""Named parameter sets of the virtual-pipe model."""

from __future__ import annotations

import math

from slopewash.models.catalogue import USUAL_CELLS, Level, Preset, preset, register_preset
from slopewash.models.virtual_pipes.model import VirtualPipes

register_preset(
    Preset(
        name="single_grid",
        doc="Broad valleys down to the edges and rounded hills, on one grid from start to end: the first landscape.",
        model=VirtualPipes(
            rain_rate=0.05,
            pipe_friction=0.125,
            evaporation_rate=0.0,
            sediment_capacity=2.0,
            suspension_rate=0.2,
            deposition_rate=0.4,
            softening_rate=0.0,
            maximum_erosion_depth=math.inf,
            minimum_tilt=0.0,
            sediment_volume=0.0,
            dig_limit=0.5,
            thermal_rate=1.0,
            talus_slope_range=0.4,
            talus_slope_bias=0.3,
            creep_rate=0.04,
            capacity="along_flow",
            hillslope="fall_line",
            deposit_below_surface=True,
            edge_base="graded",
            default_erodibility="from_elevation_fine",
        ),
        edges="open",
        steps=4000,
        settle=600,
        generator="dome",
    )
)

# Values for ground whose relief is a fifth of its side, by the cells along it. Talus rises from level to level, so that
# each leaves the ridges of the next to stand; what the water carries falls off with the root of the discharge, so that
# small streams cut too. Found by eye on domes and ridged noise.
_NAMES = (
    "talus_slope_bias", "talus_slope_range", "thermal_rate", "creep_rate", "capacity_three_quarters", "capacity_half",
)  # fmt: skip
_LEVELS = (
    # cells, steps, settle, then the parameters above
    (64, 600, 200, 0.30, 0.20, 5.0, 0.02, 46.0, 0.0),
    (128, 900, 200, 0.40, 0.20, 3.0, 0.01, 28.0, 0.0),
    (256, 1000, 200, 0.60, 0.30, 1.0, 0.0, 12.0, 1.5),
    (512, 700, 300, 0.75, 0.50, 0.8, 0.0, 6.0, 3.0),
    (1024, 800, 300, 0.90, 0.50, 1.0, 0.0, 0.0, 3.0),
    (2048, 500, 300, 1.00, 0.50, 1.0, 0.0, 0.0, 2.5),
    (4096, 350, 250, 1.05, 0.50, 1.0, 0.0, 0.0, 2.0),
    (8192, 250, 200, 1.10, 0.50, 1.0, 0.0, 0.0, 1.6),
)

_LOW_WATER: dict[str, float | str] = {
    "rain_rate": 0.0002, "capacity_three_quarters": 0.0, "capacity_half": 0.0, "suspension_rate": 0.0,
    "processes": "hydraulic",
}  # fmt: skip

register_preset(
    Preset(
        name="landscape",
        doc="Sharp ridges, branching valleys and fans, eroded from coarse to fine; the default of demo and erode.",
        model=preset("single_grid").replace(
            rain_rate=0.01,
            pipe_area=10.0,
            sediment_capacity=0.0,
            capacity_three_quarters=8.0,
            fan_slope=0.3,
            talus_slope_range=0.8,
            talus_slope_bias=0.8,
            creep_rate=0.01,
            pipes="eight",
            default_erodibility="rock",
        ),
        edges="open",
        steps=sum(steps for cells, steps, *_ in _LEVELS if cells <= USUAL_CELLS),
        settle=600,
        generator="dome",
        start={"relief": 970.0},
        levels=tuple(
            Level(
                cells=cells,
                steps=steps,
                settle=settle,
                parameters={"rain_rate": 0.002, **dict(zip(_NAMES, values, strict=True))},
            )
            for cells, steps, settle, *values in _LEVELS
        ),
        detail=0.5,
        restored=0.5,
        basins="breached",
        low_water=_LOW_WATER,
    )
)

register_preset(
    Preset(
        name="gentle",
        doc="For real elevation models, eroded already: cuts gullies, leaves some sand and keeps their texture.",
        model=preset("landscape").replace(
            rain_rate=0.002,
            capacity_three_quarters=0.0,
            capacity_half=1.5,
            suspension_rate=0.1,
            deposition_rate=0.1,
            thermal_rate=0.3,
            talus_slope_range=0.5,
            talus_slope_bias=1.0,
            creep_rate=0.0,
        ),
        edges="open",
        steps=250,
        settle=100,
        generator="diamond_square",
        low_water=_LOW_WATER,
    )
)

_JAKO = VirtualPipes(transport="semi_lagrangian")
_MEI = VirtualPipes(
    pipe_area=1.0,
    sediment_capacity=0.1,
    maximum_erosion_depth=math.inf,
    softening_rate=0.0,
    sediment_volume=0.0,
    processes="hydraulic",
    transport="semi_lagrangian",
    velocity="mean_depth",
    default_erodibility="uniform",
)
_SALAMIN = VirtualPipes(
    softening_rate=0.0,
    maximum_erosion_depth=math.inf,
    processes="hydraulic",
    transport="semi_lagrangian",
    default_erodibility="uniform",
)

register_preset(
    Preset(
        name="jako2011",
        doc="Figure 7d of Jákó & Tóth: branching valleys with v-shaped banks, and clear lakes.",
        # Within the ranges of Table 2. Erosion down to a depth of one cell leaves the lakes alone, the lower capacity
        # keeps mud out of them, faster slides open the slots that rivers cut to a V, and more rain lets side valleys
        # cut too. On gentler or smoother ground few of them do.
        model=_JAKO.replace(rain_rate=0.02, maximum_erosion_depth=1.0, sediment_capacity=0.5, thermal_rate=1.0),
        edges="closed",
        steps=1000,
        generator="diamond_square",
        start={"roughness": 0.3, "seed": 1, "relief": 2560.0},
    )
)

register_preset(
    Preset(
        name="jako2011_printed",
        doc="Table 2 of Jákó & Tóth, with the ramp of their text and a cap on mud: valleys and lakes fill with it.",
        model=_JAKO,
        edges="periodic",
        steps=1000,
        generator="diamond_square",
    )
)

register_preset(
    Preset(
        name="mei2007",
        doc="Mei, Decaudin & Hu: speed divided by the mean depth, gullies cut by water alone, no sliding soil.",
        # Dividing by the depth makes thin films fast: with this ramp they erode in proportion to their depth. On rough
        # ground water follows the ground; on smooth slopes it would cut slots along the four pipes.
        model=_MEI.replace(rain_rate=0.05, sediment_capacity=0.12, depth_ramp="printed", maximum_erosion_depth=2.0),
        edges="closed",
        steps=1000,
        generator="dome",
        start={"persistence": 0.62, "seed": 1},
    )
)

register_preset(
    Preset(
        name="mei2007_printed",
        doc="Mei, Decaudin & Hu as published, erosion at any depth: after some hundred steps the ground is all spikes.",
        model=_MEI,
        edges="closed",
        steps=1000,
        generator="diamond_square",
    )
)

register_preset(
    Preset(
        name="salamin",
        doc="Figure 1 of Salamin & Szénási: water alone cuts rills into a cone within 50 steps.",
        # The paper gives no values: these are the upper ends of the ranges of Jákó & Tóth. If sediment took up volume,
        # they would cut no rills, and without a limit to digging they leave holes 20 cells deep at the foot.
        model=_SALAMIN.replace(
            rain_rate=0.05,
            sediment_capacity=3.0,
            suspension_rate=2.0,
            deposition_rate=3.0,
            sediment_volume=0.0,
            dig_limit=0.5,
        ),
        edges="closed",
        steps=50,
        generator="cone",
        start={"noise": 0.03},
    )
)

# The published law is unstable: Eq. 15 makes and loses solids, and nothing limits depth. At 128² the ground is 0.35 km
# below the cone's foot after 500 iterations, 2.7 km after 1000 and no longer finite by 2000. Smaller time steps do not
# help: with a half and a quarter it is 0.8 and 1.7 km at the time of iteration 500. With transport="donor_cell", which
# conserves solids, it is 35 m after 2000.
register_preset(
    Preset(
        name="salamin_printed",
        doc="Salamin & Szénási with the values of Jákó & Tóth: 50 steps change hardly anything, 1000 dig on and on.",
        model=_SALAMIN,
        edges="closed",
        steps=50,
        generator="cone",
    )
)
