"""Outputs of a recipe that was read from a file stay in the output folder, unless the user says otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import slopewash as sw
from slopewash import seals
from slopewash.cli import main
from slopewash.errors import InvalidFile, InvalidRecipe, SlopewashError

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
HEAD = """backend = "reference"
[source]
generator = "cone"
size = 8
[[stages]]
model = "steepest_talus"
steps = 1
"""


def recipe(folder: Path, *outputs: str) -> Path:
    file = folder / "my.toml"
    file.write_text(HEAD + "".join(f"[[outputs]]\n{output}\n" for output in outputs), encoding="utf-8")
    return file


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, beside another with a file of the user."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "dem.npz").write_text("precious")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def is_intact(place: Path) -> bool:
    home = place.parent / "home"
    return [file.name for file in home.iterdir()] == ["dem.npz"] and (home / "dem.npz").read_text() == "precious"


@pytest.mark.parametrize("name", ["../home/dem.npz", "{home}/dem.npz", "a/../../home/dem.npz", "{home}/new.npz"])
@pytest.mark.parametrize("how", ["run", "force", "check", "python", "python folder"])
def test_a_name_outside_is_refused_with_its_line_before_anything_runs(name: str, how: str, place: Path) -> None:
    file = recipe(place, f'path = "{name.format(home=(place.parent / "home").as_posix())}"')
    if how.startswith("python"):
        with pytest.raises(InvalidRecipe, match=r"line 9, outputs\[1\].path: .*outputs_anywhere=True"):
            sw.Recipe.read(file).run(folder="out" if how.endswith("folder") else None)
    else:
        assert main(["run", str(file), *(["--" + how] if how != "run" else [])]) == 2
    assert is_intact(place)
    assert not (place / "out").exists()


def test_the_refusal_names_the_option(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(recipe(place, 'path = "../home/dem.npz"'))]) == 2
    assert "add --outputs-anywhere" in capsys.readouterr().err


def test_with_the_option_outputs_go_elsewhere_and_overwrite_only_with_force(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recipe(place, 'path = "../../../home/dem.npz"', 'path = "../../../home/new.npz"')
    assert main(["run", str(file), "--outputs-anywhere"]) == 2
    assert "exists, outside the output folder" in capsys.readouterr().err
    assert is_intact(place)
    assert main(["run", str(file), "--outputs-anywhere", "--force"]) == 0
    assert sw.read(place.parent / "home" / "dem.npz").shape == (8, 8)
    again = sw.Recipe.read(file, outputs_anywhere=True)
    assert again.outputs_anywhere
    again.run(folder="out/my")


def test_outputs_that_a_script_names_go_where_it_says(place: Path) -> None:
    """Those that were read stay in the output folder."""
    read = sw.Recipe.read(recipe(place, 'path = "a.npz"'))
    named = place.parent / "home" / "new.npz"
    for output in (named, str(named), sw.Output(named)):
        read.replace(outputs=(output,)).run()
        assert sw.read(named).shape == (8, 8)
        named.unlink()
    assert not read.replace(outputs=read.outputs, seed=3).outputs_anywhere
    assert not read.replace(outputs=()).outputs_anywhere
    with pytest.raises(sw.InvalidFile, match="is absolute"):
        read.replace(outputs=(named,), outputs_anywhere=False).run(folder="out/my")
    assert not named.exists()


LINKED = {
    "a file": ('path = "a.npz"', "a.npz", "dem.npz"),
    "a folder above": ('path = "sub/a.npz"', "sub", "."),
    "a folder of layers": ('kind = "layers"\npath = "masks"\nlayers = ["elevation"]', "masks", "."),
    "a layer": ('kind = "layers"\npath = "masks"\nlayers = ["elevation"]', "masks/elevation.png", "dem.npz"),
    "the list of layers": ('kind = "layers"\npath = "masks"\nlayers = ["elevation"]', "masks/layers.json", "new.json"),
    "a sidecar": ('path = "a.r16"', "a.r16.json", "new.json"),
    "a card": ('kind = "export"\ntarget = "godot"\npath = "game"\nsize = 8', "game", "."),
    "a file of an export": ('kind = "export"\ntarget = "godot"\npath = "game"', "game/import.txt", "new.txt"),
    "a picture": ('kind = "picture"\npath = "p/view.png"', "p", "."),
    "the record": ('path = "a.npz"', "manifest.json", "new.json"),
    "the recipe": ('path = "a.npz"', "recipe.toml", "new.toml"),
    "the checkpoints": ('path = "a.npz"', "checkpoints", "."),
}


@posix
@pytest.mark.parametrize("which", LINKED)
def test_links_in_the_output_folder_that_lead_out_are_not_followed(which: str, place: Path) -> None:
    output, link, target = LINKED[which]
    out = place / "out" / "my"
    (out / link).parent.mkdir(parents=True, exist_ok=True)
    (out / link).symlink_to(place.parent / "home" / target)
    assert main(["run", str(recipe(place, output)), "--force"]) in (0, 2)
    assert is_intact(place)


@posix
def test_an_output_folder_that_is_a_link_itself_is_the_users_choice(place: Path) -> None:
    (place / "big").mkdir()
    (place / "out").symlink_to(place / "big")
    assert main(["run", str(recipe(place, 'path = "a.npz"'))]) == 0
    assert (place / "big" / "my" / "a.npz").exists()


def test_outputs_of_a_script_go_where_the_script_says(place: Path) -> None:
    made = sw.Recipe(
        source=sw.Generated(kind="cone", size=8), stages=(sw.Stage.of(sw.SteepestTalus(), steps=1),),
        backend="reference",
        outputs=(sw.Output(place.parent / "home" / "new.npz"), sw.Output(Path("../home/newer.npz"))),
    )  # fmt: skip
    made.run()
    assert (place.parent / "home" / "new.npz").exists()
    assert (place.parent / "home" / "newer.npz").exists()


@pytest.mark.parametrize("name", ["checkpoints", "Checkpoints/a"])
def test_a_name_that_the_run_needs_itself_is_refused(name: str, place: Path) -> None:
    file = recipe(place, f'kind = "layers"\npath = "{name}"\nlayers = ["elevation"]')
    with pytest.raises(InvalidFile, match="a name that the run itself needs"):
        sw.Recipe.read(file).run(folder="out")


@posix
@pytest.mark.parametrize("trust", [False, True])
def test_a_resumed_run_stays_in_the_output_folder_too(
    trust: bool, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's own run, or one that only a foreign seal vouches for; somebody has put a link into the folder."""
    made = sw.Recipe.read(recipe(place, 'path = "sub/a.npz"'))
    sw.Running(made, checkpoint="out/my/checkpoints", folder="out/my").write_checkpoint()
    if trust:
        monkeypatch.setattr(seals, "secret", lambda: b"another user's".ljust(32))
    out = place / ("theirs" if trust else "out/my")
    out.mkdir(exist_ok=True)
    (out / "sub").symlink_to(place.parent / "home")
    more = ["--trust", "--out", "theirs", "--force"] if trust else []
    assert main(["resume", "out/my", *more]) == 2
    assert is_intact(place)


def test_forgetting_a_run_leaves_other_files_in_its_folder(place: Path) -> None:
    file = recipe(place, 'path = "a.npz"')
    running = sw.Running(sw.Recipe.read(file), checkpoint="out/my/checkpoints", folder="out/my")
    running.write_checkpoint()
    (place / "out" / "my" / "checkpoints" / "notes.txt").write_text("mine")
    assert main(["run", str(file), "--force"]) == 0
    assert [path.name for path in (place / "out" / "my" / "checkpoints").iterdir()] == ["notes.txt"]


@posix
def test_a_recipe_that_is_no_regular_file_is_refused_at_once(place: Path) -> None:
    os.mkfifo(place / "pipe.toml")
    for name in (place / "pipe.toml", Path("/dev/zero"), place):
        with pytest.raises(SlopewashError, match=r"regular file|is a folder"):
            sw.Recipe.read(name)
