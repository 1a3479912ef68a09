/* A network and its whole training step as one compiled program: gradient, dropout and AdamW included. */
#include "test.h"

enum { ROWS = 32, FEATURES = 8, HIDDEN = 16, CLASSES = 4 };

struct app {
    thunder_module *net;
    thunder_optimizer *optimizer;
    thunder_values *parameters;
    int traced;
};

/* An ordinary helper: it works eagerly, in a trace, inside a gradient. */
static thunder_tensor *linear(thunder_scope *s, thunder_module *net, const char *name, thunder_tensor *x)
{
    char weight[32], bias[32];
    snprintf(weight, sizeof weight, "%s.weight", name);
    snprintf(bias, sizeof bias, "%s.bias", name);
    return th_linear_opt(s, x, thunder_module_tensor(s, net, weight), thunder_module_tensor(s, net, bias));
}

static thunder_tensor *mlp(thunder_scope *s, thunder_module *net, thunder_tensor *x)
{
    thunder_tensor *h = th_relu(s, linear(s, net, "fc1", x));
    return linear(s, net, "fc2", th_dropout_opt(s, h, 0.1, thunder_module_training(s, net)));
}

static thunder_status *train_step(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    struct app *a = user;
    a->traced++;
    thunder_tensor *logits = mlp(s, a->net, thunder_values_tensor(in, 0));
    thunder_tensor *loss = th_cross_entropy(s, logits, thunder_values_tensor(in, 1));
    thunder_optimizer_step(s, a->optimizer, thunder_scope_grad(s, loss, a->parameters));
    thunder_values_push_tensor(out, loss);
    return NULL; /* the scope's first error is reported by itself */
}

static void build(thunder_context *context, struct app *a)
{
    const int64_t width[] = { FEATURES, HIDDEN, CLASSES }, seed[2] = { 42, 0 };
    const char *name[] = { "fc1", "fc2" };
    thunder_options *o = NULL;
    OK(thunder_tensor_write(thunder_context_random(context), seed, sizeof seed));
    OK(thunder_module_create(context, "Module", NULL, 0, NULL, &a->net));
    for (int i = 0; i < 2; i++) {
        thunder_module *fc = NULL;
        const thunder_any args[] = { thunder_any_i64(width[i]), thunder_any_i64(width[i + 1]) };
        OK(thunder_module_create(context, "Linear", args, 2, NULL, &fc));
        OK(thunder_module_add(a->net, name[i], fc));
        thunder_module_release(fc);
    }
    OK(thunder_values_create(context, &a->parameters));
    OK(thunder_module_parameters(a->net, a->parameters));
    CHECK(thunder_values_count(a->parameters) == 4);
    OK(thunder_options_create(context, &o));
    thunder_options_set_f64(o, "lr", 1e-2);
    OK(thunder_optimizer_create(context, "AdamW", a->parameters, o, &a->optimizer));
    thunder_options_release(o);
}

/* The class is which quarter of the features holds the largest numbers. */
static void fill(float *x, int64_t *y)
{
    for (int r = 0; r < ROWS; r++) {
        y[r] = r % CLASSES;
        for (int f = 0; f < FEATURES; f++)
            x[r * FEATURES + f] = (float)((r * 7 + f * 3) % 5) * 0.1f + (float)(f / (FEATURES / CLASSES) == y[r]);
    }
}

static float train(thunder_context *context, struct app *a, int steps)
{
    static float x[ROWS * FEATURES];
    static int64_t y[ROWS];
    const int64_t xshape[] = { ROWS, FEATURES }, yshape[] = { ROWS };
    float first = 0, loss = 0;
    thunder_function *f = NULL;
    thunder_compiled *step = NULL;
    thunder_tensor *in[2] = { NULL, NULL }, *out = NULL;
    fill(x, y);
    OK(thunder_function_create(context, "train_step", train_step, a, NULL, &f));
    OK(thunder_compile(f, NULL, &step));
    in[0] = test_f32(context, 2, xshape, x);
    OK(thunder_tensor_create(context, THUNDER_I64, 1, yshape, 0, y, sizeof y, &in[1]));
    for (int i = 0; i < steps; i++) {
        OK(thunder_compiled_call_tensors(step, in, 2, &out, 1));
        OK(thunder_tensor_read(out, &loss, sizeof loss));
        thunder_tensor_release(out);
        if (i == 0) first = loss;
        if (i == steps / 2) OK(thunder_optimizer_set_f64(a->optimizer, "lr", 5e-3)); /* lr is a tensor: no new trace */
    }
    CHECK(a->traced == 1);
    CHECK(loss < first / 4);
    OK(thunder_module_set_training(a->net, 0)); /* guarded: this traces again */
    OK(thunder_compiled_call_tensors(step, in, 2, &out, 1));
    thunder_tensor_release(out);
    CHECK(a->traced == 2);
    for (int i = 0; i < 2; i++) thunder_tensor_release(in[i]);
    thunder_compiled_release(step);
    thunder_function_release(f);
    return loss;
}

static void save_and_load(struct app *a)
{
    const char *path = "mlp_test.safetensors";
    float before[CLASSES], after[CLASSES];
    const size_t leaf = thunder_values_find(a->parameters, "0.fc2.bias");
    CHECK(leaf != SIZE_MAX);
    thunder_tensor *bias = thunder_values_tensor(a->parameters, leaf);
    OK(thunder_tensor_read(bias, before, sizeof before));
    OK(thunder_module_save(a->net, path));
    memset(after, 0, sizeof after);
    OK(thunder_tensor_write(bias, after, sizeof after));
    OK(thunder_module_load(a->net, path, 1)); /* into the same handles */
    OK(thunder_tensor_read(bias, after, sizeof after));
    CHECK(!memcmp(before, after, sizeof after));
    remove(path);
}

int main(void)
{
    struct app a = { NULL, NULL, NULL, 0 };
    thunder_context *context = NULL;
    OK(thunder_context_create(NULL, &context));
    build(context, &a);
    train(context, &a, 100);
    save_and_load(&a);
    thunder_optimizer_release(a.optimizer);
    thunder_values_release(a.parameters);
    thunder_module_release(a.net);
    thunder_context_release(context);
    return 0;
}
