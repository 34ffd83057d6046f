"""The one place where exceptions of decoders are converted to ours, and where what they print is dropped."""

from __future__ import annotations

import ctypes
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path

from slopewash.errors import InvalidFile, SlopewashError


class Damaged(ValueError):
    """What is wrong with a file, as the end of a sentence: "it is truncated"."""


@contextmanager
def decoding(path: Path | str, format: str) -> Iterator[None]:
    """Turn whatever a decoder raises on a damaged or unsupported file into one sentence.

    Decoders raise nearly anything (`SyntaxError`, `struct.error`, `KeyError`, `RuntimeError`), with texts for their
    authors ("not enough values to unpack"), so every `Exception` is caught, and only those of `Damaged` and of the
    operating system are passed on: the block should contain only calls to the decoder.

    >>> with decoding(Path("hill.png"), "PNG"):
    ...     raise Damaged("its header is damaged")
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.png is not a readable PNG file: its header is damaged
    >>> with decoding(Path("hill.png"), "PNG"):
    ...     raise StopIteration
    Traceback (most recent call last):
    slopewash.errors.InvalidFile: hill.png is not a readable PNG file: it is damaged, or not of this format
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except SlopewashError:
        raise
    except Exception as error:
        raise InvalidFile(f"{path} is not a readable {format} file: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, Damaged):
        return str(error)
    if isinstance(error, OSError) and error.errno is not None and error.strerror:
        return error.strerror
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    return "it is damaged, or not of this format"


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Keep off the terminal what decoders write to stdout and stderr, C libraries too: reports in JSON go there.

    The list that is yielded holds it when the block is over.
    """
    said: list[str] = []
    kept: dict[int, int] = {}
    text = io.StringIO()
    _flush()
    with tempfile.TemporaryFile() as aside, redirect_stdout(text), redirect_stderr(text):
        try:
            for stream in (1, 2):
                with suppress(OSError):  # it is closed
                    kept[stream] = os.dup(stream)
                    os.dup2(aside.fileno(), stream)
            yield said
        finally:
            _flush()  # C keeps text in a buffer of its own
            for stream, copy in kept.items():
                os.dup2(copy, stream)
                os.close(copy)
            aside.seek(0)
            said.append(text.getvalue() + aside.read(4096).decode("utf-8", "replace"))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
    with suppress(AttributeError, OSError, TypeError):  # Windows has no library of that name
        ctypes.CDLL(None).fflush(None)
