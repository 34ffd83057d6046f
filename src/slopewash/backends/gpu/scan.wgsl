// Running sums of blocks of BLOCK numbers, each without its own, and the sum of every block.

@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;

var<workgroup> shared_sums: array<u32, BLOCK>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = group.y * ACROSS + group.x;
  let i = block * BLOCK + lane;
  let there = i < arrayLength(&numbers);
  var own = 0u;
  if (there) { own = numbers[i]; }
  shared_sums[lane] = own;
  for (var reach = 1u; reach < BLOCK; reach *= 2u) {
    workgroupBarrier();
    var before = 0u;
    if (lane >= reach) { before = shared_sums[lane - reach]; }
    workgroupBarrier();
    shared_sums[lane] += before;
  }
  if (there) { numbers[i] = shared_sums[lane] - own; }
  if (lane == BLOCK - 1u && block < arrayLength(&sums)) { sums[block] = shared_sums[lane]; }
}
