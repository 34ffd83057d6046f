"""Small files that would decode to gigabytes, or for ever; run as a program, each is read and the outcome printed."""

from __future__ import annotations

import json
import lzma
import signal
import struct
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

SIDE = 33
GIGABYTES = 3 << 30


def tiff(*pages: tuple[int, int, bytes], loop: bool = False) -> bytes:
    """Uncompressed header, then for each page its compression, its type (254) and its only strip, of 33² float32."""
    data, directories = bytearray(b"II*\0\0\0\0\0"), []
    for compression, kind, strip in pages:
        at = len(data)
        data += strip + b"\0" * (len(strip) % 2)
        tags = {254: kind, 256: SIDE, 257: SIDE, 258: 32, 259: compression, 262: 1, 273: at, 277: 1, 278: SIDE}
        tags |= {279: len(strip), 339: 3}
        directories.append(len(data))
        data += struct.pack("<H", len(tags))
        for tag, value in tags.items():
            data += struct.pack("<HHII", tag, 4, 1, value)
        data += b"\0\0\0\0"
    for before, after in zip([4, *(d + 2 + 12 * 11 for d in directories)], directories, strict=False):
        struct.pack_into("<I", data, before, after)
    if loop:
        struct.pack_into("<I", data, len(data) - 4, directories[0])
    return bytes(data)


def deflated(size: int) -> bytes:
    """Zeros as a zlib stream, put together from equal blocks."""
    step = 1 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(step)) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x78\x9c" + block * (size // step) + b"\x03\x00" + struct.pack(">I", ((size % 65521) << 16) | 1)


def glb(stride: int) -> bytes:
    document = {
        "asset": {"version": "2.0"}, "buffers": [{"byteLength": 12}],
        "bufferViews": [{"buffer": 0, "byteLength": 12, "byteStride": stride}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 100_000_000, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    }  # fmt: skip
    head = json.dumps(document).encode()
    head += b" " * (-len(head) % 4)
    body = bytes(12)
    whole = struct.pack("<II", len(head), 0x4E4F534A) + head + struct.pack("<II", len(body), 0x004E4942) + body
    return struct.pack("<III", 0x46546C67, 2, 12 + len(whole)) + whole


def layers(path: Path) -> None:
    """24 layers of 1024² zeros in 100 KB."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in ("elevation", *(f"extra{k}" for k in range(23))):
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.zeros((1024, 1024), np.float32))


def header_of_gigabytes(path: Path) -> None:
    """An array whose header claims 3 GB of text."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("elevation.npy", "w") as file:
        file.write(b"\x93NUMPY\x02\x00" + struct.pack("<I", GIGABYTES - 1) + b" " * (64 << 20))


def png(width: int, height: int) -> bytes:
    chunks = (b"IHDR", struct.pack(">IIBBBBB", width, height, 16, 0, 0, 0, 0)), (b"IDAT", b"x" * 20), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def write_bombs(folder: Path) -> None:
    row = np.zeros(SIDE * SIDE, "<f4").tobytes()
    (folder / "loop.tif").write_bytes(tiff(*[(1, 1, b"")] * 31, (1, 0, row), loop=True))
    (folder / "pages.tif").write_bytes(tiff((1, 0, row), *[(1, 1, b"")] * 300))
    (folder / "deflate.tif").write_bytes(tiff((8, 0, deflated(GIGABYTES))))
    (folder / "lzma.tif").write_bytes(tiff((34925, 0, lzma.compress(bytes(1 << 25), preset=0) * 96)))
    (folder / "packbits.tif").write_bytes(tiff((32773, 0, b"\x81\0" * (4 << 20))))
    (folder / "zstd.tif").write_bytes(tiff((50000, 0, b"\x28\xb5\x2f\xfd")))
    layers(folder / "layers.npz")
    header_of_gigabytes(folder / "header.npz")
    (folder / "stride.glb").write_bytes(glb(0))
    (folder / "keys.toml").write_text(".".join(["a"] * 200_000) + " = 1\n")
    (folder / "wide.png").write_bytes(png(16384, 16384))
    (folder / "far.stl").write_text(
        "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 1e5 0 0\nvertex 0 1e5 0\nendloop\nendfacet\nendsolid"
    )


def read_bombs(folder: Path) -> None:
    """Print, for each file, the message, the seconds and the peak of memory so far in MB."""
    import slopewash as sw

    def give_up(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    readers: dict[str, Callable[[Path], object]] = {
        ".glb": sw.read_mesh,
        ".stl": lambda path: sw.read_mesh(path).to_terrain(1.0),
        ".toml": sw.read_strata,
        ".npz": lambda path: sw.read(path, max_pixels=1024**2),
    }
    warm_up(readers)
    outcomes = {}
    for path in sorted(folder.iterdir()):
        before = time.perf_counter()
        signal.alarm(5)
        try:
            readers.get(path.suffix, sw.read)(path)
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        else:
            outcome = "accepted"
        signal.alarm(0)
        peak = _peak_of_memory()
        outcomes[path.name] = [outcome, time.perf_counter() - before, peak]
    print(json.dumps(outcomes))


def warm_up(readers: dict[str, Callable[[Path], object]]) -> None:
    """Import the decoders, which takes longer than to refuse a bomb."""
    import slopewash as sw

    with tempfile.TemporaryDirectory() as elsewhere:
        for suffix in (".tif", ".npz", ".png", ".glb", ".stl"):
            path = Path(elsewhere) / f"hill{suffix}"
            sw.write(sw.generate("cone", size=16, cell_size=1.0), path)
            readers.get(suffix, sw.read)(path)


def _peak_of_memory() -> int:
    """MB of this process; getrusage would count that of the process which started it too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) >> 10
    raise RuntimeError("/proc/self/status has no VmHWM")


if __name__ == "__main__":
    read_bombs(Path(sys.argv[1]))
