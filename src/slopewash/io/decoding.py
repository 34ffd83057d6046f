"""The one place where exceptions of decoders are converted to ours."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from slopewash.errors import InvalidFile, SlopewashError


@contextmanager
def decoding(path: Path, format: str) -> Iterator[None]:
    """Turn whatever a decoder raises on a damaged or unsupported file into one sentence.

    Decoders raise nearly anything (`SyntaxError`, `struct.error`, `KeyError`, `RuntimeError`), so every `Exception` is
    caught: the block should contain only calls to the decoder.

    >>> with decoding(Path("hill.png"), "PNG"):
    ...     raise SyntaxError("broken PNG file")
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.png is not a readable PNG file: broken PNG file
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SlopewashError:
        raise
    except OSError as error:
        raise InvalidFile(_sentence(path, format, error.strerror or str(error))) from error
    except Exception as error:
        raise InvalidFile(_sentence(path, format, str(error) or type(error).__name__)) from error


def _sentence(path: Path, format: str, reason: str) -> str:
    return f"{path} is not a readable {format} file: {reason.strip().splitlines()[0]}"
