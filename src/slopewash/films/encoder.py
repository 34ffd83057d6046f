"""Pictures to a video file: VP9 in WebM, H.264 in MP4."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from PIL import Image

from slopewash.drafts import staged
from slopewash.errors import InvalidFile, InvalidParameter, SlopewashError

BT709 = 1
"""Number of the colours of HD video in codecs; untagged, players guess."""
LIMITED = 1
"""Number of the range 16 .. 235 of brightness, which players expect."""


@dataclass(frozen=True)
class Codec:
    """How one kind of file is encoded."""

    name: str
    container: str
    options: dict[str, str]
    """Constant quality: rows of blocks on several threads, and no bit rate to hit."""
    quality: int
    """Default of the quality, lower for finer pictures and larger files."""
    worst: int


# VP9's "good" takes three times the time of "realtime" for a seventh fewer bytes at the same signal-to-noise ratio.
CODECS = {
    ".webm": Codec("libvpx-vp9", "webm", {"b:v": "0", "deadline": "realtime", "cpu-used": "5", "row-mt": "1"}, 30, 63),
    ".mp4": Codec("libx264", "mp4", {"preset": "medium"}, 20, 51),
}


def find_codec(path: Path) -> Codec:
    """Return the codec of a suffix, or raise.

    >>> find_codec(Path("turn.webm")).name
    'libvpx-vp9'
    """
    codec = CODECS.get(path.suffix.lower())
    if codec is None:
        raise InvalidFile(f'film {path} has the suffix "{path.suffix}"; films are written as {" or ".join(CODECS)}')
    return codec


def check_av() -> Any:
    """Return PyAV, or raise an error that names the extra."""
    try:
        import av
    except ImportError:
        raise SlopewashError('films need the video extra: pip install "slopewash[video]"') from None
    return av


class Writer:
    """Takes the pictures of a film one by one."""

    def __init__(self, container: Any, stream: Any, fps: int) -> None:
        self._container, self._stream, self._count = container, stream, 0
        self._tick = Fraction(1, fps)

    def add(self, picture: Image.Image, times: int = 1) -> None:
        """Append a picture, shown for that number of frames."""
        av = check_av()
        frame = av.VideoFrame.from_image(picture.convert("RGB")).reformat(
            format="yuv420p", src_colorspace="ITU709", dst_colorspace="ITU709"
        )
        for _ in range(times):
            frame.pts, frame.time_base = self._count, self._tick
            frame.pict_type = 0  # a frame that is sent again must not stay a key frame
            self._container.mux(self._stream.encode(frame))
            self._count += 1

    def finish(self) -> None:
        """Encode what is left."""
        self._container.mux(self._stream.encode(None))


@contextmanager
def writing(path: Path, size: tuple[int, int], fps: int, quality: int | None) -> Iterator[Writer]:
    """Write a film atomically; `size` is (width, height), both even."""
    codec, av = find_codec(path), check_av()
    check_format(path, size, fps, quality)
    # Bit-exact: the same film has the same bytes, without random numbers and the date.
    exact = {"fflags": "+bitexact"}
    with (
        staged(path) as temporary,
        av.open(str(temporary), "w", format=codec.container, options=exact) as container,
    ):
        stream = container.add_stream(codec.name, rate=fps)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.options = codec.options | {"crf": str(codec.quality if quality is None else quality)}
        context = stream.codec_context
        context.time_base = Fraction(1, fps)
        context.color_range, context.colorspace = LIMITED, BT709
        context.color_primaries = context.color_trc = BT709
        writer = Writer(container, stream, fps)
        yield writer
        writer.finish()


def check_format(path: Path, size: tuple[int, int], fps: int, quality: int | None) -> None:
    """Refuse what the codec of a file cannot encode, before anything is drawn."""
    codec = find_codec(path)
    if size[0] % 2 or size[1] % 2:
        raise InvalidParameter(f"size is {size[0]} x {size[1]} pixels; films need even numbers")
    if not 1 <= fps <= 120:
        raise InvalidParameter(f"fps is {fps}; it must lie within 1 .. 120")
    if quality is not None and not 0 <= quality <= codec.worst:
        raise InvalidParameter(f"quality is {quality}; for {path.suffix} it must lie within 0 .. {codec.worst}")
