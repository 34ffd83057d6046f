"""What the README shows must run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import slopewash as sw

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
COMMANDS = [
    line.split("  #")[0].strip()
    for block in re.findall(r"```\n(.*?)```", README, flags=re.S)
    for line in block.splitlines()
    if line.startswith("slopewash ")
]


def test_links_lead_somewhere() -> None:
    folder = Path(__file__).parent.parent
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (folder / link).exists(), link


def test_the_python_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    small = block.replace("size=512", "size=40").replace("steps=200", "steps=8").replace("settle(100)", "settle(4)")
    monkeypatch.chdir(tmp_path)
    exec(compile(small, "README.md", "exec"), {})
    assert (tmp_path / "eroded.exr").stat().st_size > 0
    assert (tmp_path / "eroded.png").stat().st_size > 0


def test_the_page_on_checkpoints_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parent.parent / "docs" / "checkpoints.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.S):
        exec(compile(block, "checkpoints.md", "exec"), names)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipe.ckpt", "run.ckpt", "script.ckpt"]


def test_the_page_on_observers_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parent.parent / "docs" / "observers.md").read_text(encoding="utf-8")
    names: dict[str, object] = {"__name__": "observers"}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.S):
        exec(compile(block, "observers.md", "exec"), names)
    steps = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines()]
    assert sorted(steps) == [20, 40, 50, 60, 60, 70, 80, 80]


def test_the_page_on_recipes_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parent.parent / "docs" / "recipes.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(re.findall(r"```toml\n(.*?)```", page, flags=re.S)[:2]):
        (tmp_path / f"{number}.toml").write_text(block, encoding="utf-8")
        assert sw.Recipe.read(f"{number}.toml").terrain().shape[0] >= 256
    (block,) = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    exec(compile(block, "recipes.md", "exec"), {})
    made = sorted(path.name for path in (tmp_path / "out" / "my").iterdir())
    assert made == ["eroded.exr", "manifest.json", "map.png", "recipe.toml"]


@pytest.mark.slow
def test_the_command_line_tour_runs(tmp_path: Path) -> None:
    assert len(COMMANDS) >= 6
    for command in COMMANDS:
        small = command.replace("--size 512", "--size 40").replace("--steps 2000", "--steps 20")
        words = shlex.split(small)[1:]
        if words[0] == "erode" and not {"--steps", "--strength"} & set(words):
            words += ["--steps", "20"]
        if words[0] == "bench":
            words += ["--size", "64", "--steps", "4"]
        if words[0] == "run":
            words += ["--set", "source.size=128", "--set", "stage.steps=8"]
        if words[0] == "demo":
            words += ["--size", "40", "--steps", "20"]
        if words[0] == "render" and ".webm" in small:
            words += ["--width", "160", "--seconds", "0.2"]
        if words[0] == "studio":  # serves until it is told to stop: tests/studio start and end it
            words = ["studio", "--help"]
        done = subprocess.run(
            [sys.executable, "-m", "slopewash", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
