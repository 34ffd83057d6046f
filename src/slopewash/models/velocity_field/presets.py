"""Named parameter sets of the velocity-field model: Table I of the paper."""

from __future__ import annotations

from slopewash.models.catalogue import Preset, register_preset
from slopewash.models.velocity_field.model import VelocityField
from slopewash.terrain import Strata, Stratum

_START = {"size": 128, "cell_size": 10.0, "arc": 90.0, "relief": 256.0, "noise": 0.03, "spurs": 0.3}
"""The paper gives no sizes. White noise alone is level over the width of a valley, so that all of them would run
straight down, side by side; spurs of a quarter of the side lead them together."""
_SMOOTH_START = {"size": 128, "cell_size": 10.0, "noise": 0.02}
_SLOW_WATER = VelocityField(maximum_speed=1.5, height_per_load=20.0, creep_rate=0.005, talus_slope=1.2)
"""Slow water follows the ground instead of shooting straight across it; it digs less, hence the larger δ."""
_FIGURES = (
    ("chiba_fig2", 1e-5, 1e-5, "Figure 2 of Chiba et al.: little erosion, clear ridge lines down to the foot."),
    ("chiba_fig3", 1e-3, 1e-5, "Figure 3 of Chiba et al.: much erosion by flow, short ridges near the top."),
    ("chiba_fig4", 1e-5, 1e-3, "Figure 4 of Chiba et al.: much erosion by collisions; low ground goes, summits stay."),
)
for _name, _flow, _collision, _doc in _FIGURES:
    register_preset(
        Preset(
            name=_name,
            doc=_doc,
            model=_SLOW_WATER.replace(flow_erosion=_flow, collision_erosion=_collision),
            edges="open",
            steps=200,
            generator="noisy_cylinder",
            start=_START,
        )
    )

register_preset(
    Preset(
        name="chiba_printed",
        doc="Figure 4 of Chiba et al. by their laws alone: slots one cell wide, with spikes between them.",
        model=VelocityField(collision_erosion=1e-3, steering="steepest", breadth=0, creep_rate=0.0, slide_rate=0.0),
        edges="open",
        steps=200,
        generator="noisy_cylinder",
        start=_SMOOTH_START,
    )
)

register_preset(
    Preset(
        name="chiba_strata",
        doc="Plate 2 of Chiba et al.: five strata of different hardness, eroded into terraces.",
        # With the figures' δ the softest layers are gone after 200 iterations, and one table mountain is left.
        model=VelocityField(flow_erosion=1e-3, collision_erosion=1e-3, height_per_load=0.5),
        edges="open",
        steps=200,
        generator="noisy_cylinder",
        start=_SMOOTH_START,
        strata=Strata(
            [
                Stratum(thickness=1.0, flow_erosion=rate, collision_erosion=rate, transport_capacity=1.0)
                for rate in (1e-3, 1e-6, 1e-2, 1e-4, 1e-3)
            ]
        ),
    )
)
