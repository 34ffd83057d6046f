"""The C++ yardstick: compiled when it is measured, if there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slopewash import Terrain, VirtualPipes
from slopewash.backends.aligned import aligned_rows
from slopewash.models.ground import WALL
from slopewash.models.state import Sides
from slopewash.models.virtual_pipes.coefficients import coefficients
from slopewash.models.virtual_pipes.room import iterations_in_flight

SOURCE = Path(__file__).with_name("yardstick.cpp")
COMPILER = "g++"
OPTIMISE = ("-std=c++17", "-O3", "-march=native", "-fopenmp-simd", "-fPIC")
EXACT = ("-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-ffinite-math-only")
"""Flags that match the Numba kernels: nothing that changes a finite result."""
FLAGS: dict[str, tuple[str, ...]] = {
    "same bits": EXACT,
    "same bits, 512-bit vectors": (*EXACT, "-mprefer-vector-width=512"),
    "fused multiply-add": (*EXACT, "-ffp-contract=fast"),
    "fast math": ("-ffast-math",),
}
COEFFICIENTS = (
    "dt", "rain", "push", "flow_kept", "kappa", "Kc", "sin_min", "ramp_0", "ramp_1", "take", "drop", "water_0",
    "water_1", "load_0", "load_1", "load_2", "dig_0", "dig_1", "rise_0", "rise_1", "Kh", "talus_0", "talus_1", "slide",
    "creep", "keep", "Kc75", "Kc50", "per_fan",
)  # fmt: skip
"""In the order of the C++ struct."""
SUPPORTED = {
    (False, False, False, False, "closed"): 0,
    (True, True, False, False, "open"): 1,
    (True, True, True, True, "open"): 2,
}
"""Of Table 2, single_grid and landscape: capacity along the flow, slides along the fall line, eight pipes, roots of the
discharge, edges."""


class Problem(ctypes.Structure):
    """What does not change during a run; mirrors the struct of the same name in C++."""

    _fields_: ClassVar[Sequence[Any]] = [
        *((name, ctypes.c_int) for name in ("height", "width", "stride", "rain_rows", "laws", "graded")),
        *((name, ctypes.c_void_p) for name in ("rainfall", "base_n", "base_s", "base_w", "base_e")),
        *((name, ctypes.c_void_p) for name in ("flow_sum", "budget", "workspace")),
        *((name, ctypes.c_float) for name in COEFFICIENTS),
    ]


def available() -> bool:
    return shutil.which(COMPILER) is not None


def flags_for_this_machine() -> list[str]:
    known = subprocess.run([COMPILER, "-march=native", "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True)
    return [name for name in FLAGS if "512" not in name or "__AVX512F__" in known.stdout]


def keeps_bits(flags: str) -> bool:
    return flags.startswith("same bits")


def compile_library(folder: Path, flags: str) -> ctypes.CDLL:
    """Compile and load. Linking with `-ffast-math` would change the arithmetic of the whole process."""
    name = "".join(letter for letter in flags if letter.isalnum())
    built, library = folder / f"{name}.o", folder / f"{name}.so"
    subprocess.run([COMPILER, *OPTIMISE, *FLAGS[flags], "-c", str(SOURCE), "-o", str(built)], check=True)
    subprocess.run([COMPILER, "-shared", "-pthread", str(built), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.workspace_rows.restype = ctypes.c_int
    loaded.workspace_rows.argtypes = [ctypes.c_int] * 2
    loaded.sweep.restype = None
    loaded.sweep.argtypes = [ctypes.POINTER(Problem), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    return loaded


class Yardstick:
    """A run in C++, from the same initial state and with the same coefficients as the cpu backend."""

    def __init__(self, library: ctypes.CDLL, model: VirtualPipes, terrain: Terrain, edges: Any, threads: int) -> None:
        c = coefficients(model, 1)
        laws = (c.along_flow, c.fall_line, c.eight, c.rooted, edges)
        if laws not in SUPPORTED:
            raise ValueError(
                "the yardstick supports only the laws of Table 2 with closed edges, and those of single_grid and "
                "landscape with open ones"
            )
        _, start = model.prepare(terrain, sides=Sides.of(edges), seed=0)
        rows, columns = terrain.shape
        self._library, self._threads = library, threads
        width = columns + 2
        stepped = 4 + len(start["outflow"])
        self._now, self._next = aligned_rows(stepped, rows, width=width), aligned_rows(stepped, rows, width=width)
        for field, name in zip(self._now, ("elevation", "water", "suspended", "erodibility"), strict=False):
            field[:, 1 : width - 1] = start[name]
        for fields in (self._now, self._next):
            fields[0][:, [0, width - 1]] = WALL
        r = start["rainfall"]
        rain = aligned_rows(1 if (r == 1).all() else rows, width=width)
        rain[:, 1 : width - 1] = r[: len(rain)]
        self._width = width
        self._depth = iterations_in_flight(rows, threads, wraps=False)
        self._arrays: dict[str, NDArray[Any]] = {
            "rainfall": rain,
            **{f"base_{side[0]}": start[f"base_{side}"] for side in ("north", "south", "west", "east")},
            "flow_sum": aligned_rows(rows, width=width),
            "budget": np.zeros((rows, 6)),
            "workspace": aligned_rows(library.workspace_rows(self._depth, threads), width=width),
        }  # fmt: skip
        self._problem = Problem(
            height=rows, width=width, stride=rain.shape[1], rain_rows=len(self._arrays["rainfall"]),
            laws=SUPPORTED[laws], graded=c.graded,
            **{name: a.ctypes.data for name, a in self._arrays.items()},
            **{name: getattr(c, name) for name in COEFFICIENTS},
        )  # fmt: skip

    def advance(self, iterations: int) -> None:
        for sweeps in range(-(-iterations // self._depth), 0, -1):
            depth = -(-iterations // sweeps)
            here, there = self._now.ctypes.data, self._next.ctypes.data
            self._library.sweep(ctypes.byref(self._problem), here, there, depth, self._threads)
            self._now, self._next = self._next, self._now
            iterations -= depth

    def elevation(self) -> NDArray[Any]:
        return self._now[0, :, 1 : self._width - 1]

    def budget(self) -> NDArray[Any]:
        """Rain, sources, evaporated, water exported, solids exported, moved."""
        total: NDArray[Any] = self._arrays["budget"].sum(axis=0)
        return total
