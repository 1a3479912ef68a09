/* Every way to get an op of one's own wrong: a message that names the op, and `destroy` called once. */
#include "test.h"

static thunder_status *square_plus(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_tensor *x = thunder_values_tensor(in, 0);
    thunder_values_push_tensor(out, th_add(s, th_mul(s, x, x), th_f64(s, thunder_values_f64(in, 1))));
    return NULL;
}
static thunder_status *like_input(const thunder_node *node, thunder_types *results, void *user)
{
    (void)user;
    thunder_types_push_like(results, thunder_node_input(node, 0));
    return NULL;
}
static thunder_status *nothing(const thunder_launch *launch, const thunder_any *args, void *user)
{
    (void)launch, (void)args, (void)user;
    return NULL;
}
static int destroyed;
static void count(void *user) { ++*(int *)user; }

static thunder_status *invoke(thunder_context *context, const char *op)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 2 };
    thunder_scope *s = NULL;
    thunder_tensor *x = test_f32(context, 1, shape, data);
    const thunder_any arg = thunder_any_tensor(x);
    OK(thunder_scope_create(context, THUNDER_SCOPE_TAPED, &s));
    thunder_tensor *y = thunder_op_invoke(s, op, &arg, 1, NULL, NULL, 0, "user.c:20");
    thunder_values *wrt = thunder_scope_list(s, &x, 1);
    if (thunder_tensor_rank(y)) thunder_scope_grad(s, th_sum(s, y), wrt);
    thunder_status *st = thunder_scope_status(s);
    thunder_scope_release(s);
    thunder_tensor_release(x);
    return st;
}

static thunder_tensor *foreign;
static thunder_status *two_results(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)s, (void)user;
    thunder_values_push_tensor(out, thunder_values_tensor(in, 0));
    thunder_values_push_tensor(out, thunder_values_tensor(in, 0));
    return NULL;
}
static thunder_status *captures(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_add(s, thunder_values_tensor(in, 0), foreign));
    return NULL;
}
static thunder_status *writes(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_add_(s, thunder_values_tensor(in, 0), th_f64(s, 1)));
    return NULL;
}
static thunder_status *lies(const thunder_node *node, thunder_types *results, void *user)
{
    const int64_t shape[] = { 7, 7 };
    (void)node, (void)user;
    thunder_types_push(results, THUNDER_F32, 0, 2, shape);
    return NULL;
}
static thunder_status *says_nothing(const thunder_node *node, thunder_types *results, void *user)
{
    (void)node, (void)results, (void)user;
    return NULL;
}
static thunder_status *says_nonsense(const thunder_node *node, thunder_types *results, void *user)
{
    (void)node, (void)user;
    thunder_types_push(results, 12345, 0, 0, NULL);
    return NULL;
}
static thunder_status *wrong_gradient(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)user;
    thunder_values_push_tensor(out, th_sum(s, thunder_values_tensor(in, 0)));
    return NULL;
}

static thunder_status *boolean_gradient(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_tensor *x = thunder_values_tensor(in, 0);
    (void)user;
    thunder_values_push_tensor(out, th_gt(s, x, x));
    return NULL;
}
static thunder_status *says_ok(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)s, (void)in, (void)out, (void)user;
    return thunder_status_create(THUNDER_OK, "fine", 4);
}
static thunder_status *fails_with_ok(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    (void)in, (void)out, (void)user;
    thunder_scope_fail(s, thunder_status_create(THUNDER_OK, "fine", 4));
    return NULL;
}

static void refuses_at_registration(thunder_context *context)
{
    thunder_op_desc d;
    thunder_kernel_desc k;
    memset(&d, 0, sizeof d);
    memset(&k, 0, sizeof k);
    d.size = sizeof d, d.schema = "fine(tensor x) -> tensor", d.doc = "Fine.", d.meta = like_input, d.user = &destroyed, d.destroy = count;
    OK(thunder_context_add_op(context, &d));
    static const struct { const char *schema, *doc; uint32_t flags; int has_meta; const char *says; } rows[] = {
        { "fine(tensor x) -> tensor", "f", 0, 1, "op 'fine' is already registered" },
        { "add(tensor x) -> tensor", "f", 0, 1, "op 'add' is already registered" },
        { "f(tensor x", "f", 0, 1, "schema \"f(tensor x\"" },
        { "prims.f(tensor x) -> tensor", "f", 0, 1, "'prims.f' is no name for an op" },
        { "f_(tensor x) -> tensor", "f", 0, 1, "'f_' is no name for an op" },
        { "a..f(tensor x) -> tensor", "f", 0, 1, "'a..f' is no name for an op" },
        { "f(tensor x) -> tensor[]", "f", 0, 1, "need a decomposition" },
        { "f(int n) -> tensor", "f", THUNDER_OP_INPLACE, 1, "its first argument and its one result must be tensors" },
        { "f(tensor x) -> tensor", NULL, 0, 1, "op 'f' has no doc" },
        { "f(tensor x) -> tensor", "f", 1024 | THUNDER_OP_EFFECTS | THUNDER_OP_ELEMENTWISE, 1, "unknown flags 1024" },
        { "f(tensor x) -> tensor", "f", 0, 0, "op 'f' has neither meta nor decompose" },
    };
    const int count_of_rows = (int)(sizeof rows / sizeof rows[0]);
    for (int i = 0; i < count_of_rows; i++) {
        d.schema = rows[i].schema, d.doc = rows[i].doc, d.flags = rows[i].flags, d.meta = rows[i].has_meta ? like_input : NULL;
        REFUSED(thunder_context_add_op(context, &d), THUNDER_INVALID_ARGUMENT, rows[i].says);
        CHECK(destroyed == i + 1);
    }
    d.schema = "f(tensor x) -> tensor", d.doc = "f", d.flags = THUNDER_OP_NOT_DIFFERENTIABLE, d.meta = like_input, d.vjp = two_results;
    REFUSED(thunder_context_add_op(context, &d), THUNDER_INVALID_ARGUMENT, "has a vjp, and is declared not differentiable");
    d.vjp = NULL;
    destroyed = 0;
    k.size = sizeof k, k.run = nothing, k.user = &destroyed, k.destroy = count;
    OK(thunder_context_add_kernel(context, "fine", &k));
    REFUSED(thunder_context_add_kernel(context, "fine", &k), THUNDER_INVALID_ARGUMENT, "already has a kernel");
    REFUSED(thunder_context_add_kernel(context, "gelu", &k), THUNDER_INVALID_ARGUMENT, "the library's own");
    REFUSED(thunder_context_add_kernel(context, "finee", &k), THUNDER_NOT_FOUND, "did you mean 'fine'");
    k.device = 7 << 16;
    REFUSED(thunder_context_add_kernel(context, "fine", &k), THUNDER_INVALID_ARGUMENT, "for the CPU or for CUDA devices");
    k.device = 0, k.run = NULL;
    REFUSED(thunder_context_add_kernel(context, "fine", &k), THUNDER_INVALID_ARGUMENT, "`library` and `symbol`");
    k.library = "no/such.so", k.symbol = "f";
    REFUSED(thunder_context_add_kernel(context, "fine", &k), THUNDER_NOT_FOUND, "no/such.so");
    CHECK(destroyed == 6);
}

static void refuses_when_called(thunder_context *context)
{
    static const struct {
        const char *schema;
        thunder_fn decompose, vjp;
        thunder_status *(*meta)(const thunder_node *, thunder_types *, void *);
        thunder_code code;
        const char *says;
    } rows[] = {
        { "two(tensor x) -> tensor", two_results, NULL, NULL, THUNDER_INVALID_ARGUMENT,
            "two: its decomposition gives 2 results, its schema 1" },
        { "captures(tensor x) -> tensor", captures, NULL, NULL, THUNDER_INVALID_ARGUMENT, "uses a tensor that it was not given" },
        { "writes(tensor x) -> tensor", writes, NULL, NULL, THUNDER_INVALID_ARGUMENT, "writes a tensor in place" },
        { "disagrees(tensor x) -> tensor", square_plus, NULL, lies, THUNDER_INVALID_ARGUMENT, "leaf" },
        { "lies(tensor x, float c=0.0) -> tensor", square_plus, NULL, lies, THUNDER_INVALID_ARGUMENT,
            "f32[7, 7] is what the meta of lies says of result 1, its decomposition gives f32[2]" },
        { "silent(tensor x) -> tensor", NULL, NULL, says_nothing, THUNDER_INVALID_ARGUMENT, "silent: its meta gives 0 results, its schema 1" },
        { "nonsense(tensor x) -> tensor", NULL, NULL, says_nonsense, THUNDER_INVALID_ARGUMENT, "nonsense: its meta: thunder_types_push: unknown dtype 12345" },
        { "no_kernel(tensor x) -> tensor", NULL, NULL, lies, THUNDER_UNIMPLEMENTED, "no_kernel: it has no kernel for the CPU" },
        { "misgraded(tensor x, float c=0.0) -> tensor", square_plus, wrong_gradient, NULL, THUNDER_INVALID_ARGUMENT,
            "misgraded: its vjp gives a gradient of f32[] for 'x', which is f32[2]" },
        { "yes_or_no(tensor x, float c=0.0) -> tensor", square_plus, boolean_gradient, NULL, THUNDER_INVALID_ARGUMENT,
            "yes_or_no: its vjp gives a gradient of bool[2] for 'x', which is f32[2]" },
        { "graded_ok(tensor x, float c=0.0) -> tensor", square_plus, says_ok, NULL, THUNDER_CALLBACK,
            "graded_ok: its vjp: the vjp returned a status whose code is OK" },
        { "made_ok(tensor x) -> tensor", says_ok, NULL, NULL, THUNDER_CALLBACK,
            "made_ok: its decomposition: the decomposition returned a status whose code is OK" },
        { "failed_ok(tensor x) -> tensor", fails_with_ok, NULL, NULL, THUNDER_INVALID_ARGUMENT,
            "failed_ok: its decomposition: thunder_scope_fail: the status that it was given says OK" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[32];
        thunder_op_desc d;
        memset(&d, 0, sizeof d);
        d.size = sizeof d;
        d.schema = rows[i].schema, d.doc = "wrong", d.decompose = rows[i].decompose, d.meta = rows[i].meta, d.vjp = rows[i].vjp;
        OK(thunder_context_add_op(context, &d));
        snprintf(name, sizeof name, "%.*s", (int)strcspn(rows[i].schema, "("), rows[i].schema);
        REFUSED(invoke(context, name), rows[i].code, rows[i].says);
    }
}

/* A gradient that passes an op without a rule is an error, unless the op says that none does. */
static void has_no_gradient_or_says_so(thunder_context *context)
{
    static const struct { const char *schema, *name; uint32_t flags; } ops[] = {
        { "opaque(tensor x) -> tensor", "opaque", 0 }, { "stops(tensor x) -> tensor", "stops", THUNDER_OP_NOT_DIFFERENTIABLE } };
    for (int i = 0; i < 2; i++) {
        const thunder_op_desc d = { .size = sizeof d, .schema = ops[i].schema, .doc = "x.", .flags = ops[i].flags, .meta = like_input };
        const thunder_kernel_desc k = { .size = sizeof k, .run = nothing };
        OK(thunder_context_add_op(context, &d));
        OK(thunder_context_add_kernel(context, ops[i].name, &k));
        if (ops[i].flags) OK(invoke(context, ops[i].name));
        else REFUSED(invoke(context, ops[i].name), THUNDER_UNIMPLEMENTED, "opaque: a gradient passes through this op, which has no vjp");
    }
}

int main(void)
{
    const int64_t shape[] = { 2 };
    const float data[] = { 1, 2 };
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    foreign = test_f32(context, 1, shape, data);
    refuses_at_registration(context);
    refuses_when_called(context);
    has_no_gradient_or_says_so(context);
    thunder_tensor_release(foreign);
    destroyed = 0;
    thunder_context_release(context);
    CHECK(destroyed == 2); /* the op that was fine, and its kernel */
    return 0;
}
