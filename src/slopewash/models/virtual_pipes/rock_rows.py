"""Rows of what lies bare, and of loose cover that has laws of its own; conventions are those of `rows`."""

from __future__ import annotations

import numpy as np

from slopewash.backends.compiled import kernel, row_kernel
from slopewash.models.virtual_pipes import bedding as _b
from slopewash.models.virtual_pipes import cover as _cover
from slopewash.models.virtual_pipes import strata as _s
from slopewash.models.virtual_pipes.rows import HALF, IS_WALL, ONE, SHORTENING, TINY, UNIT, ZERO, drop_to_four, wear
from slopewash.terrain import rock as _rock

LEAST_FACE = np.float32(_s.LEAST_FACE)
BLOCK = np.uintp(128)
NO_BITS, ALL_BITS = np.int32(0), np.int32(np.iinfo(np.int32).max)
EIGHT, SIXTEEN = np.float32(8), np.float32(16)
ROUNDING, PARABOLA = np.float32(_b.ROUNDING), np.float32(1 - _b.ROUNDING)
SECOND = np.float32(_rock.SECOND)
SECOND_PER_BED = np.float32(_rock.SECOND_PER_BED)
SECOND_SHIFT = np.float32(_b.SECOND_SHIFT)
HARDEST = np.float32(_rock.LEAST)
PER_DECAY = np.float32(1 / _cover.DECAY)


@kernel
def exchange_with_cover(drop, s, R, C, d2, loose, c):  # Eqs. 12-13
    """What the ground loses to the water, cover first; negative where it gains."""
    wanted = c.take * (C - s)
    soil = min(wanted, loose)
    take = min(soil + R * (wanted - soil), c.water_0 + c.water_1 * d2)
    take = min(take, c.load_0 + c.load_1 * d2 - c.load_2 * s)
    take = min(take, c.dig_0 + c.dig_1 * max(ZERO, drop))
    fall = min(min(c.drop * (s - C), s), c.rise_0 + c.rise_1 * d2)
    return max(ZERO, take) if s < C else -fall


@row_kernel
def work_covered_ground(b_n, b, b_s, s, R, C, d2, loose, slid, sent, c, eight, delta, b2, s1, R2, moved):  # Eqs. 12-14
    for x in range(ONE, np.uintp(b.size - 1)):
        drop = drop_to_four(b[x], b[x - ONE], b[x + ONE], b_n[x], b_s[x])
        if eight:
            slanted = drop_to_four(b[x], b_n[x - ONE], b_n[x + ONE], b_s[x - ONE], b_s[x + ONE])
            drop = max(drop, slanted * SHORTENING)
        delta[x] = exchange_with_cover(drop, s[x], R[x], C[x], d2[x], loose[x], c)
        b2[x], s1[x], R2[x], taken = wear(b[x], s[x], R[x], delta[x], slid[x], c.Kh)
        moved[x] = sent[x] + taken


@row_kernel
def lower_rock(b, rock, rock2):
    for x in range(ONE, np.uintp(b.size - 1)):
        rock2[x] = min(rock[x], b[x])


@row_kernel
def weather_rock(b, rock, weather, per_weather, rock2):
    for x in range(ONE, np.uintp(b.size - 1)):
        low = min(rock[x], b[x])
        part = ((b[x] - low) * per_weather) * PER_DECAY
        t = max(UNIT - part, ZERO) / (UNIT + part)
        t = t * t
        t = t * t
        rock2[x] = low - weather * (t * t)


@kernel
def bits(number):
    """A number as whole ones that compare alike, unless both are negative: their least and greatest are packed."""
    return np.float32(number).view(np.int32)


@kernel
def number(bits):
    return np.int32(bits).view(np.float32)


@row_kernel
def expose(b_n, b0, b_s, b, rock, top, depths, layers, per_cover, face, R2):
    """Erodibility of the layers in the face to the lowest neighbour, from the ground `b0` before this iteration.

    In a block of cells, only those count that lie between its least depth and its greatest plus its tallest face:
    the others above are passed everywhere, and none of those below is reached.
    """
    count, end = np.uintp(depths.size), np.uintp(b.size - 1)
    for begin in range(ONE, end, BLOCK):
        stop = min(begin + BLOCK, end)
        least, most, tallest = ALL_BITS, NO_BITS, NO_BITS
        for x in range(begin, stop):
            lowest = min(min(b0[x - ONE], b0[x + ONE]), min(b_n[x], b_s[x]))
            face[x] = max(max(ZERO, b0[x] - lowest), LEAST_FACE)
            depth, height = bits(top[x] - rock[x]), bits(face[x])
            least, most, tallest = min(least, depth), max(most, depth), max(tallest, height)
        k = ONE
        while k < count and depths[k] <= number(least):
            k += ONE
        first = layers[k - ONE]
        for x in range(begin, stop):
            R2[x] = first
        while k < count and number(most) - depths[k] > -number(tallest):
            begins, upper, own = depths[k], layers[k - ONE], layers[k]
            for x in range(begin, stop):
                below = (top[x] - rock[x]) - begins
                share = max(UNIT + below / face[x], ZERO)
                R2[x] = own if top[x] - rock[x] >= begins else R2[x] + (own - upper) * share
            k += ONE
        for x in range(begin, stop):
            covered = min((b[x] - rock[x]) * per_cover, UNIT)
            R2[x] = min(R2[x] * (UNIT - covered) + covered, UNIT) if b[x] < IS_WALL else ZERO


@kernel
def sine(turns):
    """Sine of an angle in turns, by parabolas."""
    t = turns - np.floor(turns + HALF)
    half_wave = t * (EIGHT - SIXTEEN * abs(t))
    return half_wave * (PARABOLA + ROUNDING * abs(half_wave))


@row_kernel
def expose_beds(surface, rock, phase, per_bed, bed_contrast, R2):
    for x in range(ONE, np.uintp(surface.size - 1)):
        u = surface[x] * per_bed + phase[x]
        softer = bed_contrast * (sine(u) + SECOND * sine(u * SECOND_PER_BED + SECOND_SHIFT))
        R = min(max(rock[x] + softer, HARDEST), UNIT)
        R2[x] = R if surface[x] < IS_WALL else ZERO


@kernel
def face_fluxes(b, b_n, R, R_n, gt, gt_n, c):
    """Rock through one face along the true fall line, and soil if there were enough of it."""
    gn = b - b_n
    along = HALF * (gt + gt_n)
    per_g = UNIT / max(np.sqrt(gn * gn + along * along), TINY)
    R_high = R if gn > ZERO else R_n
    rock = c.slide * R_high * max(ZERO, UNIT - (c.talus_0 + c.talus_1 * R_high) * per_g)
    soil = c.creep + c.cover_slide * max(ZERO, UNIT - c.cover_talus * per_g)
    ground = b < IS_WALL and b_n < IS_WALL
    return rock * gn if ground else ZERO, soil * gn if ground else ZERO


@row_kernel
def fluxes_east(b, R, gy, c, rock, soil):
    for x in range(np.uintp(0), np.uintp(b.size - 1)):
        e = x + ONE
        rock[x], soil[x] = face_fluxes(b[x], b[e], R[x], R[e], gy[x], gy[e], c)


@row_kernel
def fluxes_south(b, b_s, R, R_s, gx, gx_s, c, rock, soil):
    for x in range(ONE, np.uintp(b.size - 1)):
        rock[x], soil[x] = face_fluxes(b[x], b_s[x], R[x], R_s[x], gx[x], gx_s[x], c)


@row_kernel
def share_cover(b, rock, east, south_n, south, portion, left):
    """What part of the soil that would leave a cell is there, and what stays of the cover."""
    for x in range(ONE, np.uintp(b.size - 1)):
        loose = b[x] - rock[x]
        out = (max(ZERO, -east[x - ONE]) + max(ZERO, east[x])) + (max(ZERO, -south_n[x]) + max(ZERO, south[x]))
        portion[x] = min(loose / max(out, TINY), UNIT)
        left[x] = max(loose - portion[x] * out, ZERO)


@row_kernel
def cover_depth(b, rock, loose):
    for x in range(ONE, np.uintp(b.size - 1)):
        loose[x] = b[x] - rock[x]


@row_kernel
def add_soil_east(soil, portion, flux):
    for x in range(np.uintp(0), np.uintp(soil.size - 1)):
        flux[x] = flux[x] + (portion[x] if soil[x] > ZERO else portion[x + ONE]) * soil[x]


@row_kernel
def add_soil_south(soil, portion, portion_s, flux):
    for x in range(ONE, np.uintp(soil.size - 1)):
        flux[x] = flux[x] + (portion[x] if soil[x] > ZERO else portion_s[x]) * soil[x]
