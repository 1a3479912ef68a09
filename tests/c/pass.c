/* Passes of the caller's: rules with guards, and functions that edit the trace, at every place of the pipeline; what they
 * must not do is refused with the pass and the line. */
// covers: capi/pass.cpp
#include "test.h"

static thunder_status *ratio(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_div(s, x, th_sqrt(s, th_add(s, x, th_f64(s, 3)))));
    return NULL;
}

struct outcome { char text[4096]; float numbers[2]; int stages; };

/* Runs `ratio` on {1, 6} with a pass; `stage` is the name of the stage whose text is wanted. */
static thunder_status *with_pass(thunder_context *context, const thunder_pass_desc *d, const char *stage, struct outcome *seen)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 6 };
    thunder_pass *p = NULL;
    thunder_options *o = NULL;
    thunder_function *f = NULL;
    thunder_compiled *c = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data), *y = NULL;
    memset(seen, 0, sizeof *seen);
    OK(thunder_options_create(context, &o));
    OK(thunder_function_create(context, "ratio", ratio, NULL, NULL, &f));
    thunder_status *st = thunder_pass_create(context, d, &p);
    if (!st) {
        thunder_options_add_pass(o, p);
        st = thunder_compile(f, o, &c);
    }
    if (!st) st = thunder_compiled_call_tensors(c, &x, 1, &y, 1);
    if (!st) OK(thunder_tensor_read(y, seen->numbers, sizeof seen->numbers));
    for (size_t i = 0; !st && i < thunder_compiled_trace_count(c); i++) {
        thunder_trace *t = NULL;
        OK(thunder_compiled_trace(c, i, &t));
        if (!strcmp(thunder_trace_name(t), stage)) snprintf(seen->text, sizeof seen->text, "%s", thunder_trace_text(t));
        thunder_trace_release(t);
    }
    thunder_tensor_release(x);
    thunder_tensor_release(y);
    thunder_pass_release(p);
    thunder_options_release(o);
    thunder_compiled_release(c);
    thunder_function_release(f);
    return st;
}

static thunder_pass_desc named(const char *name)
{
    thunder_pass_desc d;
    memset(&d, 0, sizeof d);
    d.size = sizeof d;
    d.name = name;
    return d;
}

static void rules(thunder_context *context)
{
    const char *rule = "div(a, sqrt(b)) -> mul(a, rsqrt(b))";
    struct outcome seen;
    thunder_pass_desc d = named("faster_rsqrt");
    d.rules = &rule, d.n_rules = 1, d.after = "grad";
    OK(with_pass(context, &d, "faster_rsqrt", &seen));
    CHECK(strstr(seen.text, "rsqrt(t[") && !strstr(seen.text, "div(") && !strstr(seen.text, " sqrt("));
    CHECK(seen.numbers[0] == 0.5f && seen.numbers[1] == 2);

    static const struct { const char *guard; int holds; } guards[] = {
        { " if b.dtype == f32", 1 }, { " if a.dtype != f32", 0 }, { " if b.rank == 1 and b.size(0) == 2", 1 },
        { " if b.rank == 1 and b.size(-1) > 2", 0 }, { " if a.numel <= b.numel", 1 }, { " if b.size(3) >= 0", 0 },
        { " if a.rank < 1", 0 },
    };
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++) {
        char text[128];
        const char *guarded = text;
        snprintf(text, sizeof text, "%s%s", rule, guards[i].guard);
        d.rules = &guarded;
        OK(with_pass(context, &d, "faster_rsqrt", &seen));
        CHECK(!!*seen.text == guards[i].holds);
    }
    static const struct { const char *rule, *says; } wrong[] = {
        { "div(a, sqrt(b))", "rule:1:16: expected '->'" }, { "div(a, b) -> c", "'c' does not occur on the left" },
        { "dvi(a, b) -> a", "unknown op 'dvi' (did you mean 'div'?)" }, { "div(a, b) -> a if c.rank == 1", "'c' does not occur on the left" },
        { "div(a, b) -> a if a.colour == 1", "not '.colour'" }, { "div(a, b) -> a if a.dtype == 1", "a dtype is compared with a number" },
        { "div(a, b) -> a if a.dtype < f32", "only == and !=" }, { "div(a, b) -> a if f99 == a.dtype", "got 'f99'" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        d.rules = &wrong[i].rule;
        REFUSED(with_pass(context, &d, "", &seen), THUNDER_INVALID_ARGUMENT, wrong[i].says);
        REFUSED(with_pass(context, &d, "", &seen), THUNDER_INVALID_ARGUMENT, "pass 'faster_rsqrt', rule \"");
    }
}

/* ---- functions over the trace ---- */

static size_t line_of(thunder_editor *e, const char *op)
{
    for (size_t i = 0; i < thunder_editor_line_count(e); i++)
        if (!strcmp(thunder_node_op(thunder_editor_line(e, i)), op)) return i;
    return SIZE_MAX;
}

/* div(x, y) becomes mul(x, reciprocal(y)), at whichever level it is. */
static thunder_status *invert(thunder_editor *e, void *user)
{
    const char *div = user;
    const size_t at = line_of(e, div);
    if (at == SIZE_MAX) return NULL;
    thunder_scope *s = thunder_editor_before(e, at);
    CHECK(thunder_scope_is_tracing(s));
    const thunder_values *in = thunder_editor_arguments(e, at);
    thunder_tensor *product = th_mul(s, thunder_values_tensor(in, 0), th_reciprocal(s, thunder_values_tensor(in, 1)));
    thunder_editor_replace(e, at, thunder_scope_list(s, &product, 1));
    return NULL;
}

static void functions_over_the_trace(thunder_context *context)
{
    static const struct { const char *before, *after, *div; } places[] = {
        { NULL, NULL, "div" }, { "grad", NULL, "div" }, { NULL, "transform", "div" }, { NULL, "dce", "div" },
        { NULL, "descend", "prims.div" }, { "algebra", NULL, "prims.div" }, { "claim", NULL, "prims.div" },
    };
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        struct outcome seen;
        char div[16];
        thunder_pass_desc d = named("invert");
        snprintf(div, sizeof div, "%s", places[i].div);
        d.before = places[i].before, d.after = places[i].after, d.run = invert, d.user = div;
        OK(with_pass(context, &d, "invert", &seen));
        CHECK(strstr(seen.text, "reciprocal(t[") && !strstr(seen.text, "div("));
        CHECK(seen.numbers[0] == 0.5f && seen.numbers[1] == 2);
    }
}

/* After the claim: what is inserted is claimed too, and effects are kept though nothing reads them. */
static int marks;
static thunder_status *mark_meta(const thunder_node *node, thunder_types *results, void *user)
{
    (void)node, (void)user;
    thunder_types_push(results, THUNDER_I64, 0, 0, NULL);
    return NULL;
}
static thunder_status *mark(const thunder_launch *launch, const thunder_any *args, void *user)
{
    (void)user;
    *(int64_t *)launch->outputs[0].data = args[0].u.i;
    marks++;
    return NULL;
}
static thunder_status *mark_lines(thunder_editor *e, void *user)
{
    const size_t n = thunder_editor_line_count(e);
    (void)user;
    for (size_t i = 0; i <= n; i++) {
        const thunder_any number = thunder_any_i64((int64_t)i);
        if (i < n) CHECK(*thunder_node_executor(thunder_editor_line(e, i)) && strstr(thunder_node_where(thunder_editor_line(e, i)), "pass.c:"));
        thunder_op_invoke(thunder_editor_before(e, i), "mark", &number, 1, NULL, NULL, 0, NULL);
    }
    return NULL;
}

static void marks_each_line(thunder_context *context)
{
    struct outcome seen;
    thunder_op_desc op;
    thunder_kernel_desc k;
    memset(&op, 0, sizeof op);
    memset(&k, 0, sizeof k);
    op.size = sizeof op, op.schema = "mark(int line) -> tensor", op.doc = "Counts.", op.meta = mark_meta;
    op.flags = THUNDER_OP_EFFECTS;
    k.size = sizeof k, k.run = mark;
    OK(thunder_context_add_op(context, &op));
    OK(thunder_context_add_kernel(context, "mark", &k));
    thunder_pass_desc d = named("profile");
    d.after = "claim", d.run = mark_lines;
    OK(with_pass(context, &d, "profile", &seen));
    CHECK(strstr(seen.text, "mark(1)  -- i64[] by host") && marks >= 2);
    CHECK(seen.numbers[0] == 0.5f && seen.numbers[1] == 2);
}

/* ---- mistakes ---- */

static thunder_status *twice(thunder_editor *e, void *user)
{
    invert(e, user);
    return invert(e, user);
}
static thunder_status *too_early(thunder_editor *e, void *user)
{
    const size_t at = line_of(e, user);
    th_neg(thunder_editor_before(e, 0), thunder_editor_value(e, thunder_node_output_value(thunder_editor_line(e, at), 0)));
    return NULL;
}
static thunder_status *another_type(thunder_editor *e, void *user)
{
    const size_t at = line_of(e, user);
    thunder_scope *s = thunder_editor_before(e, at);
    thunder_tensor *sum = th_sum(s, thunder_values_tensor(thunder_editor_arguments(e, at), 0));
    thunder_editor_replace(e, at, thunder_scope_list(s, &sum, 1));
    return NULL;
}
static thunder_status *by_itself(thunder_editor *e, void *user)
{
    const size_t at = line_of(e, user);
    thunder_scope *s = thunder_editor_before(e, at + 1);
    thunder_tensor *y = th_neg(s, thunder_editor_value(e, thunder_node_output_value(thunder_editor_line(e, at), 0)));
    thunder_editor_replace(e, at, thunder_scope_list(s, &y, 1));
    return NULL;
}
static thunder_status *remove_needed(thunder_editor *e, void *user)
{
    thunder_editor_delete(e, line_of(e, user));
    return NULL;
}
static thunder_status *nothing_there(thunder_editor *e, void *user)
{
    (void)user;
    CHECK(!thunder_editor_line(e, 99));
    return NULL;
}
static thunder_status *fails(thunder_editor *e, void *user)
{
    (void)e, (void)user;
    return thunder_status_create(THUNDER_CALLBACK, "I would rather not", 18);
}
static void count(void *user) { ++*(int *)user; }

static void mistakes(thunder_context *context)
{
    static const struct { thunder_status *(*run)(thunder_editor *, void *); const char *says; } rows[] = {
        { twice, "pass 'wrong': line 2, t[3] = div(i[1], t[2]), is replaced twice" },
        { too_early, "what reads a value that is made later" },
        { another_type, "has a result that is f32[2], it is replaced by one that is f32[]" },
        { by_itself, "is replaced by what comes after it" },
        { remove_needed, "line 2, t[3] = div(i[1], t[2]), is removed, but its result is returned" },
        { nothing_there, "there is no line 99, there are 3" },
        { fails, "pass 'wrong': I would rather not" },
    };
    struct outcome seen;
    char div[] = "div";
    int destroyed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        thunder_pass_desc d = named("wrong");
        d.run = rows[i].run, d.user = div;
        REFUSED(with_pass(context, &d, "", &seen), rows[i].run == fails ? THUNDER_CALLBACK : THUNDER_INVALID_ARGUMENT, rows[i].says);
    }
    thunder_pass_desc d = named("wrong");
    thunder_pass *p = NULL;
    d.destroy = count, d.user = &destroyed;
    REFUSED(thunder_pass_create(context, &d, &p), THUNDER_INVALID_ARGUMENT, "pass 'wrong' has neither rules nor a function");
    d.run = fails, d.before = "grad", d.after = "dce";
    REFUSED(thunder_pass_create(context, &d, &p), THUNDER_INVALID_ARGUMENT, "one of them says where");
    d.before = NULL, d.after = "dcee";
    REFUSED(with_pass(context, &d, "", &seen), THUNDER_INVALID_ARGUMENT, "unknown pass 'dcee' (did you mean 'dce'?)");
    d.after = NULL, d.name = "claim";
    OK(thunder_pass_create(context, &d, &p));
    REFUSED(thunder_context_add_pass(context, p), THUNDER_INVALID_ARGUMENT, "pass 'claim' has the name of another one");
    thunder_pass_release(p);
    CHECK(destroyed == 4);
}

static void of_the_context(thunder_context *context)
{
    char div[] = "div";
    struct outcome seen;
    thunder_pass *p = NULL;
    thunder_values *v = NULL;
    thunder_pass_desc d = named("always"), none = named("beside");
    const char *idle = "neg(neg(x)) -> x";
    d.run = invert, d.user = div;
    none.rules = &idle, none.n_rules = 1, none.before = "always";
    OK(thunder_pass_create(context, &d, &p));
    OK(thunder_context_add_pass(context, p));
    thunder_pass_release(p);
    OK(with_pass(context, &none, "always", &seen));
    CHECK(strstr(seen.text, "reciprocal("));
    OK(thunder_values_create(context, &v));
    OK(thunder_context_describe(context, "passes", v));
    CHECK(strstr(thunder_values_str(v, 0, NULL), "always") && strstr(thunder_values_str(v, 0, NULL), "descend"));
    thunder_values_release(v);
}

int main(void)
{
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    rules(context);
    functions_over_the_trace(context);
    marks_each_line(context);
    mistakes(context);
    of_the_context(context);
    thunder_context_release(context);
    return 0;
}
