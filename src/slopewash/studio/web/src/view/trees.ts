// Trees as geometry. The shader places them; here is only which part of the ground around the eye gets how many, in rings that are
// twice as coarse each, so that their number is bounded; and which are near enough for tiers of branches, which have far more vertices.

import type { BufferGeometry, Scene, ShaderMaterial } from "three";
import { Float32BufferAttribute, InstancedBufferGeometry, Mesh, Vector3, Vector4 } from "three";
import type { Uniforms } from "./pass";

/** Metres between two places for a tree in the nearest ring. */
export const TREE_SPACING = 6.5;
/** Rings at most; beyond, woods are only painted. */
const RINGS = 6;
/** How far the nearest ring reaches at most, in places for a tree. */
const FARTHEST = 400;
/** Pixels that a tree is high at least to be drawn in tiers, and to throw a shadow of its own. */
const PIXELS = { tiers: 18, shadow: 7 };
/** Of all places, at most, those with tiers: a plain crown has a seventh of the vertices. */
const TIERED = 0.2;
/** Metres that a tree is usually high. */
const USUAL = 14;
/** Steps in which the visible part of a ring is outlined. */
const STEPS = 12;

/** What is seen of the ground, in world units. */
export interface Sight {
  eye: Vector3;
  forward: Vector3;
  /** What is visible, as tangents: from the left to the right, and upwards and downwards. */
  opening: { left: number; right: number; up: number };
  halfSides: [number, number];
  /** Sides of the block that the ground goes on beyond it. */
  beyond: number;
  worldScale: number;
  /** At distance one, in full resolution: an image on trial has the geometry of the one it stands for. */
  pixelsPerUnit: number;
}

/** Trees of one kind between two distances from the eye. */
interface Ring {
  from: number;
  to: number;
  /** Where the next coarser grid begins: by then, the trees that it leaves out have shrunk to nothing. */
  end: number;
  /** Knots of the finest grid from one tree to the next. */
  stride: number;
  tiered: boolean;
}

/** A ring, and the knots that it covers: the first, and how many east and south. */
interface Part extends Ring {
  first: [number, number];
  count: [number, number];
}

type TreeMesh = Mesh<InstancedBufferGeometry, ShaderMaterial>;

export class Trees {
  /** Places for trees in the newest image; not all of them suit one. */
  places = 0;
  private readonly rings: { trees: TreeMesh; shadows: TreeMesh; own: { knots: Vector4; ring: Vector3 } }[] = [];
  private readonly tiered = crown(tiers(6), 8);
  private readonly plain = crown([[0.02, 1], [0.45, 1]], 4); // biome-ignore format: two rings

  constructor(
    private readonly scene: Scene,
    private readonly uniforms: Uniforms,
    private readonly material: (own: Uniforms, shadow: boolean) => ShaderMaterial,
  ) {}

  hide(): void {
    this.places = 0;
    for (const { trees, shadows } of this.rings) trees.visible = shadows.visible = false;
  }

  /** Show trees for this sight, on at most so many places. */
  show(sight: Sight, most: number): void {
    while (this.rings.length < RINGS + 1) this.addRing(); // one is part tiered, part plain
    const usual = USUAL * sight.worldScale * sight.pixelsPerUnit;
    const parts = boundedParts(sight, usual / PIXELS.tiers, most);
    this.places = placesIn(parts);
    for (const [i, { trees, shadows, own }] of this.rings.entries()) {
      const part = parts[i];
      trees.visible = part !== undefined;
      shadows.visible = false;
      if (!part) continue;
      own.knots.set(...part.first, part.count[0], part.stride);
      own.ring.set(part.from, part.to, part.end);
      const count = part.count[0] * part.count[1];
      use(trees.geometry, part.tiered ? this.tiered : this.plain, count);
      use(shadows.geometry, this.plain, count);
      shadows.visible = usual / Math.max(part.from, 0.3 * part.to) > PIXELS.shadow;
    }
  }

  private addRing(): void {
    const own = { knots: new Vector4(), ring: new Vector3() };
    const uniforms = { ...this.uniforms, treeKnots: { value: own.knots }, treeRing: { value: own.ring } };
    const add = (shadow: boolean): TreeMesh => {
      const mesh = new Mesh(new InstancedBufferGeometry(), this.material(uniforms, shadow));
      mesh.frustumCulled = false;
      mesh.renderOrder = shadow ? 0.6 : 0.3;
      this.scene.add(mesh);
      return mesh;
    };
    this.rings.push({ trees: add(false), shadows: add(true), own });
  }
}

function use(geometry: InstancedBufferGeometry, shape: BufferGeometry, count: number): void {
  geometry.setAttribute("position", shape.getAttribute("position"));
  geometry.setIndex(shape.index);
  geometry.instanceCount = count;
}

function placesIn(parts: Part[]): number {
  return parts.reduce((sum, { count }) => sum + count[0] * count[1], 0);
}

/** As far as they fit into so many places, with tiers up to a distance, or less; a few around the eye always do. */
function boundedParts(sight: Sight, tieredTo: number, most: number): Part[] {
  const least = TREE_SPACING * sight.worldScale;
  let near = FARTHEST * least;
  for (;;) {
    const parts = partsOf(sight, near, tieredTo);
    if (tieredTo > 0 && placesIn(parts.filter(({ tiered }) => tiered)) > TIERED * most)
      tieredTo = tieredTo > least ? 0.85 * tieredTo : 0;
    else if (near > least && placesIn(parts) > most) near *= 0.85;
    else return parts;
  }
}

/** What is visible of the rings around the eye, the nearest first. */
function partsOf(sight: Sight, near: number, tieredTo: number): Part[] {
  return Array.from({ length: RINGS }, (_, i) => {
    const [from, end, stride] = [i === 0 ? 0 : near * 2 ** (i - 1), near * 2 ** i, 2 ** i];
    const middle = Math.min(Math.max(tieredTo, from), end);
    return [
      partOf(sight, { from, to: middle, end, stride, tiered: true }),
      partOf(sight, { from: middle, to: end, end, stride, tiered: false }),
    ];
  })
    .flat()
    .filter((part) => part !== null);
}

/** The rectangle around what is visible of a ring; null where that is nothing. */
function partOf(sight: Sight, ring: Ring): Part | null {
  const { from, to, stride } = ring;
  if (from >= to) return null;
  const { eye, halfSides, beyond } = sight;
  const inner = Math.sqrt(Math.max(from ** 2 - (Math.abs(eye.y) + 0.5) ** 2, 0));
  const { heading, aside } = visibleAngle(sight);
  const [low, high] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ] as [number[], number[]];
  for (let step = 0; step <= STEPS; step++) {
    const angle = heading + aside * ((2 * step) / STEPS - 1);
    for (const radius of [inner, to / Math.cos(aside / STEPS)]) {
      [eye.x + radius * Math.cos(angle), eye.z + radius * Math.sin(angle)].forEach((at, axis) => {
        low[axis] = Math.min(low[axis]!, at);
        high[axis] = Math.max(high[axis]!, at);
      });
    }
  }
  const knot = TREE_SPACING * sight.worldScale;
  const span = halfSides.map((half, axis) => {
    const reach = half * (1 + 2 * beyond);
    const first = Math.floor((Math.max(low[axis]!, -reach) + half) / (knot * stride)) - 1;
    const last = Math.ceil((Math.min(high[axis]!, reach) + half) / (knot * stride)) + 1;
    return { first: first * stride, count: last - first };
  });
  const [x, y] = span as [{ first: number; count: number }, { first: number; count: number }];
  if (x.count < 3 || y.count < 3) return null;
  return { ...ring, first: [x.first, y.first], count: [x.count, y.count] };
}

/** Where the view looks on the map, and how far to either side it reaches; in radians. */
function visibleAngle({ forward, opening }: Sight): { heading: number; aside: number } {
  const heading = Math.atan2(forward.z, forward.x);
  const level = Math.hypot(forward.x, forward.z);
  // The corners at the bottom reach farthest to the side when the view looks down, those at the top when it looks up.
  const tipped = opening.up * Math.abs(forward.y);
  if (level - tipped <= 0.05) return { heading, aside: Math.PI };
  const corners = [opening.left, opening.right].flatMap((x) =>
    [level - tipped, level + tipped].map((ahead) => Math.atan2(x, ahead)),
  );
  const [left, right] = [Math.min(...corners), Math.max(...corners)];
  return { heading: heading + 0.5 * (left + right), aside: 0.5 * (right - left) + 0.05 };
}

/** Heights and widths of rings that make tiers of branches: the lower ones higher and more open, none quite like the next. */
function tiers(count: number): [number, number][] {
  const foot = (i: number): number => (i / count) ** 0.85;
  return Array.from({ length: count }, (_, i): [number, number][] => [
    [foot(i) + 0.02, i % 2 ? 0.86 : 1],
    [foot(i + 1) - 0.02, i % 2 ? 0.46 : 0.55],
  ]).flat();
}

/** A crown of unit size: rings of vertices and a tip. */
function crown(rings: [number, number][], sides: number): BufferGeometry {
  const places: number[] = [];
  const corners: number[] = [];
  for (const [height, width] of rings) {
    for (let i = 0; i < sides; i++) {
      const angle = (2 * Math.PI * i) / sides;
      // Branches, and gaps between them: every second one is shorter and less bent.
      const [out, up] = sides > 4 && i % 2 ? [0.66 * width, height + 0.025 * width] : [width, height];
      places.push(out * Math.cos(angle), up, out * Math.sin(angle));
    }
  }
  const tip = places.length / 3;
  places.push(0, 1, 0);
  for (let ring = 0; ring < rings.length; ring++) {
    for (let i = 0; i < sides; i++) {
      const [a, b] = [ring * sides + i, ring * sides + ((i + 1) % sides)];
      if (ring === rings.length - 1) corners.push(a, tip, b);
      else corners.push(a, a + sides, b, b, a + sides, b + sides);
    }
  }
  const geometry = new InstancedBufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(places, 3));
  geometry.setIndex(corners);
  return geometry;
}
