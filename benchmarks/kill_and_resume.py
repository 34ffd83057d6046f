"""Kills a run with SIGKILL again and again, in the middle of checkpoints too, and checks that nothing is lost.

    python benchmarks/kill_and_resume.py --kills 20

A child process runs a simulation and writes a checkpoint every few steps. It is killed at random moments, every other
time while a checkpoint is being written, and started again, which resumes. In the end its ground, water and budget must
be those of a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

CHILD = """
import hashlib, json, sys
import slopewash as sw
from slopewash.errors import CheckpointError
folder, backend, size, steps, every = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
def start():
    terrain = sw.generate("dome", size=size, seed=4, cell_size=5.0)
    terrain = terrain.replace(strata=sw.strata_bands(count=7, dip=3.0).fitted(terrain.relief))
    return sw.Simulation(terrain, sw.preset("single_grid"), backend=backend, seed=5)
try:
    simulation = sw.Simulation.resume(folder) if folder else start()
except CheckpointError:  # none yet
    simulation = start()
print("step", simulation.steps_taken, flush=True)
while simulation.steps_taken < steps:
    simulation.run(min(every, steps - simulation.steps_taken))
    if folder:
        simulation.checkpoint(folder)
terrain = simulation.terrain
stamp = hashlib.sha256(json.dumps(simulation.budget.as_dict()).encode())
for name in terrain:
    stamp.update(name.encode() + terrain[name].tobytes())
print("done", stamp.hexdigest(), flush=True)
"""
LONGEST_WAIT = 0.8
"""Seconds after which a child is killed, at the latest."""
LONGEST_WRITE = 30.0
"""Seconds until a child must have begun to write a checkpoint."""


@dataclass(frozen=True)
class Result:
    """How it ended."""

    undisturbed: str
    killed: str
    steps: list[int]
    """Where each child went on."""
    unfinished: int
    """Kills that left a checkpoint half written."""


def kill_and_resume(
    folder: Path, *, kills: int, seed: int = 0, backend: str = "cpu", size: int = 96, steps: int = 800, every: int = 4
) -> Result:
    """Run once undisturbed and once with that many kills."""
    draw = random.Random(seed)
    last = [backend, str(size), str(steps), str(every)]
    undisturbed = _finish(_child("", *last))
    resumed, unfinished = [], 0
    for k in range(kills):
        child = _child(str(folder), *last)
        resumed.append(int(_line(child, "step")))
        if k % 2:
            _wait_for(folder, f"step-{resumed[-1] + every * draw.randint(1, 3):06d}", child)
            _wait_for(folder, "step-*.tmp", child)
            time.sleep(0.004 * draw.random())  # writing takes about 10 ms
        else:
            time.sleep(LONGEST_WAIT * draw.random())
        if child.poll() is not None:
            raise SystemExit("a run ended before it was killed: take more steps")
        child.kill()
        child.communicate()
        unfinished += k % 2 and any(folder.glob("step-*.tmp"))
    child = _child(str(folder), *last)
    resumed.append(int(_line(child, "step")))
    return Result(undisturbed, _finish(child, begun=True), resumed, unfinished)


def _child(*arguments: str) -> subprocess.Popen[str]:
    # A checkpoint that was damaged would be passed over with a warning: here that is an error.
    command = [sys.executable, "-W", "error", "-c", CHILD, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"NUMBA_NUM_THREADS": "1"})


def _line(child: subprocess.Popen[str], word: str) -> str:
    assert child.stdout is not None
    line = child.stdout.readline().split()
    if len(line) != 2 or line[0] != word:
        raise SystemExit(f"a child said {line} instead of {word!r}")
    return line[1]


def _finish(child: subprocess.Popen[str], *, begun: bool = False) -> str:
    if not begun:
        _line(child, "step")
    stamp = _line(child, "done")
    child.communicate()
    return stamp


def _wait_for(folder: Path, pattern: str, child: subprocess.Popen[str]) -> None:
    begin = time.monotonic()
    while not any(folder.glob(pattern)) and child.poll() is None and time.monotonic() - begin < LONGEST_WRITE:
        pass  # any pause would be longer than a checkpoint takes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--size", type=int, default=96, help="cells along a side")
    parser.add_argument("--steps", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = kill_and_resume(
            Path(folder), kills=options.kills, seed=options.seed, backend=options.backend, size=options.size,
            steps=options.steps,
        )  # fmt: skip
    same = result.undisturbed == result.killed
    print(
        f"{options.kills} kills, {result.unfinished} of them in the middle of a checkpoint; resumed at steps "
        f"{', '.join(map(str, result.steps))}; {'bit-identical to' if same else 'DIFFERS from'} an undisturbed run"
    )
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
