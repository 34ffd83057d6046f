"""The mass budget: where water and solids came from, where they are and where they went."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from slopewash.errors import MassNotConserved

LARGEST_ERROR = 1e-3
"""Of what moved, or of all water: models that conserve it stay below 1e-4, most of them below 1e-6."""
ROUNDING = 2.0**-20
"""Of all ground: eight units in the last place of every cell's float32 height. A run in which hardly anything moves has
no other error, and that may be more than what moved."""
NOUNS = {"water": "water", "solids": "soil that moved"}
SUMMING = 1e-9
"""Of all water that came and went: rounding of float64 sums, where next to nothing of it was there."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Amounts in cubic metres. Every one is summed where it happens; none is the remainder of the others.

    `water_drift` is the mass-balance error of the water, relative to all the water there ever was (start, rain, sources
    and what was painted in or came from the sea); `solids_drift` the same for ground and sediment, relative to all the
    soil that moved or was painted. `water_edited` and `solids_edited` are what edits between steps added, negative
    where they took away; `water_resampled` and `solids_resampled` what changes of resolution, the detail noise of
    levels and gullies drawn at the end added. `solids_exported` is negative where more came in over the edges than
    left: ground that is held at base level there is supplied from outside. `water_sea` is what left into the sea beyond
    open edges, where a model has one; it is negative where more came in.

    >>> import slopewash as sw
    >>> simulation = sw.Simulation(sw.generate("hill", size=16), sw.VirtualPipes(), backend="reference")
    >>> simulation.run(5)
    >>> simulation.budget.water_rain > 0 and simulation.budget.water_drift < 1e-5
    True
    """

    water_start: float = 0.0
    water_rain: float = 0.0
    water_sources: float = 0.0
    water_evaporated: float = 0.0
    water_exported: float = 0.0
    water_sea: float = 0.0
    water_edited: float = 0.0
    water_resampled: float = 0.0
    water_now: float = 0.0
    water_drift: float = 0.0
    solids_start: float = 0.0
    solids_exported: float = 0.0
    solids_moved: float = 0.0
    solids_edited: float = 0.0
    solids_resampled: float = 0.0
    solids_now: float = 0.0
    solids_drift: float = 0.0

    @classmethod
    def of(cls, amounts: Mapping[str, float]) -> Budget:
        """Balance the amounts of a run.

        >>> Budget.of({"water_rain": 2.0, "water_now": 1.5, "water_exported": 0.5}).water_drift
        0.0
        """
        b = cls(**amounts)
        return cls(
            **amounts,
            water_drift=_relative(b._water_error, b._water_there),
            solids_drift=_relative(b._solids_error, b._solids_moving),
        )

    @property
    def _water_error(self) -> float:
        came = self.water_start + self.water_rain + self.water_sources + self.water_edited + self.water_resampled
        return self.water_now + self.water_evaporated + self.water_exported + self.water_sea - came

    @property
    def _water_there(self) -> float:
        """All the water there ever was."""
        came = self.water_start + self.water_rain + self.water_sources
        return came + max(self.water_edited, 0.0) + max(-self.water_sea, 0.0)

    @property
    def _solids_error(self) -> float:
        came = self.solids_start + self.solids_edited + self.solids_resampled
        return self.solids_now + self.solids_exported - came

    @property
    def _solids_moving(self) -> float:
        return self.solids_moved + abs(self.solids_edited)

    def check(self, conserved: Collection[str], *, step: int) -> None:
        """End a run that lost or made water or solids, of those that its model conserves.

        >>> Budget(water_start=100.0, water_now=90.0).check({"water"}, step=7)
        Traceback (most recent call last):
            ...
        slopewash.errors.MassNotConserved: 10 of 100 m³ of water is unaccounted for by step 7, ...
        """
        flows = abs(self.water_now) + abs(self.water_evaporated) + abs(self.water_exported) + abs(self.water_resampled)
        balances = {
            "water": (self._water_error, self._water_there, SUMMING * flows),
            "solids": (self._solids_error, self._solids_moving, ROUNDING * abs(self.solids_start)),
        }
        for name, (error, scale, rounding) in balances.items():
            if name in conserved and not abs(error) <= LARGEST_ERROR * scale + rounding:  # nor where it is NaN
                raise MassNotConserved(
                    f"{abs(error):.3g} of {scale:.3g} m³ of {NOUNS[name]} is unaccounted for by step {step}, more than "
                    f"{LARGEST_ERROR:.1%}: the result would be wrong, so the run ends; if the model is your own, "
                    "correct it or what it declares in `conserved`; otherwise slopewash or the machine's memory has a "
                    "fault: please report it with the recipe"
                )

    def raised(self, solids: float) -> Budget:
        """Return the same with solids counted from a lower datum."""
        return replace(self, solids_start=self.solids_start + solids, solids_now=self.solids_now + solids)

    def reshaped(self, solids: float, water: float = 0.0) -> Budget:
        """Return the same after ground and water were changed by so much without a run; it counts as resampled."""
        return replace(
            self, solids_resampled=self.solids_resampled + solids, solids_now=self.solids_now + solids,
            water_resampled=self.water_resampled + water, water_now=self.water_now + water,
        )  # fmt: skip

    def levelled(self, water: float, *, standing: float = 0.0) -> Budget:
        """Return the same after the sea has brought so much water, to stand level.

        What was `standing` in a run of a model that counts no such water has been there from the start.
        """
        return replace(
            self, water_start=self.water_start + standing, water_sea=self.water_sea - water,
            water_now=self.water_now + standing + water,
        )  # fmt: skip

    @classmethod
    def joined(cls, budgets: Sequence[Budget]) -> Budget:
        """Budget of runs that followed each other; what lies between two of them counts as resampled."""
        first, last = budgets[0], budgets[-1]
        summed = {
            name: sum(getattr(b, name) for b in budgets)
            for name in (
                "water_rain", "water_sources", "water_evaporated", "water_exported", "water_sea", "water_edited",
                "water_resampled", "solids_exported", "solids_moved", "solids_edited", "solids_resampled",
            )
        }  # fmt: skip
        for after, before in zip(budgets[1:], budgets, strict=False):
            summed["water_resampled"] += after.water_start - before.water_now
            summed["solids_resampled"] += after.solids_start - before.solids_now
        ends = {f"{what}_start": getattr(first, f"{what}_start") for what in ("water", "solids")}
        ends |= {f"{what}_now": getattr(last, f"{what}_now") for what in ("water", "solids")}
        return cls.of({**summed, **ends})

    def as_dict(self) -> dict[str, float]:
        """Return the amounts by name, for JSON."""
        return asdict(self)

    @property
    def summary(self) -> str:
        """What became of the solids, in one sentence."""
        if not self.solids_moved:
            return "No soil moved."
        carried_out = f", {self.solids_exported:.3g} m³ of it over the edges" if self.solids_exported else ""
        return (
            f"{self.solids_moved:.3g} m³ of soil moved{carried_out}. The mass-balance error is {self.solids_drift:.1e} "
            f"of the soil moved, and {self.water_drift:.1e} of all water.{self._reshaped}"
        )

    @property
    def _reshaped(self) -> str:
        if not self.solids_resampled:
            return ""
        did = "added" if self.solids_resampled > 0 else "took away"
        return f" Changes of resolution, detail, gullies and masks {did} {abs(self.solids_resampled):.3g} m³."

    def __repr__(self) -> str:
        rows: list[tuple[str, float | str | None, float | str | None]] = [
            ("", "water", "solids"),
            ("start", self.water_start, self.solids_start),
            ("rain", self.water_rain, None),
            ("sources", self.water_sources, None),
            ("evaporated", self.water_evaporated, None),
            ("exported", self.water_exported, self.solids_exported),
            ("to the sea", self.water_sea, None) if self.water_sea > 0 else ("from sea", -self.water_sea, None),
            ("edited", self.water_edited, self.solids_edited),
            ("resampled", self.water_resampled, self.solids_resampled),
            ("now", self.water_now, self.solids_now),
            ("moved", None, self.solids_moved),
        ]
        shown = [
            row for row in rows if row[0] not in ("to the sea", "from sea", "edited", "resampled") or row[1] or row[2]
        ]
        lines = [f"{name:<11}{_cell(water):>14}{_cell(solids):>14}" for name, water, solids in shown]
        lines[0] += "   m³"
        lines.append(f"{'drift':<11}{self.water_drift:>14.1e}{self.solids_drift:>14.1e}   relative")
        return "\n".join(lines)


def _relative(amount: float, scale: float) -> float:
    return abs(amount) / scale if scale > 0 else abs(amount)


def _cell(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.6g}"
