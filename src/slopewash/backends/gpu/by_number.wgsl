// Orders the items of every cell by their number, so that sums over them come out alike in every run.

@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read_write> order: array<u32>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let cell = (group.y * ACROSS + group.x) * BLOCK + lane;
  if (cell >= arrayLength(&starts) - 1u) { return; }
  let first = starts[cell];
  for (var k = first + 1u; k < starts[cell + 1u]; k++) {  // few items share a cell
    let item = order[k];
    var at = k;
    while (at > first && order[at - 1u] > item) {
      order[at] = order[at - 1u];
      at -= 1u;
    }
    order[at] = item;
  }
}
