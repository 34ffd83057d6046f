"""Named parameter sets of the virtual-pipe model."""

from __future__ import annotations

import math

from slopewash.models.catalogue import Preset, register_preset
from slopewash.models.virtual_pipes.model import VirtualPipes

register_preset(
    Preset(
        name="landscape",
        doc="Branching valleys down to the edges, floodplains and fans; the default of demo and erode.",
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

register_preset(
    Preset(
        name="jako2011",
        doc="Table 2 of Jákó & Tóth with their transport and periodic edges: very strong erosion.",
        model=VirtualPipes(transport="semi_lagrangian"),
        edges="periodic",
        steps=1000,
        generator="diamond_square",
    )
)

register_preset(
    Preset(
        name="mei2007",
        doc="Mei, Decaudin & Hu: speed divided by the mean depth, erosion at any depth, no sliding soil.",
        model=VirtualPipes(
            pipe_area=1.0,
            sediment_capacity=0.1,
            maximum_erosion_depth=math.inf,
            softening_rate=0.0,
            sediment_volume=0.0,
            processes="hydraulic",
            transport="semi_lagrangian",
            velocity="mean_depth",
            default_erodibility="uniform",
        ),
        edges="closed",
        steps=1000,
        generator="diamond_square",
    )
)

# The published law is unstable: Eq. 15 makes and loses solids, and nothing limits depth. At 128² the ground is 0.35 km
# below the cone's foot after 500 iterations, 2.7 km after 1000 and no longer finite by 2000. Smaller time steps do not
# help: with a half and a quarter it is 0.8 and 1.7 km at the time of iteration 500. With transport="donor_cell", which
# conserves solids, it is 35 m after 2000.
register_preset(
    Preset(
        name="salamin",
        doc="Salamin & Szénási: water only, uniform erodibility, 50 steps on a cone; longer runs dig without limit.",
        model=VirtualPipes(
            softening_rate=0.0,
            maximum_erosion_depth=math.inf,
            processes="hydraulic",
            transport="semi_lagrangian",
            default_erodibility="uniform",
        ),
        edges="closed",
        steps=50,
        generator="cone",
    )
)
