"""Compares the memory traffic of a GPU run with the copy bandwidth of its adapter."""

from __future__ import annotations

from typing import Any

from slopewash.cli.console import add_row, console, make_table, show


def add_roofline(results: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Add bandwidth and its fraction of the copy bandwidth to results with known traffic; None if there are none."""
    import slopewash as sw

    measured = [result for result in results if result["traffic"]]
    if not measured:
        return None
    best = sw.copy_bandwidth()
    for result in measured:
        moved = sum(result["traffic"].values()) * result["size"] ** 2
        result["bytes_per_second"] = moved / (result["milliseconds"] * 1e-3)
        result["share_of_copying"] = result["bytes_per_second"] / best
    adapter = next(detail for name, _, detail in sw.describe_backends() if name == "gpu")
    return {"adapter": adapter, "copied_bytes_per_second": best}


def print_roofline(results: list[dict[str, Any]], roofline: dict[str, Any]) -> None:
    """One line per case: bytes of each pass, and the fraction of the copy bandwidth."""
    table = make_table("size", "preset", "bytes per cell and iteration", "GB/s", "of copy bandwidth")
    for r in results:
        if r["traffic"]:
            passes = " + ".join(f"{name} {count}" for name, count in r["traffic"].items())
            add_row(
                table,
                f"{r['size']} x {r['size']}",
                r["preset"] or r["model"],
                f"{passes} = {sum(r['traffic'].values())}",
                f"{r['bytes_per_second'] / 1e9:.3g}",
                f"{r['share_of_copying']:.1%}",
            )
    console().print(table)
    show(f"{roofline['adapter']} copies at {roofline['copied_bytes_per_second'] / 1e9:.3g} GB/s.")
