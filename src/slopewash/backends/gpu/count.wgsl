// Counts the items of every cell; items whose cell does not exist count nowhere.

@group(0) @binding(0) var<storage, read> cells: array<u32>;
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (group.y * ACROSS + group.x) * BLOCK + lane;
  if (i >= arrayLength(&cells)) { return; }
  if (cells[i] < arrayLength(&counts) - 1u) { atomicAdd(&counts[cells[i]], 1u); }
}
