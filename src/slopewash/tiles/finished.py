"""What a finished run leaves in the attributes of its store: facts, and the table of its tiles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from slopewash.errors import InvalidFile
from slopewash.paths import remove_if_empty
from slopewash.plain import plain
from slopewash.simulation.facts import shortened
from slopewash.tiles.digests import NAME, Digests, file_of, loaded, saved, using
from slopewash.tiles.facts import as_facts, check_finished
from slopewash.tiles.ground import Ground
from slopewash.tiles.output import Compressed, overview_field, overviews_of
from slopewash.tiles.store import Store

FINISHED = "slopewash"
"""Attribute with what is known of a finished run."""
UNCHECKED = 2
"""Schema of results up to 0.2, which have no table of their tiles."""


@dataclass(frozen=True)
class Finished:
    """A finished run."""

    ground: Ground
    facts: dict[str, Any]

    @property
    def digests(self) -> Digests:
        """The table of its tiles."""
        store = self.ground.store
        with store.checked("", "the table of tiles"):
            return loaded(store, "", self.facts["digests"])

    def check_present(self) -> None:
        """Check that every tile is there, and as long as it was written; what is in them is checked when it is read."""
        digests, store = self.digests, self.ground.store
        grids = {1: self.ground.grid, **dict(overviews_of(self.ground.grid))}
        for factor, grid in grids.items():
            for name in self.ground.names:
                field = overview_field(self.ground, name, factor)
                with using(digests):
                    store.check_present(field, grid)

    @contextmanager
    def reading(self) -> Iterator[Ground]:
        """Its ground, whose tiles are checked when they are read."""
        with using(self.digests):
            yield self.ground


def is_finished(store: Store) -> bool:
    """Whether a store is the result of a run, which another may replace: what it says of its tiles is there."""
    facts = store.attributes().get(FINISHED)
    if not isinstance(facts, dict):
        return False
    if facts.get("schema") == UNCHECKED:
        return not _is_of_others(store)
    return _has_table(store, facts)


def _has_table(store: Store, facts: Mapping[str, Any]) -> bool:
    name = facts.get("digests")
    return isinstance(name, str) and NAME.fullmatch(name) is not None and store.storage.exists(file_of("", name))


def _is_of_others(store: Store) -> bool:
    """Whether another program wrote the layers, and took over the attributes of a group that it had read.

    A result of slopewash is sharded and has no fill values among the attributes, as xarray gives all floats.
    """
    facts = store.array("elevation")
    codecs = facts.get("codecs")
    first = codecs[0] if isinstance(codecs, list) and codecs else None
    if not isinstance(first, dict) or first.get("name") != "sharding_indexed":
        return True
    attributes = facts.get("attributes")
    return isinstance(attributes, dict) and "_FillValue" in attributes


def finished(store: Store) -> Finished | None:
    """What is known of a finished run; None if the store holds none, or what another program made of one."""
    attributes = store.attributes()
    if FINISHED not in attributes:
        return None
    facts = attributes[FINISHED]
    if not (isinstance(facts, dict) and _has_table(store, facts)) and _is_of_others(store):
        return None
    with store.checked("", f"zarr.json of {store.url}"):
        if isinstance(facts, dict) and facts.get("schema") == UNCHECKED and "sha256" not in facts:
            version = shortened(facts.get("slopewash"))
            raise InvalidFile(
                f"{store.url} was written by slopewash {version}, which noted no checksums of tiles, so they cannot be "
                "checked; convert it with that version, or open it with xarray.open_zarr"
            )
        if not isinstance(facts, dict) or facts.pop("sha256", None) != _mark(facts):
            raise InvalidFile(
                f"{store.url}/zarr.json is not what slopewash wrote: its attribute {FINISHED} was changed; restore it "
                "from a copy"
            )
    with as_facts(f"{store.url}/zarr.json", finished=True):
        check_finished(facts)
        return Finished(Compressed.from_dict(store, facts["ground"]), facts)


def record(store: Store, digests: Digests, facts: Mapping[str, Any]) -> None:
    """Write the facts of a finished run, and the table of its tiles."""
    before = store.attributes().get(FINISHED)
    made = plain({**facts, "digests": saved(digests.but("state"), store, "", flush=True)})
    store.create_group("", {FINISHED: {**made, "sha256": _mark(made)}})
    old = before.get("digests") if isinstance(before, dict) else None
    if isinstance(old, str) and NAME.fullmatch(old) and old != made["digests"]:
        store.remove_file(file_of("", old))


def remove_result(store: Store) -> None:
    """Remove a result, and its folder if nothing else is in it."""
    result = finished(store)
    if result is None or store.folder is None:
        return
    table = file_of("", result.facts["digests"])
    for name in (*result.ground.names, "overviews", table, "zarr.json"):
        store.storage.remove(name)
    remove_if_empty(store.folder)


def _mark(facts: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
