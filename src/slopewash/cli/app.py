"""Collects the commands, and converts errors that the user can fix to exit codes."""

from __future__ import annotations

import inspect
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError

import slopewash as sw
from slopewash.cli import (
    analyse,
    bench,
    convert,
    demo,
    doctor,
    erode,
    export,
    generate,
    info,
    models,
    recipes,
    render,
    resume,
    run,
    studio,
)
from slopewash.cli.console import note
from slopewash.cli.outputs import remove_empty_folders
from slopewash.errors import (
    CheckpointWarning,
    GeoreferenceWarning,
    InvalidParameter,
    MassNotConserved,
    NodataWarning,
    RangeWarning,
    SealWarning,
    SlopewashError,
    StabilityWarning,
    UnusualWarning,
)
from slopewash.remedies import Place, read_in
from slopewash.threads import check_threads

RENAMED = {
    ("export", "--export-range"): "--out-height-range LOW..HIGH",
    ("generate", "--height-range"): "--out-height-range LOW..HIGH",
}
"""Options of commands that have another name now."""
GOOD, OUR_FAULT, USERS_INPUT = 0, 1, 2
OUTPUTS = {"render": ("picture or film", "view.png"), "export": ("folder", "game/"), "convert": ("file", "eroded.tif")}
"""What --out names, and an example, by command; a file of heights for the others."""
OURS = (
    StabilityWarning, CheckpointWarning, GeoreferenceWarning, NodataWarning, RangeWarning, SealWarning, UnusualWarning,
)  # fmt: skip
ASKED_ONCE = (GeoreferenceWarning, NodataWarning, StabilityWarning, UnusualWarning)
"""Warnings about what a command was given, which it may read or check several times."""

EXAMPLES = """Examples:
  slopewash demo                           a mountain range, with pictures
  slopewash recipes                        islands, canyons, badlands and more
  slopewash run my.toml                    a whole job, from a recipe file
  slopewash generate dome -o raw.exr       a height field to start from
  slopewash erode raw.exr -o eroded.exr    erode it with the landscape preset
  slopewash render eroded.exr -o view.png  a picture: seasons, sun, views
  slopewash export eroded.exr --target unreal --size 505 --fit resample -o game/
  slopewash studio                         watch it erode, change everything live
  slopewash analyse eroded.exr             its streams, beside real landscapes
  slopewash models landscape               what --set name=value can change
  slopewash COMMAND --help                 every option, with examples"""

COMMANDS = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        demo,
        recipes,
        run,
        generate,
        erode,
        resume,
        convert,
        render,
        analyse,
        export,
        studio,
        info,
        models,
        bench,
        doctor,
    )
}


def make_app() -> App:
    """Build the parser with every command."""
    app = App(
        name="slopewash",
        help="Turn raw height fields into believable landscapes by simulating water and gravity.",
        help_format="plaintext",
        help_epilogue=EXAMPLES,
        version=f"slopewash {sw.__version__}",
    )
    for place, (name, module) in enumerate(COMMANDS.items()):
        module.command.__doc__ = flowing(module.command.__doc__ or "")
        app.command(module.command, name=name, help_epilogue=module.EXAMPLES, sort_key=place)
    return app


def flowing(docstring: str) -> str:
    r"""Put the description of each parameter on one line, for the terminal to wrap at its own width.

    >>> flowing("Erode.\n\nout\n    File to\n    write.\nseed\n    Random seed.")
    'Erode.\n\nout\n    File to write.\nseed\n    Random seed.'
    """
    lines: list[str] = []
    for line in inspect.cleandoc(docstring).splitlines():
        if lines and all(each.startswith("    ") for each in (lines[-1], line)):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return "\n".join(lines)


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 for invalid input, 1 where mass was lost.

    Interrupts and unexpected errors are raised.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    place: Place = "recipe" if words[:1] in (["run"], ["resume"]) else "command"
    with _warnings_as_notes(), read_in(place):
        try:
            check_threads()
            _check_names(words)
            command, bound, *_ = make_app().parse_args(words, print_error=False, exit_on_error=False)
            code = command(*bound.args, **bound.kwargs) or GOOD
            sys.stdout.flush()
        except MissingArgumentError as error:
            return _refuse(f"{_missing(error, words)} See: {_help_for(words)}")
        except UnusedCliTokensError as error:
            return _refuse(f"{_left_over(error, words)} See: {_help_for(words)}")
        except CycloptsError as error:
            return _refuse(f"{error} See: {_help_for(words)}")
        except MassNotConserved as error:
            return _refuse(str(error), code=OUR_FAULT)
        except SlopewashError as error:
            return _refuse(str(error))
        except MemoryError as error:
            return _refuse(f"not enough memory for this size ({error})" if str(error) else "not enough memory")
        except BrokenPipeError:
            # The reader of the output has closed the pipe, as `head` does; Python's flush at exit must not fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return GOOD
        except OSError as error:
            return _refuse(f"{error.filename or 'cannot write the output'}: {error.strerror or error}")
        finally:
            remove_empty_folders()
    return int(code)


def _refuse(sentence: str, code: int = USERS_INPUT) -> int:
    note(f"slopewash: {' '.join(sentence.split())}")
    return code


def _check_names(words: Sequence[str]) -> None:
    for word in words[1:]:
        name = word.partition("=")[0]
        if (words[0], name) in RENAMED:
            raise InvalidParameter(f"{words[0]} {name} has another name now: {RENAMED[words[0], name]}")


def _missing(error: MissingArgumentError, words: Sequence[str]) -> str:
    """Sentence about an argument that was left out; most often it is the output."""
    name = error.argument.name if error.argument is not None else ""
    if name != "--out":
        return str(error)
    what, example = OUTPUTS.get(words[0], ("file", "eroded.exr"))
    return f"--out is missing; name the {what} to write, such as -o {example}."


def _left_over(error: UnusedCliTokensError, words: Sequence[str]) -> str:
    """Sentence about words that no option takes; most often the equals sign of a setting is missing."""
    for option, name, value in zip(words, words[1:], words[2:], strict=False):
        if option == "--set" and "=" not in name and not value.startswith("--"):
            return f"--set {name} {value} lacks its equals sign; write --set {name}={value}."
    return f"no option or argument takes {' '.join(error.unused_tokens or ())}."


def _help_for(words: Sequence[str]) -> str:
    return f"slopewash {words[0]} --help" if words and words[0] in COMMANDS else "slopewash --help"


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show our own warnings as one line on stderr, without the source line Python adds."""
    with warnings.catch_warnings():
        for ours in OURS:
            warnings.filterwarnings("always", category=ours)
        usual, questions = warnings.showwarning, set[str]()

        def show(message: Warning | str, category: type[Warning], *rest: object, **more: object) -> None:
            if issubclass(category, ASKED_ONCE) and str(message) in questions:
                return
            questions.add(str(message))
            if issubclass(category, OURS):
                note(f"note: {message}")
            else:
                usual(message, category, *rest, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        yield
