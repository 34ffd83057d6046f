"""Decodes a file that nobody vouches for in a process of its own, whose memory and time are limited.

Decoders are C libraries: what a crafted file does to them must not happen to a server and its run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import slopewash as sw
from slopewash.errors import InvalidFile, SlopewashError
from slopewash.io.files import read_with
from slopewash.io.options import ValueOptions
from slopewash.processes import environment, python
from slopewash.remedies import read_in

SECONDS = 60
MEMORY = 4 << 30
"""Bytes of address space, of which libraries take up to one gigabyte; the largest grid allowed needs another."""


@dataclass(frozen=True)
class Decoded:
    """What a file was decoded to."""

    terrain: sw.Terrain
    suspects: Mapping[float, str]
    """Numbers that most likely mark cells without data, and a sentence about each."""


def decode(file: Path, options: Mapping[str, Any], *, largest_side: int) -> Decoded:
    """Read a file of heights in a child process; raises `InvalidFile`."""
    decoded = file.with_name("decoded.npz")
    asked = json.dumps({"options": dict(options), "largest_side": largest_side, "memory": MEMORY, "seconds": SECONDS})
    command = python("-m", "slopewash.untrusted", str(file), str(decoded), asked)
    try:
        child = subprocess.run(
            command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise InvalidFile(f"{file} takes more than {SECONDS} s to decode") from None
    sentence = child.stdout.decode("utf-8", "replace").strip()
    if child.returncode == 0 and decoded.exists():
        terrain = read_with(decoded, ValueOptions(max_pixels=largest_side**2))  # metres, which were looked at there
        return Decoded(terrain, {float(value): text for value, text in json.loads(sentence)})
    raise InvalidFile(sentence or f"{file} could not be decoded within {MEMORY >> 30} GB of memory and {SECONDS} s")


def check_header(file: Path, shape: tuple[int, int] | None, largest_side: int) -> None:
    """Refuse a file that would need too much memory, before it is decoded."""
    layers = 1
    if shape is None:
        info = sw.probe(file)
        shape, layers = (info.height, info.width), max(info.channels, len(info.layers))
    rows, columns = shape
    if max(shape) > largest_side:
        raise InvalidFile(f"{file} has {columns} x {rows} cells; the limit is {largest_side} per side")
    if rows * columns * layers > largest_side**2:
        raise InvalidFile(
            f"{file} has {layers} layers of {columns} x {rows} cells; the limit is {largest_side**2} values, so "
            "upload fewer layers or fewer cells"
        )


def limit(memory: int, seconds: int) -> None:
    """Limit this process to bytes of memory and seconds of CPU time, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(file: str, decoded: str, asked: str) -> int:
    """Decode one file, or print why it cannot be."""
    wanted = json.loads(asked)
    limit(wanted["memory"], wanted["seconds"])
    options: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in wanted["options"].items()}
    try:
        check_header(Path(file), options.get("shape"), wanted["largest_side"])
        with read_in("page"), sw.without_gdal(), warnings.catch_warnings(record=True) as caught:  # GDAL is large
            warnings.simplefilter("always", sw.NodataWarning)
            terrain = sw.read(file, max_pixels=wanted["largest_side"] ** 2, **options)
        sw.write(terrain, decoded)
        found = [(w.message.value, str(w.message)) for w in caught if isinstance(w.message, sw.NodataWarning)]
        sys.stdout.buffer.write(json.dumps(found).encode("utf-8"))
    except (SlopewashError, MemoryError) as error:
        sys.stdout.buffer.write(str(error).encode("utf-8"))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
