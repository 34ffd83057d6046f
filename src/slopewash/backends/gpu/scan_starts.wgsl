// Start of each bucket: the sum before its block plus the sum before it in the block.

#include "items.wgsl"
#include "scan.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = item(id, groups);
  if (i < arrayLength(&starts) - 1u) { starts[i] += totals[i / BLOCK]; }
}
