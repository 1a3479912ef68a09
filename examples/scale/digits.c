/* Trains an MLP on the handwritten digits by data parallelism: every process computes on its part of each batch.
 *
 *   cc digits.c $(pkg-config --cflags --libs thunder) -Wl,-rpath,$(pkg-config --variable=libdir thunder) -o digits
 *   mpirun -n 2 ./digits ../digits/data/digits.csv [STEPS [EVERY [ENGINE]]]
 *
 * ENGINE moves bytes between ranks: mpi, or nccl, which computes on GPUs.
 * Rank 0 prints the loss of every tenth batch, or of every one of so many; on one process, without mpirun, the losses are the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include <thunder.h>
#include <thunder/ops.h>

enum { PIXELS = 64, CLASSES = 10, BATCH = 64 };

#define TRY(call)                                 \
    do {                                          \
        if ((status = (call)) != NULL) goto done; \
    } while (0)

struct trainer {
    thunder_module *net;
    thunder_optimizer *optimizer;
    thunder_values *parameters;
    thunder_device device; /* that computes; batches are made on the CPU */
};

static thunder_any integer(int64_t i)
{
    thunder_any a = { THUNDER_INT, 0, { .i = i } };
    return a;
}

/* Adds a layer to a Sequential; its position is its name. */
static thunder_status *add(thunder_context *context, thunder_module *net, const char *name, const char *kind,
    const thunder_any *args, size_t n_args)
{
    thunder_module *layer = NULL;
    thunder_status *status = thunder_module_create(context, kind, args, n_args, NULL, &layer);
    if (!status) status = thunder_module_add(net, name, layer);
    thunder_module_release(layer);
    return status;
}

static thunder_status *train_step(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    struct trainer *t = user;
    thunder_tensor *x = th_to_opt(s, thunder_values_tensor(in, 0), 0, t->device);
    thunder_tensor *y = th_to_opt(s, thunder_values_tensor(in, 1), 0, t->device);
    thunder_values *logits = thunder_module_call(s, t->net, thunder_scope_list(s, &x, 1));
    thunder_tensor *loss = th_cross_entropy(s, thunder_values_tensor(logits, 0), y);
    thunder_optimizer_step(s, t->optimizer, thunder_scope_grad_over_ranks(s, loss, t->parameters, "data", "mean"));
    thunder_values_push_tensor(out, th_all_reduce_opt(s, loss, "data", "mean"));
    return NULL;
}

/* Images f32[n, 64] and labels i64[n] of the file. */
static thunder_status *load(thunder_context *context, thunder_scope *s, const char *path, thunder_tensor **images, thunder_tensor **labels)
{
    thunder_tensor *table = NULL;
    thunder_status *status = thunder_read_csv(context, path, THUNDER_F32, &table);
    if (!status) {
        *images = thunder_tensor_retain(th_mul(s, th_narrow(s, table, 1, 0, PIXELS), th_f64(s, 1.0 / 16)));
        *labels = thunder_tensor_retain(th_to_opt(s, th_select(s, table, 1, PIXELS), THUNDER_I64, 0));
        status = thunder_scope_status(s);
    }
    thunder_tensor_release(table);
    return status;
}

/* This rank's rows of a batch. */
static void take_part(thunder_scope *s, const thunder_values *batch, thunder_values *part, const thunder_mesh *mesh)
{
    const int64_t rows = BATCH / thunder_mesh_size(mesh, "data"), first = rows * thunder_mesh_index(mesh, "data");
    thunder_values_reset(part);
    for (size_t i = 0; i < 2; i++)
        thunder_values_push_tensor(part, th_narrow(s, thunder_values_tensor(batch, i), 0, first, rows));
}

static thunder_status *run_steps(thunder_context *context, thunder_scope *s, thunder_compiled *step, thunder_batches *batches,
    const thunder_mesh *mesh, int steps, int every)
{
    thunder_status *status = NULL;
    thunder_values *batch = NULL, *part = NULL, *result = NULL;
    TRY(thunder_values_create(context, &batch));
    TRY(thunder_values_create(context, &part));
    TRY(thunder_values_create(context, &result));
    for (int done = 0; done < steps;) {
        float loss = 0;
        TRY(thunder_batches_next(batches, batch));
        if (!thunder_values_count(batch)) continue; /* the next epoch begins */
        take_part(s, batch, part, mesh);
        TRY(thunder_compiled_call(step, NULL, part, result));
        TRY(thunder_tensor_read(thunder_values_tensor(result, 0), &loss, sizeof loss));
        thunder_scope_reset(s);
        if (++done % every == 0 && thunder_mesh_index(mesh, NULL) == 0) printf("step %d: loss %.7f\n", done, (double)loss);
    }
done:
    thunder_values_release(result);
    thunder_values_release(part);
    thunder_values_release(batch);
    return status;
}

static thunder_status *make_trainer(thunder_context *context, thunder_mesh *mesh, struct trainer *t)
{
    const thunder_any first[] = { integer(PIXELS), integer(256) }, second[] = { integer(256), integer(CLASSES) };
    thunder_status *status = NULL;
    thunder_options *options = NULL;
    TRY(thunder_module_create(context, "Sequential", NULL, 0, NULL, &t->net));
    TRY(add(context, t->net, "0", "Linear", first, 2));
    TRY(add(context, t->net, "1", "ReLU", NULL, 0));
    TRY(add(context, t->net, "2", "Linear", second, 2));
    t->device = thunder_mesh_device(mesh);
    TRY(thunder_module_to(t->net, t->device));
    TRY(thunder_values_create(context, &t->parameters));
    TRY(thunder_module_parameters(t->net, t->parameters));
    TRY(thunder_mesh_broadcast(mesh, "data", t->parameters, 0)); /* all begin as rank 0 does */
    TRY(thunder_options_create(context, &options));
    thunder_options_set_f64(options, "lr", 4e-3);
    TRY(thunder_optimizer_create(context, "AdamW", t->parameters, options, &t->optimizer));
done:
    thunder_options_release(options);
    return status;
}

int main(int argc, char **argv)
{
    thunder_status *status = NULL;
    thunder_context *context = NULL;
    thunder_mesh *mesh = NULL;
    thunder_scope *scope = NULL;
    thunder_function *f = NULL;
    thunder_compiled *step = NULL;
    thunder_batches *batches = NULL;
    thunder_tensor *sources[2] = { NULL, NULL };
    struct trainer t = { NULL, NULL, NULL, THUNDER_CPU };
    thunder_options *options = NULL;
    const int64_t seed[2] = { 42, 0 };

    TRY(thunder_context_create(NULL, &context));
    TRY(thunder_options_create(context, &options));
    if (argc > 4) thunder_options_set_str(options, "engine", argv[4]);
    TRY(thunder_mesh_create(context, "data=-1", options, &mesh)); /* as many ranks as there are processes */
    TRY(thunder_tensor_write(thunder_context_random(context), seed, sizeof seed));
    TRY(thunder_scope_create(context, 0, &scope));
    TRY(load(context, scope, argc > 1 ? argv[1] : "examples/digits/data/digits.csv", &sources[0], &sources[1]));
    TRY(make_trainer(context, mesh, &t));
    TRY(thunder_function_create(context, "train_step", train_step, &t, NULL, &f));
    TRY(thunder_compile(f, NULL, &step));
    TRY(thunder_batches_create(context, sources, 2, BATCH, 1, 1, 2, &batches));
    TRY(run_steps(context, scope, step, batches, mesh, argc > 2 ? atoi(argv[2]) : 100, argc > 3 ? atoi(argv[3]) : 10));
done:
    if (status) fprintf(stderr, "digits: %s\n", thunder_status_message(status));
    const int failed = status != NULL;
    thunder_status_release(status);
    thunder_batches_release(batches);
    thunder_compiled_release(step);
    thunder_function_release(f);
    thunder_optimizer_release(t.optimizer);
    thunder_values_release(t.parameters);
    thunder_module_release(t.net);
    thunder_tensor_release(sources[0]);
    thunder_tensor_release(sources[1]);
    thunder_scope_release(scope);
    thunder_mesh_release(mesh);
    thunder_options_release(options);
    thunder_context_release(context);
    return failed;
}
