"""Presets and mixtures of laws on which the backends must agree."""

from slopewash import VirtualPipes, preset

MODELS = {
    "table2": VirtualPipes(),
    "single_grid": preset("single_grid"),
    "jako2011": preset("jako2011"),
    "mei2007": preset("mei2007"),
    "salamin": preset("salamin"),
    "well_conditioned": VirtualPipes(pipe_area=1.0, sediment_capacity=0.1),
    "thermal": VirtualPipes(processes="thermal"),
    "fall_line_only": preset("single_grid").replace(processes="thermal"),
    "hydraulic": VirtualPipes(processes="hydraulic"),
    "collision": VirtualPipes(capacity="collision"),
    "printed": VirtualPipes(depth_ramp="printed", talus_law="printed", edge_base="graded"),
    "mixture": preset("single_grid").replace(transport="semi_lagrangian", sediment_volume=0.5, softening_rate=5.0),
    "eight": preset("single_grid").replace(
        pipes="eight",
        pipe_area=10.0,
        sediment_capacity=0.5,
        capacity_three_quarters=4.0,
        capacity_half=1.0,
        fan_slope=0.3,
    ),
    "beds": VirtualPipes(bed_contrast=0.15, bed_thickness=6.0),
    "eight_with_beds": preset("single_grid").replace(
        pipes="eight", pipe_area=10.0, bed_contrast=0.2, bed_thickness=9.0, bed_dip=20.0, default_erodibility="rock"
    ),
    "cover": preset("single_grid").replace(cover="loose"),
    "cover_without_water": preset("single_grid").replace(cover="loose", processes="thermal", weathering_rate=0.02),
    "cover_without_slides": preset("single_grid").replace(cover="loose", processes="hydraulic"),
    "eight_with_cover": preset("single_grid").replace(
        pipes="eight", pipe_area=10.0, cover="loose", weathering_rate=0.02, bed_contrast=0.2, bed_thickness=9.0
    ),
    "eight_with_mud": preset("single_grid").replace(pipes="eight", sediment_volume=0.5, hillslope="eight_pipes"),
    "sea": VirtualPipes(sea_level=4.0),
    "traced_sea": VirtualPipes(sea_level=4.0, transport="semi_lagrangian", edge_base="graded"),
    "eight_with_sea": VirtualPipes(
        sea_level=4.0, pipes="eight", capacity="along_flow", edge_base="graded", sediment_volume=0.5, pipe_area=10.0
    ),
}
