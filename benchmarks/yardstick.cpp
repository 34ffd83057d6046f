// The fused sweep of the virtual-pipe model in C++: what careful C++ achieves on the same machine.
//
// Same arithmetic, operation by operation, as src/slopewash/models/virtual_pipes/{rows,sweep}.py, for three sets of
// laws: Table 2 of Jákó & Tóth with closed edges, and the presets single_grid and landscape with open ones, the latter
// with eight pipes and a capacity by roots of the discharge. Same plan: four stages a row
// behind each other, `depth` iterations in flight, a band of rows per thread, sums of every row in double precision.
// Unlike the Python rows, every stage is one hand-merged loop, ring buffers are limited to the lifetime of a row, and the last
// iteration writes straight into the target. Without contraction of a*b + c the results are bit-identical.

#include <thread>
#include <vector>

namespace {

constexpr float WALL = 1.0e18f, IS_WALL = 0.5e18f, TINY = 1.0e-20f, DIAGONAL = 1.41421356237309515f;
constexpr float SHORTENING = 0.707106781186547524f, SLANTED_WIDTH = 0.5f;
constexpr int LAG = 3;

enum StateField { B, W, S, R, FW, FE, FN, FS, FNW, FNE, FSW, FSE, STATE };  // the last four only with eight pipes
enum Temporary { H, D1, W1, SHARE, S1, CAPACITY, WEIGHT, TALUS, SENT, GX, GY, EAST, SOUTH, DISCHARGE, TEMPORARIES };
enum Entry { RAIN, SOURCES, EVAPORATED, WATER_EXPORTED, SOLIDS_EXPORTED, MOVED, ENTRIES };

// Rows kept of each field: from the stage that writes it to the last stage that reads it.
template <int N>
struct Rings {
    int life[N], start[N] = {}, total = 0;
    constexpr Rings(const int (&lives)[N]) : life() {
        for (int i = 0; i < N; i++) life[i] = lives[i], start[i] = total, total += lives[i];
    }
};
constexpr Rings<STATE> STATE_RINGS({5, 1, 3, 5, 4, 4, 4, 4, 4, 4, 4, 4});
constexpr Rings<TEMPORARIES> TEMPORARY_RINGS({3, 3, 5, 4, 3, 2, 3, 3, 2, 3, 2, 1, 2, 2});
constexpr int ROWS_IN_FLIGHT = STATE_RINGS.total + TEMPORARY_RINGS.total;
constexpr int ROWS_PER_BAND = 4;  // nodata, nothing, the exchange, and an unused output

struct Coefficients {
    float dt, rain, push, flow_kept, kappa, Kc, sin_min, ramp_0, ramp_1, take, drop, water_0, water_1, load_0, load_1, load_2;
    float dig_0, dig_1, rise_0, rise_1, Kh, talus_0, talus_1, slide, creep, keep, Kc75, Kc50, per_fan;
};

}  // namespace

extern "C" {

struct Problem {
    int height, width, stride, rain_rows, laws, graded;  // width counts the ghost cells; rows are a stride apart
    const float *rainfall, *base_n, *base_s, *base_w, *base_e;
    float* flow_sum;
    double* budget;
    float* workspace;
    Coefficients c;
};

}  // extern "C"

namespace {

inline float larger(float a, float b) { return a > b ? a : b; }
inline float smaller(float a, float b) { return a < b ? a : b; }
inline float positive(float a) { return larger(a, 0.0f); }
inline float root(float a) { return __builtin_sqrtf(a); }
inline float steeper(float drop, float limit) { return drop > limit ? drop : 0.0f; }

inline float difference(float before, float here, float after) {
    const bool has_before = before < IS_WALL, has_after = after < IS_WALL;
    const float span = has_before & has_after ? 0.5f : 1.0f;
    return ((has_after ? after : here) - (has_before ? before : here)) * span;
}

struct Table2 {
    static constexpr bool along_flow = false, fall_line = false, opened = false, eight = false;
};
struct SingleGrid {
    static constexpr bool along_flow = true, fall_line = true, opened = true, eight = false;
};
struct Landscape {
    static constexpr bool along_flow = true, fall_line = true, opened = true, eight = true;
};

template <class Law>
class Band {
  public:
    Band(const Problem& p, const float* source, float* target, int y0, int y1, int depth, float* workspace)
        : p(p), c(p.c), source(source), target(target), y0(y0), y1(y1), depth(depth), last(p.width - 2), stride(p.stride),
          wall(workspace), nothing(wall + stride), delta(nothing + stride), forgotten(delta + stride),
          rings(forgotten + stride) {
        for (int x = 0; x < p.width; x++) wall[x] = WALL, nothing[x] = 0.0f;
    }

    void run() {
        for (int tick = y0 - LAG * depth; tick < y1 + LAG * depth; tick++)
            for (int k = 0; k < depth; k++) {
                const int extra = LAG * (depth - 1 - k);
                const int low = y0 - extra > 0 ? y0 - extra : 0;
                const int high = y1 + extra < p.height ? y1 + extra : p.height;
                int y = tick - LAG * k;
                if (low - 3 <= y && y < high + 3 && -1 <= y && y <= p.height) pour(k, y);
                y--;
                if (low - 2 <= y && y < high + 2 && inside(y)) flow(k, y);
                y--;
                if (low - 1 <= y && y < high + 1 && inside(y)) work(k, y, y == low - 1 || y == 0);
                y--;
                if (low <= y && y < high) carry(k, y);
            }
    }

  private:
    const Problem& p;
    const Coefficients c;
    const float* source;
    float* target;
    const int y0, y1, depth, last;
    const long stride;
    float *wall, *nothing, *delta, *forgotten, *rings;

    bool inside(int y) const { return 0 <= y && y < p.height; }
    bool own(int y) const { return y0 <= y && y < y1; }
    double& sum(int y, Entry entry) { return p.budget[y * ENTRIES + entry]; }

    float* ring(int k, int before, int life, int y) {
        return rings + (long(k) * ROWS_IN_FLIGHT + before + (y + life) % life) * stride;
    }
    // A row of the state that iteration k leaves behind; iteration -1 left the source.
    float* left(int k, StateField f, int y) {
        const long at = (long(f) * p.height + y) * stride;
        if (k < 0) return const_cast<float*>(source) + at;
        if (k == depth - 1 && own(y)) return target + at;
        return ring(k, STATE_RINGS.start[f], STATE_RINGS.life[f], y);
    }
    float* left_or(int k, StateField f, int y, float* beyond) { return inside(y) ? left(k, f, y) : beyond; }
    // A row of a slanted pipe, which only eight pipes have.
    float* eighth(int k, StateField f, int y) { return Law::eight ? left_or(k, f, y, nothing) : nothing; }
    float* temporary(int k, Temporary f, int y) {
        return ring(k, STATE_RINGS.total + TEMPORARY_RINGS.start[f], TEMPORARY_RINGS.life[f], y);
    }
    float* temporary_or_nothing(int k, Temporary f, int y) { return inside(y) ? temporary(k, f, y) : nothing; }
    void close_ends(float* a, float beyond) const { a[0] = a[last + 1] = beyond; }

    // Rain and the water surface (1).
    void pour(int k, int y) {
        float* __restrict h = temporary(k, H, y);
        if (!inside(y)) {
            const float* edge = Law::opened ? left(k - 1, B, y < 0 ? 0 : p.height - 1) : wall;
            for (int x = 0; x < p.width; x++) h[x] = edge[x];
            return;
        }
        const float *b = left(k - 1, B, y), *w = left(k - 1, W, y), *s = left(k - 1, S, y);
        const float* r = p.rainfall + long(y % p.rain_rows) * stride;
        float *__restrict w1 = temporary(k, W1, y), *__restrict d1 = temporary(k, D1, y);
        const Coefficients c = this->c;
        double rained = 0.0;
#pragma omp simd reduction(+ : rained)
        for (int x = 1; x <= last; x++) {
            const float wet = w[x] + c.rain * r[x];
            rained += double(wet - w[x]);
            w1[x] = wet;
            d1[x] = wet + c.kappa * s[x];
            h[x] = b[x] + d1[x];
        }
        if (own(y)) sum(y, RAIN) += rained;
        close_ends(w1, 0.0f);
        close_ends(d1, 0.0f);
        close_ends(h, WALL);
        if (Law::opened) h[0] = b[1], h[last + 1] = b[last];
    }

    // Pipes (2-5), capacity along the flow, and what slides need from the neighbours (17).
    void flow(int k, int y) {
        if (Law::eight)
            push_eight_pipes(k, y);
        else
            push_four_pipes(k, y);
        if (Law::fall_line)
            slope(k, y);
        else
            weigh_slides(k, y);
    }

    void push_eight_pipes(int k, int y) {
        const float *h_n = temporary(k, H, y - 1), *h = temporary(k, H, y), *h_s = temporary(k, H, y + 1);
        const float* d1 = temporary(k, D1, y);
        const float *fw0 = left(k - 1, FW, y), *fe0 = left(k - 1, FE, y);
        const float *fn0 = left(k - 1, FN, y), *fs0 = left(k - 1, FS, y);
        const float *fnw0 = left(k - 1, FNW, y), *fne0 = left(k - 1, FNE, y);
        const float *fsw0 = left(k - 1, FSW, y), *fse0 = left(k - 1, FSE, y);
        float *__restrict fw1 = left(k, FW, y), *__restrict fe1 = left(k, FE, y);
        float *__restrict fn1 = left(k, FN, y), *__restrict fs1 = left(k, FS, y);
        float *__restrict fnw1 = left(k, FNW, y), *__restrict fne1 = left(k, FNE, y);
        float *__restrict fsw1 = left(k, FSW, y), *__restrict fse1 = left(k, FSE, y);
        float *__restrict share = temporary(k, SHARE, y), *__restrict C = temporary(k, CAPACITY, y);
        float* __restrict discharge = temporary(k, DISCHARGE, y);
        const Coefficients c = this->c;
        const float slanted = SLANTED_WIDTH * c.push;
#pragma omp simd
        for (int x = 1; x <= last; x++) {
            const int w = x - 1, e = x + 1;
            const float dw = h[x] - h[w], de = h[x] - h[e], dn = h[x] - h_n[x], ds = h[x] - h_s[x];
            const float dnw = h[x] - h_n[w], dne = h[x] - h_n[e], dsw = h[x] - h_s[w], dse = h[x] - h_s[e];
            float fw = positive(c.flow_kept * fw0[x] + c.push * dw), fe = positive(c.flow_kept * fe0[x] + c.push * de);
            float fn = positive(c.flow_kept * fn0[x] + c.push * dn), fs = positive(c.flow_kept * fs0[x] + c.push * ds);
            float fnw = positive(c.flow_kept * fnw0[x] + slanted * dnw), fne = positive(c.flow_kept * fne0[x] + slanted * dne);
            float fsw = positive(c.flow_kept * fsw0[x] + slanted * dsw), fse = positive(c.flow_kept * fse0[x] + slanted * dse);
            const float leaving = c.dt * (((fw + fe) + (fn + fs)) + ((fnw + fne) + (fsw + fse)));
            const float scarce = d1[x] / larger(leaving, TINY);
            const float K = d1[x] < leaving ? scarce : 1.0f;
            fw1[x] = fw = fw * K;
            fe1[x] = fe = fe * K;
            fn1[x] = fn = fn * K;
            fs1[x] = fs = fs * K;
            fnw1[x] = fnw = fnw * K;
            fne1[x] = fne = fne * K;
            fsw1[x] = fsw = fsw * K;
            fse1[x] = fse = fse * K;
            const float straight = (fw * positive(dw) + fe * positive(de)) + (fn * positive(dn) + fs * positive(ds));
            const float across = (fnw * positive(dnw) + fne * positive(dne)) + (fsw * positive(dsw) + fse * positive(dse));
            const float Q = ((fw + fe) + (fn + fs)) + ((fnw + fne) + (fsw + fse));
            const float slope = (straight + across * SHORTENING) / larger(Q, TINY);
            const float sine = larger(slope / root(1.0f + slope * slope), c.sin_min), root_Q = root(Q);
            const float held = c.Kc * sine * Q + sine * (c.Kc75 * (root_Q * root(root_Q)) + c.Kc50 * root_Q);
            C[x] = held * root(smaller(sine * c.per_fan, 1.0f)) * ramp(d1[x]);
            share[x] = c.dt / larger(d1[x], TINY);
            discharge[x] = Q;
        }
        close_ends(share, 0.0f);
        for (float* f : {fw1, fe1, fn1, fs1, fnw1, fne1, fsw1, fse1}) close_ends(f, 0.0f);
    }

    void push_four_pipes(int k, int y) {
        const float *h_n = temporary(k, H, y - 1), *h = temporary(k, H, y), *h_s = temporary(k, H, y + 1);
        const float* d1 = temporary(k, D1, y);
        const float *fw0 = left(k - 1, FW, y), *fe0 = left(k - 1, FE, y);
        const float *fn0 = left(k - 1, FN, y), *fs0 = left(k - 1, FS, y);
        float *__restrict fw1 = left(k, FW, y), *__restrict fe1 = left(k, FE, y);
        float *__restrict fn1 = left(k, FN, y), *__restrict fs1 = left(k, FS, y);
        float *__restrict share = temporary(k, SHARE, y), *__restrict C = temporary(k, CAPACITY, y);
        const Coefficients c = this->c;
#pragma omp simd
        for (int x = 1; x <= last; x++) {
            const float hw = h[x] - h[x - 1], he = h[x] - h[x + 1], hn = h[x] - h_n[x], hs = h[x] - h_s[x];
            float fw = positive(c.flow_kept * fw0[x] + c.push * hw), fe = positive(c.flow_kept * fe0[x] + c.push * he);
            float fn = positive(c.flow_kept * fn0[x] + c.push * hn), fs = positive(c.flow_kept * fs0[x] + c.push * hs);
            const float leaving = c.dt * ((fw + fe) + (fn + fs));
            const float scarce = d1[x] / larger(leaving, TINY);
            const float K = d1[x] < leaving ? scarce : 1.0f;
            fw1[x] = fw = fw * K;
            fe1[x] = fe = fe * K;
            fn1[x] = fn = fn * K;
            fs1[x] = fs = fs * K;
            share[x] = c.dt / larger(d1[x], TINY);
            if (Law::along_flow) {
                const float lost = (fw * positive(hw) + fe * positive(he)) + (fn * positive(hn) + fs * positive(hs));
                const float Q = root((fw * fw + fe * fe) + (fn * fn + fs * fs));
                const float slope = lost / larger(Q, TINY);
                C[x] = c.Kc * larger(slope / root(1.0f + slope * slope), c.sin_min) * Q * ramp(d1[x]);
            }
        }
        close_ends(share, 0.0f);
        for (float* f : {fw1, fe1, fn1, fs1}) close_ends(f, 0.0f);
    }

    float ramp(float d1) const { return smaller(positive(c.ramp_0 + c.ramp_1 * d1), 1.0f); }

    void slope(int k, int y) {
        const float *b_n = left_or(k - 1, B, y - 1, wall), *b = left(k - 1, B, y);
        const float* b_s = left_or(k - 1, B, y + 1, wall);
        float *__restrict gx = temporary(k, GX, y), *__restrict gy = temporary(k, GY, y);
#pragma omp simd
        for (int x = 1; x <= last; x++) {
            gx[x] = difference(b[x - 1], b[x], b[x + 1]);
            gy[x] = difference(b_n[x], b[x], b_s[x]);
        }
        close_ends(gx, 0.0f);
        close_ends(gy, 0.0f);
    }

    void weigh_slides(int k, int y) {
        const float *b_n = left_or(k - 1, B, y - 1, wall), *b = left(k - 1, B, y);
        const float *b_s = left_or(k - 1, B, y + 1, wall), *soft = left(k - 1, R, y);
        float *__restrict weight = temporary(k, WEIGHT, y), *__restrict talus = temporary(k, TALUS, y);
        float* __restrict sent = temporary(k, SENT, y);
        const Coefficients c = this->c;
        const float half_slide = 0.5f * c.slide;
#pragma omp simd
        for (int x = 1; x <= last; x++) {
            const float t = positive(c.talus_0 + c.talus_1 * soft[x]), td = t * DIAGONAL;
            const float dw = b[x] - b[x - 1], de = b[x] - b[x + 1], dn = b[x] - b_n[x], ds = b[x] - b_s[x];
            const float dnw = b[x] - b_n[x - 1], dne = b[x] - b_n[x + 1];
            const float dsw = b[x] - b_s[x - 1], dse = b[x] - b_s[x + 1];
            const float high = larger(larger(larger(dw, de), larger(dn, ds)), larger(larger(dnw, dne), larger(dsw, dse)));
            const float straight = (steeper(dw, t) + steeper(de, t)) + (steeper(dn, t) + steeper(ds, t));
            const float skew = (steeper(dnw, td) + steeper(dne, td)) + (steeper(dsw, td) + steeper(dse, td));
            const float whole = straight + skew;
            const float share = half_slide * soft[x] * positive(high) / larger(whole, TINY);
            weight[x] = share;
            sent[x] = share * whole;
            talus[x] = t;
        }
        close_ends(weight, 0.0f);
        close_ends(talus, 0.0f);
    }

    float face_flux(float b, float b_n, float soft, float soft_n, float gt, float gt_n) const {
        const float gn = b - b_n, along = 0.5f * (gt + gt_n);
        const float g = root(gn * gn + along * along);
        const float soft_high = gn > 0.0f ? soft : soft_n;
        const float talus = c.talus_0 + c.talus_1 * soft_high;
        const float flux = (c.creep + c.slide * soft_high * positive(1.0f - talus / larger(g, TINY))) * gn;
        return (b < IS_WALL) & (b_n < IS_WALL) ? flux : 0.0f;
    }

    // Soil through the faces to the east and to the south of a row.
    void flux_faces(int k, int y) {
        const float *b = left(k - 1, B, y), *b_s = left_or(k - 1, B, y + 1, wall);
        const float *soft = left(k - 1, R, y), *soft_s = left_or(k - 1, R, y + 1, nothing);
        const float *gx = temporary(k, GX, y), *gx_s = temporary_or_nothing(k, GX, y + 1), *gy = temporary(k, GY, y);
        float *__restrict east = temporary(k, EAST, y), *__restrict south = temporary(k, SOUTH, y);
#pragma omp simd
        for (int x = 1; x <= last; x++) {
            east[x] = face_flux(b[x], b[x + 1], soft[x], soft[x + 1], gy[x], gy[x + 1]);
            south[x] = face_flux(b[x], b_s[x], soft[x], soft_s[x], gx[x], gx_s[x]);
        }
        east[0] = face_flux(b[0], b[1], soft[0], soft[1], gy[0], gy[1]);
    }

    void work(int k, int y, bool first) {
        exchange(k, y);
        hold_erosion(k, y);
        if (Law::fall_line) {
            if (first) north_faces(k, y);
            flux_faces(k, y);
        }
        wear_ground(k, y);
        const double gone = hold_ground(k, y);
        if (own(y)) sum(y, SOLIDS_EXPORTED) += gone;
        close_ends(left(k, B, y), WALL);
        close_ends(left(k, R, y), 0.0f);
        close_ends(temporary(k, S1, y), 0.0f);
    }

    // Depth and velocity (6-8), capacity (9-10), exchange with the ground (12-13).
    void exchange(int k, int y) {
        const float *b_n = left_or(k - 1, B, y - 1, wall), *b = left(k - 1, B, y);
        const float *b_s = left_or(k - 1, B, y + 1, wall), *s = left(k - 1, S, y), *soft = left(k - 1, R, y);
        const float *d1 = temporary(k, D1, y), *along = temporary(k, CAPACITY, y);
        const float *fw = left(k, FW, y), *fe = left(k, FE, y), *fn = left(k, FN, y), *fs = left(k, FS, y);
        const float *fs_n = left_or(k, FS, y - 1, nothing), *fn_s = left_or(k, FN, y + 1, nothing);
        const float *fse_n = eighth(k, FSE, y - 1), *fsw_n = eighth(k, FSW, y - 1);
        const float *fne_s = eighth(k, FNE, y + 1), *fnw_s = eighth(k, FNW, y + 1);
        const float* discharge = temporary(k, DISCHARGE, y);
        float* __restrict flow_sum = own(y) ? p.flow_sum + long(y) * stride : forgotten;
        float* __restrict delta = this->delta;
        const Coefficients c = this->c;
#pragma omp simd
        for (int x = 1; x <= last; x++) {
            float come = (fe[x - 1] + fw[x + 1]) + (fs_n[x] + fn_s[x]), gone, speed;
            if (Law::eight) {
                come = come + ((fse_n[x - 1] + fsw_n[x + 1]) + (fne_s[x - 1] + fnw_s[x + 1]));
                gone = speed = discharge[x];
            } else {
                gone = (fw[x] + fe[x]) + (fn[x] + fs[x]);
                const float u = 0.5f * ((fe[x - 1] - fw[x]) + (fe[x] - fw[x + 1]));
                const float v = 0.5f * ((fs_n[x] - fn[x]) + (fs[x] - fn_s[x]));
                speed = root(u * u + v * v);
            }
            const float d2 = positive(d1[x] + c.dt * (come - gone));
            flow_sum[x] += speed;
            float C;
            if (Law::along_flow) {
                C = along[x];
            } else {
                const float gx = difference(b[x - 1], b[x], b[x + 1]), gy = difference(b_n[x], b[x], b_s[x]);
                const float steep = gx * gx + gy * gy;
                C = c.Kc * larger(root(steep / (1.0f + steep)), c.sin_min) * speed * ramp(d1[x]);
            }
            float drop = b[x] - smaller(smaller(b[x - 1], b[x + 1]), smaller(b_n[x], b_s[x]));
            if (Law::eight) {
                const float lowest = smaller(smaller(b_n[x - 1], b_n[x + 1]), smaller(b_s[x - 1], b_s[x + 1]));
                drop = larger(drop, (b[x] - lowest) * SHORTENING);
            }
            float take = smaller(c.take * soft[x] * (C - s[x]), c.water_0 + c.water_1 * d2);
            take = smaller(take, c.load_0 + c.load_1 * d2 - c.load_2 * s[x]);
            take = smaller(take, c.dig_0 + c.dig_1 * positive(drop));
            const float fall = smaller(smaller(c.drop * (s[x] - C), s[x]), c.rise_0 + c.rise_1 * d2);
            delta[x] = C > s[x] ? positive(take) : -fall;
        }
    }

    // Slides (17-18), and the ground and the sediment after both (12-14).
    void wear_ground(int k, int y) {
        const float *b_n = left_or(k - 1, B, y - 1, wall), *b = left(k - 1, B, y);
        const float *b_s = left_or(k - 1, B, y + 1, wall), *s = left(k - 1, S, y), *soft = left(k - 1, R, y);
        const float *g_n = temporary_or_nothing(k, WEIGHT, y - 1), *g = temporary(k, WEIGHT, y);
        const float* g_s = temporary_or_nothing(k, WEIGHT, y + 1);
        const float *t_n = temporary_or_nothing(k, TALUS, y - 1), *t = temporary(k, TALUS, y);
        const float *t_s = temporary_or_nothing(k, TALUS, y + 1), *sent = temporary(k, SENT, y);
        const float *east = temporary(k, EAST, y), *south = temporary(k, SOUTH, y), *south_n = temporary(k, SOUTH, y + 1);
        float *__restrict b2 = left(k, B, y), *__restrict s1 = temporary(k, S1, y), *__restrict R2 = left(k, R, y);
        const float* delta = this->delta;
        const Coefficients c = this->c;
        double moved = 0.0;
#pragma omp simd reduction(+ : moved)
        for (int x = 1; x <= last; x++) {
            float slid, slides;
            if (Law::fall_line) {
                slid = (east[x - 1] - east[x]) + (south_n[x] - south[x]);
                slides = __builtin_fabsf(east[x]) + __builtin_fabsf(south[x]);
            } else {
                const int w = x - 1, e = x + 1;
                const float straight =
                    (g[w] * steeper(b[w] - b[x], t[w]) + g[e] * steeper(b[e] - b[x], t[e])) +
                    (g_n[x] * steeper(b_n[x] - b[x], t_n[x]) + g_s[x] * steeper(b_s[x] - b[x], t_s[x]));
                const float skew = (g_n[w] * steeper(b_n[w] - b[x], t_n[w] * DIAGONAL) +
                                    g_n[e] * steeper(b_n[e] - b[x], t_n[e] * DIAGONAL)) +
                                   (g_s[w] * steeper(b_s[w] - b[x], t_s[w] * DIAGONAL) +
                                    g_s[e] * steeper(b_s[e] - b[x], t_s[e] * DIAGONAL));
                slid = (straight + skew) - sent[x];
                slides = sent[x];
            }
            const float b1 = b[x] - delta[x], lost = b[x] - b1;  // what the ground really lost, after rounding
            s1[x] = positive(s[x] + lost);
            const float softened = smaller(1.0f, soft[x] - c.Kh * lost);
            R2[x] = lost < 0.0f ? softened : soft[x];
            moved += double(slides) + double(positive(lost));
            b2[x] = b1 + slid;
        }
        if (own(y)) sum(y, MOVED) += moved;
    }

    // Visit the border cells of a row; `x` counts from 1.
    template <class Visit>
    void each_border_cell(int y, Visit visit) const {
        if (!Law::opened) return;
        const int step = y == 0 || y == p.height - 1 || last == 1 ? 1 : last - 1;
        for (int x = 1; x <= last; x += step) visit(x);
    }

    float base_of(int y, int x) const {
        if (y == 0) return p.base_n[x - 1];
        if (y == p.height - 1) return p.base_s[x - 1];
        return x == 1 ? p.base_w[y] : p.base_e[y];
    }

    void hold_erosion(int k, int y) {
        const float* b = left(k - 1, B, y);
        each_border_cell(y, [&](int x) {
            delta[x] = smaller(delta[x], positive(b[x] - base_of(y, x)));
            if (p.graded) delta[x] = positive(delta[x]);
        });
    }

    double hold_ground(int k, int y) {
        const float* b = left(k - 1, B, y);
        float* b2 = left(k, B, y);
        double gone = 0.0;
        each_border_cell(y, [&](int x) {
            float kept = larger(b2[x], base_of(y, x));
            if (p.graded) kept = smaller(kept, b[x]);
            gone += double(b2[x] - kept);
            b2[x] = kept;
        });
        return gone;
    }

    // The faces to the north of a band's first row belong to no row before it.
    void north_faces(int k, int y) {
        float* south = temporary(k, SOUTH, y + 1);  // where y - 1 is kept too: the ring has two rows
        if (y > 0)
            for (int x = 1; x <= last; x++) {
                const float *b = left(k - 1, B, y - 1), *b_s = left(k - 1, B, y);
                const float *soft = left(k - 1, R, y - 1), *soft_s = left(k - 1, R, y);
                const float *gx = temporary(k, GX, y - 1), *gx_s = temporary(k, GX, y);
                south[x] = face_flux(b[x], b_s[x], soft[x], soft_s[x], gx[x], gx_s[x]);
            }
        else
            for (int x = 1; x <= last; x++) south[x] = 0.0f;
    }

    // Transport (step 6) and evaporation (16): the row's new state. Where nothing evaporates nothing is added up.
    void carry(int k, int y) {
        if (c.keep < 1.0f)
            carry_and_dry<true>(k, y);
        else
            carry_and_dry<false>(k, y);
    }

    template <bool dries>
    void carry_and_dry(int k, int y) {
        const float *fw = left(k, FW, y), *fe = left(k, FE, y), *fn = left(k, FN, y), *fs = left(k, FS, y);
        const float *fs_n = left_or(k, FS, y - 1, nothing), *fn_s = left_or(k, FN, y + 1, nothing);
        const float *q_n = temporary_or_nothing(k, SHARE, y - 1), *q = temporary(k, SHARE, y);
        const float* q_s = temporary_or_nothing(k, SHARE, y + 1);
        const float *w_n = temporary_or_nothing(k, W1, y - 1), *w1 = temporary(k, W1, y);
        const float* w_s = temporary_or_nothing(k, W1, y + 1);
        const float *s_n = temporary_or_nothing(k, S1, y - 1), *s1 = temporary(k, S1, y);
        const float* s_s = temporary_or_nothing(k, S1, y + 1);
        const float *fnw = eighth(k, FNW, y), *fne = eighth(k, FNE, y), *fsw = eighth(k, FSW, y), *fse = eighth(k, FSE, y);
        const float *fse_n = eighth(k, FSE, y - 1), *fsw_n = eighth(k, FSW, y - 1);
        const float *fne_s = eighth(k, FNE, y + 1), *fnw_s = eighth(k, FNW, y + 1);
        float *__restrict w = left(k, W, y), *__restrict s = left(k, S, y);
        const Coefficients c = this->c;
        double dried = 0.0;
#pragma omp simd reduction(+ : dried)
        for (int x = 1; x <= last; x++) {
            const float to_w = fw[x] * q[x], to_e = fe[x] * q[x], to_n = fn[x] * q[x], to_s = fs[x] * q[x];
            const float from_w = fe[x - 1] * q[x - 1], from_e = fw[x + 1] * q[x + 1];
            const float from_n = fs_n[x] * q_n[x], from_s = fn_s[x] * q_s[x];
            const float water = w1[x], load = s1[x];
            float w_out = (to_w * water + to_e * water) + (to_n * water + to_s * water);
            float s_out = (to_w * load + to_e * load) + (to_n * load + to_s * load);
            float w_in = (from_w * w1[x - 1] + from_e * w1[x + 1]) + (from_n * w_n[x] + from_s * w_s[x]);
            float s_in = (from_w * s1[x - 1] + from_e * s1[x + 1]) + (from_n * s_n[x] + from_s * s_s[x]);
            if (Law::eight) {
                const int a = x - 1, e = x + 1;
                const float to_nw = fnw[x] * q[x], to_ne = fne[x] * q[x], to_sw = fsw[x] * q[x], to_se = fse[x] * q[x];
                const float from_nw = fse_n[a] * q_n[a], from_ne = fsw_n[e] * q_n[e];
                const float from_sw = fne_s[a] * q_s[a], from_se = fnw_s[e] * q_s[e];
                w_out = w_out + ((to_nw * water + to_ne * water) + (to_sw * water + to_se * water));
                s_out = s_out + ((to_nw * load + to_ne * load) + (to_sw * load + to_se * load));
                w_in = w_in + ((from_nw * w_n[a] + from_ne * w_n[e]) + (from_sw * w_s[a] + from_se * w_s[e]));
                s_in = s_in + ((from_nw * s_n[a] + from_ne * s_n[e]) + (from_sw * s_s[a] + from_se * s_s[e]));
            }
            const float w2 = positive(water - w_out) + w_in, left_over = w2 * c.keep;
            if (dries) dried += double(w2 - left_over);
            w[x] = left_over;
            s[x] = positive(load - s_out) + s_in;
        }
        if (own(y)) {
            sum(y, EVAPORATED) += dried;
            if (Law::opened) {
                sum(y, WATER_EXPORTED) += leaving(k, y, w1, q);
                sum(y, SOLIDS_EXPORTED) += leaving(k, y, s1, q);
            }
        }
        close_ends(w, 0.0f);
        close_ends(s, 0.0f);
    }

    // What leaves through the open pipes of a row.
    double leaving(int k, int y, const float* a, const float* q) {
        double gone = 0.0;
        const auto through = [&](StateField f, int x) { gone += double(left(k, f, y)[x] * q[x] * a[x]); };
        const auto out = [&](StateField straight, StateField one, StateField other, int x) {
            through(straight, x);
            if (Law::eight) through(one, x), through(other, x);
        };
        out(FW, FNW, FSW, 1);
        out(FE, FNE, FSE, last);
        if (y == 0)
            for (int x = 1; x <= last; x++) out(FN, FNW, FNE, x);
        if (y == p.height - 1)
            for (int x = 1; x <= last; x++) out(FS, FSW, FSE, x);
        return gone;
    }
};

void run_band(const Problem& p, const float* source, float* target, int depth, int i, int bands) {
    const int y0 = long(i) * p.height / bands, y1 = long(i + 1) * p.height / bands;
    float* workspace = p.workspace + long(i) * (ROWS_PER_BAND + depth * ROWS_IN_FLIGHT) * p.stride;
    if (p.laws == 2)
        Band<Landscape>(p, source, target, y0, y1, depth, workspace).run();
    else if (p.laws == 1)
        Band<SingleGrid>(p, source, target, y0, y1, depth, workspace).run();
    else
        Band<Table2>(p, source, target, y0, y1, depth, workspace).run();
}

}  // namespace

extern "C" {

// Rows the caller has to provide as workspace.
int workspace_rows(int depth, int bands) { return bands * (ROWS_PER_BAND + depth * ROWS_IN_FLIGHT); }

// Advance the whole grid by `depth` iterations, one band of rows per thread.
void sweep(const Problem* p, const float* source, float* target, int depth, int bands) {
    std::vector<std::thread> others;
    for (int i = 1; i < bands; i++) others.emplace_back(run_band, *p, source, target, depth, i, bands);
    run_band(*p, source, target, depth, 0, bands);
    for (auto& other : others) other.join();
}

}  // extern "C"
