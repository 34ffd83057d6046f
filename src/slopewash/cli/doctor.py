"""`slopewash doctor`: what is installed, what works, and how to fix the rest."""

from __future__ import annotations

import importlib.util
import os
import re
from pathlib import Path
from typing import Any

from slopewash.cli.console import print_json, show
from slopewash.cli.options import Json

EXAMPLES = """Examples:
  slopewash doctor              as text
  slopewash doctor --json       for bug reports
  slopewash doctor --adapter radeon
      test this GPU, if there are several"""

LIBRARIES = ("numpy", "numba", "llvmlite", "pillow", "tifffile", "OpenEXR", "cyclopts", "rich", "cmcrameri")
EXTRAS_OF_DEVELOPERS = ("test", "check", "dev")
LIMITS = ("max-buffer-size", "max-storage-buffer-binding-size", "max-storage-buffers-per-shader-stage")
"""Limits of an adapter that determine the largest grid."""


def command(*, adapter: str | None = None, json: Json = False) -> None:
    """Report versions, backends, adapters, threads, caches and extras, with a remedy for everything that does not work.

    Every backend that works is tested briefly against the reference.

    Parameters
    ----------
    adapter
        Part of the name of the GPU to test; the best one if not given.
    """
    import slopewash as sw

    sw.use_adapter(adapter)
    report = examine()
    print_json(report) if json else print_report(report)


def examine() -> dict[str, Any]:
    """The complete report."""
    import platform

    import slopewash as sw

    return {
        "slopewash": sw.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "libraries": {name: _version(name) for name in LIBRARIES},
        "backends": [
            {"name": name, "works": works, "detail": detail, "test": self_test(name) if works else None}
            for name, works, detail in sw.describe_backends()
        ],
        "adapters": adapters(),
        "threads": threads(),
        "kernel_cache": kernel_cache(),
        "secret": secret(),
        "extras": extras(),
    }


def self_test(backend: str) -> str:
    """Compare a few steps of soil (bit by bit) and of water (up to rounding) with the reference; return the outcome."""
    import time

    import numpy as np

    import slopewash as sw

    start = sw.generate("dome", size=24, seed=1)
    runs: list[tuple[Any, float]] = [(sw.SteepestTalus(talus_angle=10.0), 0.0)]
    if backend != "cpu":  # compiling the pipes for the cpu takes a minute unless they are cached
        runs.append((sw.VirtualPipes(), 1e-4 * start.relief))
    begin = time.perf_counter()
    for model, tolerance in runs:
        found, expected = (
            sw.erode(start, model, steps=4, backend=name)["elevation"] for name in (backend, "reference")
        )
        if float(np.abs(found - expected).max()) > tolerance:
            return f"{model.name} differs from the reference; please report it"
    return f"agrees with the reference ({time.perf_counter() - begin:.1f} s)"


def adapters() -> list[dict[str, Any]]:
    """List the graphics adapters with their limits."""
    import slopewash as sw

    return [
        {
            "name": adapter.name,
            "kind": "software" if adapter.software else adapter.kind,
            "interface": adapter.interface,
            "driver": adapter.driver,
            "limits": {name: adapter.limits[name] for name in LIMITS},
        }
        for adapter in sw.adapters()
    ]


def threads() -> dict[str, int | None]:
    """Cores of the machine, cores this process may use, and threads the kernels use."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    used = None
    if _version("numba"):
        import numba

        used = int(getattr(numba.config, "NUMBA_NUM_THREADS", 0)) or None
    return {"cores": os.cpu_count(), "allowed": allowed, "used": used}


def kernel_cache() -> dict[str, Any]:
    """Folder in which compiled kernels are cached, in Numba's own order of preference."""
    if not _version("numba"):
        return {"folder": None, "writable": False, "remedy": "pip install numba"}
    import numba
    from numba.misc.appdirs import AppDirs

    chosen = getattr(numba.config, "CACHE_DIR", None)  # of NUMBA_CACHE_DIR or Numba's own settings file
    package = importlib.util.find_spec("slopewash")
    beside = Path(package.origin).parent / "models" if package and package.origin else None
    home = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)  # type: ignore[no-untyped-call]
    folder = next((f for f in (Path(chosen) if chosen else None, beside, home) if f and _can_write(f)), None)
    remedy = (
        None if folder else "set NUMBA_CACHE_DIR to a writable folder; until then kernels are compiled at every start"
    )
    return {"folder": None if folder is None else str(folder), "writable": folder is not None, "remedy": remedy}


def secret() -> dict[str, str | None]:
    """Folder of the secret by which the user's own files are known, or why there is none."""
    from slopewash import seals

    found = seals.problem()
    if found is not None:
        return {"folder": None, "problem": found.why, "remedy": found.remedy}
    return {"folder": str(seals.state_folder()), "problem": None, "remedy": None}


def extras() -> list[dict[str, Any]]:
    """List the extras and whether their packages are installed."""
    from importlib import metadata

    needs: dict[str, list[str]] = {}
    for requirement in metadata.requires("slopewash") or ():
        found = re.match(r"([A-Za-z0-9_.-]+).*extra\s*==\s*['\"]([^'\"]+)['\"]", requirement)
        if found and found[2] not in EXTRAS_OF_DEVELOPERS:
            needs.setdefault(found[2], []).append(found[1])
    return [
        {
            "name": extra,
            "installed": all(_version(name) for name in names),
            "needs": names,
            "remedy": f'pip install "slopewash[{extra}]"',
        }
        for extra, names in sorted(needs.items())
    ]


def print_report(report: dict[str, Any]) -> None:
    """Print the report as text: one line per finding, with remedies for what is missing."""
    show(f"slopewash {report['slopewash']}, Python {report['python']}, {report['system']}")
    show("libraries  " + ", ".join(f"{name} {version or 'MISSING'}" for name, version in report["libraries"].items()))
    for backend in report["backends"]:
        show(
            f"backend    {backend['name']:<10} {'works' if backend['works'] else 'does not work'}: {backend['detail']}"
            + (f"; {backend['test']}" if backend["test"] else "")
        )
    for adapter in report["adapters"]:
        buffer, binding, count = adapter["limits"].values()
        show(
            f"adapter    {adapter['name']} ({adapter['kind']}, {adapter['interface']}, {adapter['driver']}): "
            f"buffers of {buffer >> 20} MiB, {binding >> 20} MiB bound at once, {count} buffers per kernel"
        )
    count = report["threads"]
    show(f"threads    {count['used']} used, {count['allowed']} cores allowed of {count['cores']}")
    cache = report["kernel_cache"]
    show(
        f"kernels    cached in {cache['folder']}" if cache["writable"] else f"kernels    not cached: {cache['remedy']}"
    )
    own = report["secret"]
    show(f"secret     kept in {own['folder']}" if own["folder"] else f"secret     {own['problem']}; {own['remedy']}")
    for extra in report["extras"]:
        state = "installed" if extra["installed"] else f"not installed: {extra['remedy']}"
        show(f"extra      {extra['name']:<10} {state}")
    missing = [name for name, version in report["libraries"].items() if version is None]
    if missing:
        show(f"To do: pip install {' '.join(missing)}")


def _version(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _can_write(folder: Path) -> bool:
    """Try to write: permissions do not show whether a file system is read-only."""
    import tempfile

    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
