"""Whether the studio stays usable during a finish: frames received, and how soon a pause is answered.

Prints one JSON line: python benchmarks/studio_finish.py
A run plays at full speed while the same run is finished on many cells in the background. The viewer reads and
acknowledges every frame and draws nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks.studio import Client
from benchmarks.surroundings import facts

SERVER = """
import sys
from slopewash.studio import StudioServer
from slopewash.studio.recipes import first_recipe
recipe = first_recipe(preset="single_grid", size=int(sys.argv[1]), backend="cpu")
with StudioServer(recipe, port=0, apart=True) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


def pause_seconds(client: Client, number: int) -> float:
    """Time until a pause is answered while the run plays."""
    begin, key = time.perf_counter(), f"pause {number}"
    client.send("pause", id=key)
    while True:
        received = client.socket.recv(timeout=60)
        if isinstance(received, bytes):
            length = int.from_bytes(received[4:8], "little")
            client.send("ack", frame=json.loads(received[8 : 8 + length])["frame"])
        elif json.loads(received).get("id") == key:
            return time.perf_counter() - begin


def measured(client: Client, rounds: int, seconds: float) -> dict[str, Any]:
    """Frames per second and pauses over some rounds of playing."""
    frames, pauses, rates = 0, [], []
    for number in range(rounds):
        client.send("run_to", step=10**9)
        client.read(0.5, watching=True)
        before, begin = client.frames, time.perf_counter()
        client.read(seconds, watching=True)
        rates.append((client.frames - before) / (time.perf_counter() - begin))
        frames += client.frames - before
        pauses.append(pause_seconds(client, number))
    return {
        "frames_per_second": round(frames / (rounds * seconds), 1),
        "frames_per_second_least": round(min(rates), 1),
        "pause_seconds_most": round(max(pauses), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draft", type=int, default=256, help="cells along a side of the live run")
    parser.add_argument("--finish", type=int, default=2048, help="cells along a side of the finish")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=3.0, help="length of a round")
    options = parser.parse_args()
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(options.draft)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    client = Client(process.stdout.readline().strip())
    client.send("watch", ground=True)  # as the page does
    client.send("step", count=20)
    while client.step < 20:
        client.read(0.5, watching=True)
    alone = measured(client, max(options.rounds // 2, 1), options.seconds)
    client.send("finish", size=options.finish)
    while client.finish.get("step", 0) < 1:  # kernels are compiled, and it takes steps
        client.read(0.5, watching=True)
    beside = measured(client, options.rounds, options.seconds)
    state = client.finish
    client.send("cancel_finish")
    process.communicate(timeout=60)
    print(json.dumps({
        "draft": options.draft, "finish": options.finish, "alone": alone, "during_finish": beside,
        "finish_status": state["status"], "finish_step": state["step"], **facts(),
    }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
