// Eqs. 6-8: what comes in through the neighbours' pipes, and how water moves through the cell.

fn inflow(at: Around) -> vec4<f32> {
  return select(
    vec4<f32>(flux[at.i.x].y, flux[at.i.y].x, flux[at.i.z].w, flux[at.i.w].z), vec4<f32>(0.0), at.none);
}

#if eight
fn slanted_inflow(at: Around) -> vec4<f32> {
  return select(
    vec4<f32>(slanted_flux[at.i.x].w, slanted_flux[at.i.y].z, slanted_flux[at.i.z].y, slanted_flux[at.i.w].x),
    vec4<f32>(0.0), at.none);
}

#endif
fn move_depth(d1: f32, leaving: f32, coming: f32) -> f32 {  // Eqs. 6-7
  return not_negative(d1 + c.dt * (coming - leaving));
}

fn discharge(f: vec4<f32>, come: vec4<f32>) -> vec2<f32> {  // Eq. 8
  return 0.5 * vec2<f32>((come.x - f.x) + (f.y - come.y), (come.z - f.z) + (f.w - come.w));
}

fn velocity(discharged: vec2<f32>, d1: f32, d2: f32) -> vec2<f32> {  // Eq. 8; [Mei07] divides by the mean depth
  if (mean_depth) { return discharged / max(0.5 * (d1 + d2), SHALLOW); }
  return discharged;
}
