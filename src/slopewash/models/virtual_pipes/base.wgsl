// Elevation that changes are counted from; where maps multiply parameters, they are in the same buffer.
fn base(i: i32) -> f32 {
#if mapped
  let here = level[i].x;
#endif
#if unmapped
  let here = level[i];
#endif
  return here;
}
