// Which item of a list an invocation is: dispatches of many workgroups are folded into rows.

fn item(id: vec3<u32>, groups: vec3<u32>) -> u32 {
  return id.y * groups.x * GROUP + id.x;
}
