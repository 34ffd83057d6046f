// One particle for some of its steps [Chiba98, Sec. 2.1]; operations are those of reference.py, in float32. The grid
// has a ring of cells beyond the edges, so that cell (i, j) of the terrain is (i + 1, j + 1) here.

#include "grid.wgsl"
#include "fixed_point.wgsl"

struct Particle {
  i: i32,
  j: i32,
  oy: f32,
  ox: f32,
  v: vec3<f32>,  // south, east, up
  w: f32,
  stayed: i32,
}

fn T(i: i32, j: i32) -> f32 {
  return surface[place(i, j)].x;
}

fn escape(i: i32, j: i32) -> f32 {
  return surface[place(i, j)].y;
}

// Add to a cell's sums in 64-bit fixed point: the carry comes from what the low half was before.
fn credit_flow(cell: i32, entry: u32, amount: f32) {
  let a = fixed(amount);
  let carry = select(0u, 1u, atomicAdd(&flow[cell][2u * entry], a.x) > ~a.x);
  atomicAdd(&flow[cell][2u * entry + 1u], a.y + carry);
}

fn credit_passing(cell: i32, entry: u32, amount: f32) {
  let a = fixed(amount);
  let carry = select(0u, 1u, atomicAdd(&passing[cell][2u * entry], a.x) > ~a.x);
  atomicAdd(&passing[cell][2u * entry + 1u], a.y + carry);
}

fn enter(p: Particle, with_water: bool) {
  let cell = place(p.i, p.j);
  if (with_water) { credit_passing(cell, WATER, p.w); }
  credit_flow(cell, SOUTH, p.w * p.v.x);
  credit_flow(cell, EAST, p.w * p.v.y);
}

// Gradient (south, east) of the triangle at an offset, in the quarter of the cell given by the signs.
fn triangle(p: Particle, sy: i32, sx: i32) -> vec2<f32> {
  let a = T(p.i, p.j);
  let b = T(p.i, p.j + sx);
  let e = T(p.i + sy, p.j);
  let d = T(p.i + sy, p.j + sx);
  let ty = abs(p.oy);
  let tx = abs(p.ox);
  var g = vec2<f32>(e - a, b - a);
  if (a + d < b + e) {  // the common edge runs from this cell to the diagonal one
    if (tx > ty) {
      g.x = d - b;
    } else if (ty > tx) {
      g.y = d - e;
    } else {
      g = 0.5 * vec2<f32>((d - b) + (e - a), (b - a) + (d - e));
    }
  }
  return vec2<f32>(f32(sy), f32(sx)) * g;
}

// Between two triangles the gradient is their mean.
fn gradient(p: Particle) -> vec2<f32> {
  if (p.oy == 0.0 && p.ox == 0.0) {
    return 0.5 * vec2<f32>(T(p.i + 1, p.j) - T(p.i - 1, p.j), T(p.i, p.j + 1) - T(p.i, p.j - 1));
  }
  let sy = select(1, -1, p.oy < 0.0);
  let sx = select(1, -1, p.ox < 0.0);
  var g = triangle(p, sy, sx);
  if (p.oy == 0.0) { g.x = 0.5 * (g.x + triangle(p, -sy, sx).x); }
  if (p.ox == 0.0) { g.y = 0.5 * (g.y + triangle(p, sy, -sx).y); }
  return g;
}

// Return a·Δt: down the gradient at the particle, or towards the cell's steepest neighbour as published.
fn steer(p: Particle, g: vec2<f32>) -> vec3<f32> {
#if steepest
  return pulls[place(p.i, p.j)].xyz;
#endif
#if downhill
  let square = g.x * g.x + g.y * g.y;
  let level = motion.pull / (1.0 + square);
  return vec3<f32>(-g * level, -square * level);
#endif
}

struct Moved {
  v: vec3<f32>,
  e: f32,
}

// v' = (v_t·v) v_t with v_t the ground's tangent below v, and e = |v - v'|²/2 if v' points higher than v.
fn onto_ground(v: vec3<f32>, g: vec2<f32>) -> Moved {
  let square = v.x * v.x + v.y * v.y;
  if (square == 0.0) { return Moved(vec3<f32>(0.0), 0.0); }
  let level = sqrt(square);
  let s = (g.x * v.x + g.y * v.y) / level;
  let per_q = 1.0 / (1.0 + s * s);
  let along = (level + s * v.z) * per_q;
  let into = max(s * level - v.z, 0.0);
  return Moved(vec3<f32>(v.xy * (along / level), s * along), 0.5 * into * into * per_q);
}

fn beyond_cell(offset: f32) -> i32 {
  return select(0, 1, offset > 0.5) - select(0, 1, offset < -0.5);
}

// One step; returns what the particle does then.
fn step_on(q: ptr<function, Particle>, first: bool) -> i32 {
  let p = *q;
  let g = gradient(p);
  let hit = onto_ground(p.v + steer(p, g), g);
  let cell = place(p.i, p.j);
  credit_passing(cell, ENERGY, p.w * hit.e);
  let square = (hit.v.x * hit.v.x + hit.v.y * hit.v.y) + hit.v.z * hit.v.z;
  (*q).v = hit.v / sqrt(max(square, 1.0));
  if (first) { enter(*q, false); }
  (*q).stayed += 1;
  let capped = min(square, 1.0);
  let going = capped > 0.0 && capped >= motion.slowest * motion.slowest && 0.5 * capped > escape(p.i, p.j);
  if (!going || (*q).stayed > motion.longest_stay) { return STOPPED; }
  (*q).oy += (*q).v.x;
  (*q).ox += (*q).v.y;
  let di = beyond_cell((*q).oy);
  let dj = beyond_cell((*q).ox);
  if (di == 0 && dj == 0) { return RUNNING; }
  (*q).i += di;
  (*q).j += dj;
  (*q).oy -= f32(di);
  (*q).ox -= f32(dj);
  if ((*q).i < 1 || (*q).i > grid.height - 2 || (*q).j < 1 || (*q).j > grid.width - 2) { return LEFT; }
  if (escape((*q).i, (*q).j) == NODATA) { return STOPPED; }
  (*q).stayed = 0;
  enter(*q, true);
  return RUNNING;
}

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (i32(id.x) >= grid.width) { return; }
  let home = place(grid.first + i32(id.y), i32(id.x));
  let way = ways[home];  // row and column, steps done, what it does
  if (way.w != RUNNING) { return; }
  let float_state = states[home];
  let rises = climbs[home];
  var p = Particle(
    way.x, way.y, float_state.x, float_state.y, vec3<f32>(float_state.zw, rises.x), rises.y, i32(rises.z));
  var done = way.z;
  var doing = RUNNING;
  if (done == 0) { credit_passing(home, WATER, p.w); }
  for (var k = 0; k < STEPS_AT_ONCE && doing == RUNNING; k++) {
    doing = step_on(&p, done == 0);
    done += 1;
    if (done >= motion.most_steps && doing == RUNNING) { doing = STOPPED; }
  }
  ways[home] = vec4<i32>(p.i, p.j, done, doing);
  states[home] = vec4<f32>(p.oy, p.ox, p.v.x, p.v.y);
  climbs[home] = vec4<f32>(p.v.z, p.w, f32(p.stayed), 0.0);
}
