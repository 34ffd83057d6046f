// Every item goes into its bucket where it arrived: an order that no two runs share.

#include "items.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = item(id, groups);
  if (i >= arrayLength(&keys)) { return; }
  let key = keys[i];  // bucket, how many came before
  if (key.x != NO_BUCKET) { arrivals[starts[key.x] + key.y] = i; }
}
