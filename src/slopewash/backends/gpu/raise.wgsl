// Adds to every block what lies before it.

@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(1) var<storage, read> before: array<u32>;

@compute @workgroup_size(BLOCK)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = group.y * ACROSS + group.x;
  let i = block * BLOCK + lane;
  if (i < arrayLength(&numbers)) { numbers[i] += before[block]; }
}
