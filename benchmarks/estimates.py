"""Compares what commands are estimated to need, memory and time, with what they take.

    python benchmarks/estimates.py --sizes 512,1024,2048

Each command runs in a process of its own, its kernels compiled before and on one thread: then CPU time is comparable
with the estimate also on a busy machine. Prints a table, in MB and seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CHILD = """
import json, sys
from slopewash.needs import Needs
from slopewash.cli import main
usual, checked = Needs.check, []
def check(needs, *words):
    checked.append(needs)
    usual(needs, *words)
Needs.check = check
code = main(sys.argv[2:])
needs = max(checked, key=lambda needs: needs.memory)  # that of the whole command
facts = {"memory": needs.memory, "seconds": needs.seconds, "part": needs.widest.name}
open(sys.argv[1], "w").write(json.dumps(facts))
sys.exit(code)
"""

COMMANDS = {
    "generate": "generate dome --size {n} -o dome{n}.exr",
    "generate islands": "generate islands --size {n} -o islands{n}.tif",
    "erode landscape": "erode dome{n}.exr -o eroded{n}.exr --strength 0.02 --force",
    "erode gentle": "erode islands{n}.tif -o gentle{n}.tif --preset gentle --strength 0.05",
    "erode talus": "erode dome{n}.exr -o talus{n}.exr --model steepest_talus --steps 200",
    "erode pipes": "erode dome{n}.exr -o pipes{n}.npz --model virtual_pipes --steps 100",
    "run recipe": "run recipe{n}.toml -o out{n} --force",
    "demo": "demo --size {n} --steps 40 -o demo{n}",
    "render map": "render eroded{n}.exr -o map{n}.png --view map",
    "render block": "render eroded{n}.exr -o block{n}.png --view block",
    "convert": "convert eroded{n}.exr -o converted{n}.npz",
    "analyse": "analyse eroded{n}.exr",
    "export": "export eroded{n}.exr --target godot -o godot{n}",
}
"""In an order in which each finds its input."""

RECIPE = """
[source]
generator = "range"
size = {n}

[[stages]]
preset = "landscape"
strength = 0.02

[[outputs]]
kind = "terrain"
path = "terrain.exr"

[[outputs]]
kind = "picture"
path = "view.png"
view = "block"
water = "rivers"
"""


@dataclass(frozen=True)
class Row:
    """One command at one size: estimated and measured."""

    command: str
    size: int
    memory: tuple[float, float]
    """Bytes."""
    seconds: tuple[float, float]
    part: str
    """What was estimated to need most memory."""

    @property
    def words(self) -> str:
        """A line of the table."""
        (memory, used), (seconds, took) = self.memory, self.seconds
        return (
            f"| {self.command} | {self.size}² | {memory / 1e6:.0f} | {used / 1e6:.0f} | {memory / used:.2f} "
            f"| {seconds:.1f} | {took:.1f} | {seconds / took:.2f} |"
        )


def compare(command: str, size: int, folder: Path) -> Row:
    """Run one command and compare."""
    words, said = COMMANDS[command].format(n=size).split(), folder / "needs.json"
    environment = os.environ | {"NUMBA_NUM_THREADS": "1"}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(said), *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stderr is not None
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"{command} failed: {errors}")
    needs = json.loads(said.read_text())
    took = usage.ru_utime + usage.ru_stime
    return Row(command, size, (needs["memory"], 1024.0 * usage.ru_maxrss), (needs["seconds"], took), needs["part"])


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="512,1024,2048")
    parser.add_argument("--commands", default=",".join(COMMANDS))
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in [64, *sizes]:  # the first compiles
            (folder / f"recipe{size}.toml").write_text(RECIPE.format(n=size))
            for command in options.commands.split(","):
                row = compare(command, size, folder)
                if size in sizes:
                    rows.append(row)
                    print(row.words, f"<!-- {row.part} -->", flush=True)
    memory = sum(not 0.75 <= row.memory[0] / row.memory[1] <= 1.25 for row in rows)
    seconds = sum(not 0.5 <= row.seconds[0] / row.seconds[1] <= 2 for row in rows)
    print(f"of {len(rows)}, {memory} are not within 25 % of memory and {seconds} not within a factor of 2 of time")
    return int(memory + seconds > 0)


if __name__ == "__main__":
    sys.exit(main())
