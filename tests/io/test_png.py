from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from slopewash.errors import InvalidFile, InvalidParameter
from slopewash.io import probe, read, write
from slopewash.terrain import Terrain


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, bits: int, colour: int, rows: bytes, *extra: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))
    body = b"".join(extra) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + header + body


def unfiltered(data: bytes) -> tuple[np.ndarray, dict[bytes, bytes]]:
    """Decode a 16-bit grey PNG by the letter of the standard, with nothing but zlib."""
    position, packed, texts = 8, b"", {}
    while position < len(data):
        (length,), kind = struct.unpack(">I", data[position : position + 4]), data[position + 4 : position + 8]
        body = data[position + 8 : position + 8 + length]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
            assert (bits, colour, body[10:]) == (16, 0, b"\0\0\0")
        packed += body if kind == b"IDAT" else b""
        if kind == b"tEXt":
            key, _, text = body.partition(b"\0")
            texts[key] = text
        position += 12 + length
    raw, stride = zlib.decompress(packed), 2 * width + 1
    above = [0] * (2 * width)
    rows = []
    for y in range(height):
        method, line = raw[y * stride], list(raw[y * stride + 1 : (y + 1) * stride])
        for i in range(2 * width):
            a, b, c = line[i - 2] if i > 1 else 0, above[i], above[i - 2] if i > 1 else 0
            distances = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
            paeth = (a, b, c)[distances.index(min(distances))]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[method]) & 255
        above = line
        rows.append(np.frombuffer(bytes(line), dtype=">u2"))
    return np.stack(rows), texts


def test_independent_decoder_reads_the_steps_and_the_notes(tmp_path: Path) -> None:
    y, x = np.mgrid[0:23, 0:31]
    ground = Terrain(400.0 + 300.0 * np.sin(x / 5.0) * np.cos(y / 7.0), cell_size=2.5)
    samples, texts = unfiltered(write(ground, tmp_path / "hill.png", height_range=(0.0, 1000.0)).read_bytes())
    assert texts == {b"slopewash:height_range": b"0.0,1000.0", b"slopewash:cell_size": b"2.5"}
    heights = samples * (1000.0 / 65535)
    assert np.abs(heights - ground["elevation"]).max() <= 1000.0 / 65535 / 2 + 1e-4  # float32 of up to 700 m


def test_foreign_16_bit_png_spans_the_range_given(tmp_path: Path) -> None:
    path = tmp_path / "foreign.png"
    path.write_bytes(png(3, 1, 16, 0, b"\0" + struct.pack(">3H", 0, 256, 65535)))
    ground = read(path, height_range=(-100.0, 900.0))
    assert ground["elevation"].tolist() == [[-100.0, np.float32(-100.0 + 1000.0 * 256 / 65535), 900.0]]
    assert ground.cell_size == 1.0
    with pytest.raises(InvalidParameter, match=r"--height-range LOW\.\.HIGH"):
        read(path)


def test_explicit_range_and_cell_size_win_over_recorded_ones(tmp_path: Path) -> None:
    path = write(Terrain([[0.0, 10.0]], cell_size=4.0), tmp_path / "hill.png")
    ground = read(path, height_range=(5.0, 6.0), cell_size=8.0)
    assert ground["elevation"].tolist() == [[5.0, 6.0]]
    assert ground.cell_size == 8.0


def test_8_bit_heights_need_consent(tmp_path: Path) -> None:
    path = tmp_path / "stairs.png"
    path.write_bytes(png(2, 1, 8, 0, b"\0\x00\xff"))
    with pytest.raises(InvalidFile, match=r"8-bit heights.*allow_8bit"):
        read(path, height_range=(0.0, 1.0))
    assert read(path, height_range=(0.0, 1.0), allow_8bit=True)["elevation"].tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("bits", "colour", "row", "message"),
    [
        (16, 2, bytes(6), "red, green, blue, and a single grey channel is needed; save heights as grey"),
        (16, 6, bytes(8), "red, green, blue, alpha"),
        (16, 4, bytes(4), "grey, alpha"),
        (1, 0, bytes(1), "1-bit samples"),
        (4, 0, bytes(1), "4-bit samples"),
        (8, 3, bytes(1), "palette"),
    ],
)
def test_pictures_are_rejected(tmp_path: Path, bits: int, colour: int, row: bytes, message: str) -> None:
    palette = chunk(b"PLTE", bytes(6))
    path = tmp_path / "picture.png"
    path.write_bytes(png(1, 1, bits, colour, b"\0" + row, *([palette] if colour == 3 else [])))
    with pytest.raises(InvalidFile, match=message):
        read(path, height_range=(0.0, 1.0), allow_8bit=True)


def test_huge_header_is_rejected_before_decoding(tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png(100_000, 100_000, 16, 0, bytes(10)))
    assert probe(path).width == 100_000
    with pytest.raises(InvalidFile, match=r"100000 x 100000 cells.*--max-pixels"):
        read(path, height_range=(0.0, 1.0))


def test_every_truncation_and_every_flipped_byte_is_reported(hill: Terrain, tmp_path: Path) -> None:
    whole = write(hill, tmp_path / "whole.png").read_bytes()
    path = tmp_path / "broken.png"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(InvalidFile, match=r"broken\.png is not a readable PNG file: "):
            read(path)
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with pytest.raises(InvalidFile):
            read(path)


def test_damaged_notes_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "odd.png"
    path.write_bytes(png(1, 1, 16, 0, bytes(3), chunk(b"tEXt", b"slopewash:height_range\0tall")))
    with pytest.raises(InvalidFile, match="not a readable PNG"):
        read(path)


def test_heights_beyond_the_range_are_not_clipped(hill: Terrain, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"outside the height_range of 0 \.\. 10"):
        write(hill, tmp_path / "hill.png", height_range=(0.0, 10.0))
    assert not list(tmp_path.iterdir())


def test_nodata_is_not_written_as_ground(terrain: Terrain, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match=r"2 nodata cells; write \.tif"):
        write(terrain, tmp_path / "gaps.png")
