// Assembles the studio: the 3D view, the connection, the panels and the tools.

import { runName } from "../output/naming";
import { openProject, PROJECT_SUFFIX, saveProject } from "../output/project";
import { ACCEPTED, uploadAndStart } from "../output/upload";
import { Compare } from "../panels/compare";
import { ConfirmDialog } from "../panels/confirm";
import { FileFactsDialog } from "../panels/file-facts";
import { FinishPanel } from "../panels/finish";
import { Help } from "../panels/help";
import { Information } from "../panels/information";
import { InspectPanel } from "../panels/inspect";
import { Legend } from "../panels/legend";
import { Messages, type Offer } from "../panels/messages";
import { OutputPanel } from "../panels/output";
import { ParametersPanel } from "../panels/parameters";
import { SideBySide } from "../panels/side-by-side";
import { StartPanel } from "../panels/start";
import { TimelinePanel } from "../panels/timeline";
import { Transport } from "../panels/transport";
import { inOrder, ViewPanel } from "../panels/view";
import { Asking } from "../tools/asking";
import { Markers } from "../tools/markers";
import { Painting } from "../tools/painting";
import { dragSun } from "../tools/sun";
import { Toolbar } from "../tools/toolbar";
import type { SavedView } from "../view/camera";
import { Pace } from "../view/pace";
import { type Tier, tierOf } from "../view/quality";
import { rememberedView, rememberView, shapeOf } from "../view/remember";
import { Rivers } from "../view/rivers";
import { Stage } from "../view/stage";
import { Connection } from "../wire/connection";
import type { Frame } from "../wire/frames";
import type { ClientMessage, Failure, State } from "../wire/protocol";
import { button, make, sentence, short, words } from "./dom";
import { icon } from "./icons";
import { Preparing } from "./preparing";
import { REFUSED } from "./refusing";
import { listenForShortcuts } from "./shortcuts";
import { Store } from "./store";
import { Tabs } from "./tabs";

/** Layers that are visible only as an overlay. */
const UNSEEN = ["rainfall", "erodibility"];

/** Pixels between the block and what stands around it. */
const GAP = 8;

/** Pixels of a pane that its captions cover. */
const CAPTIONS = { top: 64, bottom: 28 };

/** One press of + or −. */
const NEARER = 0.85;

/** Milliseconds between two looks at whether the view has changed. */
const REPORT_EVERY = 1000;

export class App {
  readonly store = new Store();
  readonly stage: Stage;
  readonly connection: Connection;
  private readonly messages = new Messages();
  private readonly legend: Legend;
  readonly pace: Pace;
  private readonly view: ViewPanel;
  private readonly rivers: Rivers;
  private readonly start: StartPanel;
  private readonly output: OutputPanel;
  private readonly finish: FinishPanel;
  private readonly compare: Compare;
  private readonly panes: SideBySide;
  private readonly transport: Transport;
  private readonly timeline: TimelinePanel;
  private readonly toolbar: Toolbar;
  private readonly painting: Painting;
  private readonly markers: Markers;
  private readonly help = new Help();
  private readonly fileFacts = new FileFactsDialog();
  private readonly confirm = new ConfirmDialog();
  private readonly preparing = new Preparing();
  private readonly picker = make("input", {
    type: "file",
    accept: `${ACCEPTED},${PROJECT_SUFFIX}`,
    hidden: true,
    "aria-label": "Height field or project file",
  });
  private readonly cursor = make("output", {
    class: "glass cursor",
    "data-role": "cursor",
    "aria-label": "Values under the cursor",
    hidden: true,
  });
  private readonly title = make("span", { class: "title" }, "…");
  private readonly panel: HTMLElement;
  private readonly corner: HTMLElement;
  private overlay: string | null = null;
  private run = -1;
  private sameServer = true;
  private completeText = "";
  /** Whether the page was just opened on a run that was kept on disk. */
  private resumed = false;
  /** Generator, relief and aspect ratio of the terrain that the camera was placed for. */
  private framed: { kind: string; shape: [number, number] } = { kind: "", shape: [0, 0] };
  /** The window and what covers it, as the view was last fitted to them. */
  private room = "";
  /** View of a project that is being opened, for its first image; undefined if there is none. */
  private expectedView: SavedView | null | undefined;
  /** What the server last heard of the view. */
  private reportedView = "";
  /** Overlay that a brush switched on, and that goes off with it. */
  private brushOverlay: string | null = null;

  constructor(canvas: HTMLCanvasElement) {
    const link = (): Connection => this.connection;
    this.stage = new Stage(canvas, (frame) => this.connection.acknowledge(frame));
    const openFile = (): void => this.picker.click();
    this.legend = new Legend(this.store, this.stage);
    this.rivers = new Rivers(this.store, this.stage);
    this.transport = new Transport(this.store, link);
    this.start = new StartPanel(this.store, link, openFile, (name) => this.view.chooseCountry(name));
    const parameters = new ParametersPanel(this.store, link);
    const information = new Information(this.store);
    this.view = new ViewPanel(
      this.store,
      this.stage,
      (layer) => this.showOverlay(layer),
      (tier) => this.chooseTier(tier),
    );
    this.finish = new FinishPanel(this.store, link, this.messages, this.confirm);
    this.output = new OutputPanel(this.store, this.stage, this.messages, {
      finish: this.finish.element,
      save: () => void this.saveProject(),
      open: openFile,
    });
    this.compare = new Compare(this.stage, (shown) => {
      this.timeline.showComparison(shown);
      this.watch();
    });
    this.panes = new SideBySide(this.store, this.stage, link, () => {
      if (this.compare.shown) this.compare.toggle(); // the wipe is for one run
      this.fit();
    });
    this.timeline = new TimelinePanel(this.store, link, () => this.watch());
    this.transport.element.append(this.timeline.element);
    this.toolbar = new Toolbar(this.store, () => this.followTool());
    this.markers = new Markers(this.stage, this.store, link);
    const { markers } = this;
    this.painting = new Painting(this.stage, this.toolbar, markers, this.store, link, {
      pointed: (place) => this.showPlace(place),
      missed: () =>
        this.messages.say("Nothing happens here: begin on the terrain, inside the block.", "notice", {
          topic: "missed",
        }),
    });
    const inspect = new InspectPanel(this.store, this.messages, () => asking.follow());
    const asking: Asking = new Asking(this.stage, this.toolbar, inspect);
    const panels = new Tabs([
      { name: "Start", element: this.start.element },
      { name: "Model", element: parameters.element },
      { name: "View", element: this.view.element },
      { name: "Inspect", element: inspect.element },
      { name: "Budget", element: information.element },
      { name: "Export", element: this.output.element },
    ]);
    this.panel = panels.element;
    this.corner = make(
      "header",
      { class: "glass corner" },
      make("strong", {}, "slopewash"),
      this.title,
      ...this.viewButtons(),
    );
    document.body.append(
      asking.element,
      markers.element,
      this.compare.element,
      this.panes.element,
      this.corner,
      this.panes.bar,
      this.toolbar.element,
      make("div", { class: "beside" }, this.toolbar.settings, markers.settings),
      panels.element,
      this.transport.element,
      make("div", { class: "readings" }, this.legend.element, this.cursor),
      this.preparing.element,
      this.messages.element,
      this.messages.banner,
      this.help.element,
      this.fileFacts.element,
      this.confirm.element,
      this.picker,
    );
    this.connection = this.connect();
    this.store.onState((state, before) => this.offerToRestore(state, before));
    this.store.onState((state, before) => this.offerMore(state, before));
    this.store.onState(
      (state) =>
        (this.title.textContent = `${words(state.name)} · ${state.columns} × ${state.rows} · ${state.model.replaceAll("_", " ")}`),
    );
    this.pace = this.keepPace();
    document.body.dataset.tier = this.stage.tier; // blurred glass costs software renderers more than the terrain
    this.listen(canvas);
    this.painting.toolChanged();
  }

  private connect(): Connection {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    return new Connection(`${scheme}://${location.host}/ws`, {
      welcomed: (welcome) => {
        this.stage.forgetRun();
        this.sameServer = this.store.welcome === null || this.store.welcome.server === welcome.server;
        this.store.setWelcome(welcome);
        this.watch();
      },
      finishChanged: (finish) => this.finish.receive(finish),
      stateChanged: (state) => this.store.setState(state),
      frameArrived: (frame) => this.show(frame),
      failed: (message, wants) => this.reportFailure(message, wants),
      noticed: (message) => this.messages.say(message),
      lost: (seconds) => this.messages.lost(seconds),
      connected: (again) => {
        this.messages.found();
        if (again && this.sameServer) this.messages.say("Reconnected.", "good");
        else if (again && this.store.welcome?.resumed)
          this.messages.say(
            "Reconnected: the server was restarted, and continues the run as it was last saved.",
            "good",
          );
        else if (!again && this.store.welcome?.resumed) this.resumed = true;
        else if (again)
          this.messages.say(
            "Reconnected, but the server was restarted: the previous run is lost, and this is a new one.",
            "error",
          );
      },
    });
  }

  private show(frame: Frame): void {
    const first = this.stage.frame === null;
    const { length: count } = this.stage.landscapes;
    this.stage.show(frame);
    if (this.stage.landscapes.length !== count) {
      this.stage.choose(this.store.state?.side_by_side?.chosen ?? 0);
      this.fit();
    }
    if ((frame.header.pane ?? this.stage.chosen) !== this.stage.chosen) return;
    const resized = this.run !== frame.header.run;
    this.run = frame.header.run;
    const before = frame.header.blocks.find(({ name }) => name === "before");
    if (before) this.compare.showWhat(before);
    this.legend.update(frame, this.overlay);
    this.rivers.follow();
    const other = resized && this.isOtherTerrain(frame);
    const remembered = first ? (rememberedView(shapeOf(frame.header)) ?? this.store.state?.view) : null;
    const expected = resized ? this.expectedView : undefined;
    if (expected !== undefined) this.expectedView = undefined;
    if (remembered ?? expected) this.restoreView((remembered ?? expected)!);
    else if (expected === null) this.frameAll();
    else if (first || other || (resized && this.stage.cameras.isFramed)) this.stage.frameWholeBlock();
    if (resized) this.painting.refreshRing();
  }

  /** Offer what the user who opens the page may want next, until the run goes on. */
  private offerMore(state: State, before: State | null): void {
    const { left } = state;
    if (this.resumed && !before)
      this.messages.say(`Continued where you were: ${words(state.name)}, step ${state.step}.`, "good", {
        topic: "opened",
        offer: { label: "Start anew", run: () => void this.connection.send({ type: "reset" }) },
        stays: true,
      });
    else if (!before && left && state.step === 0)
      this.messages.say(`Your last run (${words(left.name)}, step ${left.step}) is kept.`, "notice", {
        topic: "opened",
        offer: { label: "Continue where you were (K)", run: () => this.restore() },
        stays: true,
      });
    else if (before && (before.run !== state.run || before.step !== state.step)) this.messages.withdraw("opened");
    if (isComplete(state) && !isComplete(before)) {
      this.completeText = `The recipe is complete after ${state.step} steps.`; // in place of the server's own notice
      this.messages.say(this.completeText, "good", { offer: this.goOn, stays: true });
    } else if (!isComplete(state)) this.messages.withdraw(this.completeText);
  }

  private get goOn(): Offer {
    return { label: "Go on from here", run: () => void this.connection.send({ type: "go_on" }) };
  }

  /** Show what was refused; what a complete recipe refuses is possible after going on, which is offered. */
  private reportFailure(message: string, wants?: Failure["wants"]): void {
    const offer = isComplete(this.store.state) && wants === "go_on" ? this.goOn : undefined;
    const options = offer ? { topic: this.completeText, offer, stays: true } : {};
    this.messages.say(sentence(message), "error", options);
  }

  /** Tell the user that a new run does not lose the previous one. */
  private offerToRestore(state: State, before: State | null): void {
    if (!before || state.left?.run === before.left?.run) return;
    this.messages.withdraw("left");
    if (!state.left || state.run === before.run || state.side_by_side || before.side_by_side) return;
    const offer = { label: "Restore it (K)", run: () => this.restore() };
    this.messages.say(`The previous run (${words(state.left.name)}, step ${state.left.step}) is kept.`, "notice", {
      topic: "left",
      offer,
    });
  }

  private restore(): void {
    this.messages.withdraw("extent"); // asked about the run that is left
    void this.connection.send({ type: "bring_back" });
  }

  /** The view to keep with the run; null while it is the one that shows all. */
  private get lookedFrom(): SavedView | null {
    return this.stage.cameras.isFramed ? null : this.stage.cameras.saved;
  }

  /** Let the server keep the view with the run. */
  private reportView(): void {
    const view = this.lookedFrom;
    const text = JSON.stringify([this.run, view]);
    if (text === this.reportedView || !this.connection.isOpen || !this.stage.frame || document.hidden) return;
    this.reportedView = text;
    this.connection.ask({ type: "look", view }).catch(() => {}); // the next change is reported again
  }

  private async saveProject(): Promise<void> {
    try {
      await saveProject(this.connection, this.lookedFrom, runName(this.store.state));
      const panes = this.store.state?.side_by_side;
      if (panes) this.messages.say(`The project holds pane ${panes.chosen + 1} only: a project is one run.`);
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }

  private restoreView(view: SavedView): void {
    this.stage.cameras.restore(view);
    if (!this.stage.cameras.rig.seesEnough()) this.stage.frameWholeBlock();
    this.showViewState();
  }

  /** Whether a new terrain is of another kind, would not fit the view, or be tiny in it. */
  private isOtherTerrain({ header }: Frame): boolean {
    const kind = this.store.state?.generator?.kind ?? this.store.state?.name ?? "";
    const shape: [number, number] = [
      (header.start_high - header.start_low) / (header.cell_size * Math.max(header.rows, header.columns)),
      header.columns / header.rows,
    ];
    const { framed } = this;
    const scaled = shape.some((value, i) => Math.abs(Math.log((value + 1e-3) / (framed.shape[i]! + 1e-3))) > 0.2);
    const other = scaled || kind !== framed.kind;
    if (other) this.framed = { kind, shape };
    return other;
  }

  /** Show what a brush paints as an overlay while the brush is active, if it is not visible otherwise. */
  private followTool(): void {
    this.painting?.toolChanged();
    const { tool } = this.toolbar;
    const unseen = tool.kind === "brush" && UNSEEN.includes(tool.brush.layer) ? tool.brush.layer : null;
    if (unseen && (this.overlay === null || this.overlay === this.brushOverlay)) {
      this.brushOverlay = unseen;
      this.showOverlay(unseen);
    } else if (!unseen && this.brushOverlay) {
      if (this.overlay === this.brushOverlay) this.showOverlay(null);
      this.brushOverlay = null;
    }
  }

  private showOverlay(layer: string | null): void {
    this.overlay = layer;
    this.view.showOverlay(layer);
    if (!layer && this.stage.frame) this.legend.update(this.stage.frame, null);
    this.watch();
  }

  private nextOverlay(): void {
    const layers = [null, ...inOrder(this.store.state?.layers ?? [])];
    this.showOverlay(layers[(layers.indexOf(this.overlay) + 1) % layers.length] ?? null);
  }

  private watch(): void {
    if (this.connection?.isOpen)
      void this.connection.send({
        type: "watch",
        overlay: this.overlay,
        resolution: this.stage.quality.field,
        before: this.compare.shown || !this.compare.element.hidden,
        against: this.timeline.against,
        ground: true,
      });
  }

  /** Let the quality follow how long images take. */
  private keepPace(): Pace {
    const pace = new Pace(
      tierOf(this.stage.rendererName),
      (tier) => this.setTier(tier),
      (slow, milliseconds, byUser) => {
        const time = `${short(Math.round(milliseconds) / 1000)} s per image`;
        if (byUser) this.messages.say(`Quality ${slow} takes about ${time} here; it is ${this.stage.tier} again.`);
      },
    );
    this.stage.onMeasured((by) => {
      if (!by.trial) this.preparing.end();
      pace.take(by);
      if (pace.wantsMore) this.stage.invalidate();
    });
    return pace;
  }

  private chooseTier(tier: Tier): void {
    if (tier === "low") {
      this.preparing.forget();
      this.pace.choose(tier);
    } else this.preparing.before(`Preparing ${tier} quality …`, () => this.pace.choose(tier));
  }

  private setTier(tier: Tier): void {
    this.stage.setTier(tier, !this.pace?.fixed);
    this.view.showTier(tier);
    document.body.dataset.tier = tier;
    this.watch();
  }

  private showPlace(place: Parameters<Legend["read"]>[0]): void {
    this.cursor.textContent = this.legend.read(place);
    this.panes.read(place);
    this.cursor.hidden = !place;
  }

  private viewButtons(): HTMLElement[] {
    return [
      button("Frame all (F)", icon("home"), () => this.frameAll()),
      button("Top view (P)", icon("plan"), () => this.togglePlan(), { "data-role": "plan" }),
      button("Walk on the ground (G)", icon("walk"), () => this.toggleWalk(true), { "data-role": "walk" }),
      button("Compare with the start (C)", icon("compare"), () => this.toggleCompare(), { "data-role": "compare" }),
      button("Side by side (M)", icon("panes"), () => this.panes.toggle(), { "data-role": "side-by-side" }),
      button("Save image (X)", icon("camera"), () => void this.output.picture()),
      button("Show or hide panels (H)", icon("panel"), () => this.togglePanels()),
      button("Help (?)", icon("help"), () => this.help.toggle(), { "data-role": "help" }),
    ];
  }

  private toggleCompare(): void {
    if (this.panes.shown) this.messages.say("Compare is for one run: leave side by side, or keep a pane, first.");
    else this.compare.toggle();
  }

  private togglePlan(): void {
    this.stage.cameras.showPlan(!this.stage.cameras.planShown);
    this.showViewState();
  }

  /** Where to stand is under the pointer, or in the middle of the view if a button was clicked. */
  private toggleWalk(fromButton: boolean): void {
    const { cameras, gestures } = this.stage;
    if (cameras.planShown) this.togglePlan();
    if (fromButton) cameras.toggleWalk();
    else gestures.toggleWalk();
    this.showViewState();
  }

  private frameAll(): void {
    this.stage.frameWholeBlock();
    this.showViewState();
  }

  private showViewState(): void {
    const { planShown, isWalking } = this.stage.cameras;
    document.body.dataset.plan = String(planShown);
    for (const [role, on] of [
      ["plan", planShown],
      ["walk", isWalking],
    ] as const)
      document.querySelector(`[data-role=${role}]`)?.setAttribute("aria-pressed", String(on));
  }

  private togglePanels(): void {
    document.body.classList.toggle("bare");
    this.fit();
  }

  /** Keep the terrain clear of the panel and the bars, wherever the layout has put them. */
  private fit(): void {
    const box = this.panel.getBoundingClientRect();
    const beside = box.height > 0.6 * window.innerHeight;
    this.stage.covered = {
      right: beside ? window.innerWidth - box.left : 0,
      bottom: !beside && box.height > 0 ? window.innerHeight - box.top : 0,
    };
    const { cameras } = this.stage;
    const [tools, corner, transport] = [this.toolbar.element, this.corner, this.transport.element].map((bar) =>
      bar.getBoundingClientRect(),
    ) as [DOMRect, DOMRect, DOMRect];
    document.body.style.setProperty("--transport", `${transport.height}px`);
    cameras.bars = {
      left: tools.right + GAP,
      top: corner.bottom + GAP,
      bottom: transport.height
        ? Math.max(window.innerHeight - transport.top - this.stage.covered.bottom, 0) + GAP
        : GAP,
      right: GAP,
    };
    if (this.stage.isSideBySide) this.fitPanes(tools, transport);
    this.stage.resize();
    const count = this.stage.landscapes.length;
    const room = [
      count,
      window.innerWidth,
      window.innerHeight,
      ...Object.values({ ...this.stage.covered, ...cameras.bars }),
    ];
    if (room.join() !== this.room && cameras.isFramed) this.stage.frameWholeBlock();
    this.room = room.join();
  }

  /** Give the panes what the bars leave free. */
  private fitPanes(tools: DOMRect, transport: DOMRect): void {
    const { right, bottom } = this.stage.covered;
    const bar = this.panes.bar.getBoundingClientRect();
    const [left, top] = [tools.right + GAP, Math.max(bar.bottom, this.corner.getBoundingClientRect().bottom) + GAP];
    const end = transport.height && !bottom ? transport.top : window.innerHeight - bottom;
    this.stage.free = { left, top, width: window.innerWidth - right - GAP - left, height: end - GAP - top };
    this.stage.cameras.bars = { left: GAP, right: GAP, ...CAPTIONS };
  }

  private toggleWater(): void {
    this.stage.look.water = !this.stage.look.water;
    this.stage.lookChanged();
  }

  private async open(file: File): Promise<void> {
    try {
      if (file.name.toLowerCase().endsWith(PROJECT_SUFFIX)) {
        await openProject(file, this.connection, this.messages, (view) => (this.expectedView = view));
        return;
      }
      await uploadAndStart(
        file,
        this.connection,
        this.messages,
        this.store.welcome?.limits.upload_bytes ?? Infinity,
        this.fileFacts.ask,
      );
    } catch (problem) {
      this.messages.say((problem as Error).message, "error");
    }
  }

  private listen(canvas: HTMLCanvasElement): void {
    new ResizeObserver(() => this.fit()).observe(canvas);
    // Bars grow and wrap with their contents; hidden ones leave the view as it is.
    const bars = new ResizeObserver(() => document.body.classList.contains("bare") || this.fit());
    for (const bar of [this.transport.element, this.toolbar.element, this.corner, this.panes.bar]) bars.observe(bar);
    // Messages stand above the legend.
    const { element: legend } = this.legend;
    new ResizeObserver(() => document.body.style.setProperty("--legend", `${legend.offsetHeight}px`)).observe(legend);
    window.addEventListener("pagehide", () => {
      const { stage } = this;
      if (stage.frame) rememberView(stage.cameras.isFramed ? null : stage.cameras.saved, shapeOf(stage.frame.header));
    });
    window.setInterval(() => this.reportView(), REPORT_EVERY);
    document.body.addEventListener(REFUSED, (event) =>
      this.messages.say((event as CustomEvent<string>).detail, "error", { topic: "refused" }),
    );
    dragSun(this.stage, () => this.view.refresh());
    this.picker.addEventListener("change", () => {
      const file = this.picker.files?.[0];
      if (file) void this.open(file);
      this.picker.value = "";
    });
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.open(file);
    });
    window.addEventListener("online", () => this.connection.retryNow());
    const send = (message: ClientMessage): void => void this.connection.send(message);
    listenForShortcuts(
      [
        { key: " ", run: () => this.transport.toggle() },
        { key: ".", run: () => send({ type: "step", count: 1 }) },
        { key: "r", run: () => send({ type: "reset" }) },
        { key: "k", run: () => this.restore() },
        { key: "delete", run: () => this.markers.removeChosen() },
        { key: "n", run: () => this.start.changeSeed(1) },
        { key: "b", run: () => this.start.changeSeed(-1) },
        { key: "[", run: () => this.scaleBrush(0.8) },
        { key: "]", run: () => this.scaleBrush(1.25) },
        { key: "z", control: true, shift: false, run: () => send({ type: "undo" }) },
        { key: "z", control: true, shift: true, run: () => send({ type: "redo" }) },
        { key: "s", control: true, run: () => void this.saveProject() },
        { key: "y", control: true, run: () => send({ type: "redo" }) },
        { key: "f", run: () => this.frameAll() },
        { key: "+", run: () => this.stage.cameras.zoomInMiddle(NEARER) },
        { key: "=", run: () => this.stage.cameras.zoomInMiddle(NEARER) },
        { key: "-", run: () => this.stage.cameras.zoomInMiddle(1 / NEARER) },
        { key: "g", run: () => this.toggleWalk(false) },
        { key: "p", run: () => this.togglePlan() },
        { key: "c", run: () => this.toggleCompare() },
        { key: "m", run: () => this.panes.toggle() },
        { key: "o", run: () => this.nextOverlay() },
        { key: "v", run: () => this.toggleWater() },
        { key: "x", run: () => void this.output.picture() },
        { key: "h", run: () => this.togglePanels() },
        { key: "?", run: () => this.help.toggle() },
        ...Array.from({ length: 10 }, (_, i) => ({
          key: String((i + 1) % 10),
          run: () => this.toolbar.chooseNumber(i),
        })),
      ],
      (code, down) => this.stage.cameras.keyChanged(code, down),
      () => this.stage.cameras.releaseKeys(),
    );
  }

  private scaleBrush(factor: number): void {
    this.toolbar.scaleRadius(factor);
    this.painting.refreshRing();
  }
}

/** Whether a recipe was run to its end, after which only another grid goes on with its terrain. */
function isComplete(of: State | null): boolean {
  return of?.stage != null && of.step === of.usual_steps && of.side_by_side === null;
}
