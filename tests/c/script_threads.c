/* What a script registered, called from several threads at a time: Lua runs for one after the other, and all is right. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include <pthread.h>

#include "script.h"

enum { THREADS = 4, CALLS = 50 };

static const char script[] =
    "local th = require 'thunder'\n"
    "local inside = 0\n"
    "local function alone(x)\n"
    "  assert(inside == 0)\n"
    "  inside = inside + 1\n"
    "  local y = x\n"
    "  for i = 1, 5 do y = y + 1 end\n"
    "  inside = inside - 1\n"
    "  return y\n"
    "end\n"
    "th.op { schema = 'script.plus_five(tensor x) -> tensor', meta = function(op) return op.inputs[1] end, host = alone }\n"
    "th.executor { name = 'script', ops = { relu = alone } }\n";

struct work { thunder_context *context; thunder_compiled *compiled; float first; };

static thunder_status *plus_ten(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const thunder_any x = thunder_any_tensor(thunder_values_tensor(in, 0));
    (void)user;
    thunder_values_push_tensor(out, th_relu(s, thunder_op_invoke(s, "script.plus_five", &x, 1, NULL, NULL, 0, NULL)));
    return NULL;
}

static void *call_often(void *arg)
{
    const struct work *w = arg;
    const int64_t shape[] = { 2 };
    for (int i = 0; i < CALLS; i++) {
        const float data[] = { w->first, (float)i };
        float r[2];
        thunder_tensor *x = test_f32(w->context, 1, shape, data), *y = NULL;
        OK(thunder_compiled_call_tensors(w->compiled, &x, 1, &y, 1));
        OK(thunder_tensor_read(y, r, sizeof r));
        CHECK(r[0] == w->first + 10 && r[1] == (float)i + 10);
        thunder_tensor_release(x);
        thunder_tensor_release(y);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct work work[THREADS];
    thunder_context *context = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    OK(thunder_context_create(NULL, &context));
    OK(test_run_script(context, script, sizeof script - 1, NULL));
    OK(thunder_options_create(context, &o));
    thunder_options_set_str(o, "executors", "script");
    OK(thunder_function_create(context, "plus_ten", plus_ten, NULL, NULL, &f));
    OK(thunder_compile(f, o, &c));
    for (int i = 0; i < THREADS; i++) {
        work[i] = (struct work){ context, c, (float)i * 100 };
        CHECK(!pthread_create(&threads[i], NULL, call_often, &work[i]));
    }
    for (int i = 0; i < THREADS; i++) CHECK(!pthread_join(threads[i], NULL));
    thunder_options_release(o);
    thunder_function_release(f);
    thunder_context_release(context);
    thunder_compiled_release(c); /* the last of it: the script's state ends here */
    return 0;
}
