// The C of an exported program that draws random numbers: Philox4x32-10 and its uniforms and normals, as ops/philox.h
// has them.
#include "jit/programs/c_ops.h"

namespace thunder {

const char* const kCRandom = R"c(
/* The state is {seed, draws}. */
static inline void advance(const int64_t *state, int64_t draws, int64_t *after)
{
    after[0] = state[0];
    after[1] = (int64_t)((uint64_t)state[1] + (uint64_t)draws);
}

static inline void philox(const int64_t *state, int64_t ordinal, uint64_t number, uint32_t *c)
{
    const uint64_t seed = (uint64_t)state[0], draw = (uint64_t)state[1] + (uint64_t)ordinal;
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    c[0] = (uint32_t)number, c[1] = (uint32_t)(number >> 32), c[2] = (uint32_t)(draw >> 32), c[3] = (uint32_t)draw;
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
        c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0, c[1] = (uint32_t)p1;
        c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1, c[3] = (uint32_t)p0;
    }
}

static inline void draw_uniform(const int64_t *state, int64_t ordinal, int64_t count, float *to)
{
    uint32_t words[4];
    for (int64_t i = 0; i < count; i++) {
        if (i % 4 == 0) philox(state, ordinal, (uint64_t)i / 4, words);
        to[i] = (float)(words[i % 4] >> 8) * 0x1p-24f;
    }
}

static inline double polynomial(const double *c, double r)
{
    return ((((((c[7] * r + c[6]) * r + c[5]) * r + c[4]) * r + c[3]) * r + c[2]) * r + c[1]) * r + c[0];
}

/* Algorithm AS 241 (Wichura, 1988), PPND16. */
static inline double normal_quantile(double p)
{
    static const double central[2][8] = {
        { 3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
          4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3 },
        { 1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
          3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3 } };
    static const double middle[2][8] = {
        { 1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
          1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4 },
        { 1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
          1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9 } };
    static const double far[2][8] = {
        { 6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
          2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7 },
        { 1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
          7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
          2.04426310338993978564e-15 } };
    const double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        const double r = 0.180625 - q * q;
        return q * (polynomial(central[0], r) / polynomial(central[1], r));
    }
    const double r = sqrt(-log(q < 0 ? p : 1 - p));
    const double x = r <= 5 ? polynomial(middle[0], r - 1.6) / polynomial(middle[1], r - 1.6)
                            : polynomial(far[0], r - 5) / polynomial(far[1], r - 5);
    return q < 0 ? -x : x;
}

static inline void draw_normal(const int64_t *state, int64_t ordinal, int64_t count, float *to)
{
    uint32_t words[4];
    for (int64_t i = 0; i < count; i++) {
        if (i % 4 == 0) philox(state, ordinal, (uint64_t)i / 4, words);
        to[i] = (float)normal_quantile(((double)words[i % 4] + 0.5) * 0x1p-32);
    }
}

/* From low up to but not including low + n. */
static inline void draw_integers(const int64_t *state, int64_t ordinal, uint64_t low, uint64_t n, int64_t count,
                                 int64_t *to)
{
    uint32_t words[4];
    for (int64_t i = 0; i < count; i++) {
        if (i % 2 == 0) philox(state, ordinal, (uint64_t)i / 2, words);
        const uint64_t bits = words[i % 2 * 2] | (uint64_t)words[i % 2 * 2 + 1] << 32;
        const uint64_t small = (bits & 0xffffffff) * (n & 0xffffffff);
        const uint64_t middle = (bits >> 32) * (n & 0xffffffff) + (small >> 32);
        const uint64_t cross = (bits & 0xffffffff) * (n >> 32) + (middle & 0xffffffff);
        to[i] = (int64_t)(low + (bits >> 32) * (n >> 32) + (middle >> 32) + (cross >> 32));
    }
}
)c";

}  // namespace thunder
