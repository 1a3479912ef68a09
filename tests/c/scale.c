/* A mesh of one process, which needs no MPI: axes, collectives, gradients over them, and mistakes. */
// covers: capi/scale/mesh.cpp
#include "test.h"

static thunder_status *mean_step(thunder_scope *s, const thunder_values *in, thunder_values *out, void *user)
{
    thunder_values *parameters = user;
    thunder_tensor *w = thunder_values_tensor(parameters, 0);
    thunder_tensor *loss = th_sum(s, th_mul(s, thunder_values_tensor(in, 0), w));
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_scope_grad_over_ranks(s, loss, parameters, "data", NULL), 0));
    thunder_values *own = thunder_scope_grad(s, loss, parameters);
    thunder_values_push_tensor(out, thunder_values_tensor(thunder_scope_reduce_gradients(s, own, parameters, "data", "sum", THUNDER_BF16), 0));
    thunder_values_push_tensor(out, th_all_reduce_opt(s, loss, "data", "mean"));
    return NULL;
}

static void check_axes(thunder_context *c)
{
    thunder_mesh *mesh = NULL, *again = NULL;
    OK(thunder_mesh_create(c, "data=-1,tensor=1", NULL, &mesh));
    CHECK(thunder_mesh_size(mesh, "data") == 1 && thunder_mesh_index(mesh, "data") == 0);
    CHECK(thunder_mesh_size(mesh, NULL) == 1 && thunder_mesh_index(mesh, NULL) == 0 && thunder_mesh_local_rank(mesh) == 0);
    CHECK(thunder_mesh_device(mesh) == THUNDER_CPU && thunder_mesh_device(NULL) == THUNDER_CPU);
    CHECK(thunder_mesh_size(mesh, "rows") == -1 && thunder_mesh_index(mesh, "rows") == -1);
    CHECK(strstr(thunder_mesh_text(mesh), "rank 0 of 1") && strstr(thunder_mesh_text(mesh), "data=1,tensor=1"));
    OK(thunder_mesh_barrier(mesh, NULL));
    OK(thunder_mesh_barrier(mesh, "tensor"));
    OK(thunder_mesh_create(c, "data=1,tensor=1", NULL, &again));
    thunder_mesh_release(again);
    OK(thunder_mesh_create(c, NULL, NULL, &again));
    thunder_mesh_release(thunder_mesh_retain(again));
    thunder_mesh_release(again);
    thunder_mesh_release(mesh);
}

static void check_mistakes(thunder_context *c)
{
    thunder_mesh *mesh = NULL;
    thunder_options *options = NULL;
    REFUSED(thunder_mesh_create(c, "data=2", NULL, &mesh), THUNDER_INVALID_ARGUMENT, "has 2 ranks, and the world 1");
    REFUSED(thunder_mesh_create(c, "data", NULL, &mesh), THUNDER_INVALID_ARGUMENT, "data");
    REFUSED(thunder_mesh_create(c, "data=1", NULL, &mesh), THUNDER_FAILED_PRECONDITION, "is there already");
    OK(thunder_options_create(c, &options));
    thunder_options_set_f64(options, "timeout", -1);
    REFUSED(thunder_mesh_create(c, NULL, options, &mesh), THUNDER_INVALID_ARGUMENT, "timeout must be positive");
    thunder_options_set_f64(options, "timeout", 3);
    thunder_options_set_str(options, "engines", "mpi");
    REFUSED(thunder_mesh_create(c, NULL, options, &mesh), THUNDER_INVALID_ARGUMENT, "engine");
    thunder_options_release(options);
}

static void check_gradients(thunder_context *c)
{
    const float w[] = { 1, 2, 3 }, x[] = { 4, 5, 6 };
    const int64_t shape[] = { 3 };
    float grad[3], loss;
    thunder_mesh *mesh = NULL;
    thunder_tensor *parameter = NULL, *input = NULL, *results[3];
    thunder_values *parameters = NULL;
    thunder_module *module = NULL;
    thunder_function *f = NULL;
    thunder_compiled *step = NULL;
    OK(thunder_mesh_create(c, "data=1,tensor=1", NULL, &mesh));
    OK(thunder_tensor_create(c, THUNDER_F32, 1, shape, THUNDER_CPU, w, sizeof w, &parameter));
    OK(thunder_tensor_create(c, THUNDER_F32, 1, shape, THUNDER_CPU, x, sizeof x, &input));
    OK(thunder_values_create(c, &parameters));
    thunder_values_push_tensor(parameters, parameter);
    OK(thunder_mesh_broadcast(mesh, "data", parameters, 0));
    REFUSED(thunder_mesh_broadcast(mesh, "data", parameters, 1), THUNDER_INVALID_ARGUMENT, "root");
    OK(thunder_module_create(c, "ReLU", NULL, 0, NULL, &module));
    OK(thunder_module_set_tensor(module, "weight", parameter, THUNDER_PARAMETER));
    OK(thunder_mesh_fully_shard(mesh, "data", module, 1));
    REFUSED(thunder_mesh_fully_shard(mesh, "rows", module, 1), THUNDER_NOT_FOUND, "rows");
    REFUSED(thunder_mesh_parallelize_module(mesh, "tensor", module, "fc=colwise"), THUNDER_INVALID_ARGUMENT, "'fc' names no layer");
    REFUSED(thunder_mesh_parallelize_module(mesh, "tensor", module, "fc"), THUNDER_INVALID_ARGUMENT, "a path and a style");
    REFUSED(thunder_mesh_parallelize_module(mesh, "rows", module, "fc=colwise"), THUNDER_NOT_FOUND, "rows");
    thunder_module_release(module);
    OK(thunder_function_create(c, "step", mean_step, parameters, NULL, &f));
    OK(thunder_compile(f, NULL, &step));
    OK(thunder_compiled_call_tensors(step, &input, 1, results, 3));
    OK(thunder_tensor_read(results[0], grad, sizeof grad));
    OK(thunder_tensor_read(results[2], &loss, sizeof loss));
    CHECK(grad[0] == 4 && grad[2] == 6 && loss == 32);
    OK(thunder_tensor_read(results[1], grad, sizeof grad));
    CHECK(grad[0] == 4 && grad[2] == 6);
    for (int i = 0; i < 3; i++) thunder_tensor_release(results[i]);
    thunder_compiled_release(step);
    thunder_function_release(f);
    thunder_values_release(parameters);
    thunder_tensor_release(input);
    thunder_tensor_release(parameter);
    thunder_mesh_release(mesh);
}

int main(void)
{
    thunder_context *c = NULL;
    OK(thunder_context_create(NULL, &c));
    check_axes(c);
    check_mistakes(c);
    check_gradients(c);
    thunder_context_release(c);
    CHECK(THUNDER_DEADLINE_EXCEEDED == 4);
    return 0;
}
