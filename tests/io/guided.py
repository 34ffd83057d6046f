"""Fuzzing guided by coverage, with atheris where it is installed: python tests/io/guided.py SECONDS

It keeps changing files of each format towards code that none of them has reached; `mutations.py` says what is wrong
with how one was read.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()


def mutations() -> Any:
    spec = importlib.util.spec_from_file_location("mutations", HERE.with_name("mutations.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fuzz(ending: str, folder: Path, seconds: str) -> None:
    """Fuzz one format until the time is over; never returns."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["slopewash.io", "slopewash.recipes"]):
        import slopewash as sw

        tools = mutations()
    corpus = folder / "corpus"
    corpus.mkdir()
    hill = sw.Terrain(np.random.default_rng(3).normal(900.0, 300.0, (5, 6)), water=0.5, cell_size=3.0)
    path = folder / (ending if ending[0] != "." else f"hill{ending}")
    tools.FORMATS[ending](hill, path)
    damaged = max(tools.files_of(ending, path), key=lambda file: file.stat().st_size)  # of a folder, the largest
    (corpus / "whole").write_bytes(damaged.read_bytes())

    def read_one(data: bytes) -> None:
        damaged.write_bytes(data)
        problem = tools.problem_with(path)
        if problem is not None:
            raise RuntimeError(problem)

    limits = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1024", f"-artifact_prefix={ending}-"]
    atheris.Setup([sys.argv[0], str(corpus), "-verbosity=0", *limits], read_one)
    atheris.Fuzz()


def main(seconds: str) -> int:
    """Fuzz every format in a program of its own."""
    if importlib.util.find_spec("atheris") is None:
        print("atheris is not installed, so files are changed without its guidance", file=sys.stderr)
        return 0
    failed = 0
    for ending in mutations().FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            code = subprocess.run([sys.executable, HERE, seconds, ending, folder], check=False).returncode
        print(f"{ending:14} {'nothing found' if code == 0 else f'exit code {code}'}", flush=True)
        failed += code != 0
    return int(failed > 0)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        fuzz(sys.argv[2], Path(sys.argv[3]), sys.argv[1])
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "60"))
