// The C helpers at the start of every exported source.
#include "jit/programs/c_ops.h"
#include "jit/programs/c_source.h"

namespace thunder {

const char* const kCRuntime = R"c(
#ifdef _OPENMP
#include <omp.h>
#define PRAGMA(text) _Pragma(#text)
#define PARALLEL(work) PRAGMA(omp parallel for if ((work) > 65536))
#define PARALLEL_OR(any) PRAGMA(omp parallel for reduction(| : any))
#else
#define PARALLEL(work)
#define PARALLEL_OR(any)
#endif

/* An index out of range, as a kernel reports it; expr < 0: none. */
struct refusal { int64_t expr, index; };

/* A kernel over so many items, whose bits are the same in whatever parts. Whether it met an index out of range. */
static inline int run(void (*kernel)(void *const *, const int64_t *, int64_t, int64_t, struct refusal *),
                      void *const *buffers, const int64_t *parameters, int64_t items, int64_t grain)
{
    int refused = 0;
    int64_t parts = 1;
#ifdef _OPENMP
    parts = (items + grain - 1) / grain;
    if (parts > omp_get_max_threads()) parts = omp_get_max_threads();
    if (parts < 1) parts = 1;
#endif
    (void)grain;
    PARALLEL_OR(refused)
    for (int64_t part = 0; part < parts; part++) {
        struct refusal found = { -1, 0 };
        kernel(buffers, parameters, items * part / parts, items * (part + 1) / parts, &found);
        refused |= found.expr >= 0;
    }
    return refused;
}

/* c[m, n] = a[m, k] b[k, n] + bias. An element is the sum of LANES sums where both operands are read along k. */
static inline void product(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column,
                           const float *b, int64_t b_row, int64_t b_column, const float *bias, int64_t bias_step,
                           float *c, int64_t c_row)
{
    enum { LANES = 16 };
    const int64_t whole = k - k % LANES;
    if (a_column == 1 && b_row == 1) {
        PARALLEL(m * n * k)
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                float sums[LANES];
                const float *x = a + i * a_row, *y = b + j * b_column;
                float sum = bias ? bias[j * bias_step] : 0;
                for (int l = 0; l < LANES; l++) sums[l] = 0;
                for (int64_t p = 0; p < whole; p += LANES)
                    for (int l = 0; l < LANES; l++) sums[l] += x[p + l] * y[p + l];
                for (int64_t p = whole; p < k; p++) sum += x[p] * y[p];
                for (int l = 0; l < LANES; l++) sum += sums[l];
                c[i * c_row + j] = sum;
            }
        return;
    }
    PARALLEL(m * n * k)
    for (int64_t j = 0; j < n; j += LANES) {
        float sums[LANES];
        const int64_t some = n - j < LANES ? n - j : LANES;
        for (int64_t i = 0; i < m; i++) {
            for (int64_t l = 0; l < some; l++) sums[l] = bias ? bias[(j + l) * bias_step] : 0;
            for (int64_t p = 0; p < k; p++) {
                const float x = a[i * a_row + p * a_column], *y = b + p * b_row + j * b_column;
                if (some == LANES && b_column == 1)
                    for (int l = 0; l < LANES; l++) sums[l] += x * y[l];
                else
                    for (int64_t l = 0; l < some; l++) sums[l] += x * y[l * b_column];
            }
            for (int64_t l = 0; l < some; l++) c[i * c_row + j + l] = sums[l];
        }
    }
}

/* Where the sums of a chunk of a kernel's work are. */
static inline void *sums(int64_t chunk, unsigned char *first, unsigned char *others, int64_t bytes)
{
    return chunk ? others + chunk * bytes : first;
}

/* Elements of so many bytes from one place to another; strides in bytes. */
static inline void copy(int rank, const int64_t *sizes, unsigned char *to, const int64_t *to_strides,
                        const unsigned char *from, const int64_t *from_strides, size_t bytes)
{
    if (rank == 0) {
        memcpy(to, from, bytes);
        return;
    }
    for (int64_t i = 0; i < sizes[0]; i++)
        copy(rank - 1, sizes + 1, to + i * to_strides[0], to_strides + 1, from + i * from_strides[0],
             from_strides + 1, bytes);
}
)c";

const char* const kCConvolutions = R"c(
/* x[n, groups * c, h, w], weights w[groups * o, c, kh, kw], y[n, groups * o, oh, ow]; strides of elements. */
struct convolution {
    int64_t n, groups, o, c, kh, kw, h, w, oh, ow, stride[2], padding[2], dilation[2], xs[4], ws[4], ys[4];
};

/* The windows whose tap at `off` from their first pixel is inside of the image: from the first to the end. */
static inline void windows(int64_t off, int64_t stride, int64_t pixels, int64_t count, int64_t *first, int64_t *end)
{
    *first = off < 0 ? (-off + stride - 1) / stride : 0;
    *end = pixels > off ? (pixels - off - 1) / stride + 1 : 0;
    if (*end > count) *end = count;
    if (*first > *end) *first = *end;
}

/* What is computed along a row: to += k * from, or the sum of products, which is returned. */
static inline void add_row(int64_t n, float k, const float *restrict from, int64_t from_step, float *restrict to,
                           int64_t to_step)
{
    if (from_step == 1 && to_step == 1)
        for (int64_t i = 0; i < n; i++) to[i] += k * from[i];
    else
        for (int64_t i = 0; i < n; i++) to[i * to_step] += k * from[i * from_step];
}
static inline float dot_row(int64_t n, const float *a, int64_t a_step, const float *b, int64_t b_step)
{
    float sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i * a_step] * b[i * b_step];
    return sum;
}
static inline void clear_plane(float *to, int64_t rows, int64_t columns, int64_t row, int64_t column)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) to[i * row + j * column] = 0;
}

/* One tap over a plane. kind 0: y += k * x; 1: x += k * y; 2: the sum of x * y, which is returned. */
static inline float tap(const struct convolution *p, int kind, int64_t i, int64_t j, float k, float *x, float *y)
{
    const int64_t dy = i * p->dilation[0] - p->padding[0], dx = j * p->dilation[1] - p->padding[1];
    int64_t top, bottom, left, right;
    windows(dy, p->stride[0], p->h, p->oh, &top, &bottom);
    windows(dx, p->stride[1], p->w, p->ow, &left, &right);
    const int64_t step = p->stride[1] * p->xs[3];
    float sum = 0;
    for (int64_t row = top; row < bottom; row++) {
        float *from = x + (row * p->stride[0] + dy) * p->xs[2] + (left * p->stride[1] + dx) * p->xs[3];
        float *to = y + row * p->ys[2] + left * p->ys[3];
        if (kind == 0) add_row(right - left, k, from, step, to, p->ys[3]);
        else if (kind == 1) add_row(right - left, k, to, p->ys[3], from, step);
        else sum += dot_row(right - left, from, step, to, p->ys[3]);
    }
    return sum;
}

static inline int64_t convolution_work(const struct convolution *p)
{
    return p->n * p->groups * p->o * p->c * p->kh * p->kw * p->oh * p->ow;
}

static inline void convolution(const struct convolution *p, float *x, float *w, float *y)
{
    PARALLEL(convolution_work(p))
    for (int64_t plane = 0; plane < p->n * p->groups * p->o; plane++) {
        const int64_t out = plane % (p->groups * p->o), image = plane / (p->groups * p->o);
        float *to = y + image * p->ys[0] + out * p->ys[1];
        clear_plane(to, p->oh, p->ow, p->ys[2], p->ys[3]);
        for (int64_t c = 0; c < p->c; c++)
            for (int64_t i = 0; i < p->kh; i++)
                for (int64_t j = 0; j < p->kw; j++)
                    tap(p, 0, i, j, w[out * p->ws[0] + c * p->ws[1] + i * p->ws[2] + j * p->ws[3]],
                        x + image * p->xs[0] + (out / p->o * p->c + c) * p->xs[1], to);
    }
}

static inline void convolution_input_grad(const struct convolution *p, float *x, float *w, float *y)
{
    PARALLEL(convolution_work(p))
    for (int64_t plane = 0; plane < p->n * p->groups * p->c; plane++) {
        const int64_t in = plane % (p->groups * p->c), image = plane / (p->groups * p->c), c = in % p->c;
        float *to = x + image * p->xs[0] + in * p->xs[1];
        clear_plane(to, p->h, p->w, p->xs[2], p->xs[3]);
        for (int64_t o = in / p->c * p->o; o < (in / p->c + 1) * p->o; o++)
            for (int64_t i = 0; i < p->kh; i++)
                for (int64_t j = 0; j < p->kw; j++)
                    tap(p, 1, i, j, w[o * p->ws[0] + c * p->ws[1] + i * p->ws[2] + j * p->ws[3]], to,
                        y + image * p->ys[0] + o * p->ys[1]);
    }
}

static inline void convolution_weight_grad(const struct convolution *p, float *x, float *w, float *y)
{
    PARALLEL(convolution_work(p))
    for (int64_t pair = 0; pair < p->groups * p->o * p->c; pair++) {
        const int64_t o = pair / p->c, c = pair % p->c;
        for (int64_t i = 0; i < p->kh; i++)
            for (int64_t j = 0; j < p->kw; j++) {
                float sum = 0;
                for (int64_t image = 0; image < p->n; image++)
                    sum += tap(p, 2, i, j, 0, x + image * p->xs[0] + (o / p->o * p->c + c) * p->xs[1],
                               y + image * p->ys[0] + o * p->ys[1]);
                w[o * p->ws[0] + c * p->ws[1] + i * p->ws[2] + j * p->ws[3]] = sum;
            }
    }
}
)c";

const char* const kCPools = R"c(
struct pool { int64_t n, c, h, w, oh, ow, size[2], stride[2], padding[2], dilation[2]; };

/* The first of the largest of each window, where the last NaN beats all, and its place in the plane. */
static inline void max_pool(const struct pool *p, const float *x, const int64_t *xs, float *y, const int64_t *ys,
                            int64_t *at, const int64_t *as)
{
    PARALLEL(p->n * p->c * p->oh * p->ow * p->size[0] * p->size[1])
    for (int64_t plane = 0; plane < p->n * p->c; plane++) {
        const int64_t image = plane / p->c, channel = plane % p->c;
        for (int64_t i = 0; i < p->oh; i++)
            for (int64_t j = 0; j < p->ow; j++) {
                float best = 0;
                int64_t place = -1;
                for (int64_t u = 0; u < p->size[0]; u++)
                    for (int64_t v = 0; v < p->size[1]; v++) {
                        const int64_t row = i * p->stride[0] - p->padding[0] + u * p->dilation[0];
                        const int64_t column = j * p->stride[1] - p->padding[1] + v * p->dilation[1];
                        if (row < 0 || row >= p->h || column < 0 || column >= p->w) continue;
                        const float seen = x[image * xs[0] + channel * xs[1] + row * xs[2] + column * xs[3]];
                        if (place < 0 || seen > best || seen != seen) best = seen, place = row * p->w + column;
                    }
                y[image * ys[0] + channel * ys[1] + i * ys[2] + j * ys[3]] = best;
                at[image * as[0] + channel * as[1] + i * as[2] + j * as[3]] = place;
            }
    }
}

/* Whether a place is out of range. */
static inline int max_pool_backward(const struct pool *p, const float *grad, const int64_t *gs, const int64_t *at,
                                    const int64_t *as, float *dx, const int64_t *xs)
{
    int refused = 0;
    PARALLEL_OR(refused)
    for (int64_t plane = 0; plane < p->n * p->c; plane++) {
        const int64_t image = plane / p->c, channel = plane % p->c;
        float *to = dx + image * xs[0] + channel * xs[1];
        for (int64_t i = 0; i < p->h; i++)
            for (int64_t j = 0; j < p->w; j++) to[i * xs[2] + j * xs[3]] = 0;
        for (int64_t i = 0; i < p->oh; i++)
            for (int64_t j = 0; j < p->ow; j++) {
                const int64_t place = at[image * as[0] + channel * as[1] + i * as[2] + j * as[3]];
                if (place < 0 || place >= p->h * p->w) refused = 1;
                else
                    to[place / p->w * xs[2] + place % p->w * xs[3]] +=
                        grad[image * gs[0] + channel * gs[1] + i * gs[2] + j * gs[3]];
            }
    }
    return refused;
}
)c";

}  // namespace thunder
