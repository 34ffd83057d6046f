// Running sums over a block of BLOCK numbers, four per lane.

const EACH: u32 = 4u;
const BLOCK: u32 = GROUP * EACH;

var<workgroup> lane_sums: array<u32, GROUP>;

struct Scanned {
  before: vec4<u32>,  // sums of all numbers of the block that come earlier
  total: u32,  // of the block
}

fn scan_block(lane: u32, n: vec4<u32>) -> Scanned {
  let upto = vec4<u32>(n.x, n.x + n.y, n.x + n.y + n.z, n.x + n.y + n.z + n.w);
  lane_sums[lane] = upto.w;
  for (var reach = 1u; reach < GROUP; reach *= 2u) {
    workgroupBarrier();
    let own = lane_sums[lane];
    var earlier = 0u;
    if (lane >= reach) { earlier = lane_sums[lane - reach]; }
    workgroupBarrier();
    lane_sums[lane] = own + earlier;
  }
  workgroupBarrier();
  let base = lane_sums[lane] - upto.w;
  return Scanned(vec4<u32>(base, base + upto.x, base + upto.y, base + upto.z), lane_sums[GROUP - 1u]);
}
