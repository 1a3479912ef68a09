/* Eight threads at once: they share functions, compile one key together, release what others run, register ops, and fork.
 * How many calls they make together: 4000, or what THUNDER_THREAD_CALLS says. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 8, SHARED = 3, LENGTHS = 6 };

static struct {
    thunder_context *context;
    thunder_options *options;
    thunder_function *function;
    thunder_compiled *shared[SHARED];
    thunder_compiled *replaced; /* by whoever holds the lock; the others run it meanwhile */
    pthread_mutex_t lock;
    pthread_barrier_t together;
    long calls;
} all;

static thunder_status *formula(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_sum(s, th_mul(s, th_add(s, x, th_f64(s, 1)), x)));
    return NULL;
}

static thunder_compiled *compiled(void)
{
    thunder_compiled *made = NULL;
    OK(thunder_compile(all.function, all.options, &made));
    return made;
}

/* The sum of x * (x + 1) for x = 1 ... length. */
static void call(thunder_compiled *c, int64_t length)
{
    float data[LENGTHS], sum = 0, wanted = 0;
    thunder_tensor *result = NULL;
    for (int64_t i = 0; i < length; i++) {
        data[i] = (float)(i + 1);
        wanted += data[i] * (data[i] + 1);
    }
    thunder_tensor *x = test_f32(all.context, 1, &length, data);
    OK(thunder_compiled_call_tensors(c, &x, 1, &result, 1));
    OK(thunder_tensor_read(result, &sum, sizeof sum));
    CHECK(sum == wanted);
    thunder_tensor_release(result);
    thunder_tensor_release(x);
}

static void replace(void)
{
    thunder_compiled *fresh = compiled();
    pthread_mutex_lock(&all.lock);
    thunder_compiled *old = all.replaced;
    all.replaced = fresh;
    pthread_mutex_unlock(&all.lock);
    thunder_compiled_release(old);
}

static void call_replaced(int64_t length)
{
    pthread_mutex_lock(&all.lock);
    thunder_compiled *mine = thunder_compiled_retain(all.replaced);
    pthread_mutex_unlock(&all.lock);
    call(mine, length);
    thunder_compiled_release(mine);
}

/* An op of this name, which is used right away. */
static void add_op(long thread, long number)
{
    char name[40], schema[80];
    const int64_t length = 2;
    const float data[] = { 1, 2 };
    thunder_scope *s = NULL;
    thunder_op_desc d;
    memset(&d, 0, sizeof d);
    snprintf(name, sizeof name, "threads.op_%ld_%ld", thread, number);
    snprintf(schema, sizeof schema, "%s(tensor x) -> tensor", name);
    d.size = sizeof d, d.schema = schema, d.doc = "The sum of x * (x + 1).", d.decompose = formula;
    OK(thunder_context_add_op(all.context, &d));
    thunder_tensor *x = test_f32(all.context, 1, &length, data);
    const thunder_any argument = thunder_any_tensor(x);
    OK(thunder_scope_create(all.context, 0, &s));
    thunder_op_invoke(s, name, &argument, 1, NULL, NULL, 0, "threads.c:1");
    OK(thunder_scope_status(s));
    thunder_scope_release(s);
    thunder_tensor_release(x);
}

/* A child is a process of one thread; what its parent compiled runs in it. */
static void call_in_child(void)
{
    const pid_t child = fork();
    if (child == 0) {
        call(all.shared[0], 1);
        _exit(7);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void *work(void *which)
{
    const long thread = (long)(intptr_t)which, mine = all.calls / THREADS, often = mine / 20 + 1;
    pthread_barrier_wait(&all.together); /* so that all compile the first key at once */
    for (long i = 0; i < mine; i++) {
        const int64_t length = 1 + i % LENGTHS;
        if (i % 4 == 3) call_replaced(length);
        else call(all.shared[i % SHARED], length);
        if (i % often == thread) replace();
        if (i % often == often / 2) add_op(thread, i);
        if (thread == 0 && i % (4 * often) == often - 1) call_in_child();
    }
    return NULL;
}

int main(void)
{
    const char *told = getenv("THUNDER_THREAD_CALLS");
    pthread_t threads[THREADS];
    all.calls = told ? strtol(told, NULL, 10) : 4000;
    OK(thunder_context_create(NULL, &all.context));
    OK(thunder_options_create(all.context, &all.options));
    thunder_options_set_str(all.options, "executors", "host"); /* what LLVM does in its threads is none of ours to look at */
    OK(thunder_function_create(all.context, "formula", formula, NULL, NULL, &all.function));
    for (int i = 0; i < SHARED; i++) all.shared[i] = compiled();
    all.replaced = compiled();
    call(all.shared[0], 1);
    pthread_mutex_init(&all.lock, NULL);
    pthread_barrier_init(&all.together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < SHARED; i++) thunder_compiled_release(all.shared[i]);
    thunder_compiled_release(all.replaced);
    thunder_function_release(all.function);
    thunder_options_release(all.options);
    thunder_context_release(all.context);
    return 0;
}
