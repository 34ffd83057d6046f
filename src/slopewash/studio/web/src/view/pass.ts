// A shader run once over every texel of a target.

import type { IUniform, WebGLRenderer, WebGLRenderTarget } from "three";
import {
  BufferGeometry,
  Float32BufferAttribute,
  GLSL3,
  Mesh,
  NoBlending,
  OrthographicCamera,
  Scene,
  ShaderMaterial,
} from "three";
import fullscreen from "../shaders/fullscreen.vert?raw";

export type Uniforms = Record<string, IUniform>;

/** Uniforms with these values at first. */
export function uniformsOf<Values extends object>(values: Values): { [Name in keyof Values]: IUniform<Values[Name]> } {
  const entries = Object.entries(values).map(([name, value]) => [name, { value }]);
  return Object.fromEntries(entries);
}

export class Pass<Own extends Uniforms> {
  private readonly scene = new Scene();
  private readonly camera = new OrthographicCamera();
  private readonly mesh: Mesh<BufferGeometry, ShaderMaterial>;

  constructor(
    fragmentShader: string,
    readonly uniforms: Own,
    vertexShader: string = fullscreen,
  ) {
    const material = new ShaderMaterial({
      glslVersion: GLSL3,
      vertexShader,
      fragmentShader,
      uniforms,
      depthTest: false,
      depthWrite: false,
      blending: NoBlending,
    });
    this.mesh = new Mesh(coveringTriangle(), material);
    this.mesh.frustumCulled = false;
    this.scene.add(this.mesh);
  }

  run(renderer: WebGLRenderer, target: WebGLRenderTarget | null): void {
    renderer.setRenderTarget(target);
    renderer.render(this.scene, this.camera);
    renderer.setRenderTarget(null);
  }

  get material(): ShaderMaterial {
    return this.mesh.material;
  }

  /** Free the GPU's memory. */
  dispose(): void {
    this.mesh.geometry.dispose();
    this.mesh.material.dispose();
  }
}

export function coveringTriangle(): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
  return geometry;
}
