"""A simulation taken apart into plain facts and arrays, for checkpoints and copies, and put together again."""

from __future__ import annotations

import dataclasses
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from slopewash.backends import choose_backend
from slopewash.errors import CheckpointError, CheckpointWarning, InvalidParameter, StabilityWarning
from slopewash.models.base import find_model
from slopewash.models.state import Array, Domain, Sides, State
from slopewash.simulation.facts import check_domain, check_facts, shortened
from slopewash.simulation.history import History
from slopewash.terrain import Stratum
from slopewash.terrain import parts as terrain_parts

if TYPE_CHECKING:
    from slopewash.simulation.simulation import Simulation

SAMPLE = 4096
"""Values of an array that its mark is made of, about."""


@contextmanager
def of_this_version(facts: Mapping[str, Any]) -> Iterator[None]:
    """Report what cannot be read because another version wrote it."""
    from slopewash import __version__

    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        written_by = facts.get("slopewash")
        if written_by == __version__:
            raise CheckpointError(f"the checkpoint cannot be continued: {reason}") from error
        raise CheckpointError(
            f"the checkpoint was written by slopewash {shortened(written_by)}, and this is slopewash {__version__}, "
            f"which cannot continue it: {reason}"
        ) from error


def warn_of_version(facts: Mapping[str, Any]) -> None:
    """Warn where another version wrote a checkpoint: equations may have changed since."""
    from slopewash import __version__

    if facts["slopewash"] != __version__:
        warnings.warn(
            f"the checkpoint was written by slopewash {facts['slopewash']}, and this is slopewash {__version__}: the "
            "result may not be bit-identical to that of a run that was never interrupted",
            CheckpointWarning,
            stacklevel=4,
        )


def take_apart(simulation: Simulation) -> tuple[dict[str, Any], dict[str, Array]]:
    """Facts that JSON can hold, and arrays by name, all of them copies or never changed."""
    from slopewash import __version__

    terrain, terrain_arrays = terrain_parts.take_apart(simulation._start)
    history, history_arrays = simulation._history.take_apart()
    state = simulation._state
    arrays = {
        **{f"state.{name}": np.array(array) for name, array in state.arrays.items()},
        **{f"terrain.{name}": array for name, array in terrain_arrays.items()},
        **{f"history.{name}": array for name, array in history_arrays.items()},
    }
    facts = {
        "slopewash": __version__,
        "run": simulation.run_id,
        "model": {"name": simulation._model.name, "parameters": simulation._model.values()},
        "backend": simulation.backend,
        "substeps": simulation._substeps_wanted,
        "step": simulation.step,
        "settled": simulation.settled,
        "substeps_done": simulation.substeps_done,
        "time": simulation.time,
        "since": simulation._since,
        "relief": simulation._relief,
        "level": simulation._level,
        "conserved": sorted(simulation._conserved),
        "domain": dataclasses.asdict(simulation._domain),
        "scalars": dict(state.scalars),
        "marks": {name: _mark(array) for name, array in arrays.items() if name.startswith(MARKED)},
        "terrain": terrain,
        "history": history,
    }
    return facts, arrays


def domain_from(facts: Mapping[str, Any]) -> Domain:
    """Domain of its fields as JSON has them."""
    domain = dict(facts)
    domain |= {
        "shape": tuple(domain["shape"]), "origin": tuple(domain["origin"]), "sides": Sides(**domain["sides"]),
        "strata": tuple(Stratum(**layer) for layer in domain["strata"]), "margins": tuple(domain["margins"]),
    }  # fmt: skip
    return Domain(**domain)


MARKED = ("state.", "terrain.")
"""Begin the names of arrays that have a mark: others may be left out of copies."""


def _mark(array: Array) -> int:
    """CRC-32 of a sample of an array, taken with the facts: digests are of whatever is written later."""
    return zlib.crc32(array.flat[:: max(1, array.size // SAMPLE)].tobytes())


def _check_marks(facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Refuse arrays that were not taken together with these facts, though their digests are right."""
    for name, mark in facts.get("marks", {}).items():  # none before 0.3
        if name not in arrays or _mark(arrays[name]) != mark:
            raise InvalidParameter(f"{shortened(name)} is not that of step {facts['step']}")


def put_together(simulation: Simulation, facts: dict[str, Any], arrays: dict[str, Array]) -> None:
    """Give an empty simulation what `take_apart` took."""

    def those(prefix: str) -> dict[str, Array]:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    check_facts(facts)
    simulation._model = find_model(facts["model"]["name"])(**facts["model"]["parameters"])
    simulation.backend = choose_backend(facts["backend"], simulation._model.backends)
    simulation.run_id = facts.get("run")
    simulation._substeps_wanted = facts["substeps"]
    simulation.step, simulation.settled, simulation._since = facts["step"], facts["settled"], tuple(facts["since"])
    simulation.substeps_done = facts.get("substeps_done", 0)
    simulation._relief, simulation._level = facts["relief"], facts["level"]
    conserved = simulation._model.conserved
    simulation._conserved = conserved & frozenset(facts.get("conserved", conserved))
    simulation._start = terrain_parts.put_together(facts["terrain"], those("terrain."))
    domain, state = domain_from(facts["domain"]), State(those("state."), dict(facts["scalars"]))
    check_domain(domain, simulation._start)
    simulation._model.check_sides(domain.sides)
    simulation._model.check_state(state, domain)
    simulation._history = History.put_together(facts["history"], those("history."))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StabilityWarning)  # the run was warned of it when it began
        simulation._begin(domain, state)
    fields = simulation._model.fields
    names = {name for spec in fields for name in (spec.name, simulation._device.kept(spec.name))}
    simulation._history.check(names, fields, domain)
    _check_marks(facts, arrays)
