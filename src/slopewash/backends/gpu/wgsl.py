"""Assembles kernel sources: included files, constants and uniform blocks declared in Python, and bindings."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

SNIPPETS = Path(__file__).parent
_INCLUDE = re.compile(r'^#include "([\w.]+)"\s*$', re.MULTILINE)
_CHOICE = re.compile(r"^#if (\w+)\n((?:(?!#if )[^\n]*\n)*?)#endif\n", re.MULTILINE)


@functools.cache
def read_kernel(path: Path) -> str:
    """Read a WGSL file and include, once, each `#include "name.wgsl"` from its folder or from that of this module."""
    included: set[Path] = set()

    def expand(file: Path) -> str:
        def include(found: re.Match[str]) -> str:
            snippet = file.parent / found[1]
            snippet = snippet if snippet.exists() else SNIPPETS / found[1]
            if snippet in included:
                return ""
            included.add(snippet)
            return expand(snippet)

        return _INCLUDE.sub(include, file.read_text(encoding="utf-8"))

    return expand(path)


def choose(source: str, constants: Mapping[str, Any]) -> str:
    r"""Remove the text between `#if name` and `#endif` if that constant is false: it may refer to unbound buffers.

    >>> choose("#if wet\nlet a = rain[i];\n#endif\nlet b = 0;", {"wet": False})
    'let b = 0;'
    >>> choose("#if wet\n#if cold\nlet a = snow[i];\n#endif\nlet b = rain[i];\n#endif\n", {"wet": True, "cold": False})
    'let b = rain[i];\n'
    """
    found = 1
    while found:  # the innermost first
        source, found = _CHOICE.subn(lambda choice: choice[2] if constants[choice[1]] else "", source)
    return source


Constant = bool | int | float | tuple[float, ...]


def declare_constants(values: Mapping[str, Constant]) -> str:
    """Declare WGSL constants with Python's values, so that each is written once.

    >>> print(declare_constants({"open": True, "ENTRIES": 3, "TINY": 1e-20, "STEPS": (0.5, 2.0)}))
    const open: bool = true;
    const ENTRIES = 3;
    const TINY: f32 = 1e-20f;
    const STEPS = array<f32, 2>(0.5f, 2.0f);
    """

    def one(name: str, value: Constant) -> str:
        if isinstance(value, tuple):
            return f"const {name} = array<f32, {len(value)}>({', '.join(f'{np.float32(v)!s}f' for v in value)});"
        if isinstance(value, bool):
            return f"const {name}: bool = {str(value).lower()};"
        if isinstance(value, int):
            return f"const {name} = {value};"
        return f"const {name}: f32 = {np.float32(value)!s}f;"

    return "\n".join(one(name, value) for name, value in values.items())


class Block:
    """A uniform block laid out as NamedTuples declare their numbers; Booleans become constants of the source.

    >>> from typing import NamedTuple
    >>> class Rates(NamedTuple):
    ...     dt: float
    ...     rounds: int
    ...     wet: bool
    >>> block = Block("rates", Rates)
    >>> print(block.declaration)
    struct Rates {
      dt: f32,
      rounds: i32,
    }
    >>> block.size, block.constants(Rates(0.5, 3, True))
    (16, {'wet': True})
    """

    def __init__(self, name: str, *declared: type[Any]) -> None:
        self.name, self.type = name, declared[0].__name__
        hints = {field: kind for one in declared for field, kind in get_type_hints(one).items()}
        self._flags = [field for field, kind in hints.items() if kind is bool]
        self._numbers = {field: kind for field, kind in hints.items() if kind is not bool}
        words = "".join(f"  {field}: {'i32' if kind is int else 'f32'},\n" for field, kind in self._numbers.items())
        self.declaration = f"struct {self.type} {{\n{words}}}"

    @property
    def size(self) -> int:
        """Size in bytes, rounded up as uniform blocks require."""
        return -(-4 * len(self._numbers) // 16) * 16

    def constants(self, *values: Any) -> dict[str, bool]:
        """Booleans, which select a variant when kernels are built."""
        merged = _merged(values)
        return {field: bool(merged[field]) for field in self._flags}

    def pack(self, *values: Any) -> NDArray[np.uint8]:
        """Return the bytes to write for one set of values."""
        packed = np.zeros(self.size // 4, np.uint32)
        merged = _merged(values)
        for k, (field, kind) in enumerate(self._numbers.items()):
            number = merged[field]
            packed[k : k + 1] = np.array([number], np.int32 if kind is int else np.float32).view(np.uint32)
        return packed.view(np.uint8)


def _merged(values: Sequence[Any]) -> dict[str, Any]:
    return {field: value for one in values for field, value in one._asdict().items()}


def assemble(
    path: Path,
    uniforms: Sequence[Block],
    buffers: Sequence[tuple[str, str, str]],
    constants: Mapping[str, Constant],
) -> str:
    """Put the source of a kernel together: constants, uniform blocks, bindings and its file.

    Blocks are bound first, then storage buffers, each (name, type of a cell, access).
    """
    lines = [declare_constants(constants), *(block.declaration for block in uniforms)]
    lines += [f"@group(0) @binding({k}) var<uniform> {u.name}: {u.type};" for k, u in enumerate(uniforms)]
    for k, (name, kind, access) in enumerate(buffers, start=len(uniforms)):
        mode = "read" if access == "read" else "read_write"
        lines.append(f"@group(0) @binding({k}) var<storage, {mode}> {name}: array<{kind}>;")
    return "\n".join([*lines, choose(read_kernel(path), constants)])
