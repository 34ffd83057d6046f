// Moves each particle for Δt [Bezin10, Sec. 3.1]: it touches at most one triangle and never ends below the surface. What
// it erodes goes to the triangle's corners in 64-bit fixed point, which adds up alike in any order.

#include "items.wgsl"
#include "fixed_point.wgsl"
#include "ground.wgsl"

// Keep the speed along the ground; what goes into it is lost but for the bounce.
fn slip(t: i32, v: vec3<f32>) -> vec3<f32> {
  let n = normal(t);
  return v - (1.0 + flow.bounce) * min(0.0, dot(v, n)) * n;
}

fn credit(vertex: i32, amount: f32) {
  let a = fixed(amount);
  let carry = select(0u, 1u, atomicAdd(&eroded[vertex][0], a.x) > ~a.x);
  atomicAdd(&eroded[vertex][1], a.y + carry);
}

// Eq. 1, shared by the corners.
fn erode(t: i32, speed: f32) {
  let C = flow.erosion * part(t, 0).w * speed;
  let corners = triangles[PARTS * t + 3];
  let shares = part(t, 4);
  credit(corners.x, C * shares.x);
  credit(corners.y, C * shares.y);
  credit(corners.z, C * shares.z);
}

fn accelerated(i: u32) -> vec3<f32> {
  let push = pushes[i].xyz - vec3<f32>(0.0, 0.0, flow.gravity);
  let v = (velocities[i].xyz + flow.dt * push) * flow.slowing;
  return v * min(1.0, flow.fastest / max(length(v), TINY));
}

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = item(id, groups);
  if (i32(i) >= flow.particles) { return; }
  let s = states[i];
  if (s.y != ALIVE || s.z >= 0 || s.w < 0) { return; }  // times have run on since the particle entered its bucket
  var v = accelerated(i);
  let speed = length(v);
  let x = positions[i].xyz;
  let hit = first_hit(s.x, x, flow.dt * v);
  var touched = hit.triangle;
  var way = flow.dt * v;
  if (touched >= 0) {
    let after = slip(touched, v);
    way = flow.dt * (hit.share * v + (1.0 - hit.share) * after);
    v = after;
  }
  var end = x + way;
  if (!(flow.west <= end.x && end.x <= flow.east && flow.north <= end.y && end.y <= flow.south)) {
    states[i].y = LEFT;
  } else {
    var at = s.x;
    if (!(inside(at, end.xy) >= 0.0)) { at = locate(end.xy); }
    states[i].x = at;
    let p = plane(at);
    let rise = p.gradient * (end.xy - p.corner.xy);
    if (touched < 0 && (x.z - p.corner.z) + way.z < rise.x + rise.y) {
      touched = at;
      v = slip(at, v);
    }
    let ground = p.corner.z + (rise.x + rise.y);
    end.z = max(end.z, ground + CLEARANCE + DIGITS * (abs(ground) + abs(rise.x) + abs(rise.y)));
  }
  positions[i] = vec4<f32>(end, 0.0);
  velocities[i] = vec4<f32>(v, 0.0);
  if (touched >= 0) { erode(touched, speed); }
}
