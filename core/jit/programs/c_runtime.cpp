// What every exported source begins with: the C that its statements call.
#include "jit/programs/c_source.h"

namespace thunder {

const char* const kCRuntime = R"c(
/* An index out of range, as a kernel reports it; expr < 0: none. */
struct refusal { int64_t expr, index; };

/* c[m, n] = a[m, k] b[k, n] + bias. An element is the sum of LANES sums where both operands are read along k. */
static inline void product(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column,
                           const float *b, int64_t b_row, int64_t b_column, const float *bias, int64_t bias_step,
                           float *c, int64_t c_row)
{
    enum { LANES = 16 };
    const int64_t whole = k - k % LANES;
    float sums[LANES];
    if (a_column == 1 && b_row == 1) {
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
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
    for (int64_t j = 0; j < n; j += LANES) {
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

}  // namespace thunder
