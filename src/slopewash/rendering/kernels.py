"""The loops of a picture: light swept across the grid, colours as a camera sees them, rays cast at the ground.

Compiled on first use and cached. Kernels take arrays and numbers, hold no lock of Python, and are run on threads over
independent directions of light and columns of a picture, so that results do not depend on the number of threads. All
of them are in this file, since Numba's cache follows the changes of one file.
"""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel, row_kernel

ONE, ZERO, HALF, TWO = np.float32(1), np.float32(0), np.float32(0.5), np.float32(2)
NOWHERE = np.float32(-1e30)
"""Height of the light plane where no ground is in front of it."""
FIRST, THIRD, SIXTH, NINTH = np.uintp(1), np.uintp(3), np.uintp(6), np.uintp(9)
BACKDROP, GROUND, WALL = 0, 1, 2
"""What a pixel shows."""


@row_kernel
def _descend(near, far, near_way, far_way, ground, rest, share, drop, stride, fade, plane, way, lit):
    """Carry the plane of light on by a row, and find how much of the light reaches the ground."""
    for c in range(len(ground)):
        carried = near[c] * rest + far[c] * share - drop
        distance = near_way[c] * rest + far_way[c] * share + stride
        below = max(carried - ground[c], ZERO)
        lit[c] = ONE - min(below * fade / distance, ONE)
        way[c] = distance if below > ZERO else ZERO
        plane[c] = max(carried, ground[c])


@row_kernel
def _add_facing(lit, along, up, flat, tall, weight, out):
    for c in range(len(lit)):
        out[c] += weight * lit[c] * max(along[c] * flat + up[c] * tall, ZERO)


@row_kernel
def _add(lit, weight, out):
    for c in range(len(lit)):
        out[c] += weight * lit[c]


@row_kernel
def _along(east, north, sine, cosine, out):
    for c in range(len(out)):
        out[c] = east[c] * sine + north[c] * cosine


@kernel
def sweep(
    height, east, north, up, sine, cosine, backwards, shift, stride, tangents, fade, level, rise, weight, plain,
    buffers, out,
):  # fmt: skip
    """Add the light of one direction to every cell: a plane of light descends row by row, from the last if `backwards`.

    `tangents` are those of several altitudes, `level` and `rise` the parts of the light along and across the ground.
    With `plain`, cells take it whichever way they face. `buffers` has room for a plane and the way it has come, twice,
    for each altitude and two columns more than the grid: NOWHERE and 0.
    """
    rows, columns = height.shape
    whole = -1 if shift < ZERO else 0
    share = shift - np.float32(whole)
    rest = ONE - share
    a, b = 1 + whole, 2 + whole
    lit, along = buffers[0, 0, 0, :columns], buffers[0, 0, 1, :columns]
    for step in range(rows):
        now, then = 1 + step % 2, 1 + (step + 1) % 2
        row = rows - 1 - step if backwards else step
        if not plain:
            _along(east[row], north[row], sine, cosine, along)
        for k in range(len(tangents)):
            plane, way = buffers[then, k, 0], buffers[then, k, 1]
            _descend(
                plane[a : a + columns], plane[b : b + columns], way[a : a + columns], way[b : b + columns],
                height[row], rest, share, tangents[k] * stride, stride, fade,
                buffers[now, k, 0, 1 : 1 + columns], buffers[now, k, 1, 1 : 1 + columns], lit,
            )  # fmt: skip
            if plain:
                _add(lit, weight, out[row])
            else:
                _add_facing(lit, along, up[row], level[k], rise[k], weight, out[row])


@kernel
def see_block(
    ground,
    wet,
    shown,
    mirror,
    calm,
    surface,
    sky,
    haze,
    haze_far,
    fresnel,
    eye,
    corner,
    cell,
    forward,
    nearest,
    reach,
    watery,
    first,
    last,
    out,
):
    """Colour of the cells of some rows as a camera outside sees them: reflections on water, and haze with distance."""
    columns = surface.shape[1]
    for i in range(first, last):
        north = corner[1] - np.float32(i) * cell - eye[1]
        for j in range(columns):
            east = np.float32(j) * cell - corner[0] - eye[0]
            red, green, blue = ground[i, j, 0], ground[i, j, 1], ground[i, j, 2]
            if watery and shown[i, j] > ZERO:
                up = surface[i, j] - eye[2]
                away = np.sqrt(east * east + north * north + up * up)
                towards = -(calm[0, i, j] * east + calm[1, i, j] * north + calm[2, i, j] * up) / away
                miss = ONE - min(max(towards, ZERO), ONE)
                mirrored = fresnel + (ONE - fresnel) * miss * miss * miss * miss * miss
                bright, part = mirror[i, j], shown[i, j]
                r = wet[i, j, 0] + (sky[0] * bright - wet[i, j, 0]) * mirrored
                g = wet[i, j, 1] + (sky[1] * bright - wet[i, j, 1]) * mirrored
                b = wet[i, j, 2] + (sky[2] * bright - wet[i, j, 2]) * mirrored
                red, green, blue = red + (r - red) * part, green + (g - green) * part, blue + (b - blue) * part
            ahead = east * forward[0] + north * forward[1]
            far = min(max((ahead - nearest) / reach, ZERO), ONE)
            veil = haze_far * far * np.sqrt(far)
            out[i, j, 0] = red + (haze[0] - red) * veil
            out[i, j, 1] = green + (haze[1] - green) * veil
            out[i, j, 2] = blue + (haze[2] - blue) * veil


@kernel
def cast(surface, cell, corner, eye, east, north, enter, leave, upward, step, inside, first, last, reached, kind):
    """Find what every pixel of some columns shows: how far along its ray the ground is, or the cut wall, or nothing.

    `upward` are the tangents of the pixels from top to bottom, `east` and `north` the rays of the columns, which cross
    the block from `enter` to `leave`.
    """
    rows = len(upward)
    height, width = surface.shape
    low, right = np.float32(height - 1), np.float32(width - 1)
    for c in range(first, last):
        length = leave[c] - enter[c]
        if length <= ZERO:
            continue
        speed = np.sqrt(east[c] * east[c] + north[c] * north[c])
        steps = max(2, int(np.ceil(length * speed / (step * cell))))
        row = rows - 1
        highest = NOWHERE
        before = ZERO
        for s in range(steps + 1):
            depth = enter[c] + np.float32(s) / np.float32(steps) * length
            i = min(max((corner[1] - eye[1] - depth * north[c]) / cell, ZERO), low)
            j = min(max((eye[0] + depth * east[c] + corner[0]) / cell, ZERO), right)
            i0, j0 = min(int(i), height - 2), min(int(j), width - 2)
            down, across = i - np.float32(i0), j - np.float32(j0)
            top = surface[i0, j0] * (ONE - across) + surface[i0, j0 + 1] * across
            foot = surface[i0 + 1, j0] * (ONE - across) + surface[i0 + 1, j0 + 1] * across
            slope = (top * (ONE - down) + foot * down - eye[2]) / depth
            if slope > highest:
                highest = slope
                while row >= 0 and upward[row] <= slope:
                    if s == 0:
                        kind[row, c] = GROUND if inside else WALL
                        reached[row, c] = depth
                    else:
                        part = (upward[row] - before) / max(slope - before, np.float32(1e-12))
                        part = np.float32(s - 1) + min(max(part, np.float32(1e-4)), ONE)
                        kind[row, c] = GROUND
                        reached[row, c] = enter[c] + part / np.float32(steps) * length
                    row -= 1
                if row < 0:
                    break
            before = slope


@kernel
def paint(drape, cell, corner, eye, east, north, reached, kind, table, scale, first, last, picture):
    """Colour the pixels of some columns that show ground, by bilinear samples of the drape, as display values."""
    height, width = drape.shape[:2]
    low, right = np.float32(height - 1), np.float32(width - 1)
    top_entry = len(table) - 1
    for r in range(kind.shape[0]):
        for c in range(first, last):
            if kind[r, c] != GROUND:
                continue
            depth = reached[r, c]
            i = min(max((corner[1] - eye[1] - depth * north[c]) / cell, ZERO), low)
            j = min(max((eye[0] + depth * east[c] + corner[0]) / cell, ZERO), right)
            i0, j0 = min(int(i), height - 2), min(int(j), width - 2)
            down, across = i - np.float32(i0), j - np.float32(j0)
            a, b = (ONE - down) * (ONE - across), (ONE - down) * across
            d, e = down * (ONE - across), down * across
            for k in range(3):
                light = (drape[i0, j0, k] * a + drape[i0, j0 + 1, k] * b
                         + drape[i0 + 1, j0, k] * d + drape[i0 + 1, j0 + 1, k] * e)  # fmt: skip
                picture[r, c, k] = table[min(int(np.sqrt(max(light, ZERO)) * scale + HALF), top_entry)]


@kernel
def _rising(low, high, value):
    t = min(max((value - low) / (high - low), ZERO), ONE)
    return t * t * (np.float32(3) - TWO * t)


@kernel
def rock_at(height, ground, top, bedrock, i, j, colours, depths, grain, turf, turf_depth):
    """Linear-light colour of a cut, in uniform light, at a height below the ground.

    The first layer also reaches above its `top`; soil above the `bedrock` is the last of the colours. `i` and `j` are
    rows and columns of the grain.
    """
    rows, columns = grain.shape
    layer = 0
    while layer + 1 < len(depths) and depths[layer + 1] <= top - height:
        layer += 1
    if height > bedrock:
        layer = len(colours) - 1
    i = min(max(i, ZERO), np.float32(rows - 1))
    j = min(max(j, ZERO), np.float32(columns - 1))
    i0, j0 = min(int(i), rows - 2), min(int(j), columns - 2)
    down, across = i - np.float32(i0), j - np.float32(j0)
    upper = grain[i0, j0] * (ONE - across) + grain[i0, j0 + 1] * across
    lower = grain[i0 + 1, j0] * (ONE - across) + grain[i0 + 1, j0 + 1] * across
    light = upper * (ONE - down) + lower * down
    buried = (ground - height) / turf_depth
    covered = ONE - _rising(np.float32(0.6), np.float32(1.6), buried)
    red, green, blue = colours[layer, 0] * light, colours[layer, 1] * light, colours[layer, 2] * light
    return (red + (turf[0] - red) * covered, green + (turf[1] - green) * covered, blue + (turf[2] - blue) * covered)


@kernel
def _water_in_cut(waters, k, deep, silty, muddy):
    """One component of the colour of water, of which there is clear, deep, silty and muddy."""
    shade = waters[0, k] + (waters[1, k] - waters[0, k]) * deep
    shade += (waters[2, k] - shade) * silty
    return shade + (waters[3, k] - shade) * muddy


@kernel
def paint_walls(
    colours,
    depths,
    grain,
    turf,
    turf_depth,
    fine,
    top,
    bedrock,
    along,
    ground,
    surface,
    silty,
    muddy,
    waters,
    absorbed,
    shore,
    watery,
    sunny,
    foot,
    dark,
    light,
    reach,
    eye,
    base,
    enter,
    upward,
    kind,
    table,
    scale,
    first,
    last,
    picture,
):
    """Colour the pixels of some columns that show the cut: rock, and water on the surface in cross-section.

    Below the `foot` of the block is the floor. Light of the sky grows from `dark` to `light` over a height of `reach`.
    """
    top_entry = len(table) - 1
    for r in range(kind.shape[0]):
        for c in range(first, last):
            if kind[r, c] != WALL:
                continue
            if upward[r] < foot[c]:
                kind[r, c] = BACKDROP
                continue
            height = eye[2] + upward[r] * enter[c]
            above = height - base
            red, green, blue = rock_at(
                height, ground[c], top[c], bedrock[c], above * fine, along[c], colours, depths, grain, turf, turf_depth
            )
            if watery:
                inside = _rising(ZERO, shore, height - ground[c])
                deep = _rising(ZERO, absorbed, surface[c] - height)
                red += (_water_in_cut(waters, 0, deep, silty[c], muddy[c]) - red) * inside
                green += (_water_in_cut(waters, 1, deep, silty[c], muddy[c]) - green) * inside
                blue += (_water_in_cut(waters, 2, deep, silty[c], muddy[c]) - blue) * inside
            bright = sunny[c] + dark + (light - dark) * _rising(ZERO, reach, above)
            picture[r, c, 0] = table[min(int(np.sqrt(max(red * bright, ZERO)) * scale + HALF), top_entry)]
            picture[r, c, 1] = table[min(int(np.sqrt(max(green * bright, ZERO)) * scale + HALF), top_entry)]
            picture[r, c, 2] = table[min(int(np.sqrt(max(blue * bright, ZERO)) * scale + HALF), top_entry)]


@kernel
def paint_backdrop(
    lines,
    row_of,
    across,
    vignette,
    base,
    eye,
    half,
    shadow,
    fine,
    east,
    north,
    upward,
    kind,
    table,
    scale,
    first,
    last,
    picture,
):
    """Colour the pixels of some columns that show neither ground nor wall: sky, haze and the floor with its shadow.

    `lines` are the square roots of the light of the rows; `shadow` is the light beside the foot of the block, in steps
    of which there are `fine` in a metre.
    """
    top_entry = len(table) - 1
    far = np.float32(len(shadow) - 1) / fine
    for r in range(kind.shape[0]):
        floor = (base - eye[2]) / min(upward[r], np.float32(-1e-4))
        y = TWO * row_of[r] - ONE
        for c in range(first, last):
            if kind[r, c] != BACKDROP:
                continue
            x = TWO * across[c] - ONE
            light = ONE - vignette * min((x * x + y * y) / TWO, ONE)
            out_x = max(abs(eye[0] + floor * east[c]) - half[0], ZERO)
            out_y = max(abs(eye[1] + floor * north[c]) - half[1], ZERO)
            square = out_x * out_x + out_y * out_y
            if square < far * far:
                outside = np.sqrt(square) * fine
                step = min(int(outside), len(shadow) - 2)
                light *= shadow[step] + (shadow[step + 1] - shadow[step]) * (outside - np.float32(step))
            root = np.sqrt(light) * scale
            for k in range(3):
                picture[r, c, k] = table[min(int(lines[r, k] * root + HALF), top_entry)]


@kernel
def see_inside(
    ground,
    wet,
    shown,
    mirror,
    calm,
    surface,
    glow,
    air,
    shine,
    sky,
    fresnel,
    contrast,
    blue_first,
    eye,
    corner,
    cell,
    low,
    thinning,
    diagonal,
    density,
    power,
    watery,
    first,
    last,
    out,
):
    """Colour of the cells of some rows as a camera among them sees them: through haze that is densest in the valleys.

    The fourth component is the contrast of what is too small for the cells, the fifth the share of water. `glow` is the
    direction of the sun, towards which the haze, `air`, shines.
    """
    columns = surface.shape[1]
    for i in range(first, last):
        north = corner[1] - np.float32(i) * cell - eye[1]
        for j in range(columns):
            east = np.float32(j) * cell - corner[0] - eye[0]
            up = surface[i, j] - eye[2]
            level = max(np.sqrt(east * east + north * north), np.float32(1e-6))
            away = np.sqrt(level * level + up * up)
            part = ZERO
            mirrored = ZERO
            if watery and shown[i, j] > ZERO:
                towards = -(calm[0, i, j] * east + calm[1, i, j] * north + calm[2, i, j] * up) / away
                miss = ONE - min(max(towards, ZERO), ONE)
                mirrored = fresnel + (ONE - fresnel) * miss * miss * miss * miss * miss
                part = shown[i, j]
            halfway = (surface[i, j] + eye[2]) / TWO - low
            depth = density * (away / diagonal) ** power * np.exp(-halfway / thinning)
            cosine = HALF + HALF * (east * glow[0] + north * glow[1]) / level
            shining = cosine * cosine * cosine * cosine * cosine * cosine
            for k in range(3):
                colour = ground[i, j, k]
                if part > ZERO:
                    water = wet[i, j, k] + (sky[k] * mirror[i, j] - wet[i, j, k]) * mirrored
                    colour += (water - colour) * part
                passed = np.exp(-depth * blue_first[k])
                out[i, j, k] = colour * passed + (air[k] + (shine[k] - air[k]) * shining) * (ONE - passed)
            out[i, j, 3] = contrast[i, j]
            out[i, j, 4] = part


@kernel
def _grain(pattern, side, x, y, z):
    """Trilinear sample of a cube that repeats; its lines run along y."""
    mask = side - 1
    fx, fy, fz = np.floor(x), np.floor(y), np.floor(z)
    a, b, c = x - fx, y - fy, z - fz
    i, j, k = int(fx) & mask, int(fy) & mask, int(fz) & mask
    i1, j1, k1 = (i + 1) & mask, (j + 1) & mask, (k + 1) & mask
    one = (k * side + i) * side
    two = (k * side + i1) * side
    three = (k1 * side + i) * side
    four = (k1 * side + i1) * side
    p = pattern[one + j] + (pattern[one + j1] - pattern[one + j]) * b
    q = pattern[two + j] + (pattern[two + j1] - pattern[two + j]) * b
    r = pattern[three + j] + (pattern[three + j1] - pattern[three + j]) * b
    s = pattern[four + j] + (pattern[four + j1] - pattern[four + j]) * b
    lower = p + (q - p) * a
    upper = r + (s - r) * a
    return lower + (upper - lower) * c


@kernel
def _layered(pattern, side, scales, away, x, y, z):
    """Sum of the pattern at every scale, each fading with distance."""
    total = ZERO
    for n in range(len(scales)):
        if away < np.float32(3) * scales[n, 1]:
            fine = scales[n, 0]
            total += np.exp(-away / scales[n, 1]) * _grain(pattern, side, x * fine, y * fine, z * fine)
    return total


@kernel
def paint_near(
    drape,
    pattern,
    side,
    scales,
    brightest,
    ripples,
    ripple_contrast,
    cell,
    corner,
    eye,
    east,
    north,
    upward,
    reached,
    kind,
    table,
    scale,
    first,
    last,
    picture,
):
    """Colour the pixels of some columns as `paint` does, with stones, tufts and ripples close to the camera."""
    height, width = drape.shape[:2]
    low, right = np.float32(height - 1), np.float32(width - 1)
    top_entry = len(table) - 1
    for r in range(kind.shape[0]):
        for c in range(first, last):
            if kind[r, c] != GROUND:
                continue
            depth = reached[r, c]
            i = min(max((corner[1] - eye[1] - depth * north[c]) / cell, ZERO), low)
            j = min(max((eye[0] + depth * east[c] + corner[0]) / cell, ZERO), right)
            i0, j0 = min(int(i), height - 2), min(int(j), width - 2)
            down, across = i - np.float32(i0), j - np.float32(j0)
            a, b = (ONE - down) * (ONE - across), (ONE - down) * across
            d, e = down * (ONE - across), down * across
            away = depth / cell
            rise = upward[r] * away
            contrast = (drape[i0, j0, 3] * a + drape[i0, j0 + 1, 3] * b
                        + drape[i0 + 1, j0, 3] * d + drape[i0 + 1, j0 + 1, 3] * e)  # fmt: skip
            wet = (drape[i0, j0, 4] * a + drape[i0, j0 + 1, 4] * b
                   + drape[i0 + 1, j0, 4] * d + drape[i0 + 1, j0 + 1, 4] * e)  # fmt: skip
            total = contrast * min(_layered(pattern, side, scales, away, i, j, rise), brightest)
            if wet > ZERO:
                total += (ripple_contrast * _layered(pattern, side, ripples, away, i, j, ZERO) - total) * wet
            bright = np.exp(total)
            for k in range(3):
                light = (drape[i0, j0, k] * a + drape[i0, j0 + 1, k] * b
                         + drape[i0 + 1, j0, k] * d + drape[i0 + 1, j0 + 1, k] * e)  # fmt: skip
                picture[r, c, k] = table[min(int(np.sqrt(max(light * bright, ZERO)) * scale + HALF), top_entry)]


@row_kernel
def _between_rows(above, below, rest, share, line):
    for c in range(len(line)):
        line[c] = np.float32(above[c]) * rest + np.float32(below[c]) * share


@row_kernel
def _among_rows(first, second, third, fourth, p, q, r, s, line):
    for c in range(len(line)):
        upper = np.float32(first[c]) * p + np.float32(second[c]) * q
        line[c] = upper + np.float32(third[c]) * r + np.float32(fourth[c]) * s


@kernel
def turn_down(upright, plane, samples, first, last, line, out):
    """Project an upright picture onto that of the camera, the mean of samples² bilinear samples for each pixel.

    The camera looks down but does not roll, so that a row of its picture lies on one row of the upright one, given as
    rows of bytes, three for each pixel: two of these are blended into `line`, which is then sampled.
    """
    height, width = upright.shape[0], len(line) // 3
    low, right = np.float32(height - 1), np.float32(width - 1)
    part = ONE / np.float32(samples * samples)
    for r in range(first, last):
        out[r] = HALF
        for above in range(samples):
            v = np.float32(r * samples + above) + HALF
            near = ONE / (plane[7] * v + ONE)
            y = min(max((plane[4] * v + plane[5]) * near - HALF, ZERO), low)
            i = min(np.int32(y), height - 2)
            down = y - np.float32(i)
            _between_rows(upright[i], upright[i + 1], (ONE - down) * part, down * part, line)
            for c in range(out.shape[1]):
                for before in range(samples):
                    u = np.float32(c * samples + before) + HALF
                    x = min(max((plane[0] * u + plane[1] * v + plane[2]) * near - HALF, ZERO), right)
                    j = min(np.int32(x), width - 2)
                    across = x - np.float32(j)
                    for k in range(3):
                        out[r, c, k] += line[3 * j + k] * (ONE - across) + line[3 * j + 3 + k] * across


@kernel
def turn_down_sharply(upright, plane, samples, first, last, line, out):
    """The same with the mean of samples² bicubic samples, which keeps single pixels sharper."""
    height, width = upright.shape[0], len(line) // 3
    part, most = ONE / np.float32(samples * samples), np.float32(255)
    for r in range(first, last):
        out[r] = HALF
        for above in range(samples):
            v = np.float32(r * samples + above) + HALF
            near = ONE / (plane[7] * v + ONE)
            y = (plane[4] * v + plane[5]) * near - HALF
            # The upright picture has a margin of two pixels on every side, so that all neighbours are in it.
            i = min(max(np.int32(np.floor(y)) - 1, 0), height - 4)
            y = y - np.float32(i + 1)
            yy = y * y
            _among_rows(
                upright[i], upright[i + 1], upright[i + 2], upright[i + 3],
                TWO * yy - y - y * yy, ONE - TWO * yy + y * yy, y + yy - y * yy, y * yy - yy, line,
            )  # fmt: skip
            for c in range(out.shape[1]):
                for before in range(samples):
                    u = np.float32(c * samples + before) + HALF
                    x = (plane[0] * u + plane[1] * v + plane[2]) * near - HALF
                    j = min(max(np.int32(np.floor(x)) - 1, 0), width - 4)
                    x = x - np.float32(j + 1)
                    n = np.uintp(3 * j)
                    xx = x * x
                    a, b = TWO * xx - x - x * xx, ONE - TWO * xx + x * xx
                    d, e = x + xx - x * xx, x * xx - xx
                    for k in range(3):
                        value = line[n] * a + line[n + THIRD] * b + line[n + SIXTH] * d + line[n + NINTH] * e
                        out[r, c, k] += np.floor(min(max(value, ZERO), most)) * part
                        n += FIRST
