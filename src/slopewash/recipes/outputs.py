"""What a recipe writes: kinds of output, each with its options, in a table that further kinds can join."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slopewash.claims import Claim
from slopewash.errors import InvalidFile, unknown_name
from slopewash.paths import check_name, confined_to, inside
from slopewash.recipes.entries import Entry, Table
from slopewash.remedies import by_place
from slopewash.simulation.observing import Observer

if TYPE_CHECKING:
    from slopewash.recipes.results import Result
    from slopewash.simulation import Simulation

Options = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class OutputKind:
    """One kind of output. Registered, it can be used in Python, in recipe files and in checkpoints alike."""

    name: str
    doc: str
    options: tuple[Entry, ...] = ()
    """Further keys of its table in a recipe file, which are the keyword arguments of `write`."""
    check: Callable[[Path, Options], None]
    """Refuses, before the run, what could not be written after it."""
    write: Callable[..., Sequence[Path]]
    """Called with the result, the path and the options; returns the files that it wrote."""
    watch: Callable[[Path, Options, int, int], Observer | None] | None = None
    """Makes an observer of the run that the output is made of, where the options need one. Called with the path, the
    options, the steps taken so far, more than 0 where a run is resumed, and those of them of earlier stages."""
    claim: Callable[[Path, Options], Claim] = lambda path, _: Claim.of_file(path)
    """Names what it would write; by default a file, or a folder that is all its own."""
    drawn: bool = False
    """Whether it is drawn from the data, and written after them: an interrupt loses it, and nothing else."""

    @property
    def table(self) -> Table:
        """Its keys in a recipe file."""
        path = Entry(name="path", kinds=("text",), doc="File or folder to write, in the output folder.")
        kind = Entry(name="kind", kinds=("text",), choices=(self.name,), doc=self.doc)
        return Table(name="outputs", doc=self.doc, entries=(kind, path, *self.options))


def check_output_name(name: str, folder: Path | None = None) -> None:
    """Refuse what a recipe names outside the folder of its outputs; with the folder, by a link in it too."""
    try:
        if folder is None:
            check_name(name, "of the outputs")
        else:
            inside(folder, name)
    except InvalidFile as error:
        python, command = "read the recipe with outputs_anywhere=True", "add --outputs-anywhere"
        raise InvalidFile(f"{error}, or {by_place(python=python, command=command)}") from None


_kinds: dict[str, OutputKind] = {}


def register_output(kind: OutputKind) -> OutputKind:
    """Make a kind of output known by its name."""
    _kinds[kind.name] = kind
    return kind


def output_kinds() -> dict[str, OutputKind]:
    """Every kind of output by name.

    >>> output_kinds()["terrain"].drawn, output_kinds()["picture"].drawn
    (False, True)
    """
    return dict(_kinds)


@dataclass(frozen=True)
class Output:
    """Something to write at the end: the terrain (or mesh) as data, a picture of it, or another kind.

    >>> Output("view.png", "picture", {"season": "winter"}).kind
    'picture'
    """

    path: Path
    kind: str = "terrain"
    options: Options = field(default_factory=dict, hash=False)
    """What this kind of output takes besides the path."""
    limit: Path | None = field(default=None, compare=False, repr=False)
    """Folder that nothing of it may leave, if it is from a file."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))
        table = self.declared.table
        given = {name: table.entry(name).check(value) for name, value in self.options.items()}
        object.__setattr__(self, "options", given)

    @property
    def declared(self) -> OutputKind:
        """What is known of its kind."""
        if self.kind not in _kinds:
            raise unknown_name("kind of output", str(self.kind), _kinds)
        return _kinds[self.kind]

    def within(self, folder: Path | None, *, confined: bool = False) -> Output:
        """Return the same with a path in a folder: one that nothing of it may leave, or unless the path is absolute."""
        if not confined:
            return self if folder is None else dataclasses.replace(self, path=folder / self.path)
        limit = Path() if folder is None else folder
        check_output_name(str(self.path), limit)
        return dataclasses.replace(self, path=limit / self.path, limit=limit)

    @property
    def claim(self) -> Claim:
        """The files that it would write."""
        return self.declared.claim(self.path, self.options)

    def check(self) -> None:
        """Refuse what could not be written later."""
        self.declared.check(self.path, self.options)
        if not self.path.absolute().parent.is_dir():
            raise InvalidFile(f"cannot write {self.path}: there is no folder {self.path.parent}; create it first")

    def observer(self, taken: int, before: int) -> Observer | None:
        """What has to watch the run, if anything, after `taken` steps, `before` of them in earlier stages."""
        watch = self.declared.watch
        with confined_to(self.limit):
            observer = None if watch is None else watch(self.path, self.options, taken, before)
        return observer if observer is None or self.limit is None else Confined(observer, self.limit)

    def write(self, result: Result) -> tuple[Path, ...]:
        """Write it, and return the files."""
        with confined_to(self.limit):
            return tuple(self.declared.write(result, self.path, **self.options))

    def as_dict(self) -> dict[str, Any]:
        """Facts that JSON and TOML can hold."""
        return {"kind": self.kind, "path": str(self.path), **self.options}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Output:
        """Output that `as_dict` described."""
        options = {name: value for name, value in facts.items() if name not in ("kind", "path")}
        return cls(Path(facts["path"]), facts["kind"], options)


def written_twice(output: Output, name: str) -> str:
    """Say that an output before it writes a file of this one."""
    itself = "is" if output.path.name == name else f"holds {name}, which is"
    return f"{output.path} {itself} written by an output before it; choose another name"


class Confined(Observer):
    """An observer that writes nothing outside a folder."""

    def __init__(self, observer: Observer, folder: Path) -> None:
        super().__init__(observer.every)
        self.observer, self.folder = observer, folder

    def start(self, simulation: Simulation, steps: int, *, label: str = "eroding") -> None:
        """Prepare for a phase."""
        with confined_to(self.folder):
            self.observer.start(simulation, steps, label=label)

    def observe(self, simulation: Simulation) -> None:
        """Read the state."""
        with confined_to(self.folder):
            self.observer.observe(simulation)

    def finish(self, simulation: Simulation) -> None:
        """End the phase."""
        with confined_to(self.folder):
            self.observer.finish(simulation)
