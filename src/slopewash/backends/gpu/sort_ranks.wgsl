// Every item counts the items of its bucket with a smaller index and is placed after them: a deterministic order.

#include "items.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = item(id, groups);
  if (i >= arrayLength(&keys)) { return; }
  let bucket = keys[i].x;
  if (bucket == NO_BUCKET) { return; }
  var place = starts[bucket];
  for (var k = starts[bucket]; k < starts[bucket + 1u]; k++) {
    place += select(0u, 1u, arrivals[k] < i);
  }
  order[place] = i;
}
