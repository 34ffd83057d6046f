"""Results of benchmarks as JSON lines: `run` names what was measured together, with machine, versions and commit."""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.surroundings import facts

FOLDER = Path(__file__).parent / "results"

Row = dict[str, Any]


def add_option(parser: argparse.ArgumentParser, name: str) -> None:
    """Let a benchmark keep what it measures."""
    parser.add_argument("--record", action="store_true", help=f"add what is measured to results/{name}.jsonl")


def record(name: str, rows: Iterable[Row]) -> None:
    """Add what was measured together to the results of a benchmark."""
    run = {"run": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")} | facts()
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(run | row) + "\n" for row in rows)


def known(name: str) -> bool:
    """Whether anything was recorded."""
    return (FOLDER / f"{name}.jsonl").exists()


def everything(name: str) -> list[Row]:
    """All results of a benchmark."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
