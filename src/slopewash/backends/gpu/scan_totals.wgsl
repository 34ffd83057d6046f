// Running sums of the blocks' totals, by one workgroup, block after block; the sum of all goes to the end of `starts`.

#include "scan.wgsl"

@compute @workgroup_size(GROUP)
fn main(@builtin(local_invocation_index) lane: u32) {
  let length = arrayLength(&totals);
  var before = 0u;
  for (var block = 0u; block < length; block += BLOCK) {
    let first = block + lane * EACH;
    var n = vec4<u32>(0u);
    for (var k = 0u; k < EACH; k++) {
      if (first + k < length) { n[k] = totals[first + k]; }
    }
    workgroupBarrier();
    let scanned = scan_block(lane, n);
    for (var k = 0u; k < EACH; k++) {
      if (first + k < length) { totals[first + k] = before + scanned.before[k]; }
    }
    before += scanned.total;
  }
  if (lane == 0u) { starts[arrayLength(&starts) - 1u] = before; }
}
