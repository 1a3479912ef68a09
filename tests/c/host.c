/* What a callback reads beside its arguments: touches of functions, facts of what is traced, options of layers that are set. */
#include "test.h"

struct host {
    double factor;
    int traced, asked, destroyed;
};

static thunder_status *scale(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    struct host *self = user;
    self->traced++;
    thunder_values_push_tensor(out, th_mul(s, thunder_values_tensor(in, 0), th_f64(s, self->factor)));
    return NULL;
}

static float call(thunder_compiled *compiled, thunder_tensor *x)
{
    thunder_tensor *y = NULL;
    float value = 0;
    OK(thunder_compiled_call_tensors(compiled, &x, 1, &y, 1));
    OK(thunder_tensor_read(y, &value, sizeof value));
    thunder_tensor_release(y);
    return value;
}

static void a_touch_traces_again(thunder_context *context, thunder_tensor *x)
{
    struct host host = { 2, 0, 0, 0 };
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    OK(thunder_function_create(context, "scale", scale, &host, NULL, &f));
    OK(thunder_compile(f, NULL, &compiled));
    CHECK(call(compiled, x) == 2);
    host.factor = 5;
    CHECK(call(compiled, x) == 2 && host.traced == 1); /* which is why there is */
    OK(thunder_function_touch(f));
    CHECK(call(compiled, x) == 5 && call(compiled, x) == 5 && host.traced == 2);
    CHECK(strstr(thunder_compiled_last_miss(compiled), "scale was touched"));
    thunder_compiled_release(compiled);
    thunder_function_release(f);
}

static thunder_function *guarded;

struct fact {
    struct host *host;
    double was;
};
static const char *is_same(void *user)
{
    const struct fact *fact = user;
    fact->host->asked++;
    return fact->host->factor == fact->was ? NULL : "the factor is another";
}
static void destroy(void *user)
{
    ((struct fact *)user)->host->destroyed++;
    free(user);
}
static thunder_status *guards(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    struct fact *fact = malloc(sizeof *fact);
    CHECK(fact != NULL);
    fact->host = user, fact->was = fact->host->factor;
    thunder_scope_guard(s, guarded, is_same, fact, destroy);
    return scale(s, in, out, user);
}

static void facts_say_which_programs_hold(thunder_context *context, thunder_tensor *x)
{
    struct host host = { 2, 0, 0, 0 };
    thunder_compiled *compiled = NULL;
    OK(thunder_function_create(context, "guards", guards, &host, NULL, &guarded));
    OK(thunder_compile(guarded, NULL, &compiled));
    CHECK(call(compiled, x) == 2 && call(compiled, x) == 2 && host.asked == 0);
    OK(thunder_function_touch(guarded)); /* and nothing changed */
    CHECK(call(compiled, x) == 2 && host.traced == 1 && host.asked == 1);
    host.factor = 3;
    OK(thunder_function_touch(guarded));
    CHECK(call(compiled, x) == 3 && host.traced == 2);
    CHECK(strstr(thunder_compiled_last_miss(compiled), "the factor is another"));
    host.factor = 2;
    OK(thunder_function_touch(guarded));
    CHECK(call(compiled, x) == 2 && host.traced == 2); /* the first program */
    thunder_compiled_release(compiled);
    thunder_function_release(guarded);
    CHECK(host.destroyed == 2);
}

static void what_was_not_created_is_not_touched(thunder_context *context)
{
    struct host host = { 2, 0, 0, 0 };
    thunder_function *f = NULL, *gradient = NULL;
    OK(thunder_function_create(context, "scale", scale, &host, NULL, &f));
    OK(thunder_function_value_and_grad(f, NULL, NULL, &gradient));
    REFUSED(thunder_function_touch(gradient), THUNDER_INVALID_ARGUMENT, "touch the one that it was made of");
    thunder_function_release(gradient);
    thunder_function_release(f);
}

static int wanted;
static thunder_status *looks_at_the_clock(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    wanted = thunder_scope_sharp_edge(s, NULL, NULL);
    thunder_scope_sharp_edge(s, "the clock is read once, while it is traced", "host.c:7");
    return scale(s, in, out, user);
}

static void a_function_tells_of_sharp_edges(thunder_context *context, thunder_tensor *x)
{
    struct host host = { 2, 0, 0, 0 };
    thunder_function *f = NULL;
    thunder_compiled *allowed = NULL, *refused = NULL;
    thunder_options *options = NULL;
    OK(thunder_function_create(context, "clocked", looks_at_the_clock, &host, NULL, &f));
    OK(thunder_options_create(context, &options));
    thunder_options_set_str(options, "sharp_edges", "error");
    OK(thunder_compile(f, NULL, &allowed));
    OK(thunder_compile(f, options, &refused));
    CHECK(call(allowed, x) == 2 && !wanted);
    thunder_tensor *y = NULL;
    REFUSED(thunder_compiled_call_tensors(refused, &x, 1, &y, 1), THUNDER_FAILED_PRECONDITION,
            "clocked: sharp_edges: the clock is read once, while it is traced [at host.c:7]");
    CHECK(wanted && !y && !thunder_scope_sharp_edge(NULL, "nothing", NULL));
    thunder_options_release(options);
    thunder_compiled_release(refused);
    thunder_compiled_release(allowed);
    thunder_function_release(f);
}

static void options_are_live(thunder_context *context, thunder_tensor *x)
{
    thunder_module *m = NULL;
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    const thunder_any half = thunder_any_f64(-0.5), three = thunder_any_i64(3), two = thunder_any_i64(2);
    thunder_any slope;
    OK(thunder_module_create(context, "LeakyReLU", NULL, 0, NULL, &m));
    OK(thunder_module_function(m, &f));
    OK(thunder_compile(f, NULL, &compiled));
    CHECK(call(compiled, x) == 1);
    OK(thunder_module_set_option(m, "negative_slope", &half));
    OK(thunder_module_option(m, "negative_slope", &slope));
    CHECK(slope.u.f == -0.5 && call(compiled, x) == 1);
    CHECK(strstr(thunder_compiled_last_miss(compiled), "negative_slope"));
    REFUSED(thunder_module_set_option(m, "slope", &half), THUNDER_NOT_FOUND, "'slope'");
    thunder_compiled_release(compiled);
    thunder_function_release(f);
    thunder_module_release(m);
    OK(thunder_module_create(context, "Linear", (const thunder_any[]){ two, three }, 2, NULL, &m));
    REFUSED(thunder_module_set_option(m, "out_features", &two), THUNDER_INVALID_ARGUMENT, "make another one");
    OK(thunder_module_remove_tensor(m, "bias"));
    thunder_values *map = NULL;
    OK(thunder_values_create(context, &map));
    OK(thunder_module_parameters(m, map));
    CHECK(thunder_values_count(map) == 1);
    thunder_values_release(map);
    thunder_module_release(m);
}

int main(void)
{
    const int64_t shape[] = { 1 };
    const float one[] = { 1 };
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    thunder_tensor *x = test_f32(context, 1, shape, one);
    a_touch_traces_again(context, x);
    facts_say_which_programs_hold(context, x);
    a_function_tells_of_sharp_edges(context, x);
    what_was_not_created_is_not_touched(context);
    options_are_live(context, x);
    thunder_tensor_release(x);
    thunder_context_release(context);
    return 0;
}
