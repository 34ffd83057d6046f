"""Standard output and standard error that can always be written to."""

from __future__ import annotations

import io
import os
import sys


def make_streams_usable() -> None:
    """Replace a closed stream by one that drops its text, and let one of another alphabet write what it cannot as `?`.

    A closed stream is None in Python; in the C or an ASCII locale, a "³" would end the command with a traceback.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict" and not is_utf8(stream.encoding):
            stream.reconfigure(errors="replace")
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "surrogateescape":
            stream.reconfigure(errors="replace")  # what Python sets in the C locale


def is_utf8(encoding: str | None) -> bool:
    """Whether every character can be written.

    >>> is_utf8("UTF-8"), is_utf8("ascii"), is_utf8(None)
    (True, False, False)
    """
    return (encoding or "").lower().replace("-", "").replace("_", "") == "utf8"
