// Running sums of the counts within each block, and the block's total; counts are reset to zero.

#include "scan.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let block = group.y * groups.x + group.x;
  let first = block * BLOCK + lane * EACH;
  var n = vec4<u32>(0u);
  if (first < arrayLength(&counts)) {
    for (var k = 0u; k < EACH; k++) {
      n[k] = atomicLoad(&counts[first + k]);
      atomicStore(&counts[first + k], 0u);
    }
  }
  let scanned = scan_block(lane, n);
  if (first < arrayLength(&counts)) {
    for (var k = 0u; k < EACH; k++) { starts[first + k] = scanned.before[k]; }
    if (lane == 0u) { totals[block] = scanned.total; }
  }
}
