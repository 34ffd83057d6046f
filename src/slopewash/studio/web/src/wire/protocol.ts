// What the page and the server send each other: docs/studio-protocol.md in types.
// Generated from studio/messages.py and studio/protocol.py by generate_types.py: change those instead.

/** Report that a frame is drawn. */
export interface Ack {
  id?: number | string | null;
  type: "ack";
  frame: number;
}

/** One backend, and whether it works on the server's machine. */
export interface BackendDeclaration {
  name: string;
  works: boolean;
  doc: string;
}

/** One array of a frame. */
export interface BlockHeader {
  name: string;
  dtype: "uint16" | "float32" | "uint32";
  shape: number[];
  /** Bytes from the start of the frame. */
  offset: number;
  /** In bytes. */
  length: number;
  /** A uint16 value v stands for low + v (high - low) / 65535. */
  low?: number;
  high?: number;
  unit?: string;
  /** Of an overlay. */
  layer?: string;
  /** Of `before`, if it shows a keyframe of a branch. */
  moment?: number;
  branch?: number;
  /** Metres below the top of the first stratum at which each begins. */
  depths?: number[];
  /** Of strata, 0 (soft) .. 1 (hard). */
  hardness?: number[];
}

/** One course of the run. */
export interface BranchState {
  branch: number;
  parent: number | null;
  /** Moment at which it left its parent. */
  forked: number | null;
  /** Their moments: steps of running and settling. */
  keyframes: number[];
  end: number;
}

/** Return to the run before this one. */
export interface BringBack {
  id?: number | string | null;
  type: "bring_back";
}

/** End a finish that is under way, or discard what it has made. */
export interface CancelFinish {
  id?: number | string | null;
  type: "cancel_finish";
}

/** The answer to a question about one cell. */
export interface CellFacts {
  run: number;
  /** Of its middle, in metres. */
  x: number;
  y: number;
  height: number;
  /** Its height at the start. */
  start: number;
  /** That drains through it, in m². */
  upstream_area: number;
  values: CellValue[];
  /** Of the keyframes, and now. */
  moments: number[];
  /** At these moments. */
  heights: number[];
  /** Smooth line of the water from the head of the largest stream above it to where it leaves the terrain. */
  path: [number, number][];
  /** Of the cells that it follows. */
  path_heights: number[];
  /** From its head, along these cells, in metres. */
  path_distances: number[];
  /** In metres. */
  path_length: number;
}

/** One layer at a cell. */
export interface CellValue {
  name: string;
  value: number;
  unit: string;
}

/** Choose the pane that parameters, edits, exports and questions are for. */
export interface ChoosePane {
  id?: number | string | null;
  type: "choose_pane";
  /** Counted from 0. */
  pane: number;
}

export type ClientMessage =
  | Play
  | Pause
  | Step
  | RunTo
  | Speed
  | Reset
  | BringBack
  | Start
  | Parameters
  | Slide
  | Scrub
  | Settle
  | Paint
  | Sources
  | Emitters
  | Undo
  | Redo
  | Watch
  | Look
  | Open
  | Finish
  | CancelFinish
  | ContinueFinish
  | OpenFinish
  | GoOn
  | SideBySide
  | ChoosePane
  | CopyPane
  | LeaveSideBySide
  | Ack;

export type Colour = [number, number, number];

/** Go on with a finish whose process ended, from its last checkpoint. */
export interface ContinueFinish {
  id?: number | string | null;
  type: "continue_finish";
}

/** Give the chosen pane the settings of another; all begin again. */
export interface CopyPane {
  id?: number | string | null;
  type: "copy_pane";
  /** The other one. */
  pane: number;
}

/** The message with this `id` was carried out. */
export interface Done {
  type: "done";
  id: number | string | null;
}

export type Edges = "open" | "closed" | "periodic";

/** A disc on the ground where particles start. */
export interface Emitter {
  x: number;
  y: number;
  radius: number;
  rate: number;
  speed: number;
  /** Degrees clockwise from north. */
  direction: number;
}

/** Replace all emitters. */
export interface Emitters {
  id?: number | string | null;
  type: "emitters";
  emitters: Emitter[];
  stroke?: number | null;
}

/** A message was refused; without an `id`, the run itself failed and is paused. */
export interface Failure {
  type: "error";
  id?: number | string | null;
  message: string;
  /** What has to be done first, if pages can offer it. */
  wants?: "go_on";
}

/** One measure of the terrain, and its published range. */
export interface FindingFacts {
  name: string;
  symbol: string;
  /** Null where the terrain is too small for it. */
  value: number | null;
  low: number;
  high: number;
  source: string;
  verdict: string;
}

/** Do again what was done to this run on other cells, in the background; a recipe is run to its end. */
export interface Finish {
  id?: number | string | null;
  type: "finish";
  /** Cells along the longer side. */
  size: number;
}

/** The finish of a run in the background: sent when a page connects, and twice a second while it is under way. */
export interface FinishState {
  type: "finish";
  status: "idle" | "running" | "done" | "failed" | "cancelled";
  /** Cells along the longer side. */
  size: number;
  /** Of the terrain. */
  name: string;
  preset: string | null;
  model: string;
  /** What was finished: for the names of files. A terrain from a file has no seed. */
  seed: number | null;
  /** Stage and level under way. */
  words: string;
  step: number;
  /** In all, settling included. */
  steps: number;
  /** Of the work, 0 to 1: steps on fine levels take longer. */
  share: number;
  seconds_left: number | null;
  /** Why it failed. */
  message: string | null;
  /** Number of the newest picture of it; 0 for none. */
  preview: number;
  /** Whether a server before this one began it. */
  resumed: boolean;
  /** Whether `continue_finish` goes on with one whose process ended. */
  can_continue: boolean;
}

/** One file format. */
export interface FormatDeclaration {
  suffix: string;
  doc: string;
}

/** What lies beyond each side. */
export interface FourSides {
  north: Side;
  south: Side;
  west: Side;
  east: Side;
}

/** The JSON part of a frame. */
export interface FrameHeader {
  frame: number;
  step: number;
  time: number;
  run: number;
  rows: number;
  columns: number;
  cell_size: number;
  /** Lowest ground of the start in metres. */
  start_low: number;
  /** Highest ground of the start in metres. */
  start_high: number;
  /** Wear, deposit, flow and soil are those of the frame before: they change slowly, and are left out for a moment. */
  ground?: "as before";
  /** Number of the pane, side by side; the frames of all panes at one moment have the same number. */
  pane?: number;
  /** How many there are. */
  panes?: number;
  blocks: BlockHeader[];
}

/** A generated terrain; what is left out stays as it is. */
export interface Generator {
  kind?: string | null;
  size?: number | null;
  cell_size?: number | null;
  /** Side in metres, which more cells leave as it is; instead of `cell_size`. */
  extent?: number | null;
  seed?: number | null;
  relief?: number | null;
  options?: Record<string, ParameterValue> | null;
}

/** One kind of generated terrain. */
export interface GeneratorDeclaration {
  name: string;
  doc: string;
  /** Defaults; null where the generator chooses one itself. */
  options: Record<string, number | null>;
}

/** What the terrain was generated from. */
export interface GeneratorState {
  kind: string;
  size: number;
  /** Side in metres, which the number of cells does not change. */
  extent: number;
  seed: number;
  relief: number | null;
  options: Record<string, ParameterValue>;
}

/** Go on with what a complete recipe has made, on one grid and without an end. */
export interface GoOn {
  id?: number | string | null;
  type: "go_on";
}

/** One layer, and how an overlay shows it. */
export interface LayerDeclaration {
  unit: string;
  doc: string;
  /** Name of its colour map, in `maps`. */
  map: string;
  /** How values are placed on the map; a diverging scale has zero in the middle. */
  scale: "linear" | "log" | "diverging";
}

/** Return to the run that was there before, or go on with the pane that is chosen. */
export interface LeaveSideBySide {
  id?: number | string | null;
  type: "leave_side_by_side";
  /** Whether the pane that is chosen becomes the run; the one before can then be restored. */
  keep?: boolean;
}

/** What the server accepts at most. */
export interface Limits {
  /** Fewest and most cells per side. */
  size: [number, number];
  /** Most cells per side of a finish. */
  finish_size: number;
  upload_bytes: number;
  message_bytes: number;
  points: number;
  sources: number;
}

/** Report where the page looks from, so that it is kept with the run; null for a view of the whole. */
export interface Look {
  id?: number | string | null;
  type: "look";
  view: SavedView | null;
}

/** One named landscape. */
export interface LookDeclaration {
  name: string;
  doc: string;
  /** Generator of its terrain. */
  kind: string;
  preset: string;
  /** Palette that suits it. */
  country: string;
}

/** One model. */
export interface ModelDeclaration {
  name: string;
  summary: string;
  paper: string;
  backends: string[];
  edges: Edges[];
  layers: Record<string, LayerDeclaration>;
  /** Layers that brushes can change. */
  editable: string[];
  /** Whether it takes water sources. */
  sources: boolean;
  /** Whether it takes emitters of particles. */
  emitters: boolean;
  parameters: ParameterDeclaration[];
  sliders: SliderDeclaration[];
  presets: string[];
}

/** Something that the user should know. */
export interface Notice {
  type: "notice";
  message: string;
}

/** Open a project that was uploaded. */
export interface Open {
  id?: number | string | null;
  type: "open";
  upload: string;
}

/** Show what was finished. */
export interface OpenFinish {
  id?: number | string | null;
  type: "open_finish";
}

/** The answer to a project that was accepted. */
export interface OpenedProject {
  upload: string;
  name: string;
  step: number;
  /** Whether what was done is done again: the project was saved elsewhere. */
  replayed: boolean;
  view: SavedView | null;
}

/** One dab per point. Messages with the same `stroke` make one edit. */
export interface Paint {
  id?: number | string | null;
  type: "paint";
  tool: string;
  points: [number, number][];
  radius: number;
  strength?: number | null;
  falloff?: number;
  stroke?: number | null;
}

/** The ground in one kind of country: colours of its materials as #rrggbb, and where they are found. */
export interface Palette {
  doc: string;
  colours: Record<string, string>;
  /** Largest share of trees, 0 .. 1. */
  wooded: number;
  /** Share of meadow on sediment away from streams, 0 .. 1. */
  green_floors: number;
  /** Contrast of the layers in rock. */
  bands: number;
  tree_line: number;
  /** Fractions of the relief above the lowest ground at which trees end and plants begin to give way to rock. */
  bare_line: number;
  snow_line: number | null;
}

/** One of the runs side by side. */
export interface PaneState {
  run: number;
  model: string;
  preset: string | null;
  /** Stage and level under way, in words, of a recipe that runs through them. */
  stage: string | null;
  step: number;
  usual_steps: number | null;
  /** Parameters other than those of the first pane or, with another model, than those of its preset. */
  differs: Record<string, ParameterValue>;
  /** Per step, as measured. */
  milliseconds: number | null;
  /** Volume that is missing where the ground is lower than at the start, in m³. */
  eroded: number;
  /** The same as a mean over the whole terrain, in metres. */
  mean_erosion: number;
  /** Largest rise of the ground since the start, in metres. */
  highest_deposit: number;
}

/** One parameter of a model. */
export interface ParameterDeclaration {
  name: string;
  symbol: string;
  units: string;
  doc: string;
  /** Number of its equation in the paper. */
  eq: string;
  group: string;
  default: ParameterValue;
  /** Range of its slider. */
  typical: [number, number] | null;
  /** Whether the slider is logarithmic. */
  log: boolean;
  choices: string[];
  kind: "number" | "choice" | "flag";
  /** Whether it takes only whole numbers. */
  whole: boolean;
  /** What is valid, in words. */
  must_be: string;
}

export type ParameterValue = boolean | number | string;

/** Change parameters during the run. */
export interface Parameters {
  id?: number | string | null;
  type: "parameters";
  values: Record<string, ParameterValue>;
}

/** Stop after a whole step. */
export interface Pause {
  id?: number | string | null;
  type: "pause";
}

/** Run until paused, or until the steps that the preset is made for. */
export interface Play {
  id?: number | string | null;
  type: "play";
}

/** Where the camera stands, and where it looks. */
export interface Pose {
  eye: [number, number, number];
  heading: number;
  pitch: number;
  /** Height above the ground while walking. */
  walking: number | null;
}

/** One preset. */
export interface PresetDeclaration {
  name: string;
  doc: string;
  model: string;
  edges: Edges;
  steps: number;
  settle: number;
  generator: PresetGenerator;
  /** Parameters that differ from the model's defaults. */
  changed: Record<string, ParameterValue>;
  strata: boolean;
  /** Whether it can go from coarse to fine. */
  levels: boolean;
}

/** The terrain a preset is made for. */
export interface PresetGenerator {
  kind: string;
  size?: number;
  /** Side in metres. */
  extent: number;
  seed?: number;
  relief?: number;
  options?: Record<string, ParameterValue>;
}

/** A run that can be restored. */
export interface PreviousRun {
  run: number;
  name: string;
  step: number;
}

/** The answer to an HTTP request that was refused, or to an upload that lacks something. */
export interface Problem {
  message: string;
  /** What the user could add to an upload. */
  wants: "height_range" | "allow_8bit" | "nodata" | null;
  /** Number that cells without data have, where that is what it wants. */
  nodata: string | null;
}

/** Redo the edit undone last. */
export interface Redo {
  id?: number | string | null;
  type: "redo";
}

/** Go back to the start. */
export interface Reset {
  id?: number | string | null;
  type: "reset";
}

/** Run until a step, then pause. */
export interface RunTo {
  id?: number | string | null;
  type: "run_to";
  step: number;
}

/** What a page shows its terrain from, in the page's own units. */
export interface SavedView {
  pose: Pose;
  plan: boolean;
  plan_view: [number, number, number];
}

/** Go back, or forward again, to the keyframe nearest to a moment of a branch. */
export interface Scrub {
  id?: number | string | null;
  type: "scrub";
  branch: number;
  moment: number;
}

export type ServerMessage = Welcome | State | Done | Failure | Notice | FinishState;

/** End a run: erosion fades out, then the water deposits its sediment. */
export interface Settle {
  id?: number | string | null;
  type: "settle";
  steps?: number;
  dry?: boolean;
}

export type Side = "open" | "closed" | "periodic" | "halo";

/** Show two or four runs from the same terrain beside each other; the run that was there waits. */
export interface SideBySide {
  id?: number | string | null;
  type: "side_by_side";
  /** The first has the present settings, the others another model each; panes that are there already stay. */
  panes?: 2 | 4;
}

/** Runs from the same terrain beside each other. */
export interface SideBySideState {
  panes: PaneState[];
  /** The pane that the rest of the state describes. */
  chosen: number;
  /** Along the longer side of each pane. */
  cells: number;
  /** The same of a single run on this terrain: if they are more, the panes have it resampled. */
  cells_before: number;
}

/** Move one of the five sliders, and with it the parameters that it stands for. */
export interface Slide {
  id?: number | string | null;
  type: "slide";
  name: string;
  /** From one end to the other; the middle, 0, is the preset. */
  position: number;
}

/** One of the five sliders above all parameters. */
export interface SliderDeclaration {
  name: string;
  /** What its left end means, in a word. */
  low: string;
  high: string;
  doc: string;
  /** Parameters that it moves, with their factor at the right end; the age moves the steps instead. */
  moves: Record<string, number>;
}

/** Replace all water sources. */
export interface Sources {
  id?: number | string | null;
  type: "sources";
  sources: WaterSource[];
  stroke?: number | null;
}

/** Limit the steps per second. */
export interface Speed {
  id?: number | string | null;
  type: "speed";
  steps_per_second: number | null;
}

/** Start a new run; what is left out stays as it is. */
export interface Start {
  id?: number | string | null;
  type: "start";
  /** A named landscape, with its own terrain, model and seed: nothing but `size` and `backend` goes with it. */
  look?: string | null;
  generator?: Generator | null;
  preset?: string | null;
  model?: string | null;
  parameters?: Record<string, ParameterValue>;
  edges?: Edges | null;
  backend?: string | null;
  upload?: string | null;
  /** Cells along the longer side, of a generated terrain or a file. */
  size?: number | null;
  /** Whether a preset that has levels goes from coarse to fine, to its end; else it runs on one grid, endlessly. */
  levels?: boolean | null;
}

/** The run as it is now: sent after every change, and a few times a second while it runs. */
export interface State {
  type: "state";
  run: number;
  step: number;
  time: number;
  playing: boolean;
  /** Step at which it will pause. */
  target: number | null;
  settling: boolean;
  /** What takes long at the moment, such as compiling. */
  busy: string | null;
  /** As measured. */
  steps_per_second: number;
  /** The limit that is set, in steps per second. */
  speed: number | null;
  /** The run before this one, if it can be restored. */
  left: PreviousRun | null;
  model: string;
  preset: string | null;
  /** Stage and level under way, in words, of a recipe that runs through them; null for a run on one grid. */
  stage: string | null;
  /** Whether the run goes from coarse to fine. */
  levels: boolean;
  /** Cells along the longer side of the whole: those of the finest level. */
  cells: number;
  /** Steps that the preset is made for, where playing pauses, times what the age asks for; or of the whole recipe. */
  usual_steps: number | null;
  /** Steps of settling that suit the steps so far. */
  usual_settling: number | null;
  parameters: Record<string, ParameterValue>;
  /** Parameters of the preset, or of the level under way, that differ from the defaults of the model. */
  usual: Record<string, ParameterValue>;
  /** Position of each slider, -1 to 1, or why it cannot be moved. */
  sliders: Record<string, number | string>;
  /** One word, or one for each side of a run of the user's own program. */
  edges: Edges | FourSides;
  backend: string;
  generator: GeneratorState | null;
  /** Of the terrain. */
  name: string;
  rows: number;
  columns: number;
  cell_size: number;
  /** Height of the start in metres, from its lowest to its highest ground. */
  relief: number;
  /** What an overlay can show. */
  layers: string[];
  sources: WaterSource[];
  emitters: Emitter[];
  /** Where a page last looked from, for pages that open the run. */
  view: SavedView | null;
  can_undo: boolean;
  can_redo: boolean;
  budget: Record<string, number>;
  timeline: TimelineState;
  /** The panes, if there are several; everything else is of the one that is chosen. */
  side_by_side: SideBySideState | null;
}

/** Advance by so many steps, then pause. */
export interface Step {
  id?: number | string | null;
  type: "step";
  count?: number;
}

/** The terrain beside real ones. */
export interface SurveyFacts {
  run: number;
  moment: number;
  /** Of the grid that it was measured on. */
  rows: number;
  columns: number;
  findings: FindingFacts[];
  /** Length of channels per area, in km per km², which depends on where channels begin. */
  drainage_density: number | null;
  /** Drainage area where channels begin, in m². */
  channel_area: number;
  /** In degrees. */
  mean_slope: number;
  /** Drainage area in m² and mean slope of channels. */
  slope_area: [number, number][];
  /** Share of the area above a height, and that height as a share of the relief. */
  hypsometry: [number, number][];
}

/** A number in a file that most likely marks cells without data. */
export interface Suspect {
  nodata: number;
  message: string;
}

/** Keyframes that the run can go back to. */
export interface TimelineState {
  /** The one that is shown. */
  branch: number;
  /** The moment that is shown. */
  at: number;
  /** Whether that is the end of the branch; playing on from elsewhere makes another branch. */
  at_end: boolean;
  branches: BranchState[];
}

/** One brush. */
export interface ToolDeclaration {
  name: string;
  doc: string;
  layer: string;
  unit: string;
  /** The default; of brushes in metres, as a fraction of the relief. */
  strength: number;
  /** Whether a negative strength does the opposite. */
  signed: boolean;
  /** The largest strength. */
  most: number | null;
}

/** Undo the last edit. */
export interface Undo {
  id?: number | string | null;
  type: "undo";
}

/** The answer to an upload that was accepted. */
export interface Uploaded {
  upload: string;
  name: string;
  rows: number;
  columns: number;
  cell_size: number;
  file_rows: number;
  file_columns: number;
  relief: number;
  /** Longer side in metres that would suit the relief, where the one that was read does not. */
  plausible_extent: number | null;
  suspects: Suspect[];
}

/** Choose what frames hold. */
export interface Watch {
  id?: number | string | null;
  type: "watch";
  overlay?: string | null;
  resolution?: number;
  before?: boolean;
  /** Also what the simulation did to the ground: it colours the terrain. */
  ground?: boolean;
  /** Branch that `before` shows instead of the start: its keyframe nearest to the moment shown. */
  against?: number | null;
}

/** A disc on the ground where water wells up. */
export interface WaterSource {
  x: number;
  y: number;
  radius: number;
  rate: number;
}

/** The first message: everything there is to choose from. */
export interface Welcome {
  type: "welcome";
  protocol: number;
  version: string;
  /** Changes when the server is restarted. */
  server: string;
  /** Whether the server continued a run that was kept on disk. */
  resumed: boolean;
  models: ModelDeclaration[];
  presets: PresetDeclaration[];
  looks: LookDeclaration[];
  generators: GeneratorDeclaration[];
  tools: ToolDeclaration[];
  /** Colour maps by name: 256 colours each, 0 to 255. */
  maps: Record<string, Colour[]>;
  /** Colours of the ground by the kind of country. */
  palettes: Record<string, Palette>;
  formats: FormatDeclaration[];
  backends: BackendDeclaration[];
  limits: Limits;
}
