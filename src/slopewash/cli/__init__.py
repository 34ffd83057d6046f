"""The `slopewash` command: one file per sub-command, nothing heavy imported before one runs."""

from slopewash.cli.app import main

__all__ = ["main"]
