"""Cost of a viewer: simulation speed with and without one, frames received, encoding.

Prints one JSON line: python benchmarks/studio.py
The viewer reads and acknowledges every frame and draws nothing. Rounds with and without it take turns, because
other load on the machine varies; CPU seconds of the server per step do not depend on that.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

import slopewash as sw
from slopewash.studio.connection import View
from slopewash.studio.hub import encode
from slopewash.studio.snapshot import Snapshot

sys.path.insert(0, str(Path(__file__).parents[1]))  # a script finds only modules in its own folder

from benchmarks.surroundings import facts

SERVER = """
import sys
from slopewash.studio import StudioServer
from slopewash.studio.recipes import first_recipe
with StudioServer(first_recipe(size=int(sys.argv[1]), backend="cpu"), port=0, apart=True) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
TICKS = os.sysconf("SC_CLK_TCK")


class Round(NamedTuple):
    """Measurements of one round."""

    steps: float
    seconds: float
    cpu: float
    frames: float


class Client:
    """A page that draws nothing."""

    def __init__(self, url: str) -> None:
        address = url.partition("/?")[0]
        opened = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
        cookie = httpx.get(url, headers=opened, timeout=60).headers["set-cookie"].partition(";")[0]
        self._connection = connect(
            address.replace("http", "ws") + "/ws",
            origin=Origin(address),
            additional_headers={"Cookie": cookie},
            max_size=None,
            compression=None,
        )
        self.socket = self._connection.__enter__()
        self.step = 0
        self.frames = 0
        self.bytes = 0
        self.finish: dict[str, Any] = {}
        self._asked = 0

    def read(self, seconds: float, *, watching: bool) -> None:
        """Read for so long; without acknowledging, no frame comes after the second."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            try:
                received = self.socket.recv(timeout=left)
            except TimeoutError:
                return
            if isinstance(received, bytes):
                self.frames += 1
                self.bytes += len(received)
                if watching:
                    length = int.from_bytes(received[4:8], "little")
                    frame = json.loads(received[8 : 8 + length])["frame"]
                    self.last = frame
                    self.send("ack", frame=frame)
                else:
                    self.last = json.loads(received[8 : 8 + int.from_bytes(received[4:8], "little")])["frame"]
            else:
                message = json.loads(received)
                if message["type"] == "state":
                    self.step = message["step"]
                elif message["type"] == "finish":
                    self.finish = message

    def send(self, type: str, **keys: Any) -> None:
        self.socket.send(json.dumps({"type": type, **keys}))

    def exact_step(self) -> int:
        """Step right now: an answer waits for its turn between two steps, and a state follows it."""
        self._asked += 1
        self.send("speed", steps_per_second=None, id=self._asked)
        answered = False
        while True:
            received = self.socket.recv(timeout=60)
            if isinstance(received, bytes):
                continue
            message = json.loads(received)
            answered = answered or message.get("id") == self._asked
            if answered and message["type"] == "state":
                return int(message["step"])


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """Of the server and of the process of its run."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    ticks = 0
    for pid in (str(process.pid), *children):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS


def live(size: int, rounds: int, seconds: float) -> dict[str, Any]:
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    client = Client(process.stdout.readline().strip())
    client.send("watch", ground=True)  # as the page does
    client.send("step", count=40)
    begin = time.perf_counter()
    while client.step < 40 and time.perf_counter() < begin + 110:
        client.read(0.5, watching=False)
    compiled = time.perf_counter() - begin
    client.send("run_to", step=10**9)  # playing would pause where the preset ends
    client.read(1.0, watching=True)
    rounds_of: dict[bool, list[Round]] = {True: [], False: []}
    for number in range(2 * rounds):
        watching = number % 2 == 0
        if watching:
            client.send("ack", frame=client.last)
        client.read(0.3, watching=watching)
        step, cpu, began, frames = client.exact_step(), cpu_seconds(process), time.perf_counter(), client.frames
        if watching:
            client.send("ack", frame=2**53)  # what came while the step was asked for
        client.read(seconds, watching=watching)
        frames = client.frames - frames
        steps = client.exact_step() - step
        rounds_of[watching].append(Round(steps, time.perf_counter() - began, cpu_seconds(process) - cpu, frames))
    process.communicate(timeout=60)
    alone, watched = (Round(*map(sum, zip(*rounds_of[w], strict=True))) for w in (False, True))
    return {
        "size": size,
        "start_seconds": round(compiled, 1),
        "steps_per_second_alone": round(alone.steps / alone.seconds, 1),
        "steps_per_second_watched": round(watched.steps / watched.seconds, 1),
        "speed_ratio": round(watched.steps / watched.seconds * alone.seconds / alone.steps, 3),
        "speed_ratio_of_pairs": sorted(
            round(w.steps / w.seconds * a.seconds / a.steps, 2)
            for a, w in zip(rounds_of[False], rounds_of[True], strict=True)
        ),
        "cpu_ms_per_step_alone": round(1e3 * alone.cpu / alone.steps, 2),
        "cpu_ms_per_step_watched": round(1e3 * watched.cpu / watched.steps, 2),
        "cpu_ratio": round(alone.cpu / alone.steps * watched.steps / watched.cpu, 3),
        "cores_had": round((alone.cpu + watched.cpu) / (alone.seconds + watched.seconds), 2),
        "frames_per_second": round(watched.frames / watched.seconds, 1),
        "frames_per_second_best": round(max(r.frames / r.seconds for r in rounds_of[True]), 1),
    }


def encoding(size: int, repeats: int = 15) -> dict[str, Any]:
    """CPU milliseconds to encode elevation, water, sediment and an overlay."""
    terrain = sw.generate("fbm", size=size, seed=3)
    bumps = terrain["elevation"]
    layers = {"elevation": bumps, "water": bumps * np.float32(0.01), "suspended": bumps * np.float32(0.001)}
    units = dict.fromkeys((*layers, "slope"), "m")
    snapshot = Snapshot(1, 1, 0, 0.0, terrain.cell_size, layers, units, terrain, terrain.range("elevation"))
    shown = dataclasses.replace(snapshot, layers=layers | {"slope": bumps})
    result: dict[str, Any] = {"encoded_size": size}
    for name, frame, overlay in (("encode_cpu_ms", snapshot, None), ("encode_with_overlay_cpu_ms", shown, "slope")):
        times = []
        for _ in range(repeats):
            begin = time.process_time()
            data = encode(frame, View(overlay, size, before=False, ground=False, strata=False, triangles=False))
            times.append(time.process_time() - begin)
        result[name] = round(1e3 * min(times), 2)
        result[name.replace("cpu_ms", "bytes")] = len(data)
    return result


def download(size: int, repeats: int = 15) -> dict[str, Any]:
    """CPU milliseconds to read the layers of a frame from a run."""
    simulation = sw.Simulation(sw.generate("dome", size=size, seed=3), sw.preset("single_grid"), backend="cpu")
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        simulation.layers("elevation", "water", "suspended")
        times.append(time.process_time() - begin)
    return {"download_cpu_ms": round(1e3 * min(times), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512, help="cells along a side of the live run")
    parser.add_argument("--rounds", type=int, default=8, help="rounds with and as many without a viewer")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a round")
    options = parser.parse_args()
    result = live(options.size, options.rounds, options.seconds) | encoding(1024) | download(1024)
    print(json.dumps(result | facts()), flush=True)


if __name__ == "__main__":
    main()
