// Scenarios of the sweep: ops, kernels, executors and passes of the caller's.
#include <cstdio>
#include <cstring>
#include <iterator>

#include "scenario.h"

namespace faults {
namespace {

thunder_status* double_it(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_tensor* x = thunder_values_tensor(in, 0);
  thunder_values_push_tensor(out, th_add(s, x, x));
  return nullptr;
}

thunder_status* like_input(const thunder_node* node, thunder_types* results, void*) {
  thunder_types_push_like(results, thunder_node_input(node, 0));
  return nullptr;
}

thunder_status* halve_kernel(const thunder_launch* launch, const thunder_any*, void*) {
  const auto* x = static_cast<const float*>(launch->inputs[0].data);
  auto* y = static_cast<float*>(launch->outputs[0].data);
  for (int64_t i = 0; i < launch->inputs[0].shape[0]; i++) y[i] = x[i] / 2;
  return nullptr;
}

thunder_status* halve_vjp(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, th_mul(s, thunder_values_tensor(in, thunder_values_find(in, "2.0")), th_f64(s, 0.5)));
  return nullptr;
}

// The function of the caller's that the scenarios compile: the sum of twice and of half its argument.
struct Names {
  char twice[32], half[32];
};
thunder_status* both(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  const Names& names = *static_cast<Names*>(user);
  const thunder_any x = thunder_any_tensor(thunder_values_tensor(in, 0));
  thunder_tensor* a = thunder_op_invoke(s, names.twice, &x, 1, nullptr, nullptr, 0, "both.c:1");
  thunder_tensor* b = thunder_op_invoke(s, names.half, &x, 1, nullptr, nullptr, 0, "both.c:2");
  thunder_values_push_tensor(out, th_sum(s, th_add(s, a, b)));
  return nullptr;
}

void run_both(Trial& trial, Names& names) {
  const int64_t shape[] = {4};
  Tensor x;
  FAULTS_OK(counting(trial.context, 1, shape, 1, x.out()));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Function f, g;
  FAULTS_OK(thunder_function_create(trial.context, "both", both, &names, nullptr, f.out()));
  FAULTS_OK(thunder_function_value_and_grad(f, nullptr, nullptr, g.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(g, options, compiled.out()));
  thunder_tensor* in[] = {x};
  thunder_tensor* results[2] = {};
  FAULTS_OK(thunder_compiled_call_tensors(compiled, in, 1, results, 2));
  Tensor loss(results[0]), grad(results[1]);
  float got[5] = {};
  FAULTS_OK(first_of(loss, got, 1));
  FAULTS_OK(first_of(grad, got + 1, 4));
  FAULTS_RIGHT(near(got[0], 25) && near(got[1], 2.5f) && near(got[4], 2.5f));
}

void op(Trial& trial) {
  Names names;
  char twice[80], half[80];
  std::snprintf(names.twice, sizeof names.twice, "mine.twice%d", trial.round);
  std::snprintf(names.half, sizeof names.half, "mine.half%d", trial.round);
  std::snprintf(twice, sizeof twice, "%s(tensor x) -> tensor", names.twice);
  std::snprintf(half, sizeof half, "%s(tensor x) -> tensor", names.half);
  thunder_op_desc d{};
  d.size = sizeof d, d.schema = twice, d.doc = "Twice its input.", d.decompose = double_it;
  d.user = take(trial), d.destroy = destroy;
  FAULTS_OK(thunder_context_add_op(trial.context, &d));
  d.schema = half, d.doc = "Half of its input.", d.decompose = nullptr, d.meta = like_input, d.vjp = halve_vjp;
  d.user = take(trial);
  FAULTS_OK(thunder_context_add_op(trial.context, &d));
  thunder_kernel_desc k{};
  k.size = sizeof k, k.run = halve_kernel, k.user = take(trial), k.destroy = destroy;
  FAULTS_OK(thunder_context_add_kernel(trial.context, names.half, &k));
  run_both(trial, names);
}

thunder_status* prepare(const thunder_node* node, void** state, size_t*, void*) {
  thunder_any approximate;
  if (thunder_status* failed = thunder_node_arg(node, "approximate", &approximate)) return failed;
  static int prepared;
  *state = &prepared;
  return nullptr;
}
thunder_status* run(const thunder_launch* launch, void*) {
  std::memcpy(launch->outputs[0].data, launch->inputs[0].data, 4 * sizeof(float));
  return nullptr;
}

thunder_status* gelu(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, th_gelu(s, thunder_values_tensor(in, 0)));
  return nullptr;
}

void executor(Trial& trial) {
  const int64_t shape[] = {4};
  static const char* const ops[] = {"gelu"};
  char name[32];
  std::snprintf(name, sizeof name, "copies%d", trial.round);
  thunder_executor_desc d{};
  d.size = sizeof d, d.name = name, d.ops = ops, d.n_ops = 1;
  d.prepare = prepare, d.run = run, d.user = take(trial), d.destroy = destroy;
  Executor made;
  FAULTS_OK(thunder_executor_create(trial.context, &d, made.out()));
  FAULTS_OK(thunder_context_add_executor(trial.context, made));
  Options options;
  FAULTS_OK(thunder_options_create(trial.context, options.out()));
  thunder_options_set_str(options, "executors", name);
  Tensor x;
  FAULTS_OK(counting(trial.context, 1, shape, 1, x.out()));
  Function f;
  FAULTS_OK(thunder_function_create(trial.context, "gelu", gelu, nullptr, nullptr, f.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
  thunder_tensor* in[] = {x};
  thunder_tensor* result = nullptr;
  FAULTS_OK(thunder_compiled_call_tensors(compiled, in, 1, &result, 1));
  Tensor out(result);
  float got[4] = {};
  FAULTS_OK(first_of(out, got, 4));
  FAULTS_RIGHT(got[3] == 4);
}

thunder_status* edit(thunder_editor* editor, void*) {
  for (size_t i = 0; i < thunder_editor_line_count(editor); i++) {
    const thunder_node* node = thunder_editor_line(editor, i);
    if (!node || std::strcmp(thunder_node_op(node), "tanh") != 0) continue;
    thunder_scope* s = thunder_editor_before(editor, i);
    thunder_tensor* x = thunder_editor_value(editor, thunder_node_input_value(node, 0));
    thunder_tensor* zero = th_mul(s, x, th_f64(s, 0));
    thunder_editor_replace(editor, i, thunder_scope_list(s, &zero, 1));
  }
  return nullptr;
}

thunder_status* ratio(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_tensor* x = thunder_values_tensor(in, 0);
  thunder_values_push_tensor(out, th_add(s, th_div(s, x, th_sqrt(s, x)), th_tanh(s, x)));
  return nullptr;
}

void pass(Trial& trial) {
  const int64_t shape[] = {4};
  static const char* const rules[] = {"div(a, sqrt(b)) -> mul(a, rsqrt(b)) if b.dtype == f32"};
  char name[32];
  std::snprintf(name, sizeof name, "mine%d", trial.round);
  thunder_pass_desc d{};
  d.size = sizeof d, d.name = name, d.rules = rules, d.n_rules = 1, d.run = edit;
  d.user = take(trial), d.destroy = destroy;
  Pass made;
  FAULTS_OK(thunder_pass_create(trial.context, &d, made.out()));
  FAULTS_OK(thunder_context_add_pass(trial.context, made));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Tensor x;
  FAULTS_OK(counting(trial.context, 1, shape, 1, x.out()));
  Function f;
  FAULTS_OK(thunder_function_create(trial.context, "ratio", ratio, nullptr, nullptr, f.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
  thunder_tensor* in[] = {x};
  thunder_tensor* result = nullptr;
  FAULTS_OK(thunder_compiled_call_tensors(compiled, in, 1, &result, 1));
  Tensor out(result);
  float got[4] = {};
  FAULTS_OK(first_of(out, got, 4));
  FAULTS_RIGHT(near(got[3], 2));
}

constexpr Scenario kScenarios[] = {{"op", op}, {"executor", executor}, {"pass", pass}};

}  // namespace

Scenarios extend_scenarios() { return {kScenarios, std::size(kScenarios)}; }

}  // namespace faults
