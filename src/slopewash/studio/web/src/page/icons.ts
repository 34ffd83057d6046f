// Icons as paths on a 24 × 24 sheet, drawn as strokes.

const PATHS: Record<string, string> = {
  look: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12z M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  raise: "M2 20 9 8l4 6 3-4 6 10z M17 7V2 M14.5 4.5 17 2l2.5 2.5",
  lower: "M2 20l6-8 3 4h4l3-4 4 8z M13 3v7 M10.5 7.5 13 10l2.5-2.5",
  smooth: "M2 17c4 0 5-8 10-8s6 8 10 8",
  flatten: "M2 18h20 M6 14h12 M12 3v7 M9 7l3 3 3-3",
  add_water: "M11 3s6 7 6 11a6 6 0 0 1-12 0c0-4 6-11 6-11z M20 3v6 M17 6h6",
  remove_water: "M11 3s6 7 6 11a6 6 0 0 1-12 0c0-4 6-11 6-11z M17 6h6",
  rain: "M7 14a4 4 0 1 1 .8-7.9A5 5 0 0 1 17.5 8 3.5 3.5 0 0 1 17 14z M8 17l-1 4 M13 17l-1 4 M18 17l-1 4",
  harden: "M12 2 21 8v8l-9 6-9-6V8z M12 2v20 M3 8l18 8",
  soften:
    "M4 15a4 4 0 0 1 3-6 5 5 0 0 1 9.5 0A4 4 0 0 1 20 15a4 4 0 0 1-4 4H8a4 4 0 0 1-4-4z M9 14h.01 M13 12h.01 M14 16h.01",
  evaporation: "M6 20c-3-4 3-6 0-10 M12 20c-3-4 3-6 0-10 M18 20c-3-4 3-6 0-10 M12 6V2 M9.5 4.5 12 2l2.5 2.5",
  capacity: "M4 9h16l-3 11H7z M8 9c0-5 8-5 8 0 M9 14h.01 M12 16h.01 M15 14h.01",
  talus: "M2 20h20L17 4z M8 20a6 6 0 0 0-2-4.5",
  sliding: "M3 5l18 15 M5 3l5 4 M11 8l5 4 M21 15v5h-5",
  source: "M12 21V9 M12 9c0-3-3-5-6-4 M12 9c0-3 3-5 6-4 M12 13c-1-2-4-3-6-1 M12 13c1-2 4-3 6-1 M4 21h16",
  emitter: "M4 12h5 M9 8v8 M13 12h.01 M17 8h.01 M17 16h.01 M20 12h.01 M14 6h.01 M14 18h.01",
  play: "M7 4l13 8-13 8z",
  pause: "M8 5v14 M16 5v14",
  step: "M5 5l9 7-9 7z M18 5v14",
  reset: "M4 12a8 8 0 1 0 3-6.2 M4 3v5h5",
  undo: "M8 5 3 10l5 5 M3 10h11a6 6 0 0 1 0 12h-3",
  redo: "M16 5l5 5-5 5 M21 10H10a6 6 0 0 0 0 12h3",
  plan: "M3 6l6-3 6 3 6-3v15l-6 3-6-3-6 3z M9 3v15 M15 6v15",
  walk: "M13 4.5a1.5 1.5 0 1 0 0-.01z M12 8l-3 3v3 M12 8l2 3 3 1 M12 8l-1 6 3 3 1 4 M11 14l-2 3-3 4",
  home: "M3 11 12 4l9 7 M6 9v11h12V9",
  compare: "M12 3v18 M4 6h5v12H4z M15 6h5v12h-5z",
  panes: "M3 4h8v7H3z M13 4h8v7h-8z M3 13h8v7H3z M13 13h8v7h-8z",
  camera: "M4 8h4l2-3h4l2 3h4v11H4z M12 10a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7z",
  record: "M12 6a6 6 0 1 0 0 12 6 6 0 0 0 0-12z",
  help: "M9 9a3 3 0 1 1 4 3c-1 .5-1 1-1 2 M12 18h.01",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8z M12 2v3 M12 19v3 M2 12h3 M19 12h3 M5 5l2 2 M17 17l2 2 M5 19l2-2 M17 7l2-2",
  dice: "M7 3h10a4 4 0 0 1 4 4v10a4 4 0 0 1-4 4H7a4 4 0 0 1-4-4V7a4 4 0 0 1 4-4z M7.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z M15.5 8a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z M11.5 12a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z M7.5 16a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z M15.5 16a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z",
  previous: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  close: "M6 6l12 12 M18 6 6 18",
  slide: "M9 7l-5 5 5 5z M15 7l5 5-5 5z",
  panel: "M4 5h16v14H4z M14 5v14",
};

export function icon(name: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [key, value] of Object.entries({
    viewBox: "0 0 24 24",
    width: "20",
    height: "20",
    fill: "none",
    stroke: "currentColor",
    "stroke-width": "1.8",
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
    "aria-hidden": "true",
  }))
    svg.setAttribute(key, value);
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", PATHS[name] ?? PATHS.help!);
  svg.append(path);
  return svg;
}
