"""Options that a message names exist where it is read: on the command itself, or on the one it names before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from slopewash.cli.app import COMMANDS, make_app

MENTION = re.compile(rf"(?:\b({'|'.join(COMMANDS)})(?: \S+)?)? ?(?<![\w-])(--[a-z0-9][a-z0-9-]*)")


@cache
def flags_of(command: str) -> frozenset[str]:
    """Every option of a command, as it is written."""
    names = {"--help", "--version"}
    for argument in make_app()[command].assemble_argument_collection():
        names |= {*argument.names, *argument.negatives}
    names |= set(re.findall(r"--[a-z-]+", COMMANDS[command].EXAMPLES))  # those of each kind of terrain
    return frozenset(names)


def unknown_options(words: Sequence[str], message: str) -> list[str]:
    """Options in a message to the user of a command that this command does not have; those typed are let through."""
    if not words or words[0] not in COMMANDS:
        return []
    typed = {word.partition("=")[0] for word in words}
    text = re.sub(r"\w+://\S+", " ", message)
    return [
        flag
        for command, flag in MENTION.findall(text)
        if flag not in typed and flag not in flags_of(command or words[0])
    ]
