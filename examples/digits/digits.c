/* Trains an MLP and a small CNN on the 1,797 handwritten digits, each as one compiled step (forward, loss, backward,
 * AdamW), through the C API alone; saves the weights, loads them into a second network and predicts identically.
 *
 *   cc digits.c $(pkg-config --cflags --libs thunder) -Wl,-rpath,$(pkg-config --variable=libdir thunder) -o digits
 *   ./digits data/digits.csv [--traces] [--device cuda]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thunder.h>
#include <thunder/ops.h>

enum { ROWS = 1797, PIXELS = 64, CLASSES = 10, HELD_OUT = ROWS / 5, TRAINED_ON = ROWS - HELD_OUT, BATCH = 32 };

#define TRY(call)                                      \
    do {                                               \
        if ((status = (call)) != NULL) goto done;      \
    } while (0)

struct data {
    thunder_tensor *x, *y;           /* training images f32[n, 1, 8, 8] and labels i64[n] */
    thunder_tensor *test_x;
    int64_t test_y[HELD_OUT];
    thunder_device device;           /* that computes; batches are made on the CPU */
};

struct trainer {
    thunder_module *net;
    thunder_optimizer *optimizer;
    thunder_values *parameters;
    thunder_device device;
};

/* The same shuffle every time: a fixed, randomly drawn fifth is held out. */
static void draw_order(int *order)
{
    uint64_t state = 2024;
    for (int i = 0; i < ROWS; i++) order[i] = i;
    for (int i = ROWS - 1; i > 0; i--) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const int k = (int)((state >> 33) % (uint64_t)(i + 1)), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

static thunder_status *load(thunder_context *context, const char *path, struct data *data)
{
    thunder_status *status = NULL;
    thunder_tensor *table = NULL;
    float *rows = malloc(sizeof(float) * ROWS * (PIXELS + 1)), *images = malloc(sizeof(float) * ROWS * PIXELS);
    int64_t labels[ROWS];
    int order[ROWS];
    const int64_t train[] = { TRAINED_ON, 1, 8, 8 }, test[] = { HELD_OUT, 1, 8, 8 };

    draw_order(order);
    TRY(thunder_read_csv(context, path, THUNDER_F32, &table));
    TRY(thunder_tensor_read(table, rows, sizeof(float) * ROWS * (PIXELS + 1)));
    for (int i = 0; i < ROWS; i++) {
        const float *row = rows + (size_t)order[i] * (PIXELS + 1);
        for (int k = 0; k < PIXELS; k++) images[i * PIXELS + k] = row[k] / 16.0f;
        labels[i] = (int64_t)row[PIXELS];
    }
    TRY(thunder_tensor_create(context, THUNDER_F32, 4, train, THUNDER_CPU, images, sizeof(float) * TRAINED_ON * PIXELS, &data->x));
    TRY(thunder_tensor_create(context, THUNDER_I64, 1, train, THUNDER_CPU, labels, sizeof(int64_t) * TRAINED_ON, &data->y));
    TRY(thunder_tensor_create(context, THUNDER_F32, 4, test, data->device, images + TRAINED_ON * PIXELS,
        sizeof(float) * HELD_OUT * PIXELS, &data->test_x));
    memcpy(data->test_y, labels + TRAINED_ON, sizeof data->test_y);
done:
    thunder_tensor_release(table);
    free(rows);
    free(images);
    return status;
}

/* Adds a layer to a Sequential; its position is its name. */
static thunder_status *add(thunder_context *context, thunder_module *net, int position, const char *kind,
    const thunder_any *args, size_t n_args)
{
    thunder_module *layer = NULL;
    char name[8];
    thunder_status *status = thunder_module_create(context, kind, args, n_args, NULL, &layer);
    snprintf(name, sizeof name, "%d", position);
    if (!status) status = thunder_module_add(net, name, layer);
    thunder_module_release(layer);
    return status;
}

static thunder_any integer(int64_t i)
{
    thunder_any a = { THUNDER_INT, 0, { .i = i } };
    return a;
}

static thunder_status *make_mlp(thunder_context *context, thunder_module *net)
{
    thunder_status *status = NULL;
    const thunder_any first[] = { integer(PIXELS), integer(256) }, second[] = { integer(256), integer(CLASSES) };
    const thunder_any fifth = { THUNDER_FLOAT, 0, { .f = 0.2 } };
    TRY(add(context, net, 0, "Flatten", NULL, 0));
    TRY(add(context, net, 1, "Linear", first, 2));
    TRY(add(context, net, 2, "ReLU", NULL, 0));
    TRY(add(context, net, 3, "Dropout", &fifth, 1));
    TRY(add(context, net, 4, "Linear", second, 2));
done:
    return status;
}

static thunder_status *make_cnn(thunder_context *context, thunder_module *net)
{
    thunder_status *status = NULL;
    const int64_t kernel[] = { 3, 3 }, one[] = { 1, 1 };
    const thunder_any square = { THUNDER_DIMS, 2, { .d = kernel } }, ones = { THUNDER_DIMS, 2, { .d = one } };
    const thunder_any half = { THUNDER_FLOAT, 0, { .f = 0.5 } }, two = integer(2);
    const int64_t channels[] = { 1, 16, 32 };
    for (int i = 0; i < 2; i++) {
        const thunder_any conv[] = { integer(channels[i]), integer(channels[i + 1]), square, ones, ones };
        TRY(add(context, net, 3 * i, "Conv2d", conv, 5));
        TRY(add(context, net, 3 * i + 1, "BatchNorm2d", conv + 1, 1));
        TRY(add(context, net, 3 * i + 2, "ReLU", NULL, 0));
    }
    const thunder_any head[] = { integer(32 * 4 * 4), integer(CLASSES) };
    TRY(add(context, net, 6, "MaxPool2d", &two, 1));
    TRY(add(context, net, 7, "Flatten", NULL, 0));
    TRY(add(context, net, 8, "Dropout", &half, 1));
    TRY(add(context, net, 9, "Linear", head, 2));
done:
    return status;
}

/* The whole training step: what is compiled is this function. */
static thunder_status *train_step(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    struct trainer *t = user;
    thunder_tensor *x = th_to_opt(s, thunder_values_tensor(in, 0), 0, t->device);
    thunder_tensor *y = th_to_opt(s, thunder_values_tensor(in, 1), 0, t->device);
    thunder_values *logits = thunder_module_call(s, t->net, thunder_scope_list(s, &x, 1));
    thunder_tensor *loss = th_cross_entropy(s, thunder_values_tensor(logits, 0), y);
    thunder_optimizer_step(s, t->optimizer, thunder_scope_grad(s, loss, t->parameters));
    thunder_values_push_tensor(out, loss);
    return NULL;
}

/* How many of the held-out digits are told right, and each prediction. */
static thunder_status *predict(thunder_module *net, const struct data *data, int64_t *predicted, int *right)
{
    thunder_status *status = NULL;
    thunder_function *f = NULL;
    thunder_compiled *compiled = NULL;
    thunder_tensor *in[] = { data->test_x }, *logits = NULL;
    float scores[HELD_OUT][CLASSES];
    TRY(thunder_module_set_training(net, 0));
    TRY(thunder_module_function(net, &f));
    TRY(thunder_compile(f, NULL, &compiled));
    TRY(thunder_compiled_call_tensors(compiled, in, 1, &logits, 1));
    TRY(thunder_tensor_read(logits, scores, sizeof scores));
    *right = 0;
    for (int i = 0; i < HELD_OUT; i++) {
        predicted[i] = 0;
        for (int k = 1; k < CLASSES; k++)
            if (scores[i][k] > scores[i][predicted[i]]) predicted[i] = k;
        *right += predicted[i] == data->test_y[i];
    }
    TRY(thunder_module_set_training(net, 1));
done:
    thunder_tensor_release(logits);
    thunder_compiled_release(compiled);
    thunder_function_release(f);
    return status;
}

static thunder_status *print_traces(thunder_compiled *step)
{
    for (size_t i = 0; i < thunder_compiled_trace_count(step); i++) {
        thunder_trace *trace = NULL;
        thunder_status *status = thunder_compiled_trace(step, i, &trace);
        if (status) return status;
        printf("%s\n", thunder_trace_text(trace));
        thunder_trace_release(trace);
    }
    return NULL;
}

static thunder_status *run_epochs(const char *name, thunder_context *context, thunder_compiled *step, struct data *data, int epochs)
{
    thunder_status *status = NULL;
    thunder_batches *batches = NULL;
    thunder_values *batch = NULL, *result = NULL;
    thunder_tensor *sources[] = { data->x, data->y };
    TRY(thunder_batches_create(context, sources, 2, BATCH, 1, 1, 7, &batches));
    TRY(thunder_values_create(context, &batch));
    TRY(thunder_values_create(context, &result));
    for (int epoch = 1; epoch <= epochs; epoch++) {
        float loss = 0, total = 0;
        int steps = 0;
        while (1) {
            TRY(thunder_batches_next(batches, batch));
            if (!thunder_values_count(batch)) break;
            TRY(thunder_compiled_call(step, NULL, batch, result));
            TRY(thunder_tensor_read(thunder_values_tensor(result, 0), &loss, sizeof loss));
            total += loss;
            steps++;
        }
        if (epoch % 5 == 0) printf("%s: epoch %2d of %d, loss %.4f\n", name, epoch, epochs, (double)(total / (float)steps));
    }
done:
    thunder_values_release(result);
    thunder_values_release(batch);
    thunder_batches_release(batches);
    return status;
}

typedef thunder_status *(*make_net)(thunder_context *, thunder_module *);

static thunder_status *check_saved(const char *name, thunder_context *context, make_net make, thunder_module *net, struct data *data, int *right)
{
    thunder_status *status = NULL;
    thunder_module *again = NULL;
    int64_t before[HELD_OUT], after[HELD_OUT];
    char path[64];
    int unused = 0;
    snprintf(path, sizeof path, "digits-%s.safetensors", name);
    TRY(predict(net, data, before, right));
    TRY(thunder_module_save(net, path));
    TRY(thunder_module_create(context, "Sequential", NULL, 0, NULL, &again));
    TRY(make(context, again));
    TRY(thunder_module_to(again, data->device));
    TRY(thunder_module_load(again, path, 1));
    TRY(predict(again, data, after, &unused));
    if (memcmp(before, after, sizeof before)) {
        static const char text[] = "the loaded network predicts differently";
        status = thunder_status_create(THUNDER_INTERNAL, text, sizeof text - 1);
    }
    remove(path);
done:
    thunder_module_release(again);
    return status;
}

static thunder_status *train(const char *name, thunder_context *context, make_net make, struct data *data, int epochs,
    double wanted, int traces)
{
    thunder_status *status = NULL;
    struct trainer t = { NULL, NULL, NULL, data->device };
    thunder_options *options = NULL;
    thunder_function *f = NULL;
    thunder_compiled *step = NULL;
    int right = 0;
    TRY(thunder_module_create(context, "Sequential", NULL, 0, NULL, &t.net));
    TRY(make(context, t.net));
    TRY(thunder_module_to(t.net, data->device));
    TRY(thunder_values_create(context, &t.parameters));
    TRY(thunder_module_parameters(t.net, t.parameters));
    TRY(thunder_options_create(context, &options));
    thunder_options_set_f64(options, "lr", 4e-3);
    TRY(thunder_optimizer_create(context, "AdamW", t.parameters, options, &t.optimizer));
    TRY(thunder_function_create(context, "train_step", train_step, &t, NULL, &f));
    TRY(thunder_compile(f, NULL, &step));
    TRY(run_epochs(name, context, step, data, epochs));
    if (traces) TRY(print_traces(step));
    TRY(check_saved(name, context, make, t.net, data, &right));
    printf("%s: %.2f %% of %d held-out digits\n", name, 100.0 * right / HELD_OUT, HELD_OUT);
    if (right < wanted * HELD_OUT) {
        static const char text[] = "the accuracy is below what this network reaches";
        status = thunder_status_create(THUNDER_INTERNAL, text, sizeof text - 1);
    }
done:
    thunder_compiled_release(step);
    thunder_function_release(f);
    thunder_optimizer_release(t.optimizer);
    thunder_options_release(options);
    thunder_values_release(t.parameters);
    thunder_module_release(t.net);
    return status;
}

int main(int argc, char **argv)
{
    thunder_status *status = NULL;
    thunder_context *context = NULL;
    struct data data = { NULL, NULL, NULL, { 0 }, THUNDER_CPU };
    int traces = 0;
    const int64_t seed[2] = { 42, 0 };

    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--traces")) traces = 1;
        if (!strcmp(argv[i], "--device") && i + 1 < argc && !strcmp(argv[++i], "cuda")) data.device = THUNDER_CUDA(0);
    }
    TRY(thunder_context_create(NULL, &context));
    TRY(thunder_tensor_write(thunder_context_random(context), seed, sizeof seed));
    TRY(load(context, argc > 1 ? argv[1] : "examples/digits/data/digits.csv", &data));
    TRY(train("mlp", context, make_mlp, &data, 40, 0.97, traces));
    TRY(train("cnn", context, make_cnn, &data, 20, 0.98, traces));
done:
    if (status) fprintf(stderr, "digits: %s\n", thunder_status_message(status));
    const int failed = status != NULL;
    thunder_status_release(status);
    thunder_tensor_release(data.x);
    thunder_tensor_release(data.y);
    thunder_tensor_release(data.test_x);
    thunder_context_release(context);
    return failed;
}
