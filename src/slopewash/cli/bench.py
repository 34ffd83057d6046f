"""`slopewash bench`: speed on this machine, compared with the papers."""

from __future__ import annotations

from typing import Annotated, Any

from cyclopts import Parameter

from slopewash.cli.console import add_row, console, make_table, note, print_json, show
from slopewash.cli.options import Adapter, Json
from slopewash.cli.roofline import add_roofline, print_roofline
from slopewash.cli.running import use_threads
from slopewash.cli.stages import make_stage
from slopewash.cli.timing import BYTES_COPIED, measure, measure_copying
from slopewash.errors import InvalidParameter

EXAMPLES = """Examples:
  slopewash bench
      landscape, jako2011 and outerrain at three sizes
  slopewash bench --size 512 --size 2048 --preset landscape
  slopewash bench --size 256 --backend cpu --backend reference
  slopewash bench --model steepest_talus
      the default parameters of a model instead of a preset
  slopewash bench --backend gpu --backend cpu --size 1024
      with the bytes each pass moves, and the fraction of the card's bandwidth
  slopewash bench --threads 1 --json"""

PAPERS: tuple[dict[str, Any], ...] = (
    {"what": "Jákó & Tóth 2011, CPU2", "preset": "jako2011", "size": 1024, "milliseconds": 1647.0},
    {"what": "Jákó & Tóth 2011, GPU2", "preset": "jako2011", "size": 1024, "milliseconds": 15.47},
    {"what": "Salamin & Szénási, CPU", "preset": "salamin", "size": 1024, "milliseconds": 1024.0},
    {"what": "Salamin & Szénási, GPU", "preset": "salamin", "size": 1024, "milliseconds": 91.5},
    {"what": "Outerrain, CPU", "preset": "outerrain", "size": 128, "milliseconds": 0.434},
    {"what": "Outerrain, GPU", "preset": "outerrain", "size": 128, "milliseconds": 0.364},
    {"what": "Outerrain, CPU", "preset": "outerrain", "size": 256, "milliseconds": 1.583},
    {"what": "Outerrain, GPU", "preset": "outerrain", "size": 256, "milliseconds": 0.838},
    {"what": "Outerrain, CPU", "preset": "outerrain", "size": 512, "milliseconds": 6.538},
    {"what": "Outerrain, GPU", "preset": "outerrain", "size": 512, "milliseconds": 2.948},
    {"what": "Outerrain, CPU", "preset": "outerrain", "size": 1024, "milliseconds": 35.135},
    {"what": "Outerrain, GPU", "preset": "outerrain", "size": 1024, "milliseconds": 7.706},
)
"""Milliseconds per iteration as published, each on its authors' machine."""

PRESETS = ("landscape", "jako2011", "outerrain")
"""Presets that are measured by default."""

Several = Parameter(negative="", consume_multiple=True, show_default=lambda values: " ".join(map(str, values)))


def command(
    *,
    size: Annotated[tuple[int, ...], Several] = (256, 512, 1024),
    backend: Annotated[tuple[str, ...], Several] = ("auto",),
    adapter: Adapter = None,
    preset: Annotated[tuple[str, ...], Several] = (),
    model: Annotated[tuple[str, ...], Several] = (),
    steps: int | None = None,
    threads: int | None = None,
    json: Json = False,
) -> None:
    """Measure milliseconds per iteration and cells per second.

    Cases of one size take turns, and the best of several rounds counts. CPU time is the sum over all threads. The last
    column is the time of an iteration divided by the time to copy one layer of that size in memory. For a GPU, a second
    table compares the bytes each pass must move with the copy bandwidth of the adapter.

    Parameters
    ----------
    size
        Cells along a side. May be repeated.
    backend
        auto, gpu, cpu or reference. May be repeated.
    preset
        Preset to run. The default is landscape, jako2011 and outerrain, unless a model is given. May be repeated.
    model
        Model to run with its default parameters. May be repeated.
    steps
        Iterations per round. By default as many as take half a second.
    threads
        Threads to use.
    """
    import platform

    import slopewash as sw

    check(size, steps)
    presets = preset or (() if model else PRESETS)
    stages = [*(make_stage(preset=name) for name in presets), *(make_stage(model=name) for name in model)]
    use_threads(threads)
    sw.use_adapter(adapter)
    if adapter is not None:  # naming a model or preset selects it
        backend = tuple("gpu" if name == "auto" else name for name in backend)
    results: list[dict[str, Any]] = []
    copying = measure_copying()
    for side in size:
        note(f"measuring {side} x {side} (the first run of a kernel also compiles it)")
        results += measure(stages, backend, side, steps)
    copying = max(copying, measure_copying())
    for result in results:
        result["layer_copies"] = result["milliseconds"] * 1e-3 * copying / (result["size"] ** 2 * BYTES_COPIED)
    roofline = add_roofline(results)
    if json:
        facts = {"slopewash": sw.__version__, "python": platform.python_version(), "machine": platform.machine()}
        print_json(facts | {"copied_bytes_per_second": copying, "results": results, "papers": PAPERS, "gpu": roofline})
    else:
        print_results(results)
        if roofline is not None:
            print_roofline(results, roofline)
        show(f"Copy bandwidth of memory, read plus written: {copying / 1e9:.3g} GB/s.")


def check(sizes: tuple[int, ...], steps: int | None) -> None:
    """Validate the options before anything is measured."""
    if not sizes or min(sizes) < 3:
        raise InvalidParameter(f"--size is {min(sizes, default=0)}; it must be 3 or more")
    if steps is not None and steps < 1:
        raise InvalidParameter(f"--steps is {steps}; it must be 1 or more")


def print_results(results: list[dict[str, Any]]) -> None:
    """One line per case, then the figures of the papers."""
    table = make_table(
        "size", "preset", "backend", "ms/iteration", "CPU ms", "million cells/s", "first steps", "layer copies"
    )
    for r in results:
        add_row(
            table,
            f"{r['size']} x {r['size']}",
            r["preset"] or r["model"],
            r["backend"],
            f"{r['milliseconds']:.3g}",
            f"{r['cpu_milliseconds']:.3g}",
            f"{r['cells_per_second'] / 1e6:.3g}",
            f"{r['first_seconds']:.1f} s",
            f"{r['layer_copies']:.3g}",
        )
    papers = make_table("published", "size", "ms/iteration", "million cells/s", "here")
    for p in PAPERS:
        rate = p["size"] ** 2 / p["milliseconds"] / 1e3
        size = f"{p['size']} x {p['size']}"
        add_row(papers, p["what"], size, f"{p['milliseconds']:g}", f"{rate:.3g}", _compare(p, results))
    out = console()
    out.print(table)
    out.print(papers)


def _compare(paper: dict[str, Any], results: list[dict[str, Any]]) -> str:
    """How much faster or slower this machine is, where the same model and size was measured."""
    here = [r["milliseconds"] for r in results if r["size"] == paper["size"] and r["preset"] == paper["preset"]]
    if not here:
        return f"not measured (--preset {paper['preset']} --size {paper['size']})"
    ratio = paper["milliseconds"] / min(here)
    return f"{ratio:.3g} times faster" if ratio >= 1 else f"{1 / ratio:.3g} times slower"
