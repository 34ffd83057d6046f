// Budget sums of the cells of a workgroup, added to the entries of that workgroup in fixed point.

#include "fixed_point.wgsl"

const PART: u32 = 8u;

var<workgroup> lanes: array<vec4<f32>, GROUP>;

// Sum over the workgroup in a fixed order; valid in lane 0 only.
fn sum_lanes(lane: u32, amounts: vec4<f32>) -> vec4<f32> {
  lanes[lane] = amounts;
  workgroupBarrier();
  if (lane % PART == 0u) {
    var part = amounts;
    for (var k = 1u; k < PART; k++) { part += lanes[lane + k]; }
    lanes[lane] = part;
  }
  workgroupBarrier();
  var whole = lanes[0];
  for (var k = PART; k < GROUP; k += PART) { whole += lanes[k]; }
  return whole;
}

// Whether a cell counts in the budget: what lies in the margin of a tile is counted elsewhere.
fn counts(y: i32, x: i32) -> bool {
  return y >= COUNT_FROM_ROW && y < COUNT_TO_ROW && x >= COUNT_FROM_COLUMN && x < COUNT_TO_COLUMN;
}

fn add_sum(group: vec3<u32>, entry: u32, amount: f32) {
  let row = u32(grid.first) + group.y;
  let at = (row * (u32(grid.stride) / GROUP) + group.x) * ENTRIES + entry;
  sums[at] = add_fixed(sums[at], fixed(amount));
}
