/* A host whose timer sends a signal each millisecond, with a handler of its own: products and a training step give the same bits as
 * without. For 2 seconds, or as many as THUNDER_SIGNAL_SECONDS says. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "test.h"

enum { ROWS = 512, FEATURES = 512, HIDDEN = 1024 };

static volatile sig_atomic_t arrived;

static void count(int number)
{
    volatile char frame[512]; /* what lies below the stack pointer is written */
    (void)number;
    for (size_t i = 0; i < sizeof frame; i++) frame[i] = 1;
    arrived++;
}

static void every(int microseconds)
{
    const struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* x, y, and the weights w and v of two layers: the loss, and the weights after a step of descent. */
static thunder_status *step(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0), *y = thunder_values_tensor(in, 1);
    thunder_tensor *weights[] = {thunder_values_tensor(in, 2), thunder_values_tensor(in, 3)};
    thunder_tensor *error = th_sub(s, th_matmul(s, th_relu(s, th_matmul(s, x, weights[0])), weights[1]), y);
    thunder_tensor *loss = th_mean(s, th_mul(s, error, error));
    thunder_values *gradients = thunder_scope_grad(s, loss, thunder_scope_list(s, weights, 2));
    thunder_values_push_tensor(out, loss);
    for (size_t i = 0; i < 2; i++)
        thunder_values_push_tensor(out, th_sub(s, weights[i], th_mul(s, thunder_values_tensor(gradients, i), th_f64(s, 0.1))));
    return NULL;
}

static float pseudo_random(void)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1 << 24) - 0.5f;
}

static thunder_tensor *random_tensor(thunder_context *context, int64_t rows, int64_t columns)
{
    const int64_t shape[] = {rows, columns};
    float *data = malloc((size_t)(rows * columns) * sizeof *data);
    CHECK(data);
    for (int64_t i = 0; i < rows * columns; i++) data[i] = pseudo_random() * 0.1f;
    thunder_tensor *made = test_f32(context, 2, shape, data);
    free(data);
    return made;
}

/* The bits of the three results. */
static void run(thunder_compiled *compiled, thunder_tensor *const *in, float *bits)
{
    thunder_tensor *out[3] = {NULL, NULL, NULL};
    OK(thunder_compiled_call_tensors(compiled, in, 4, out, 3));
    for (int i = 0; i < 3; i++) {
        const size_t bytes = thunder_tensor_nbytes(out[i]);
        OK(thunder_tensor_read(out[i], bits, bytes));
        bits += bytes / sizeof *bits;
        thunder_tensor_release(out[i]);
    }
}

int main(void)
{
    enum { RESULTS = 1 + 2 * FEATURES * HIDDEN };
    static float wanted[RESULTS], got[RESULTS];
    const char *told = getenv("THUNDER_SIGNAL_SECONDS");
    thunder_context *context = NULL;
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    OK(thunder_context_create(NULL, &context));
    OK(thunder_function_create(context, "step", step, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &compiled));
    thunder_tensor *in[] = {random_tensor(context, ROWS, FEATURES), random_tensor(context, ROWS, FEATURES),
                            random_tensor(context, FEATURES, HIDDEN), random_tensor(context, HIDDEN, FEATURES)};
    run(compiled, in, wanted);

    const struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    every(1000);
    for (const double end = seconds() + (told ? atof(told) : 2); seconds() < end;) {
        run(compiled, in, got);
        CHECK(memcmp(got, wanted, sizeof got) == 0);
    }
    every(0);
    CHECK(arrived > 20);

    for (int i = 0; i < 4; i++) thunder_tensor_release(in[i]);
    thunder_compiled_release(compiled);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
