"""Builds the source distribution, the wheel from it, and installs that in an empty environment: alone, then each extra.

    python tests/wheels/check.py             or: make wheel-check
    python tests/wheels/check.py --lowest    or: make lowest
    python tests/wheels/check.py --keep dist/check

The page is built by the hook of the build, in an environment of its own; pip's cache makes the rest quick. `--lowest`
takes the lowest version that pyproject.toml declares of each package, and the newest of what these need in turn.
`--keep` leaves packages and environment there, to try things in.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # a script finds only modules in its own folder

from tests.wheels import contents
from tests.wheels.environment import Environment, clean_variables, pip
from tests.wheels.uses import CORE, EXTRAS, MADE, NAMES, run

ROOT = Path(__file__).parents[2]


@contextmanager
def timed(what: str) -> Iterator[None]:
    begin = time.perf_counter()
    print(what, end="", flush=True)
    yield
    print(f": {time.perf_counter() - begin:.1f} s", flush=True)


def run_here(words: list[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, env=clean_variables(folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout


def build(folder: Path) -> Path:
    """The wheel, built from the source distribution, so that the latter is known to be complete."""
    with timed("source distribution"):
        run_here([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], ROOT)
    (source,) = folder.glob("*.tar.gz")
    with timed("wheel, with the page"):
        run_here([*pip(), "wheel", "--quiet", "--no-deps", "-w", str(folder), str(source)], folder)
    (wheel,) = folder.glob("*.whl")
    files = contents.names_in(source)
    faults = contents.source_faults(files) + contents.wheel_faults(contents.names_in(wheel), files)
    assert not faults, "\n".join(faults)
    return wheel


def check(folder: Path, *, lowest: bool) -> None:
    wheel = build(folder)
    environment = Environment(folder)
    with timed("core installed"):
        environment.install(str(wheel), lowest=lowest)
    for words in CORE:
        with timed(words.replace(str(NAMES), NAMES.name)):
            run(environment, words.split())
    lacking = [name for name in MADE if not (environment.work / name).exists()]
    assert not lacking, f"not made: {lacking}"
    with timed("what needs an extra is refused"):
        for extra, use in EXTRAS.items():
            use.is_refused(environment, extra)
    for extra, use in EXTRAS.items():
        if extra == "gpu" and not has_adapter():
            print(
                "gpu is left out, for want of an adapter, if only a software one: apt-get install mesa-vulkan-drivers"
            )
            continue
        with timed(f"{extra} installed"):
            environment.install(f"{wheel}[{extra}]", lowest=lowest)
        with timed(f"{extra} used"):
            use.try_it(environment)
    with timed("everything fits together"):
        run(environment, ["python", "-I", str(NAMES)])
        environment.pip("check")


def has_adapter() -> bool:
    return os.environ.get("CI") == "true" or any(Path("/usr/share/vulkan/icd.d").glob("*.json"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="a new folder for packages and environment, which is left there")
    parser.add_argument("--lowest", action="store_true", help="the lowest versions that are declared")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True)
        check(options.keep.absolute(), lowest=options.lowest)
        return
    with tempfile.TemporaryDirectory(prefix="slopewash-wheel-") as folder:
        check(Path(folder), lowest=options.lowest)


if __name__ == "__main__":
    main()
