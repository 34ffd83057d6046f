"""Names from files stay in their folder."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from slopewash import paths
from slopewash.errors import InvalidFile

posix = pytest.mark.skipif(sys.platform == "win32", reason="links and modes as on POSIX")

OUTSIDE = [
    "", ".", "./", "..",
    "../a", "a/../b", "a/..", "a/../../b", "..\\a", "a\\..\\b", ".. /a", ".../a", "/", "/etc/passwd",
    "//server/share", "\\\\server\\share", "C:\\a", "C:a", "c:/a", "\\a", "\0", "a\0b", "a\nb", "\x1b[2J", "\ud800",
    "nul", "NUL.txt", "aux", "a/con", "com1.png", "LPT¹", "conout$", "//./pipe/a", "\\\\?\\C:\\a",
]  # fmt: skip
PART = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ["..", ".", "", "a", "out", "in", "loop", "gone", "C:", "nul", "~", "%2e%2e", "．．"]
)
NAMES = st.lists(PART, max_size=6).map("/".join) | st.lists(PART, max_size=4).map("\\".join) | st.sampled_from(OUTSIDE)


def made(base: Path) -> Path:
    """A folder with links that stay in it, lead out, to each other, and to nothing; outside is a canary."""
    (base / "outside").mkdir()
    (base / "outside" / "canary").write_text("alive")
    folder = base / "folder"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "file").write_text("own")
    if sys.platform != "win32":
        (folder / "out").symlink_to(base / "outside")
        (folder / "in").symlink_to("a")
        (folder / "loop").symlink_to("loop")
        (folder / "gone").symlink_to(base / "missing")
        (folder / "a" / "up").symlink_to("../..")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made(tmp_path)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("lasting"))


def is_alive(folder: Path) -> bool:
    outside = folder.parent / "outside"
    return [file.name for file in outside.iterdir()] == ["canary"] and (outside / "canary").read_text() == "alive"


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_no_folder_has_inside_are_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile) as refused:
        paths.inside(tmp_path, name, "manifest.json")
    said = str(refused.value)
    assert said.startswith("manifest.json: ")
    assert said.isprintable()
    for act in (paths.remove_tree, lambda folder, name: paths.move(folder, name, "b")):
        with pytest.raises(InvalidFile):
            act(tmp_path, name)


@pytest.mark.parametrize("name", [None, 3, ["a"], b"a", Path("a")])
def test_what_is_no_text_is_no_name(name: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="is not a plain name"):
        paths.inside(tmp_path, name)  # type: ignore[arg-type]


@posix
@pytest.mark.parametrize("name", ["out", "out/canary", "loop/a", "gone", "gone/a", "a/up", "a/up/outside/canary"])
def test_links_that_lead_out_are_refused_even_to_nothing(name: str, folder: Path) -> None:
    with pytest.raises(InvalidFile, match=r"leads out|cannot be looked up"):
        paths.inside(folder, name)


@posix
def test_links_that_stay_inside_are_followed(folder: Path) -> None:
    assert paths.inside(folder, "in/file") == (folder / "a" / "file").resolve()
    (folder.parent / "alias").symlink_to(folder)
    assert paths.inside(folder.parent / "alias", "a/new") == (folder / "a" / "new").resolve()


@pytest.mark.parametrize("name", ["a", "a/b", "./a/b", "missing/deeper", "a..b", ".hidden", "Bär 1.npy", "a/file"])
def test_names_inside_are_resolved(name: str, folder: Path) -> None:
    assert paths.inside(folder, name) == (folder / name).resolve()


@given(name=NAMES)
@example(name="in/../../outside/canary")
@example(name="a/up/outside")
@example(name="\x85")
@example(name="a" * 5000)
def test_every_name_is_inside_or_refused(name: str, lasting: Path) -> None:
    refusal = ""
    try:
        found = paths.inside(lasting, name)
    except InvalidFile as refused:
        refusal = str(refused)
        assert refusal
    else:
        assert lasting.resolve() in found.parents
        assert ".." not in found.parts
    assert all(letter.isprintable() for letter in refusal)


@posix
def test_removing_takes_links_away_and_leaves_what_they_lead_to(folder: Path) -> None:
    for name in ("out", "in", "gone", "loop", "a/up"):
        paths.remove_tree(folder, name)
    assert sorted(place.name for place in folder.iterdir()) == ["a"]
    assert (folder / "a" / "file").exists()
    assert is_alive(folder)
    (folder / "a" / "deep").symlink_to(folder.parent / "outside")
    paths.remove_tree(folder, "a")
    assert not (folder / "a").exists()
    assert is_alive(folder)


@posix
@pytest.mark.parametrize("name", ["out/canary", "a/up/outside", "a/up/outside/canary", "../outside"])
def test_nothing_behind_a_link_is_removed_or_moved(name: str, folder: Path) -> None:
    with pytest.raises(InvalidFile):
        paths.remove_tree(folder, name)
    with pytest.raises(InvalidFile):
        paths.move(folder, name, "taken")
    with pytest.raises(InvalidFile):
        paths.move(folder, "a/file", name)
    assert is_alive(folder)


def test_moving_replaces_a_file_and_missing_things_are_no_trouble_to_remove(folder: Path) -> None:
    (folder / "old").write_text("old")
    paths.move(folder, "a/file", "old")
    assert (folder / "old").read_text() == "own"
    paths.remove_tree(folder, "old")
    paths.remove_tree(folder, "old")
    paths.remove_tree(folder, "no/such/folder")
    with pytest.raises(FileNotFoundError):
        paths.remove_tree(folder, "old", missing_ok=False)


@posix
def test_a_link_put_there_while_something_is_removed_is_never_followed(folder: Path) -> None:
    """Somebody swaps a folder for a link out of it, over and over, while we remove through it."""
    stop = threading.Event()
    swapped, plain = folder / "a", folder / "aside"

    def swap() -> None:
        while not stop.is_set():
            try:
                swapped.rename(plain)
                swapped.symlink_to(folder.parent / "outside")
                swapped.unlink()
                plain.rename(swapped)
            except OSError:
                pass

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(2000):
            with contextlib.suppress(OSError):
                paths.remove_tree(folder, "a/canary")
            assert is_alive(folder)
    finally:
        stop.set()
        thread.join()


@posix
def test_private_folders_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        paths.make_folder(tmp_path / "a" / "private", private=True)
        paths.new_file(tmp_path / "a" / "private" / "file", private=True).close()
        paths.new_file(tmp_path / "a" / "file").close()
    finally:
        os.umask(mask)
    modes = {str(place.relative_to(tmp_path)): place.stat().st_mode & 0o777 for place in tmp_path.rglob("*")}
    assert modes == {"a": 0o755, "a/private": 0o700, "a/private/file": 0o600, "a/file": 0o644}
    paths.make_folder(tmp_path / "a", private=True)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileExistsError):
        paths.new_file(tmp_path / "a" / "file")


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_may_rename_a_private_folder(umask: int, tmp_path: Path) -> None:
    """Whoever may write to the folder above could put another one in its place."""
    mask = os.umask(umask)
    try:
        paths.make_folder(tmp_path / "a" / "b" / "private", private=True)
        paths.make_folder(tmp_path / "c" / "d")
    finally:
        os.umask(mask)
    assert [(tmp_path / name).stat().st_mode & 0o022 for name in ("a", "a/b", "a/b/private")] == [0, 0, 0]
    assert (tmp_path / "c" / "d").stat().st_mode & 0o777 == 0o777 & ~umask


def test_what_lies_beside_a_file_is_read_if_it_is_one_of_no_more_bytes(tmp_path: Path) -> None:
    beside = tmp_path / "dem.prj"
    assert paths.read_beside(beside, 3) is None
    beside.write_bytes(b"abc")
    assert paths.read_beside(beside, 3) == b"abc"
    with pytest.raises(ValueError, match="more than 2 bytes"):
        paths.read_beside(beside, 2)
    beside.unlink()
    beside.mkdir()
    assert paths.read_beside(beside, 3) is None


@posix
def test_a_pipe_beside_a_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "dem.prj").symlink_to("pipe")
    assert paths.read_beside(tmp_path / "dem.prj", 3) is None
    (tmp_path / "dem.prj.json").symlink_to("/dev/zero")
    assert paths.read_beside(tmp_path / "dem.prj.json", 3) is None
