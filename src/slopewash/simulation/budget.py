"""Where water and solids came from, where they are and where they went."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from slopewash.models.base import Ledger


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Amounts in cubic metres. Every one is summed where it happens; none is the remainder of the others.

    `water_drift` is what the water's books are off by, relative to all the water there ever was (start, rain, sources
    and what was painted in); `solids_drift` the same for ground and load, relative to all the soil that moved or was
    painted. `water_edited` and `solids_edited` are what edits between steps added, negative where they took away.
    """

    water_start: float
    water_rain: float
    water_sources: float
    water_evaporated: float
    water_exported: float
    water_edited: float
    water_now: float
    water_drift: float
    solids_start: float
    solids_exported: float
    solids_moved: float
    solids_edited: float
    solids_now: float
    solids_drift: float

    @classmethod
    def of(cls, ledger: Ledger) -> Budget:
        """Draw up the books."""
        came = ledger.water_start + ledger.water_rain + ledger.water_sources
        water = ledger.water_now + ledger.water_evaporated + ledger.water_exported - came - ledger.water_edited
        solids = ledger.solids_now + ledger.solids_exported - ledger.solids_start - ledger.solids_edited
        return cls(
            **asdict(ledger),
            water_drift=_relative(water, came + max(ledger.water_edited, 0.0)),
            solids_drift=_relative(solids, ledger.solids_moved + abs(ledger.solids_edited)),
        )

    def as_dict(self) -> dict[str, float]:
        """Return the amounts by name, for JSON."""
        return asdict(self)

    @property
    def summary(self) -> str:
        """The solids' books in one sentence."""
        if not self.solids_moved:
            return "No soil moved."
        carried_out = f", {self.solids_exported:.3g} m³ of it over the edges" if self.solids_exported else ""
        return (
            f"{self.solids_moved:.3g} m³ of soil moved{carried_out}; "
            f"the books are off by {self.solids_drift:.1e} of that (water by {self.water_drift:.1e} of all there was)."
        )

    def __repr__(self) -> str:
        rows: list[tuple[str, float | str | None, float | str | None]] = [
            ("", "water", "solids"),
            ("start", self.water_start, self.solids_start),
            ("rain", self.water_rain, None),
            ("sources", self.water_sources, None),
            ("evaporated", self.water_evaporated, None),
            ("exported", self.water_exported, self.solids_exported),
            *([("edited", self.water_edited, self.solids_edited)] if self.water_edited or self.solids_edited else []),
            ("now", self.water_now, self.solids_now),
            ("moved", None, self.solids_moved),
        ]
        lines = [f"{name:<11}{_cell(water):>14}{_cell(solids):>14}" for name, water, solids in rows]
        lines[0] += "   m³"
        lines.append(f"{'drift':<11}{self.water_drift:>14.1e}{self.solids_drift:>14.1e}   relative")
        return "\n".join(lines)


def _relative(amount: float, scale: float) -> float:
    return abs(amount) / scale if scale > 0 else abs(amount)


def _cell(value: float | str | None) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.6g}"
