// Scenarios of the sweep: a context, tensors, values, eager programs and files.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "scenario.h"

// As dlpack.h lays it out; what follows is of no interest here.
struct DLManagedTensorVersioned {
  uint32_t major, minor;
  void* manager;
  void (*deleter)(DLManagedTensorVersioned* self);
};

namespace faults {
namespace {

void context(Trial& trial) {
  thunder_hooks hooks{};
  hooks.size = sizeof hooks, hooks.user = take(trial), hooks.destroy = destroy;
  Context made;
  FAULTS_OK(thunder_context_create(&hooks, made.out()));
  trial.context = made;
  Values text;
  FAULTS_OK(thunder_values_create(made, text.out()));
  for (const char* what : {"ops", "modules", "optimizers", "schedules", "options", "executors", "passes", "memory"})
    FAULTS_OK(thunder_context_describe(made, what, text));
  FAULTS_OK(thunder_values_status(text));
  FAULTS_RIGHT(thunder_values_count(text) == 8);
}

void tensors(Trial& trial) {
  const int64_t shape[] = {2, 3}, turned[] = {3, 2}, strides[] = {1, 3};
  float data[] = {1, 2, 3, 4, 5, 6}, read[6] = {};
  Tensor owned, borrowed, view, back;
  FAULTS_OK(thunder_tensor_create(trial.context, THUNDER_F32, 2, shape, 0, data, sizeof data, owned.out()));
  FAULTS_OK(thunder_tensor_borrow(trial.context, THUNDER_F32, 2, shape, nullptr, 0, data, sizeof data, destroy, take(trial),
                                  borrowed.out()));
  FAULTS_OK(thunder_tensor_view(owned, 2, turned, strides, 0, view.out()));
  FAULTS_OK(thunder_tensor_read(view, read, sizeof read));
  FAULTS_RIGHT(read[1] == 4 && read[5] == 6);
  DLManagedTensorVersioned* managed = nullptr;
  FAULTS_OK(thunder_tensor_to_dlpack(view, 1, nullptr, &managed));
  const bool taken = trial.ok(thunder_tensor_from_dlpack(trial.context, managed, back.out()), "from_dlpack");
  if (!taken) return managed->deleter(managed);
  FAULTS_OK(thunder_tensor_write(back, data, sizeof data));
  FAULTS_OK(thunder_tensor_read(owned, read, sizeof read));
  FAULTS_RIGHT(read[0] == 1 && read[1] == 3 && read[3] == 2);
}

void values(Trial& trial) {
  const int64_t dims[] = {7, 8, 9}, shape[] = {1};
  const double floats[] = {0.5, 1.5};
  const char* text = "a text that is too long to be kept inside of a string object";
  Tensor x;
  FAULTS_OK(counting(trial.context, 1, shape, 1, x.out()));
  Values v;
  FAULTS_OK(thunder_values_create(trial.context, v.out()));
  thunder_values_push_tensor(v, x);
  thunder_values_open(v, 1, "a type tag that is also rather long for a short string");
  thunder_values_key(v, "a key that is longer than what a string object holds itself");
  thunder_any leaf = thunder_any_str(text, std::strlen(text));
  thunder_values_push(v, &leaf);
  thunder_values_key(v, "dims");
  leaf = thunder_any_dims(dims, 3);
  thunder_values_push(v, &leaf);
  thunder_values_key(v, "floats");
  leaf = thunder_any{THUNDER_FLOATS, 2, {}};
  leaf.u.fs = floats;
  thunder_values_push(v, &leaf);
  thunder_values_close(v);
  FAULTS_OK(thunder_values_status(v));
  thunder_values_set_tensor(v, 0, x);
  thunder_values_bind(v, 0, x);
  const size_t found = thunder_values_find(v, "1.dims");
  const char* path = thunder_values_path(v, 3);
  FAULTS_OK(thunder_values_status(v));
  FAULTS_RIGHT(found == 2 && path && !std::strcmp(path, "1.floats"));
  FAULTS_RIGHT(thunder_values_find(v, "1.none") == SIZE_MAX);
  FAULTS_OK(thunder_values_get(v, found, &leaf));
  FAULTS_RIGHT(leaf.kind == THUNDER_DIMS && leaf.u.d[2] == 9);
  const char* kept = thunder_values_str(v, 1, nullptr);
  FAULTS_OK(thunder_values_status(v));
  FAULTS_RIGHT(kept && !std::strcmp(kept, text));
  thunder_values_reset(v);
  leaf = thunder_any_f64(2.5);
  thunder_values_push(v, &leaf);
  FAULTS_OK(thunder_values_status(v));
  FAULTS_OK(thunder_tensor_status(thunder_values_tensor(v, 0)));
}

void eager(Trial& trial) {
  const int64_t shape[] = {4, 4}, flat[] = {16};
  float sum = 0;
  Tensor x;
  FAULTS_OK(counting(trial.context, 2, shape, 0.1f, x.out()));
  Scope s;
  FAULTS_OK(thunder_scope_create(trial.context, 0, s.out()));
  thunder_tensor* y = th_add(s, th_matmul(s, x, x), th_f64(s, 1));
  y = th_softmax(s, th_relu(s, y), 1);
  y = th_reshape(s, y, flat, 1);
  FAULTS_OK(thunder_scope_status(s));
  y = th_add_(s, y, th_exp(s, th_mul(s, y, y)));
  y = th_sum(s, y);
  FAULTS_OK(thunder_scope_status(s));
  FAULTS_OK(thunder_tensor_read(y, &sum, sizeof sum));
  FAULTS_RIGHT(sum > 20 && sum < 40);
  thunder_scope_reset(s);
  y = th_sub(s, x, x);
  FAULTS_OK(thunder_scope_status(s));
}

void gradient(Trial& trial) {
  const int64_t shape[] = {3, 3};
  float got[9] = {};
  Tensor x;
  FAULTS_OK(counting(trial.context, 2, shape, 1, x.out()));
  Values wrt;
  FAULTS_OK(thunder_values_create(trial.context, wrt.out()));
  thunder_values_push_tensor(wrt, x);
  FAULTS_OK(thunder_values_status(wrt));
  Scope s;
  FAULTS_OK(thunder_scope_create(trial.context, THUNDER_SCOPE_TAPED, s.out()));
  for (int i = 0; i < 2; i++) {
    thunder_tensor* loss = th_sum(s, th_mul(s, th_tanh(s, th_mul(s, x, th_f64(s, 0))), x));
    thunder_values* grads = thunder_scope_grad(s, th_add(s, loss, th_sum(s, th_mul(s, x, x))), wrt);
    FAULTS_OK(thunder_scope_status(s));
    FAULTS_OK(thunder_tensor_read(thunder_values_tensor(grads, 0), got, sizeof got));
    FAULTS_RIGHT(near(got[0], 2) && near(got[8], 18));
    thunder_scope_reset(s);
    FAULTS_OK(thunder_scope_status(s));
  }
}

void files(Trial& trial) {
  const int64_t shape[] = {2, 3};
  char npy[300], csv[300], tensors[300];
  std::snprintf(npy, sizeof npy, "%s/x.npy", trial.folder);
  std::snprintf(csv, sizeof csv, "%s/x.csv", trial.folder);
  std::snprintf(tensors, sizeof tensors, "%s/x.safetensors", trial.folder);
  Tensor x, y, z, state;
  FAULTS_OK(counting(trial.context, 2, shape, 1, x.out()));
  FAULTS_OK(thunder_write_npy(x, npy));
  FAULTS_OK(thunder_read_npy(trial.context, npy, y.out()));
  Values map, batch;
  FAULTS_OK(thunder_values_create(trial.context, map.out()));
  FAULTS_OK(thunder_values_create(trial.context, batch.out()));
  thunder_values_open(map, 1, nullptr);
  thunder_values_key(map, "layers.0.weight");
  thunder_values_push_tensor(map, y);
  thunder_values_close(map);
  FAULTS_OK(thunder_write_safetensors(map, tensors));
  FAULTS_OK(thunder_read_safetensors(trial.context, tensors, map));
  FAULTS_OK(thunder_values_status(map));
  FAULTS_RIGHT(thunder_values_count(map) == 1);
  FAULTS_OK(thunder_read_csv(trial.context, csv, THUNDER_F32, z.out()));
  float read[6] = {};
  FAULTS_OK(first_of(thunder_values_tensor(map, 0), read, 6));
  FAULTS_RIGHT(read[5] == 6);
  FAULTS_OK(first_of(z, read, 4));
  FAULTS_RIGHT(read[3] == 4.5f);
  Batches batches;
  thunder_tensor* sources[] = {x};
  FAULTS_OK(thunder_batches_create(trial.context, sources, 1, 1, 1, 0, 3, batches.out()));
  for (int i = 0; i < 3; i++) {
    FAULTS_OK(thunder_batches_next(batches, batch));
    FAULTS_OK(thunder_values_status(batch));
    FAULTS_RIGHT(thunder_values_count(batch) == (i < 2));
  }
  FAULTS_OK(thunder_batches_state(batches, state.out()));
  FAULTS_OK(thunder_batches_set_state(batches, state));
}

// Many views, and ops whose results depend on sizes.
void shapes(Trial& trial) {
  const int64_t shape[] = {2, 3, 4}, order[] = {2, 0, 1}, flat[] = {4, 6}, wide[] = {5, 4, 6}, size = 4;
  Tensor x;
  FAULTS_OK(counting(trial.context, 3, shape, 1, x.out()));
  Scope s;
  FAULTS_OK(thunder_scope_create(trial.context, THUNDER_SCOPE_TAPED, s.out()));
  thunder_tensor* y = th_reshape(s, th_permute(s, x, order, 3), flat, 2);
  thunder_tensor* both[] = {y, th_transpose(s, th_transpose(s, y, 0, 1), 0, 1)};
  thunder_tensor* z = th_cat(s, both, 2);
  thunder_any args[] = {thunder_any_tensor(z), thunder_any_i64(size)};
  thunder_values* parts = thunder_op_invoke_all(s, "split", args, 2, nullptr, "shapes.c:1");
  FAULTS_OK(thunder_scope_status(s));
  FAULTS_RIGHT(thunder_values_count(parts) == 2);
  y = th_sum(s, th_expand(s, thunder_values_tensor(parts, 1), wide, 3));
  FAULTS_OK(thunder_scope_status(s));
  float sum = 0;
  FAULTS_OK(thunder_tensor_read(y, &sum, sizeof sum));
  FAULTS_RIGHT(near(sum, 5 * 300));
}

constexpr Scenario kScenarios[] = {{"context", context, true}, {"tensors", tensors}, {"values", values}, {"eager", eager},
                                   {"gradient", gradient},     {"files", files},     {"shapes", shapes}};

}  // namespace

Scenarios basic_scenarios() { return {kScenarios, std::size(kScenarios)}; }

}  // namespace faults
