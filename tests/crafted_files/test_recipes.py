"""Crafted recipes: checked in one sentence, soon, and kept to their folders."""

from __future__ import annotations

import pytest
from tests.crafted import Place
from tests.crafted_files.conftest import NO_FILES

HEAD = 'backend = "reference"\n'
SOURCE = '[source]\ngenerator = "cone"\nsize = 8\n'
STAGE = '[[stages]]\nmodel = "steepest_talus"\nsteps = 1\n'
GOOD = HEAD + SOURCE + STAGE


def many(table: str, count: int) -> str:
    return table * count


TEXTS: dict[str, str] = {
    "20 000 stages": HEAD + SOURCE + many("[[stages]]\nsteps = 1\n", 20_000),
    "20 000 stages in a line": HEAD + f"stages = [{'{},' * 20_000}]\n" + SOURCE,
    "201 stages": HEAD + SOURCE + many(STAGE, 201),
    "20 000 water sources": GOOD + many("[[water_sources]]\nx = 1\ny = 1\nradius = 1\nrate = 1\n", 20_000),
    "20 000 outputs": GOOD + "".join(f'[[outputs]]\npath = "{n}.npz"\n' for n in range(20_000)),
    "20 000 layers of rock": GOOD + "[strata]\n" + many("[[strata.layers]]\nthickness = 1\n", 20_000),
    "20 000 unknown keys": GOOD + "".join(f"key_{n} = 1\n" for n in range(20_000)),
    "a long key": GOOD + "a" * 500_000 + " = 1\n", "a long text": GOOD.replace("cone", "c" * 500_000),
    "a key of many parts": GOOD + ".".join("a" * 5000) + " = 1\n", "deep lists": GOOD + "a = " + "[" * 5000,
    "deep tables": GOOD + "a = " + "{b=" * 5000, "a number of many digits": GOOD.replace("8", "9" * 100_000),
    "an enormous grid": GOOD.replace("size = 8", "size = 4000000"), "no cells": GOOD.replace("8", "0"),
    "a negative grid": GOOD.replace("8", "-8"), "infinite cells": GOOD.replace("size = 8", "size = 8\ncell_size = inf"),
    "NaN as cells": GOOD.replace("size = 8", "size = 8\ncell_size = nan"), "steps without end": GOOD.replace(
        "steps = 1", "steps = 99999999999999999999"
    ), "negative steps": GOOD.replace("steps = 1", "steps = -1"), "no text": "\udcff\udcfe", "nothing": "",
    "a date": GOOD.replace("8", "1979-05-27"), "a table twice": GOOD + "[source]\n", "NUL": GOOD + "\0",
    "2 MB": GOOD + "#" * (2 << 20), "no stages": HEAD + SOURCE + "stages = []\n",
    "a stage that is a number": HEAD + "stages = [1]\n" + SOURCE, "strata from nowhere": HEAD
    + 'strata = "missing.toml"\n' + SOURCE + STAGE,
    "strata from a pipe": HEAD + 'strata = "pipe.toml"\n' + SOURCE + STAGE,
    "a source that is a pipe": HEAD + '[source]\nfile = "pipe.tif"\n' + STAGE,
    "a source without end": HEAD + '[source]\nfile = "endless.npz"\n' + STAGE,
    "a source that is a folder": HEAD + '[source]\nfile = "folder.tif"\n' + STAGE,
    "a source in memory": HEAD + '[source]\nfile = "memory://dem.zarr"\n' + STAGE,
    "a source in a bucket": HEAD + '[source]\nfile = "s3://bucket/dem.tif"\n' + STAGE,
    "a source by a scheme": HEAD + '[source]\nfile = "file:///dev/zero"\n' + STAGE,
    "a layer from a pipe": GOOD + '[layers]\nrainfall = "pipe.tif"\n',
    "a map from a pipe": GOOD + '[stages.parameters]\ntalus_angle = { file = "pipe.tif", range = [1, 2] }\n',
}  # fmt: skip


@pytest.mark.parametrize("kind", TEXTS)
def test_recipes_that_nobody_means_are_refused(kind: str, crafted: Place) -> None:
    (crafted.work / "evil.toml").write_bytes(TEXTS[kind].encode("utf-8", "surrogateescape"))
    for name, what in (("pipe.toml", "a pipe"), ("pipe.tif", "a pipe"), ("endless.npz", "an endless link")):
        NO_FILES[what](crafted.work / name)
    (crafted.work / "folder.tif").mkdir()
    crafted.check(crafted.run("run", "evil.toml", "--check"), refused=True)
    assert not (crafted.work / "out").exists()


@pytest.mark.parametrize("kind", NO_FILES)
def test_what_is_no_file_is_no_recipe(kind: str, crafted: Place) -> None:
    NO_FILES[kind](crafted.work / "evil.toml")
    crafted.check(crafted.run("run", "evil.toml"), refused=True)


def output(path: str, more: str = "") -> str:
    return f'[[outputs]]\npath = "{path}"\n{more}'


OUTPUTS: dict[str, str] = {
    "above": output("../../../home/precious/dem.npz"), "absolute": output("{home}/precious/new.npz"),
    "through a link": output("link/precious/new.npz"), "a link": output("linked.npz"),
    "above by parts": output("a/../../../../home/new.npz"), "of a drive": output("C:/new.npz"),
    "of a share": output("//server/share/new.npz"), "a device": output("nul.npz"), "with NUL": output("a\\u0000b.npz"),
    "of the home": output("~/new.npz"), "no name": output("."), "a long name": output("a" * 4000 + ".npz"),
    "masks above": output("../../../home/masks", 'kind = "layers"\nlayers = ["elevation"]\n'),
    "masks by a link": output("link", 'kind = "layers"\nlayers = ["elevation"]\n'),
    "an export above": output("../../../home/game", 'kind = "export"\ntarget = "godot"\n'),
    "twice the same": output("a.npz") + output("a.npz"),
}  # fmt: skip


@pytest.mark.parametrize("kind", OUTPUTS)
def test_outputs_stay_in_their_folder(kind: str, crafted: Place) -> None:
    (crafted.work / "evil.toml").write_text(GOOD + OUTPUTS[kind].replace("{home}", crafted.home.as_posix()))
    out = crafted.work / "out" / "evil"
    out.mkdir(parents=True)
    (out / "link").symlink_to(crafted.home)
    (out / "linked.npz").symlink_to(crafted.home / "precious" / "new.npz")
    answer = crafted.run("run", "evil.toml", "--force")
    crafted.check(answer, refused=None if kind == "of the home" else True)


def test_recipes_within_the_limits_are_checked_soon(crafted: Place) -> None:
    (crafted.work / "long.toml").write_text(HEAD + SOURCE + many(STAGE, 200))
    crafted.check(crafted.run("run", "long.toml", "--check"), refused=False)
