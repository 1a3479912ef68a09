/* Calls are stopped by thunder_context_interrupt() in a signal handler, compiles by their progress function too: nothing has changed, and
 * the next call runs. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "test.h"

enum { SIZE = 128, PRODUCTS = 4000 };

static thunder_context *context;

static void interrupt(int number)
{
    (void)number;
    thunder_context_interrupt(context);
}

static thunder_status *long_program(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0), *written = thunder_values_tensor(in, 1), *y = x;
    th_add_(s, written, th_f64(s, 1)); /* early: it is stored when nothing can be stopped any more */
    for (int i = 0; i < PRODUCTS; i++) y = th_matmul(s, y, x);
    thunder_values_push_tensor(out, y);
    return NULL;
}

/* Ends a compile before its lines are claimed, as often as `user` says. */
static thunder_status *progress(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)s, (void)out;
    int *cancels = user;
    const char *stage = thunder_values_str(in, 0, NULL);
    CHECK(thunder_values_i64(in, 1) < thunder_values_i64(in, 2));
    if (strcmp(stage, "claim") != 0 || *cancels == 0) return NULL;
    --*cancels;
    return thunder_status_create(THUNDER_CANCELLED, "enough", 6);
}

static void cancels_by_its_progress(thunder_function *f, thunder_values *values)
{
    int cancels = 1;
    thunder_function *told = NULL;
    thunder_options *options = NULL;
    thunder_compiled *compiled = NULL;
    OK(thunder_function_create(context, "progress", progress, &cancels, NULL, &told));
    OK(thunder_options_create(context, &options));
    thunder_options_set_function(options, "progress", told);
    thunder_function_release(told);
    OK(thunder_compile(f, options, &compiled));
    thunder_options_release(options);
    REFUSED(thunder_compiled_prepare(compiled, values), THUNDER_CANCELLED, "enough");
    OK(thunder_compiled_prepare(compiled, values));
    CHECK(cancels == 0);
    thunder_compiled_release(compiled);
}

static void after(int milliseconds)
{
    const struct itimerval timer = {.it_value.tv_usec = milliseconds * 1000};
    CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

int main(void)
{
    static float zeros[SIZE * SIZE];
    const float one = 1;
    const int64_t shape[] = {SIZE, SIZE}, small[] = {1};
    float value = 0;
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    thunder_values *values = NULL;
    OK(thunder_context_create(NULL, &context));
    OK(thunder_function_create(context, "long_program", long_program, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &compiled));
    thunder_tensor *in[] = {test_f32(context, 2, shape, zeros), test_f32(context, 1, small, &one)}, *out = NULL;
    OK(thunder_values_create(context, &values));
    thunder_values_push_tensor(values, in[0]);
    thunder_values_push_tensor(values, in[1]);
    OK(thunder_compiled_prepare(compiled, values));
    cancels_by_its_progress(f, values);
    thunder_context_interrupt(NULL);
    thunder_context_interrupt(context); /* nothing runs: it concerns nobody */

    const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    after(20);
    REFUSED(thunder_compiled_call_tensors(compiled, in, 2, &out, 1), THUNDER_CANCELLED, "no tensor was changed");
    CHECK(out == NULL);
    OK(thunder_tensor_read(in[1], &value, sizeof value));
    CHECK(value == 1);
    OK(thunder_compiled_call_tensors(compiled, in, 2, &out, 1));
    OK(thunder_tensor_read(in[1], &value, sizeof value));
    CHECK(value == 2);

    thunder_tensor_release(out);
    thunder_tensor_release(in[0]);
    thunder_tensor_release(in[1]);
    thunder_values_release(values);
    thunder_compiled_release(compiled);
    thunder_function_release(f);
    thunder_context_release(context);
    return 0;
}
