"""`slopewash studio`: the live 3-D page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from slopewash.cli.options import (
    Adapter,
    Allow8bit,
    Backend,
    Flag,
)
from slopewash.cli.reading import AS_IS, Reading
from slopewash.cli.running import use_adapter
from slopewash.cli.stages import check_named

EXAMPLES = """Examples:
  slopewash studio                         the landscape preset, in the browser
  slopewash studio dem.tif                 your own height field
  slopewash studio my.toml                 a recipe, with all its stages
  slopewash studio my.slopewash            a project saved in the studio
  slopewash studio --preset chiba_strata   another model
  slopewash studio --size 1024 --seed 3    a finer terrain, another seed
  slopewash studio --new                   do not continue the last run
  slopewash studio --no-browser --port 8500
      print the address only, which contains the access key

Press Ctrl-C to stop it. The run is kept: the next studio continues it."""


def command(
    source: Annotated[Path | None, Parameter(name="FILE")] = None,
    /,
    *,
    preset: str | None = None,
    model: str | None = None,
    size: int | None = None,
    extent: float | None = None,
    seed: int | None = None,
    backend: Backend = "auto",
    adapter: Adapter = None,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    allow_host: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    reading: Reading = AS_IS,
    allow_8bit: Allow8bit = False,
    keep: Path | None = None,
    new: Flag = False,
    trust: Flag = False,
) -> None:
    """Open the live 3-D studio: watch a terrain erode, and change everything while it runs.

    Parameters
    ----------
    source
        Height field, recipe (.toml) or project (.slopewash) to start from. By default one is generated.
    preset
        Preset to start with. The default is landscape, unless a model is given.
    model
        Model to start with, with default parameters, instead of a preset.
    size
        Cells along the longer side: more are the same ground, finer. A height field is resampled to it.
    extent
        Side of a generated terrain in metres; the preset's own if not given, or 5120. The cell size follows.
    seed
        Random seed of a generated terrain.
    host
        Address to listen on; anything but 127.0.0.1 allows connections from other machines.
    port
        Port to listen on. The default is the first free one from 8420.
    browser
        Open the page in the browser.
    allow_host
        Additional host name of the page, such as that of an HTTPS proxy in front of it.
    keep
        Folder to keep the run in, so that the next studio continues it. The default is one in your home.
    new
        Start a new run instead of continuing the last one. Naming a file, preset, model, size, extent, seed or another
        backend does so too.
    trust
        Continue what another user or machine kept in the folder, or an older slopewash. Without, it is refused, and
        not replaced unless --new asks for it.
    """
    import slopewash as sw

    check_named(preset, model)
    sw.studio(
        source,
        preset=preset,
        model=model,
        size=size,
        extent=extent,
        seed=seed,
        backend=use_adapter(adapter, backend),
        host=host,
        port=port,
        browser=browser,
        allowed_hosts=allow_host,
        keep=True if keep is None else keep,
        new=new,
        trust=trust,
        **reading.options(allow_8bit=allow_8bit),
    )
