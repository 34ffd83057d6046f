"""Geological layers to put beneath a terrain."""

from __future__ import annotations

from slopewash.generators import checks
from slopewash.terrain import Strata, Stratum


def strata_bands(
    *,
    count: int = 8,
    thickness: float = 20.0,
    hard: float = 0.05,
    soft: float = 1.0,
    soft_thickness: float | None = None,
    hard_on_top: bool = True,
    dip: float = 0.0,
    direction: float = 0.0,
    follow: bool = False,
) -> Strata:
    """Make alternating hard and soft layers: they erode to cliffs and benches.

    Parameters
    ----------
    count
        Number of layers.
    thickness
        Thickness of a layer in metres.
    hard, soft
        Erodibility of the two kinds, 0 (hard) .. 1 (soft).
    soft_thickness
        Thickness of the soft layers; the default is `thickness`.
    hard_on_top
        Whether the uppermost layer is a hard one.
    dip, direction, follow
        Attitude of the layers, as in `Strata`.

    Examples
    --------
    >>> strata_bands(count=3, thickness=15, soft_thickness=30, dip=10, direction=180)
    Strata of 3 layers, dipping 10° towards 180°
      15 m        erodibility 0.05
      30 m        erodibility 1
      below       erodibility 0.05
    """
    count = checks.integer("count", count, 1, 10_000)
    firm = Stratum(thickness=checks.positive("thickness", thickness, "m"), erodibility=checks.fraction("hard", hard))
    loose = Stratum(
        thickness=checks.positive("soft_thickness", thickness if soft_thickness is None else soft_thickness, "m"),
        erodibility=checks.fraction("soft", soft),
    )
    layers = [firm if (k % 2 == 0) == hard_on_top else loose for k in range(count)]
    return Strata(layers, dip=dip, direction=direction, follow=follow)
