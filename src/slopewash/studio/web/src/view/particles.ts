// Particles as small lit spheres, and the adaptive mesh as a wireframe.

import {
  BufferGeometry,
  Float32BufferAttribute,
  GLSL3,
  InterleavedBuffer,
  InterleavedBufferAttribute,
  LineSegments,
  Points,
  ShaderMaterial,
  Uint32BufferAttribute,
} from "three";
import particlesFragment from "../shaders/particles.frag?raw";
import particlesVertex from "../shaders/particles.vert?raw";
import wireFragment from "../shaders/wire.frag?raw";
import wireVertex from "../shaders/wire.vert?raw";
import type { Uniforms } from "./pass";

export class Particles {
  readonly points: Points<BufferGeometry, ShaderMaterial>;

  constructor(uniforms: Uniforms) {
    this.points = new Points(
      new BufferGeometry(),
      new ShaderMaterial({
        glslVersion: GLSL3,
        uniforms,
        vertexShader: particlesVertex,
        fragmentShader: particlesFragment,
      }),
    );
    this.points.frustumCulled = false;
    this.points.visible = false;
    this.points.renderOrder = 3;
  }

  /** Rows of x, y, z in metres and the place in the flow. */
  set(rows: Float32Array | null): void {
    this.points.visible = rows !== null && rows.length > 0;
    if (!rows) return;
    const buffer = new InterleavedBuffer(rows, 4);
    this.points.geometry.dispose();
    this.points.geometry = new BufferGeometry();
    this.points.geometry.setAttribute("position", new InterleavedBufferAttribute(buffer, 3, 0));
    this.points.geometry.setAttribute("inFlow", new InterleavedBufferAttribute(buffer, 1, 3));
  }

  /** Free the GPU's memory. */
  dispose(): void {
    this.points.geometry.dispose();
    this.points.material.dispose();
  }
}

export class Wireframe {
  readonly lines: LineSegments<BufferGeometry, ShaderMaterial>;
  private edges: Uint32Array | null = null;

  constructor(uniforms: Uniforms) {
    this.lines = new LineSegments(
      new BufferGeometry(),
      new ShaderMaterial({
        glslVersion: GLSL3,
        uniforms,
        vertexShader: wireVertex,
        fragmentShader: wireFragment,
        transparent: true,
        depthWrite: false,
      }),
    );
    this.lines.frustumCulled = false;
    this.lines.visible = false;
    this.lines.renderOrder = 4;
  }

  /** Triangles come only when they change; vertices with every frame. */
  set(vertices: Float32Array | null, triangles: Uint32Array | null): void {
    if (triangles) this.edges = edgesOf(triangles);
    this.lines.visible = vertices !== null && this.edges !== null;
    if (!vertices || !this.edges) return;
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry();
    this.lines.geometry.setAttribute("position", new Float32BufferAttribute(vertices, 3));
    this.lines.geometry.setIndex(new Uint32BufferAttribute(this.edges, 1));
  }

  /** Whether its triangles have come. */
  get isKnown(): boolean {
    return this.edges !== null;
  }

  forget(): void {
    this.edges = null;
    this.lines.visible = false;
  }

  /** Free the GPU's memory. */
  dispose(): void {
    this.lines.geometry.dispose();
    this.lines.material.dispose();
  }
}

/** Each edge once, however many triangles share it. */
function edgesOf(triangles: Uint32Array): Uint32Array {
  const seen = new Set<number>();
  const edges: number[] = [];
  for (let i = 0; i < triangles.length; i += 3) {
    for (let side = 0; side < 3; side++) {
      const a = triangles[i + side]!;
      const b = triangles[i + ((side + 1) % 3)]!;
      const key = Math.min(a, b) * 4294967296 + Math.max(a, b);
      if (seen.has(key)) continue;
      seen.add(key);
      edges.push(a, b);
    }
  }
  return Uint32Array.from(edges);
}
