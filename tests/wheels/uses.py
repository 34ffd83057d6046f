"""What core gives, and one thing that needs each extra: refused in a sentence without it, done with it."""

from __future__ import annotations

import re
import signal
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path

from tests.wheels.environment import Environment

NAMES = Path(__file__).with_name("public_names.py")
CORE = (
    "slopewash --help",
    "slopewash generate dome -o raw.exr --size 48 --seed 7",
    "slopewash erode raw.exr -o eroded.exr --seed 7 --picture map.png",
    "slopewash info eroded.exr",
    "slopewash render eroded.exr -o view.png --width 320",
    "slopewash convert eroded.exr -o eroded.tif",
    "slopewash export eroded.exr --target blender -o blender",
    "slopewash demo --size 64 --steps 20 -o demo",
    "slopewash doctor",
    f"python -I {NAMES} studio",
)
MADE = ("map.png", "view.png", "eroded.tif", "blender/terrain.glb", "blender/import_card.txt")


def serve(environment: Environment, words: list[str]) -> str:
    """Open the page as a browser does, with its script, and stop the server as Ctrl-C does."""
    server = environment.start(words)
    try:
        assert server.stderr is not None
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://\S+", line)))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        browser.addheaders = [("Sec-Fetch-Site", "same-origin")]  # as browsers add it
        page = browser.open(address, timeout=60).read().decode()
        script = re.search(r'src="([^"]+\.js)"', page)
        assert script, f"the page has no script: {page}"
        here = address.split("?")[0].rstrip("/")
        code = browser.open(f"{here}/{script[1].lstrip('./')}", timeout=60).read()
        assert len(code) > 100_000, "the page's script is not the built one"
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    assert server.returncode in (0, 130), errors
    return address


def run(environment: Environment, words: list[str]) -> str:
    code, out, errors = environment.run(*words)
    assert code == 0, f"{' '.join(words)}: {errors or out}"
    return out


@dataclass(frozen=True)
class Use:
    """A command that needs an extra, what it leaves behind, and how it is run to its end."""

    words: str
    makes: str = ""
    run: Callable[[Environment, list[str]], str] = run

    def try_it(self, environment: Environment) -> None:
        self.run(environment, self.words.split())
        assert not self.makes or (environment.work / self.makes).exists(), f"{self.words} did not make {self.makes}"

    def is_refused(self, environment: Environment, extra: str) -> None:
        """One sentence with the remedy, and no traceback."""
        code, _, errors = environment.run(*self.words.split())
        assert code == 2, f"{self.words}: code {code}, {errors}"
        assert f'pip install "slopewash[{extra}]"' in errors, f"{self.words}: {errors}"
        assert len(errors.strip().splitlines()) == 1, f"{self.words}: {errors}"


EXTRAS = {
    "gpu": Use("slopewash erode raw.exr -o gpu.exr --model steepest_talus --steps 4 --backend gpu", "gpu.exr"),
    "xarray": Use(f"python -I {NAMES.with_name('to_xarray.py')}"),
    "tiles": Use("slopewash erode raw.exr -o tiled.zarr --model steepest_talus --steps 4 --tiles 32", "tiled.zarr"),
    "gis": Use("slopewash convert raw.exr -o cloud.tif --cog", "cloud.tif"),
    "video": Use("slopewash render eroded.exr -o turn.webm --seconds 1 --height 90 --width 160", "turn.webm"),
    "usd": Use("slopewash export eroded.exr --target houdini -o houdini", "houdini/terrain.usdc"),
    "studio": Use("slopewash studio --no-browser --new --size 48 --backend reference", run=serve),
}
"""In the order in which they are installed: `tiles` and `gis` bring xarray along."""
