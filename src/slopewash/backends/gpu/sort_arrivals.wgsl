// Every item goes into its bucket in order of arrival, which differs from run to run.

#include "items.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = item(id, groups);
  if (i >= arrayLength(&keys)) { return; }
  let key = keys[i];  // bucket, how many came before
  if (key.x != NO_BUCKET) { arrivals[starts[key.x] + key.y] = i; }
}
