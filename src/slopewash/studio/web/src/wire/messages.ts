// What the page and the server say to each other in JSON: docs/studio-protocol.md in types.

/** Infinity has no JSON number: it travels as the string "inf". */
export type ParameterValue = number | string | boolean;

export interface ParameterDeclaration {
  name: string;
  symbol: string;
  units: string;
  doc: string;
  eq: string;
  group: string;
  default: ParameterValue;
  typical: [number, number] | null;
  log: boolean;
  choices: string[];
  kind: "number" | "choice" | "flag";
  /** Whether it takes whole numbers only. */
  whole: boolean;
}

export interface ModelDeclaration {
  name: string;
  summary: string;
  paper: string;
  backends: string[];
  edges: string[];
  layers: string[];
  parameters: ParameterDeclaration[];
  presets: string[];
  /** Layers that brushes may change. */
  editable: string[];
  /** Whether it takes water sources, and emitters of particles. */
  sources: boolean;
  emitters: boolean;
}

export interface PresetDeclaration {
  name: string;
  doc: string;
  model: string;
  edges: string;
  steps: number;
  settle: number;
  generator: Partial<GeneratorChoice> & { kind: string };
  changed: Record<string, ParameterValue>;
}

export interface GeneratorDeclaration {
  name: string;
  doc: string;
  /** Defaults; null where the generator works one out. */
  options: Record<string, number | null>;
}

export interface ToolDeclaration {
  name: string;
  doc: string;
  layer: string;
  unit: string;
  /** What is usual: for tools in metres a share of the relief. */
  strength: number;
  signed: boolean;
  most: number | null;
}

export interface BackendDeclaration {
  name: string;
  works: boolean;
  doc: string;
}

export interface LayerDeclaration {
  unit: string;
  doc: string;
  map: "sequential" | "diverging";
}

export type Colour = [number, number, number];

export interface Welcome {
  type: "welcome";
  protocol: number;
  /** Another one when the server was started anew. */
  server: string;
  version: string;
  models: ModelDeclaration[];
  presets: PresetDeclaration[];
  generators: GeneratorDeclaration[];
  tools: ToolDeclaration[];
  layers: Record<string, LayerDeclaration>;
  formats: { suffix: string; doc: string }[];
  backends: BackendDeclaration[];
  limits: { size: [number, number]; upload_bytes: number };
  /** 256 colours each, 0 … 255. */
  maps: { sequential: Colour[]; diverging: Colour[] };
}

export interface WaterSource {
  x: number;
  y: number;
  radius: number;
  rate: number;
}

export interface Emitter extends WaterSource {
  speed: number;
  direction: number;
}

export interface GeneratorChoice {
  kind: string;
  size: number;
  cell_size: number;
  seed: number;
  relief?: number | null;
  options?: Record<string, ParameterValue>;
}

export type Budget = Record<string, number>;

export interface State {
  type: "state";
  run: number;
  step: number;
  time: number;
  playing: boolean;
  steps_per_second: number;
  speed: number | null;
  model: string;
  preset: string | null;
  parameters: Record<string, ParameterValue>;
  edges: string;
  backend: string;
  generator: GeneratorChoice | null;
  rows: number;
  columns: number;
  cell_size: number;
  sources: WaterSource[];
  emitters: Emitter[];
  can_undo: boolean;
  can_redo: boolean;
  budget: Budget;
  /** Height of the start in metres, from its lowest to its highest ground. */
  relief: number;
  /** Steps the preset is made for, where playing pauses. */
  usual_steps: number | null;
  /** Steps of settling that suit a run of the steps so far. */
  usual_settling: number | null;
  settling: boolean;
  /** The run that was left for this one, if it can be brought back. */
  left: { run: number; name: string; step: number } | null;
  name: string;
  layers: string[];
  target: number | null;
  /** What takes long just now, such as compiling. */
  busy: string | null;
}

export interface ServerError {
  type: "error";
  id?: number;
  message: string;
}

export type ServerMessage =
  | Welcome
  | State
  | ServerError
  | { type: "done"; id?: number }
  | { type: "notice"; message: string };

export type ClientMessage =
  | { type: "play" | "pause" | "reset" | "bring_back" | "undo" | "redo" }
  | { type: "step"; count: number }
  | { type: "run_to"; step: number }
  | { type: "speed"; steps_per_second: number | null }
  | ({ type: "start" } & StartChoices)
  | { type: "parameters"; values: Record<string, ParameterValue> }
  | { type: "settle"; steps: number; dry: boolean }
  | {
      type: "paint";
      tool: string;
      points: [number, number][];
      radius: number;
      strength: number;
      falloff: number;
      stroke: number;
    }
  | { type: "sources"; sources: WaterSource[]; stroke?: number | undefined }
  | { type: "emitters"; emitters: Emitter[]; stroke?: number | undefined }
  | { type: "watch"; overlay: string | null; resolution: number; before: boolean }
  | { type: "ack"; frame: number };

export interface StartChoices {
  generator?: Partial<GeneratorChoice>;
  preset?: string;
  model?: string;
  parameters?: Record<string, ParameterValue>;
  edges?: string;
  backend?: string;
  upload?: string;
  /** Cells along the longer side, wherever the terrain comes from. */
  size?: number;
}
