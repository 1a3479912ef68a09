// Scenarios of the sweep: modules, a step of training, saved files and schedules.
#include <cstdio>
#include <iterator>

#include "scenario.h"

namespace faults {
namespace {

thunder_status* linear(thunder_context* context, int64_t in, int64_t out, thunder_module** made) {
  const thunder_any args[] = {thunder_any_i64(in), thunder_any_i64(out)};
  return thunder_module_create(context, "Linear", args, 2, nullptr, made);
}

struct Network {
  Module net;
  Values parameters;
  Optimizer optimizer;
};

void build(Trial& trial, Network& n, const char* kind) {
  FAULTS_OK(thunder_module_create(trial.context, "Sequential", nullptr, 0, nullptr, n.net.out()));
  Module first, between, last;
  FAULTS_OK(linear(trial.context, 4, 8, first.out()));
  FAULTS_OK(thunder_module_create(trial.context, "GELU", nullptr, 0, nullptr, between.out()));
  FAULTS_OK(linear(trial.context, 8, 3, last.out()));
  FAULTS_OK(thunder_module_add(n.net, "0", first));
  FAULTS_OK(thunder_module_add(n.net, "1", between));
  FAULTS_OK(thunder_module_add(n.net, "2", last));
  FAULTS_OK(thunder_values_create(trial.context, n.parameters.out()));
  FAULTS_OK(thunder_module_parameters(n.net, n.parameters));
  Options options;
  FAULTS_OK(thunder_options_create(trial.context, options.out()));
  thunder_options_set_f64(options, "lr", 0.01);
  FAULTS_OK(thunder_optimizer_create(trial.context, kind, n.parameters, options, n.optimizer.out()));
}

thunder_status* step(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  Network& n = *static_cast<Network*>(user);
  thunder_tensor* const x[] = {thunder_values_tensor(in, 0)};
  thunder_values* arguments = thunder_scope_list(s, x, 1);
  thunder_tensor* logits = thunder_values_tensor(thunder_module_call(s, n.net, arguments), 0);
  thunder_tensor* loss = th_cross_entropy(s, logits, thunder_values_tensor(in, 1));
  thunder_values* grads = thunder_scope_grad(s, loss, n.parameters);
  thunder_optimizer_step(s, n.optimizer, thunder_clip_grad_norm(s, grads, 1.0, nullptr));
  thunder_values_push_tensor(out, loss);
  return nullptr;
}

void mlp_step(Trial& trial) {
  const int64_t shape[] = {5, 4}, rows[] = {5}, labels[] = {0, 1, 2, 1, 0};
  Network n;
  build(trial, n, "AdamW");
  if (trial.failed() || trial.wrong()) return;
  Tensor x, y;
  FAULTS_OK(counting(trial.context, 2, shape, 0.1f, x.out()));
  FAULTS_OK(thunder_tensor_create(trial.context, THUNDER_I64, 1, rows, 0, labels, sizeof labels, y.out()));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Function f;
  FAULTS_OK(thunder_function_create(trial.context, "step", step, &n, nullptr, f.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
  float before = 0, after = 0;
  for (float* loss : {&before, &after}) {
    thunder_tensor* in[] = {x, y};
    thunder_tensor* result = nullptr;
    FAULTS_OK(thunder_compiled_call_tensors(compiled, in, 2, &result, 1));
    Tensor out(result);
    FAULTS_OK(first_of(out, loss, 1));
  }
  FAULTS_RIGHT(after < before);
}

void save_and_load(Trial& trial) {
  char path[300];
  std::snprintf(path, sizeof path, "%s/net.safetensors", trial.folder);
  Network n;
  build(trial, n, "SGD");
  if (trial.failed() || trial.wrong()) return;
  float before[2], after[2];
  thunder_tensor* weight = thunder_values_tensor(n.parameters, 0);
  FAULTS_OK(first_of(weight, before, 2));
  FAULTS_OK(thunder_module_save(n.net, path));
  FAULTS_OK(thunder_module_load(n.net, path, 1));
  FAULTS_OK(first_of(weight, after, 2));
  FAULTS_RIGHT(before[0] == after[0] && before[1] == after[1]);
  Values state;
  FAULTS_OK(thunder_values_create(trial.context, state.out()));
  FAULTS_OK(thunder_module_state(n.net, state));
  FAULTS_RIGHT(thunder_values_count(state) == 4);
}

void schedules(Trial& trial) {
  Network n;
  build(trial, n, "SGD");
  if (trial.failed() || trial.wrong()) return;
  Options options, cosine;
  FAULTS_OK(thunder_options_create(trial.context, options.out()));
  thunder_options_set_i64(options, "step_size", 1);
  Schedule steps, annealing;
  FAULTS_OK(thunder_schedule_create(n.optimizer, "StepLR", options, steps.out()));
  FAULTS_OK(thunder_schedule_step(steps));
  double lr = 0;
  FAULTS_OK(thunder_optimizer_get_f64(n.optimizer, "lr", &lr));
  FAULTS_RIGHT(near(static_cast<float>(lr), 0.001f));
  FAULTS_OK(thunder_options_create(trial.context, cosine.out()));
  thunder_options_set_i64(cosine, "T_max", 10);
  FAULTS_OK(thunder_schedule_create(n.optimizer, "CosineAnnealingLR", cosine, annealing.out()));
  FAULTS_OK(thunder_schedule_step(annealing));
  FAULTS_OK(thunder_optimizer_set_f64(n.optimizer, "lr", 0.5));
}

thunder_status* forward(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, th_relu(s, thunder_values_tensor(in, 0)));
  return nullptr;
}

void modules(Trial& trial) {
  const int64_t image[] = {1, 2, 5, 5}, one[] = {1};
  Module net, convolution, norm, mine, found;
  FAULTS_OK(thunder_module_create(trial.context, "Sequential", nullptr, 0, nullptr, net.out()));
  const thunder_any sizes[] = {thunder_any_i64(2), thunder_any_i64(3), thunder_any_i64(3)};
  FAULTS_OK(thunder_module_create(trial.context, "Conv2d", sizes, 3, nullptr, convolution.out()));
  FAULTS_OK(thunder_module_create(trial.context, "BatchNorm2d", sizes + 1, 1, nullptr, norm.out()));
  FAULTS_OK(thunder_module_create(trial.context, "Module", nullptr, 0, nullptr, mine.out()));
  FAULTS_OK(thunder_module_set_forward(mine, forward, take(trial), destroy));
  FAULTS_OK(thunder_module_add(net, "0", convolution));
  FAULTS_OK(thunder_module_add(net, "1", norm));
  FAULTS_OK(thunder_module_add(net, "2", mine));
  FAULTS_OK(thunder_module_child(net, "1", found.out()));
  Tensor x, scale;
  FAULTS_OK(counting(trial.context, 4, image, 0.1f, x.out()));
  FAULTS_OK(counting(trial.context, 1, one, 1, scale.out()));
  FAULTS_OK(thunder_module_set_tensor(mine, "scale", scale, THUNDER_BUFFER));
  Function f;
  FAULTS_OK(thunder_module_function(net, f.out()));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
  for (int training : {1, 0}) {
    FAULTS_OK(thunder_module_set_training(net, training));
    thunder_tensor* in[] = {x};
    thunder_tensor* result = nullptr;
    FAULTS_OK(thunder_compiled_call_tensors(compiled, in, 1, &result, 1));
    Tensor out(result);
    FAULTS_RIGHT(thunder_tensor_rank(out) == 4 && thunder_tensor_size(out, 1) == 3);
  }
}

// What is made of many modules, in an eager scope.
void attention(Trial& trial) {
  const int64_t shape[] = {2, 3, 8};
  const thunder_any args[] = {thunder_any_i64(8), thunder_any_i64(2)};
  Module layer;
  FAULTS_OK(thunder_module_create(trial.context, "MultiheadAttention", args, 2, nullptr, layer.out()));
  FAULTS_OK(thunder_module_set_training(layer, 0));
  Tensor x;
  FAULTS_OK(counting(trial.context, 3, shape, 0.01f, x.out()));
  Scope s;
  FAULTS_OK(thunder_scope_create(trial.context, 0, s.out()));
  thunder_tensor* in[] = {x, x, x};
  thunder_values* out = thunder_module_call(s, layer, thunder_scope_list(s, in, 3));
  FAULTS_OK(thunder_scope_status(s));
  FAULTS_RIGHT(thunder_tensor_size(thunder_values_tensor(out, 0), 2) == 8);
}

constexpr Scenario kScenarios[] = {{"mlp_step", mlp_step},   {"save_and_load", save_and_load}, {"schedules", schedules},
                                   {"modules", modules},     {"attention", attention}};

}  // namespace

Scenarios module_scenarios() { return {kScenarios, std::size(kScenarios)}; }

}  // namespace faults
