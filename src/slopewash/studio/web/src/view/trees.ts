// Trees as geometry. The shader places them; here is only which part of the ground around the eye gets how many, in rings that are
// twice as coarse each, so that their number is bounded.

import type { BufferGeometry, Scene, ShaderMaterial } from "three";
import { Float32BufferAttribute, InstancedBufferGeometry, Mesh, Vector2, type Vector3, Vector4 } from "three";
import type { Uniforms } from "./pass";

/** Metres between two places for a tree in the nearest ring. */
export const TREE_SPACING = 6.5;
/** Rings at most; beyond, woods are only painted. */
const RINGS = 6;
/** How far the nearest ring reaches at most, in places for a tree. */
const FARTHEST = 400;
/** Pixels that a tree is high at least to be drawn in tiers, and to throw a shadow of its own. */
const PIXELS = { tiers: 26, shadow: 7 };
/** Metres that a tree is usually high. */
const USUAL = 14;
/** Steps in which the visible part of a ring is outlined. */
const STEPS = 12;

/** What is seen of the ground, in world units. */
export interface Sight {
  eye: Vector3;
  forward: Vector3;
  /** Half of what is visible, as tangents to the right and up. */
  opening: { x: number; y: number };
  halfSides: [number, number];
  /** Sides of the block that the ground goes on beyond it. */
  beyond: number;
  worldScale: number;
  pixelsPerUnit: number;
}

/** Knots of a grid that a ring covers: the first, how many east and south, how many of the finest grid apart; and its radii. */
interface Part {
  first: [number, number];
  count: [number, number];
  stride: number;
  from: number;
  to: number;
}

type TreeMesh = Mesh<InstancedBufferGeometry, ShaderMaterial>;

export class Trees {
  /** Places for trees in the newest image; not all of them suit one. */
  places = 0;
  private readonly rings: { trees: TreeMesh; shadows: TreeMesh; own: { knots: Vector4; ring: Vector2 } }[] = [];
  private readonly tiered = crown(tiers(4), 8);
  private readonly plain = crown([[0.02, 1], [0.45, 1]], 4); // biome-ignore format: two rings

  constructor(
    private readonly scene: Scene,
    private readonly uniforms: Uniforms,
    private readonly material: (own: Uniforms, shadow: boolean) => ShaderMaterial,
  ) {}

  get isShown(): boolean {
    return this.rings.some(({ trees }) => trees.visible);
  }

  hide(): void {
    this.places = 0;
    for (const { trees, shadows } of this.rings) trees.visible = shadows.visible = false;
  }

  /** Show trees for this sight, on at most so many places. */
  show(sight: Sight, most: number): void {
    while (this.rings.length < RINGS) this.addRing();
    let near = FARTHEST * TREE_SPACING * sight.worldScale;
    let parts = partsOf(sight, near);
    while (placesIn(parts) > most) {
      near *= 0.85;
      parts = partsOf(sight, near);
    }
    this.places = placesIn(parts);
    for (const [i, { trees, shadows, own }] of this.rings.entries()) {
      const part = parts[i];
      trees.visible = part != null;
      shadows.visible = false;
      if (!part) continue;
      own.knots.set(...part.first, part.count[0], part.stride);
      own.ring.set(part.from, part.to);
      const pixels = (USUAL * sight.worldScale * sight.pixelsPerUnit) / Math.max(part.from, 0.3 * part.to);
      const count = part.count[0] * part.count[1];
      use(trees.geometry, pixels > PIXELS.tiers ? this.tiered : this.plain, count);
      use(shadows.geometry, this.plain, count);
      shadows.visible = pixels > PIXELS.shadow;
    }
  }

  private addRing(): void {
    const own = { knots: new Vector4(), ring: new Vector2() };
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

function placesIn(parts: (Part | null)[]): number {
  return parts.reduce((sum, part) => sum + (part ? part.count[0] * part.count[1] : 0), 0);
}

/** The rings around the eye, the nearest first; null where nothing of one is visible. */
function partsOf(sight: Sight, near: number): (Part | null)[] {
  return Array.from({ length: RINGS }, (_, i) =>
    partOf(sight, i === 0 ? 0 : near * 2 ** (i - 1), near * 2 ** i, 2 ** i),
  );
}

/** The rectangle around what is visible of a ring. */
function partOf(sight: Sight, from: number, to: number, stride: number): Part | null {
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
  return { first: [x.first, y.first], count: [x.count, y.count], stride, from, to };
}

/** Where the view looks on the map, and how far to either side it reaches; in radians. */
function visibleAngle({ forward, opening }: Sight): { heading: number; aside: number } {
  const level = Math.hypot(forward.x, forward.z);
  // The corners at the bottom reach farthest to the side when the view looks down.
  const ahead = level - opening.y * Math.abs(forward.y);
  const aside = ahead > 0.05 ? Math.min(Math.atan2(opening.x, ahead) + 0.05, Math.PI) : Math.PI;
  return { heading: Math.atan2(forward.z, forward.x), aside };
}

/** Heights and widths of rings that make tiers of branches. */
function tiers(count: number): [number, number][] {
  return Array.from({ length: count }, (_, i): [number, number][] => [
    [i / count + 0.02, 1],
    [(i + 1) / count - 0.01, 0.4],
  ]).flat();
}

/** A crown of unit size: rings of vertices and a tip. */
function crown(rings: [number, number][], sides: number): BufferGeometry {
  const places: number[] = [];
  const corners: number[] = [];
  for (const [height, width] of rings) {
    for (let i = 0; i < sides; i++) {
      const angle = (2 * Math.PI * i) / sides;
      places.push(width * Math.cos(angle), height, width * Math.sin(angle));
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
