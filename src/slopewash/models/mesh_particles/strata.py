"""Erodibility of the ground that is exposed: from strata, or from the terrain's layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from slopewash.models.mesh_particles.surface import Surface
from slopewash.models.state import Array, Domain, Reals
from slopewash.terrain import Strata


def exposed_erodibility(elevation: Array, bedrock: Array, top: Array, domain: Domain) -> Reals:
    """Erodibility of what lies at the surface, all heights absolute; soil on the bedrock has 1."""
    strata = Strata(domain.strata, top=top)
    return strata.lookup("erodibility", strata.exposed(elevation, bedrock), otherwise=1.0)


def triangle_erodibility(surface: Surface, bedrock: Reals, fields: Mapping[str, Array], domain: Domain) -> Reals:
    """Erodibility of each triangle, the mean of its corners; deposits on the bedrock are loose."""
    if "strata_top" not in fields and "erodibility" not in fields:
        return np.ones(len(surface.triangles))
    x, y = surface.vertices[:, 0] / domain.cell_size, surface.vertices[:, 1] / domain.cell_size
    i = np.clip(y.astype(np.int64), 0, domain.shape[0] - 1)
    j = np.clip(x.astype(np.int64), 0, domain.shape[1] - 1)
    if "strata_top" in fields:
        ground, rock = ((domain.datum + z)[None, :] for z in (surface.z, bedrock))
        soft = exposed_erodibility(ground, rock, fields["strata_top"][i, j][None, :], domain)[0]
    else:
        soft = np.where(surface.z > bedrock, 1.0, fields["erodibility"][i, j])
    return soft[surface.triangles].mean(axis=1)
