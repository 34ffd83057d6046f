// Puts every item into its cell's part of the order, in whatever order the lanes come.

@group(0) @binding(0) var<storage, read> cells: array<u32>;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> filled: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> order: array<u32>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = (group.y * ACROSS + group.x) * BLOCK + lane;
  if (i >= arrayLength(&cells)) { return; }
  let cell = cells[i];
  if (cell < arrayLength(&starts) - 1u) { order[starts[cell] + atomicAdd(&filled[cell], 1u)] = i; }
}
