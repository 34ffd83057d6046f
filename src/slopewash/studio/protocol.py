"""What the server sends to a page, as types: see docs/studio-protocol.md. What a page sends is in messages.py.

The page's types are generated from both: run web/generate_types.py after a change. The tests validate every message
that they receive against these.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, with_config

# Before Python 3.12, pydantic reads only the TypedDict of typing_extensions.
from typing_extensions import TypeAliasType, TypedDict

from slopewash.studio.messages import Edges, Emitter, ParameterValue, SavedView, WaterSource

Colour = TypeAliasType("Colour", tuple[int, int, int])
Side = TypeAliasType("Side", Literal["open", "closed", "periodic", "halo"])


@with_config(ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True))
class Strict(TypedDict):
    """Allows no other keys, and no numbers that JSON does not have."""


class FourSides(Strict):
    """What lies beyond each side."""

    north: Side
    south: Side
    west: Side
    east: Side


class ParameterDeclaration(Strict):
    """One parameter of a model."""

    name: str
    symbol: str
    units: str
    doc: str
    eq: str
    """Number of its equation in the paper."""
    group: str
    default: ParameterValue
    typical: tuple[float, float] | None
    """Range of its slider."""
    log: bool
    """Whether the slider is logarithmic."""
    choices: list[str]
    kind: Literal["number", "choice", "flag"]
    whole: bool
    """Whether it takes only whole numbers."""
    must_be: str
    """What is valid, in words."""


class SliderDeclaration(Strict):
    """One of the five sliders above all parameters."""

    name: str
    low: str
    """What its left end means, in a word."""
    high: str
    doc: str
    moves: dict[str, float]
    """Parameters that it moves, with their factor at the right end; the age moves the steps instead."""


class LayerDeclaration(Strict):
    """One layer, and how an overlay shows it."""

    unit: str
    doc: str
    map: str
    """Name of its colour map, in `maps`."""
    scale: Literal["linear", "log", "diverging"]
    """How values are placed on the map; a diverging scale has zero in the middle."""


class ModelDeclaration(Strict):
    """One model."""

    name: str
    summary: str
    paper: str
    backends: list[str]
    edges: list[Edges]
    layers: dict[str, LayerDeclaration]
    editable: list[str]
    """Layers that brushes can change."""
    sources: bool
    """Whether it takes water sources."""
    emitters: bool
    """Whether it takes emitters of particles."""
    parameters: list[ParameterDeclaration]
    sliders: list[SliderDeclaration]
    presets: list[str]


class PresetGenerator(Strict):
    """The terrain a preset is made for."""

    kind: str
    size: NotRequired[int]
    extent: float
    """Side in metres."""
    seed: NotRequired[int]
    relief: NotRequired[float]
    options: NotRequired[dict[str, ParameterValue]]


class PresetDeclaration(Strict):
    """One preset."""

    name: str
    doc: str
    model: str
    edges: Edges
    steps: int
    settle: int
    generator: PresetGenerator
    changed: dict[str, ParameterValue]
    """Parameters that differ from the model's defaults."""
    strata: bool
    levels: bool
    """Whether it can go from coarse to fine."""


class LookDeclaration(Strict):
    """One named landscape."""

    name: str
    doc: str
    kind: str
    """Generator of its terrain."""
    preset: str
    country: str
    """Palette that suits it."""


class GeneratorDeclaration(Strict):
    """One kind of generated terrain."""

    name: str
    doc: str
    options: dict[str, float | None]
    """Defaults; null where the generator chooses one itself."""


class ToolDeclaration(Strict):
    """One brush."""

    name: str
    doc: str
    layer: str
    unit: str
    strength: float
    """The default; of brushes in metres, as a fraction of the relief."""
    signed: bool
    """Whether a negative strength does the opposite."""
    most: float | None
    """The largest strength."""


class FormatDeclaration(Strict):
    """One file format."""

    suffix: str
    doc: str


class BackendDeclaration(Strict):
    """One backend, and whether it works on the server's machine."""

    name: str
    works: bool
    doc: str


class Limits(Strict):
    """What the server accepts at most."""

    size: tuple[int, int]
    """Fewest and most cells per side."""
    finish_size: int
    """Most cells per side of a finish."""
    upload_bytes: int
    message_bytes: int
    points: int
    sources: int


class Palette(Strict):
    """The ground in one kind of country: colours of its materials as #rrggbb, and where they are found."""

    doc: str
    colours: dict[str, str]
    wooded: float
    """Largest share of trees, 0 .. 1."""
    green_floors: float
    """Share of meadow on sediment away from streams, 0 .. 1."""
    bands: float
    """Contrast of the layers in rock."""
    tree_line: float
    bare_line: float
    """Fractions of the relief above the lowest ground at which trees end and plants begin to give way to rock."""
    snow_line: float | None


class Welcome(Strict):
    """The first message: everything there is to choose from."""

    type: Literal["welcome"]
    protocol: int
    version: str
    server: str
    """Changes when the server is restarted."""
    resumed: bool
    """Whether the server continued a run that was kept on disk."""
    models: list[ModelDeclaration]
    presets: list[PresetDeclaration]
    looks: list[LookDeclaration]
    generators: list[GeneratorDeclaration]
    tools: list[ToolDeclaration]
    maps: dict[str, list[Colour]]
    """Colour maps by name: 256 colours each, 0 to 255."""
    palettes: dict[str, Palette]
    """Colours of the ground by the kind of country."""
    formats: list[FormatDeclaration]
    backends: list[BackendDeclaration]
    limits: Limits


class GeneratorState(Strict):
    """What the terrain was generated from."""

    kind: str
    size: int
    extent: float
    """Side in metres, which the number of cells does not change."""
    seed: int
    relief: float | None
    options: dict[str, ParameterValue]


class PreviousRun(Strict):
    """A run that can be restored."""

    run: int
    name: str
    step: int


class BranchState(Strict):
    """One course of the run."""

    branch: int
    parent: int | None
    forked: int | None
    """Moment at which it left its parent."""
    keyframes: list[int]
    """Their moments: steps of running and settling."""
    end: int


class TimelineState(Strict):
    """Keyframes that the run can go back to."""

    branch: int
    """The one that is shown."""
    at: int
    """The moment that is shown."""
    at_end: bool
    """Whether that is the end of the branch; playing on from elsewhere makes another branch."""
    branches: list[BranchState]


class PaneState(Strict):
    """One of the runs side by side."""

    run: int
    model: str
    preset: str | None
    stage: str | None
    """Stage and level under way, in words, of a recipe that runs through them."""
    step: int
    usual_steps: int | None
    differs: dict[str, ParameterValue]
    """Parameters other than those of the first pane or, with another model, than those of its preset."""
    milliseconds: float | None
    """Per step, as measured."""
    eroded: float
    """Volume that is missing where the ground is lower than at the start, in m³."""
    mean_erosion: float
    """The same as a mean over the whole terrain, in metres."""
    highest_deposit: float
    """Largest rise of the ground since the start, in metres."""


class SideBySideState(Strict):
    """Runs from the same terrain beside each other."""

    panes: list[PaneState]
    chosen: int
    """The pane that the rest of the state describes."""
    cells: int
    """Along the longer side of each pane."""
    cells_before: int
    """The same of a single run on this terrain: if they are more, the panes have it resampled."""


class State(Strict):
    """The run as it is now: sent after every change, and a few times a second while it runs."""

    type: Literal["state"]
    run: int
    step: int
    time: float
    playing: bool
    target: int | None
    """Step at which it will pause."""
    settling: bool
    busy: str | None
    """What takes long at the moment, such as compiling."""
    steps_per_second: float
    """As measured."""
    speed: float | None
    """The limit that is set, in steps per second."""
    left: PreviousRun | None
    """The run before this one, if it can be restored."""
    model: str
    preset: str | None
    stage: str | None
    """Stage and level under way, in words, of a recipe that runs through them; null for a run on one grid."""
    levels: bool
    """Whether the run goes from coarse to fine."""
    cells: int
    """Cells along the longer side of the whole: those of the finest level."""
    usual_steps: int | None
    """Steps that the preset is made for, where playing pauses, times what the age asks for; or of the whole recipe."""
    usual_settling: int | None
    """Steps of settling that suit the steps so far."""
    parameters: dict[str, ParameterValue]
    usual: dict[str, ParameterValue]
    """Parameters of the preset, or of the level under way, that differ from the defaults of the model."""
    sliders: dict[str, float | str]
    """Position of each slider, -1 to 1, or why it cannot be moved."""
    edges: Edges | FourSides
    """One word, or one for each side of a run of the user's own program."""
    backend: str
    generator: GeneratorState | None
    name: str
    """Of the terrain."""
    rows: int
    columns: int
    cell_size: float
    relief: float
    """Height of the start in metres, from its lowest to its highest ground."""
    layers: list[str]
    """What an overlay can show."""
    sources: list[WaterSource]
    emitters: list[Emitter]
    view: SavedView | None
    """Where a page last looked from, for pages that open the run."""
    can_undo: bool
    can_redo: bool
    budget: dict[str, float]
    timeline: TimelineState
    side_by_side: SideBySideState | None
    """The panes, if there are several; everything else is of the one that is chosen."""


class Done(Strict):
    """The message with this `id` was carried out."""

    type: Literal["done"]
    id: int | str | None


class Failure(Strict):
    """A message was refused; without an `id`, the run itself failed and is paused."""

    type: Literal["error"]
    id: NotRequired[int | str | None]
    message: str
    wants: NotRequired[Literal["go_on"]]
    """What has to be done first, if pages can offer it."""


class Notice(Strict):
    """Something that the user should know."""

    type: Literal["notice"]
    message: str


class FinishState(Strict):
    """The finish of a run in the background: sent when a page connects, and twice a second while it is under way."""

    type: Literal["finish"]
    status: Literal["idle", "running", "done", "failed", "cancelled"]
    size: int
    """Cells along the longer side."""
    name: str
    """Of the terrain."""
    preset: str | None
    model: str
    seed: int | None
    """What was finished: for the names of files. A terrain from a file has no seed."""
    words: str
    """Stage and level under way."""
    step: int
    steps: int
    """In all, settling included."""
    share: float
    """Of the work, 0 to 1: steps on fine levels take longer."""
    seconds_left: float | None
    message: str | None
    """Why it failed."""
    preview: int
    """Number of the newest picture of it; 0 for none."""
    resumed: bool
    """Whether a server before this one began it."""
    can_continue: bool
    """Whether `continue_finish` goes on with one whose process ended."""


ServerMessage = Annotated[Welcome | State | Done | Failure | Notice | FinishState, Field(discriminator="type")]


class BlockHeader(Strict):
    """One array of a frame."""

    name: str
    dtype: Literal["uint16", "float32", "uint32"]
    shape: list[int]
    offset: int
    """Bytes from the start of the frame."""
    length: int
    """In bytes."""
    low: NotRequired[float]
    """A uint16 value v stands for low + v (high - low) / 65535."""
    high: NotRequired[float]
    unit: NotRequired[str]
    layer: NotRequired[str]
    """Of an overlay."""
    moment: NotRequired[int]
    """Of `before`, if it shows a keyframe of a branch."""
    branch: NotRequired[int]
    depths: NotRequired[list[float]]
    """Metres below the top of the first stratum at which each begins."""
    hardness: NotRequired[list[float]]
    """Of strata, 0 (soft) .. 1 (hard)."""


class FrameHeader(Strict):
    """The JSON part of a frame."""

    frame: int
    step: int
    time: float
    run: int
    rows: int
    columns: int
    cell_size: float
    start_low: float
    """Lowest ground of the start in metres."""
    start_high: float
    """Highest ground of the start in metres."""
    ground: NotRequired[Literal["as before"]]
    """Wear, deposit, flow and soil are those of the frame before: they change slowly, and are left out for a moment."""
    pane: NotRequired[int]
    """Number of the pane, side by side; the frames of all panes at one moment have the same number."""
    panes: NotRequired[int]
    """How many there are."""
    blocks: list[BlockHeader]


class Suspect(Strict):
    """A number in a file that most likely marks cells without data."""

    nodata: float
    message: str


class Uploaded(Strict):
    """The answer to an upload that was accepted."""

    upload: str
    name: str
    rows: int
    columns: int
    cell_size: float
    file_rows: int
    file_columns: int
    relief: float
    plausible_extent: float | None
    """Longer side in metres that would suit the relief, where the one that was read does not."""
    suspects: list[Suspect]


class CellValue(Strict):
    """One layer at a cell."""

    name: str
    value: float
    unit: str


class CellFacts(Strict):
    """The answer to a question about one cell."""

    run: int
    x: float
    """Of its middle, in metres."""
    y: float
    height: float
    start: float
    """Its height at the start."""
    upstream_area: float
    """That drains through it, in m²."""
    values: list[CellValue]
    moments: list[int]
    """Of the keyframes, and now."""
    heights: list[float]
    """At these moments."""
    path: list[tuple[float, float]]
    """Smooth line of the water from the head of the largest stream above it to where it leaves the terrain."""
    path_heights: list[float]
    """Of the cells that it follows."""
    path_distances: list[float]
    """From its head, along these cells, in metres."""
    path_length: float
    """In metres."""


class FindingFacts(Strict):
    """One measure of the terrain, and its published range."""

    name: str
    symbol: str
    value: float | None
    """Null where the terrain is too small for it."""
    low: float
    high: float
    source: str
    verdict: str


class SurveyFacts(Strict):
    """The terrain beside real ones."""

    run: int
    moment: int
    rows: int
    """Of the grid that it was measured on."""
    columns: int
    findings: list[FindingFacts]
    drainage_density: float | None
    """Length of channels per area, in km per km², which depends on where channels begin."""
    channel_area: float
    """Drainage area where channels begin, in m²."""
    mean_slope: float
    """In degrees."""
    slope_area: list[tuple[float, float]]
    """Drainage area in m² and mean slope of channels."""
    hypsometry: list[tuple[float, float]]
    """Share of the area above a height, and that height as a share of the relief."""


class OpenedProject(Strict):
    """The answer to a project that was accepted."""

    upload: str
    name: str
    step: int
    replayed: bool
    """Whether what was done is done again: the project was saved elsewhere."""
    view: SavedView | None


class Problem(Strict):
    """The answer to an HTTP request that was refused, or to an upload that lacks something."""

    message: str
    wants: Literal["height_range", "allow_8bit", "nodata"] | None
    """What the user could add to an upload."""
    nodata: str | None
    """Number that cells without data have, where that is what it wants."""


SERVER_MESSAGE: TypeAdapter[ServerMessage] = TypeAdapter(ServerMessage)
FRAME_HEADER: TypeAdapter[FrameHeader] = TypeAdapter(FrameHeader)
UPLOADED: TypeAdapter[Uploaded] = TypeAdapter(Uploaded)
OPENED: TypeAdapter[OpenedProject] = TypeAdapter(OpenedProject)
CELL: TypeAdapter[CellFacts] = TypeAdapter(CellFacts)
SURVEY: TypeAdapter[SurveyFacts] = TypeAdapter(SurveyFacts)
FINISH: TypeAdapter[FinishState] = TypeAdapter(FinishState)
PROBLEM: TypeAdapter[Problem] = TypeAdapter(Problem)
