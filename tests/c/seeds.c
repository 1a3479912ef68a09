/* Random numbers: other ones in each process and each context, and the same after the same seed. */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { COUNT = 8 };

static void draw(thunder_context *context, float *out)
{
    const thunder_dim size[] = { COUNT };
    thunder_scope *s = NULL;
    OK(thunder_scope_create(context, 0, &s));
    OK(thunder_tensor_read(th_rand(s, size, 1), out, COUNT * sizeof *out));
    thunder_scope_release(s);
}

/* What a process of its own draws from a fresh context, after `given` unless it is negative; and its seed. */
static int64_t in_another_process(int64_t given, float *out)
{
    int ends[2], status = 1;
    int64_t state[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        thunder_context *context = NULL;
        OK(thunder_context_create(NULL, &context));
        if (given >= 0) test_seed(context, given);
        OK(thunder_tensor_read(thunder_context_random(context), state, sizeof state));
        draw(context, out);
        thunder_context_release(context);
        CHECK(write(ends[1], out, COUNT * sizeof *out) == COUNT * sizeof *out && write(ends[1], state, sizeof state) == sizeof state);
        _exit(0);
    }
    CHECK(read(ends[0], out, COUNT * sizeof *out) == COUNT * sizeof *out && read(ends[0], state, sizeof state) == sizeof state);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    close(ends[0]), close(ends[1]);
    CHECK(state[0] >= 0 && state[0] < INT64_C(1) << 53 && state[1] == 0);
    return state[0];
}

int main(void)
{
    float first[COUNT], second[COUNT];
    const int64_t seed_of_first = in_another_process(-1, first), seed_of_second = in_another_process(-1, second);
    CHECK(seed_of_first != seed_of_second && memcmp(first, second, sizeof first));
    CHECK(in_another_process(seed_of_first, second) == seed_of_first && !memcmp(first, second, sizeof first));
    in_another_process(7, first), in_another_process(7, second);
    CHECK(!memcmp(first, second, sizeof first));

    thunder_context *one = NULL, *other = NULL;
    OK(thunder_context_create(NULL, &one));
    OK(thunder_context_create(NULL, &other));
    draw(one, first), draw(other, second);
    CHECK(memcmp(first, second, sizeof first));
    test_seed(one, 7), test_seed(other, 7);
    draw(one, first), draw(other, second);
    CHECK(!memcmp(first, second, sizeof first));
    thunder_context_release(one), thunder_context_release(other);
    return 0;
}
