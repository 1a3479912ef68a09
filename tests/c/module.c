/* Modules with forwards of their own, schedules, clipped gradients, options that are lists; and their misuse. */
// covers: capi/module.cpp
#include <thunder/modules.h> /* alone and first: it brings thunder.h */
#include "test.h"

static thunder_status *twice(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_add(s, x, x));
    return NULL;
}

static void count_up(void *user) { ++*(int *)user; }

static void forwards(thunder_context *context)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 3, 4 };
    thunder_tensor *x = test_f32(context, 1, shape, data);
    int ended = 0;
    float r[2] = { 0, 0 };
    thunder_module *m = NULL, *inner = NULL, *found = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_scope *s = NULL;
    thunder_tensor *out = NULL;
    OK(thunder_module_create(context, "Sequential", NULL, 0, NULL, &m));
    OK(thunder_module_create(context, "Module", NULL, 0, NULL, &inner));
    OK(thunder_module_set_forward(inner, twice, &ended, count_up));
    OK(thunder_module_add(m, "0", inner));
    OK(thunder_module_child(m, "0", &found));
    CHECK(strcmp(thunder_module_kind(found), "Module") == 0);
    thunder_module_release(found);
    OK(thunder_module_function(m, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, &out, 1));
    OK(thunder_tensor_read(out, r, sizeof r));
    CHECK(r[0] == 6 && r[1] == 8);
    thunder_tensor_release(out);
    OK(thunder_scope_create(context, 0, &s));
    thunder_values *eager = thunder_module_call(s, m, thunder_scope_list(s, &x, 1));
    CHECK(thunder_values_count(eager) == 1);
    CHECK(thunder_module_training(s, m) == 1);
    thunder_module_tensor(s, m, "wieght");
    REFUSED(thunder_scope_status(s), THUNDER_NOT_FOUND, "wieght");
    thunder_scope_release(s);
    OK(thunder_module_remove(m, "0")); /* what is left of a sequence gives what it is given */
    OK(thunder_compiled_call_tensors(c, &x, 1, &out, 1));
    OK(thunder_tensor_read(out, r, sizeof r));
    CHECK(r[0] == 3 && r[1] == 4);
    thunder_tensor_release(out);
    REFUSED(thunder_module_remove(m, "0"), THUNDER_INVALID_ARGUMENT, "no child '0'");
    OK(thunder_module_add(m, "0", inner));
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_module_release(inner);
    CHECK(ended == 0);
    thunder_module_release(m);
    CHECK(ended == 1);
    thunder_tensor_release(x);
}

/* What fails inside of a layer names it by its path, and the line that called it. */
static void places(thunder_context *context)
{
    const thunder_any sizes[] = { thunder_any_i64(3), thunder_any_i64(2) };
    const int64_t shape[] = { 1, 2 };
    const float data[] = { 3, 4 };
    thunder_tensor *x = test_f32(context, 2, shape, data);
    thunder_module *m = NULL, *linear = NULL;
    thunder_scope *s = NULL;
    OK(thunder_module_create(context, "Sequential", NULL, 0, NULL, &m));
    OK(thunder_module_create(context, "Linear", sizes, 2, NULL, &linear));
    OK(thunder_module_add(m, "0", linear));
    OK(thunder_scope_create(context, 0, &s));
    thunder_module_call_at(s, m, thunder_scope_list(s, &x, 1), "module.c:12");
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "is f32[2] [at module.c:12, layer 0]");
    thunder_scope_reset(s);
    thunder_module_call(s, m, thunder_scope_list(s, &x, 1));
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "is f32[2] [at layer 0]");
    thunder_scope_release(s);
    thunder_module_release(linear);
    thunder_module_release(m);
    thunder_tensor_release(x);
}

static thunder_status *clip(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *norm = NULL;
    thunder_values *clipped = thunder_clip_grad_norm(s, in, 1.0, &norm);
    thunder_values_push_tensor(out, thunder_values_tensor(clipped, 0));
    thunder_values_push_tensor(out, norm);
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_clip_grad_value(s, in, 3.5), 0));
    return NULL;
}

static void clipping(thunder_context *context)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 3, 4 };
    float r[2];
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *out[3];
    OK(thunder_function_create(context, "clip", clip, NULL, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    OK(thunder_compiled_call_tensors(c, &x, 1, out, 3));
    OK(thunder_tensor_read(out[0], r, sizeof r));
    CHECK(r[0] > 0.599f && r[0] < 0.601f && r[1] > 0.799f && r[1] < 0.801f);
    OK(thunder_tensor_read(out[1], r, sizeof *r));
    CHECK(r[0] == 5);
    OK(thunder_tensor_read(out[2], r, sizeof r));
    CHECK(r[0] == 3 && r[1] == 3.5f);
    for (int i = 0; i < 3; i++) thunder_tensor_release(out[i]);
    thunder_tensor_release(x);
    thunder_compiled_release(c);
    thunder_function_release(f);
}

static thunder_optimizer *optimizer(thunder_context *context, thunder_tensor *parameter)
{
    const double betas[] = { 0.8, 0.95 };
    thunder_any list = { THUNDER_FLOATS, 2, { 0 } };
    thunder_values *params = NULL;
    thunder_options *options = NULL;
    thunder_optimizer *made = NULL;
    list.u.fs = betas;
    OK(thunder_values_create(context, &params));
    thunder_values_push_tensor(params, parameter);
    OK(thunder_options_create(context, &options));
    thunder_options_set_f64(options, "lr", 0.5);
    thunder_options_set(options, "betas", &list);
    OK(thunder_optimizer_create(context, "AdamW", params, options, &made));
    thunder_options_release(options);
    thunder_values_release(params);
    return made;
}

static void schedules(thunder_context *context, thunder_optimizer *o)
{
    const double wanted[] = { 0.5, 0.25, 0.0, 0.25 };
    double lr = 0;
    thunder_options *options = NULL;
    thunder_schedule *s = NULL;
    REFUSED(thunder_schedule_create(o, "CosineAnnealingLR", NULL, &s), THUNDER_INVALID_ARGUMENT, "'T_max'");
    OK(thunder_options_create(context, &options));
    thunder_options_set_i64(options, "T_max", 2);
    OK(thunder_schedule_create(o, "CosineAnnealingLR", options, &s));
    for (int i = 0; i < 4; i++) {
        OK(thunder_optimizer_get_f64(o, "lr", &lr));
        CHECK(lr > wanted[i] - 1e-9 && lr < wanted[i] + 1e-9);
        OK(thunder_schedule_step(s));
    }
    CHECK(strcmp(thunder_module_kind(thunder_schedule_state(s)), "Module") == 0);
    thunder_schedule_release(s);
    thunder_options_release(options);
}

/* Tensors under names: parameters are learnt, buffers only saved, and a replaced one is what programs read then. */
static void tensors_by_name(thunder_context *context)
{
    const int64_t shape[] = { 2 };
    const float first[] = { 1, 2 }, second[] = { 5, 7 };
    float r[2];
    thunder_tensor *a = test_f32(context, 1, shape, first), *b = test_f32(context, 1, shape, second);
    thunder_module *m = NULL;
    thunder_values *map = NULL;
    thunder_scope *s = NULL;
    OK(thunder_values_create(context, &map));
    OK(thunder_scope_create(context, 0, &s));
    OK(thunder_module_create(context, "Module", NULL, 0, NULL, &m));
    OK(thunder_module_set_tensor(m, "scale", a, THUNDER_PARAMETER));
    OK(thunder_module_set_tensor(m, "count", b, THUNDER_BUFFER));
    OK(thunder_module_parameters(m, map));
    CHECK(!strcmp(thunder_values_structure(map), "{\"scale\":*}") && thunder_values_tensor(map, 0) == a);
    OK(thunder_module_state(m, map));
    CHECK(!strcmp(thunder_values_structure(map), "{\"count\":*,\"scale\":*}"));
    OK(thunder_module_paths(m, map));
    thunder_any path;
    OK(thunder_values_get(map, 0, &path));
    CHECK(!strcmp(thunder_values_structure(map), "[*,*]") && path.count == 5 && !memcmp(path.u.s, "scale", 5));
    OK(thunder_module_set_tensor(m, "table", a, THUNDER_TRANSIENT_BUFFER));
    OK(thunder_module_buffers(m, map));
    CHECK(!strcmp(thunder_values_structure(map), "[[*,*],[*,*]]") && thunder_values_tensor(map, 3) == a);
    OK(thunder_values_get(map, 2, &path));
    CHECK(path.count == 5 && !memcmp(path.u.s, "table", 5));
    OK(thunder_module_state(m, map));
    CHECK(!strcmp(thunder_values_structure(map), "{\"count\":*,\"scale\":*}"));
    OK(thunder_module_set_tensor(m, "scale", b, THUNDER_PARAMETER));
    OK(thunder_tensor_read(thunder_module_tensor(s, m, "scale"), r, sizeof r));
    CHECK(r[0] == 5 && r[1] == 7);
    REFUSED(thunder_module_set_tensor(m, "x", a, 9), THUNDER_INVALID_ARGUMENT, "THUNDER_TRANSIENT_BUFFER, got 9");
    OK(thunder_module_to(m, THUNDER_CPU));
    REFUSED(thunder_module_to(m, THUNDER_CUDA(97)), THUNDER_UNIMPLEMENTED, "cuda:97");
    thunder_module *same = thunder_module_retain(m);
    thunder_module_release(m);
    CHECK(!strcmp(thunder_module_kind(same), "Module"));
    thunder_module_release(same);
    thunder_scope_release(s);
    thunder_values_release(map);
    thunder_tensor_release(a);
    thunder_tensor_release(b);
}

/* Learning rate, step and moments are tensors of a module, which outlives neither the optimiser nor its retainers. */
static void optimizer_state(thunder_context *context, thunder_optimizer *o)
{
    thunder_values *map = NULL;
    double step = -1;
    OK(thunder_values_create(context, &map));
    thunder_optimizer *same = thunder_optimizer_retain(o);
    OK(thunder_module_state(thunder_optimizer_state(same), map));
    CHECK(thunder_values_find(map, "0.lr") != SIZE_MAX || thunder_values_find(map, "lr") != SIZE_MAX);
    OK(thunder_optimizer_set_f64(same, "step", 3));
    thunder_optimizer_release(same);
    OK(thunder_optimizer_get_f64(o, "step", &step));
    CHECK(step == 3);
    OK(thunder_optimizer_set_f64(o, "step", 0));
    thunder_values_release(map);
}

static void misuse(thunder_context *context, thunder_optimizer *optimizer)
{
    thunder_module *m = NULL;
    const thunder_any args[] = { thunder_any_i64(2), thunder_any_i64(3) };
    const char *names[] = { NULL, "out_feature" };
    REFUSED(thunder_module_create(context, "Linaer", args, 2, NULL, &m), THUNDER_NOT_FOUND, "'Linaer'");
    REFUSED(thunder_module_create(context, "Linear", args, 1, NULL, &m), THUNDER_INVALID_ARGUMENT, "out_features");
    REFUSED(thunder_module_create(context, "Linear", args, 2, names, &m), THUNDER_INVALID_ARGUMENT, "'out_features'");
    REFUSED(thunder_optimizer_set_f64(optimizer, "betas", 1), THUNDER_INVALID_ARGUMENT, "'betas.0' is the first");
    OK(thunder_module_create(context, "Linear", args, 2, NULL, &m));
    REFUSED(thunder_module_add(m, "self", m), THUNDER_INVALID_ARGUMENT, "cycle");
    REFUSED(thunder_module_load(m, "no such file", 1), THUNDER_NOT_FOUND, "no such file");
    thunder_module_release(m);
}

/* The module's own weight, for which the second argument stands while the module is called. */
typedef struct lent { thunder_module *module; thunder_tensor *weight; } lent;

static thunder_status *with_another(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    const lent *l = user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_scope_stand_in(s, l->weight, thunder_values_tensor(in, 1));
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_module_call(s, l->module, thunder_scope_list(s, &x, 1)), 0));
    thunder_scope_stand_in(s, l->weight, NULL);
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_module_call(s, l->module, thunder_scope_list(s, &x, 1)), 0));
    return NULL;
}

static void stand_ins(thunder_context *context)
{
    const thunder_any sizes[] = { thunder_any_i64(1), thunder_any_i64(1), thunder_any_bool(0) };
    const int64_t shape[] = { 1, 1 };
    const float three[] = { 3 }, five[] = { 5 }, seven[] = { 7 };
    thunder_tensor *x = test_f32(context, 2, shape, three), *own = test_f32(context, 2, shape, five), *other = test_f32(context, 2, shape, seven);
    lent l = { NULL, own };
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_scope *s = NULL;
    float r = 0;
    OK(thunder_module_create(context, "Linear", sizes, 3, NULL, &l.module));
    OK(thunder_module_set_tensor(l.module, "weight", own, THUNDER_PARAMETER));
    OK(thunder_function_create(context, "with_another", with_another, &l, NULL, &f));
    OK(thunder_compile(f, NULL, &c));
    thunder_tensor *const in[] = { x, other };
    thunder_tensor *out[2] = { NULL, NULL };
    OK(thunder_compiled_call_tensors(c, in, 2, out, 2));
    OK(thunder_tensor_read(out[0], &r, sizeof r));
    CHECK(r == 21);
    OK(thunder_tensor_read(out[1], &r, sizeof r));
    CHECK(r == 15);
    OK(thunder_scope_create(context, 0, &s));
    thunder_scope_stand_in(s, own, other);
    REFUSED(thunder_scope_status(s), THUNDER_INVALID_ARGUMENT, "records nothing to be compiled");
    thunder_scope_release(s);
    for (int i = 0; i < 2; i++) thunder_tensor_release(out[i]);
    thunder_compiled_release(c);
    thunder_function_release(f);
    thunder_module_release(l.module);
    thunder_tensor_release(x);
    thunder_tensor_release(own);
    thunder_tensor_release(other);
}

int main(void)
{
    const int64_t shape[] = { 1 };
    const float one[] = { 1 };
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    test_seed(context, 0);
    thunder_tensor *parameter = test_f32(context, 1, shape, one);
    thunder_optimizer *o = optimizer(context, parameter);
    forwards(context);
    places(context);
    stand_ins(context);
    clipping(context);
    tensors_by_name(context);
    optimizer_state(context, o);
    schedules(context, o);
    misuse(context, o);
    thunder_tensor_release(parameter);
    thunder_context_release(context); /* what was made keeps it */
    thunder_optimizer_release(o);
    return 0;
}
