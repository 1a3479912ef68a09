/* What the consumer programs share: a check that names its line, and statuses that must or must not be there. */
#ifndef TEST_H
#define TEST_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thunder.h>
#include <thunder/ops.h>

#define CHECK(holds)                                                          \
    do {                                                                      \
        if (!(holds)) {                                                       \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

/* Fails with the message if there is a status. */
#define OK(expression) test_ok((expression), __FILE__, __LINE__)
static inline void test_ok(thunder_status *status, const char *file, int line)
{
    if (!status) return;
    fprintf(stderr, "%s:%d: %s\n", file, line, thunder_status_message(status));
    exit(1);
}

/* Fails unless there is a status of this code whose message holds the text. */
#define REFUSED(expression, code, text) test_refused((expression), (code), (text), __FILE__, __LINE__)
static inline void test_refused(thunder_status *status, thunder_code code, const char *text, const char *file, int line)
{
    const int right = status && thunder_status_code(status) == code && strstr(thunder_status_message(status), text);
    if (!right) {
        fprintf(stderr, "%s:%d: wanted code %d and \"%s\", got code %d: %s\n", file, line, (int)code, text,
            (int)thunder_status_code(status), thunder_status_message(status));
        exit(1);
    }
    thunder_status_release(status);
}

/* Contexts that are not seeded draw other numbers at each run. */
static inline void test_seed(thunder_context *context, int64_t seed)
{
    const int64_t state[] = { seed, 0 };
    OK(thunder_tensor_write(thunder_context_random(context), state, sizeof state));
}

static inline thunder_tensor *test_f32(thunder_context *context, size_t rank, const int64_t *shape, const float *data)
{
    size_t n = 1;
    thunder_tensor *t = NULL;
    for (size_t i = 0; i < rank; i++) n *= (size_t)shape[i];
    OK(thunder_tensor_create(context, THUNDER_F32, rank, shape, 0, data, n * sizeof *data, &t));
    return t;
}
#endif
