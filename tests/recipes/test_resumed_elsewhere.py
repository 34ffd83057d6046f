"""`resume --out`: every output goes into another folder by its own name, as those of a run do."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import slopewash as sw
from slopewash import seals
from slopewash.cli import main
from slopewash.cli.running import resuming
from slopewash.errors import InvalidFile

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
DATA = "a.npz"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def begun(*outputs: str | Path, folder: str | None = None, source: Path | None = None) -> str:
    """A run under way whose recipe was made by the user: its outputs may lie anywhere. Returns where it is."""
    recipe = sw.Recipe(
        source=sw.Generated(kind="cone", size=8) if source is None else sw.FromFile(path=source),
        stages=(sw.Stage.of(sw.SteepestTalus(), steps=2),), backend="reference",
        outputs=tuple(sw.Output(Path(output)) for output in outputs),
    )  # fmt: skip
    checkpoint = "run.ckpt" if folder is None else f"{folder}/checkpoints"
    sw.Running(recipe, checkpoint=checkpoint, folder=folder).write_checkpoint()
    return folder or checkpoint


def files_in(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("folder", [None, "out/my"])
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("how", ["command", "python"])
def test_all_outputs_go_into_the_folder_by_their_names(
    folder: str | None, foreign: bool, how: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begun(place.parent / "home" / DATA, "sub/b.npz", folder=folder)
    if foreign:
        monkeypatch.setattr(seals, "secret", lambda: b"another user's".ljust(32))
    if how == "command":
        assert main(["resume", run, "--out", "new", *(["--trust"] if foreign else [])]) == 0
    else:
        sw.resume(run, out="new", trust=foreign)
    records = {"recipe.toml", "manifest.json"} if folder else set()
    assert files_in(place / "new") == {DATA, "sub/b.npz"} | records
    assert files_in(place.parent / "home") == set()
    if folder:
        assert {name.partition("/")[0] for name in files_in(place / folder)} == {"checkpoints"}


def test_an_absolute_name_of_another_system_counts_by_its_end_too(place: Path) -> None:
    run = begun("D:\\work\\a.npz")
    assert main(["resume", run, "--out", "new"]) == 0
    assert files_in(place / "new") == {DATA}


@pytest.mark.parametrize("folder", [None, "out/my"])
def test_names_that_lead_out_and_names_that_meet_are_refused(folder: str | None, place: Path) -> None:
    run = begun("../home/a.npz", folder=folder)
    with pytest.raises(InvalidFile, match="leads out of the folder new"):
        sw.resume(run, out="new")
    run = begun(place / DATA, DATA, folder="other")
    with pytest.raises(InvalidFile, match=r"two outputs .* would be .*a\.npz; leave out out="):
        sw.resume(run, out="new")
    assert not (place / "new").exists()


@posix
@pytest.mark.parametrize("folder", [None, "out/my"])
def test_links_in_the_folder_are_not_followed_out_of_it(folder: str | None, place: Path) -> None:
    run = begun("sub/a.npz", folder=folder)
    (place / "new").mkdir()
    (place / "new" / "sub").symlink_to(place.parent / "home")
    assert main(["resume", run, "--out", "new"]) == 2
    assert files_in(place.parent / "home") == set()


@pytest.mark.parametrize("folder", [None, "out/my"])
def test_an_input_is_overwritten_only_with_force_as_by_a_run(
    folder: str | None, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "new").mkdir()
    source = sw.write(sw.generate("cone", size=8), place / "new" / DATA)
    before = source.read_bytes()
    run = begun(DATA, folder=folder, source=source)
    assert main(["resume", run, "--out", "new"]) == 2
    assert "is an input of the recipe and would be overwritten" in capsys.readouterr().err
    with pytest.raises(InvalidFile, match="is an input"):
        sw.resume(run, out="new")
    assert source.read_bytes() == before
    assert main(["resume", run, "--out", "new", "--force"]) == 0
    assert source.read_bytes() != before


@pytest.mark.parametrize("record", ["recipe.toml", "manifest.json"])
def test_of_another_user_the_records_too_overwrite_nothing_without_force(
    record: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = begun(DATA, folder="out/my")
    monkeypatch.setattr(seals, "secret", lambda: b"another user's".ljust(32))
    (place / "new").mkdir()
    (place / "new" / record).write_text("precious")
    words = ["resume", run, "--trust", "--out", "new"]
    assert main(words) == 2
    assert f"{Path('new', record)} exists" in capsys.readouterr().err
    assert (place / "new" / record).read_text() == "precious"
    assert main([*words, "--force"]) == 0


def test_a_run_whose_outputs_went_elsewhere_is_continued_where_its_checkpoints_are(place: Path) -> None:
    begun(DATA, folder="out/my")
    running = sw.Running.resumed("out/my", out="new")
    running.advance(1)
    running.write_checkpoint()
    assert resuming(running) == f"slopewash resume {Path('out/my/checkpoints')}"
    assert main(["resume", "out/my"]) == 0  # to where it was told to go
    assert DATA in files_in(place / "new")
    assert resuming(sw.Running(sw.recipe("landscape", size=16), checkpoint="o/checkpoints", folder="o")).endswith(" o")
