// Scenarios of the sweep: setters of modules, optimisers, options and registries. One that fails has changed nothing.
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "allocator.h"
#include "scenario.h"

namespace faults {
namespace {

// What a call sees of a module, and of everything below it.
struct Looks {
  std::string text;  // children by name and kind
  std::vector<std::string> paths;
  std::vector<const thunder_tensor*> tensors;
  std::vector<thunder_dtype> dtypes;
  std::vector<double> numbers;  // of an optimiser, and whether modules train
  bool operator==(const Looks&) const = default;
};

// Without faults: what looks must not fail.
Looks looks_of(thunder_context* context, thunder_module* module, thunder_optimizer* optimizer) {
  const Paused paused;
  Looks looks;
  Values text, state;
  Scope scope;
  thunder_status_release(thunder_values_create(context, text.out()));
  thunder_status_release(thunder_values_create(context, state.out()));
  thunder_status_release(thunder_scope_create(context, 0, scope.out()));
  for (thunder_module* m : {module, optimizer ? thunder_optimizer_state(optimizer) : nullptr}) {
    if (!m) continue;
    thunder_values_reset(text);
    thunder_status_release(thunder_module_text(m, text));
    thunder_status_release(thunder_module_state(m, state));
    looks.text += thunder_values_str(text, 0, nullptr);
    for (size_t i = 0; i < thunder_values_count(state); i++) {
      looks.paths.emplace_back(thunder_values_path(state, i));
      looks.tensors.push_back(thunder_values_tensor(state, i));
      looks.dtypes.push_back(thunder_tensor_dtype(looks.tensors.back()));
    }
    looks.numbers.push_back(thunder_module_training(scope, m));
    for (size_t i = 0; thunder_module_child_name(m, i); i++) {
      Module child;
      thunder_status_release(thunder_module_child(m, thunder_module_child_name(m, i), child.out()));
      looks.numbers.push_back(thunder_module_training(scope, child));
    }
  }
  if (!optimizer) return looks;
  looks.numbers.push_back(static_cast<double>(thunder_optimizer_group_count(optimizer)));
  for (size_t group = 0; group < thunder_optimizer_group_count(optimizer); group++) {
    double lr = 0;
    const std::string name = "param_groups." + std::to_string(group) + ".lr";
    thunder_status_release(thunder_optimizer_get_f64(optimizer, name.c_str(), &lr));
    looks.numbers.push_back(lr);
  }
  return looks;
}

thunder_status* forward(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, th_relu(s, thunder_values_tensor(in, 0)));
  return nullptr;
}

// A module with two children, and a compiled function that calls it.
struct Tree {
  Module net, first, second;
  Tensor x, scale, other;
  Function function;
  Options host;
  Compiled compiled;
};

// Whether a compiled function gives what the module gives when it is called.
bool same_results(const Tree& t, thunder_scope* scope) {
  thunder_tensor* in[] = {t.x};
  thunder_tensor* made = nullptr;
  if (thunder_status* failed = thunder_compiled_call_tensors(t.compiled, in, 1, &made, 1)) return thunder_status_release(failed), false;
  const Tensor owned(made);
  thunder_tensor* eager = thunder_values_tensor(thunder_module_call(scope, t.net, thunder_scope_list(scope, in, 1)), 0);
  float a[6] = {}, b[6] = {};
  thunder_status_release(first_of(made, a, 6));
  thunder_status_release(first_of(eager, b, 6));
  for (int i = 0; i < 6; i++)
    if (!near(a[i], b[i])) return false;
  return true;
}

// Whether it does so now, and follows each child, of which one tensor is replaced for a while.
bool agrees(thunder_context* context, const Tree& t) {
  const Paused paused;
  Scope scope;
  thunder_status_release(thunder_scope_create(context, 0, scope.out()));
  bool same = same_results(t, scope);
  for (size_t i = 0; thunder_module_child_name(t.net, i); i++) {
    Module child;
    thunder_status_release(thunder_module_child(t.net, thunder_module_child_name(t.net, i), child.out()));
    const Tensor bias(thunder_tensor_retain(thunder_module_tensor(scope, child, "bias")));
    if (thunder_tensor_dtype(bias) != THUNDER_F32) continue;
    thunder_status_release(thunder_module_set_tensor(child, "bias", bias == t.scale ? t.other : t.scale, THUNDER_PARAMETER));
    same = same && same_results(t, scope);
    thunder_status_release(thunder_module_set_tensor(child, "bias", bias, THUNDER_PARAMETER));
    same = same && same_results(t, scope);
  }
  return same;
}

void plant(Trial& trial, Tree& t) {
  const int64_t shape[] = {2, 3}, width[] = {3};
  const thunder_any sizes[] = {thunder_any_i64(3), thunder_any_i64(3)};
  FAULTS_OK(thunder_module_create(trial.context, "Sequential", nullptr, 0, nullptr, t.net.out()));
  FAULTS_OK(thunder_module_create(trial.context, "Linear", sizes, 2, nullptr, t.first.out()));
  FAULTS_OK(thunder_module_create(trial.context, "Linear", sizes, 2, nullptr, t.second.out()));
  FAULTS_OK(thunder_module_add(t.net, "0", t.first));
  FAULTS_OK(counting(trial.context, 2, shape, 0.1f, t.x.out()));
  FAULTS_OK(counting(trial.context, 1, width, 1, t.scale.out()));
  FAULTS_OK(counting(trial.context, 1, width, 2, t.other.out()));
  FAULTS_OK(thunder_module_function(t.net, t.function.out()));
  FAULTS_OK(own_code_only(trial.context, t.host.out()));
  FAULTS_OK(thunder_compile(t.function, t.host, t.compiled.out()));
  FAULTS_RIGHT(agrees(trial.context, t));
}

// A setter: where it fails, all looks as it did, and compiled functions are right either way.
#define SETS(call)                                                                          \
  do {                                                                                      \
    const Looks before = looks_of(trial.context, tree.net, nullptr);                        \
    const bool done = trial.ok(call, #call);                                                \
    if (!done) trial.right(before == looks_of(trial.context, tree.net, nullptr), #call " that fails changes nothing"); \
    trial.right(agrees(trial.context, tree), "after " #call " a compiled function does what the module does"); \
    if (!done || trial.wrong()) return;                                                     \
  } while (0)

void module_setters(Trial& trial) {
  Tree tree;
  plant(trial, tree);
  if (trial.failed() || trial.wrong()) return;
  SETS(thunder_module_add(tree.net, "1", tree.second));
  SETS(thunder_module_add(tree.net, "1", tree.first));   // in place of another
  SETS(thunder_module_add(tree.net, "0", tree.second));  // likewise; both are there
  SETS(thunder_module_set_tensor(tree.first, "bias", tree.scale, THUNDER_PARAMETER));
  SETS(thunder_module_set_tensor(tree.first, "more", tree.scale, THUNDER_BUFFER));
  SETS(thunder_module_set_training(tree.net, 0));
  SETS(thunder_module_set_forward(tree.second, forward, take(trial), destroy));
  SETS(thunder_module_set_forward(tree.net, forward, take(trial), destroy));
  SETS(thunder_module_to_dtype(tree.net, THUNDER_F64));
}

#define MOVES(call)                                                                                       \
  do {                                                                                                    \
    const Looks before = looks_of(trial.context, net, optimizer);                                         \
    if (!trial.ok(call, #call)) {                                                                         \
      trial.right(before == looks_of(trial.context, net, optimizer), #call " that fails changes nothing"); \
      return;                                                                                             \
    }                                                                                                     \
  } while (0)

void optimizer_setters(Trial& trial) {
  const thunder_any sizes[] = {thunder_any_i64(3), thunder_any_i64(3)};
  Module net, other;
  Values parameters, more;
  Optimizer optimizer;
  Options fast, gamma;
  Schedule schedule;
  FAULTS_OK(thunder_module_create(trial.context, "Linear", sizes, 2, nullptr, net.out()));
  FAULTS_OK(thunder_module_create(trial.context, "Linear", sizes, 2, nullptr, other.out()));
  FAULTS_OK(thunder_values_create(trial.context, parameters.out()));
  FAULTS_OK(thunder_values_create(trial.context, more.out()));
  FAULTS_OK(thunder_module_parameters(net, parameters));
  thunder_values_open(more, 1, nullptr);
  for (const char* name : {"weight", "bias"}) {
    Scope scope;
    FAULTS_OK(thunder_scope_create(trial.context, 0, scope.out()));
    char key[32];
    std::snprintf(key, sizeof key, "other_%s", name);
    thunder_values_key(more, key);
    thunder_values_push_tensor(more, thunder_module_tensor(scope, other, name));
    FAULTS_OK(thunder_scope_status(scope));
  }
  thunder_values_close(more);
  FAULTS_OK(thunder_values_status(more));
  FAULTS_OK(thunder_optimizer_create(trial.context, "AdamW", nullptr, nullptr, optimizer.out()));
  FAULTS_OK(thunder_options_create(trial.context, fast.out()));
  thunder_options_set_f64(fast, "lr", 0.25);
  FAULTS_OK(thunder_options_create(trial.context, gamma.out()));
  thunder_options_set_f64(gamma, "start_factor", 0.5);
  MOVES(thunder_optimizer_add_group(optimizer, parameters, nullptr));
  MOVES(thunder_optimizer_add_group(optimizer, more, fast));
  MOVES(thunder_optimizer_set_f64(optimizer, "param_groups.1.lr", 0.5));
  MOVES(thunder_schedule_create(optimizer, "LinearLR", gamma, schedule.out()));
  MOVES(thunder_schedule_step(schedule));
  double lr = 0;
  FAULTS_OK(thunder_optimizer_get_f64(optimizer, "param_groups.1.lr", &lr));
  FAULTS_RIGHT(near(static_cast<float>(lr), 0.5f * 0.6f));
}

// A name that is registered by a call that fails is free; options that fail say so, and are refused.
void registry_setters(Trial& trial) {
  char name[48], schema[80];
  std::snprintf(name, sizeof name, "mine.set%d", trial.round);
  std::snprintf(schema, sizeof schema, "%s(tensor x) -> tensor", name);
  thunder_op_desc op{};
  op.size = sizeof op, op.schema = schema, op.doc = "Its input, rectified.", op.decompose = forward;
  op.user = take(trial), op.destroy = destroy;
  if (!trial.ok(thunder_context_add_op(trial.context, &op), "thunder_context_add_op")) {
    const Paused paused;
    op.user = take(trial);
    thunder_status* again = thunder_context_add_op(trial.context, &op);
    trial.right(!again, "thunder_context_add_op that fails leaves the name free");
    thunder_status_release(again);
    return;
  }
  thunder_executor_desc d{};
  static const char* const ops[] = {"gelu"};
  d.size = sizeof d, d.name = name, d.ops = ops, d.n_ops = 1;
  d.prepare = [](const thunder_node*, void**, size_t*, void*) -> thunder_status* { return nullptr; };
  d.run = [](const thunder_launch*, void*) -> thunder_status* { return nullptr; };
  Executor executor;
  FAULTS_OK(thunder_executor_create(trial.context, &d, executor.out()));
  if (!trial.ok(thunder_context_add_executor(trial.context, executor), "thunder_context_add_executor")) {
    const Paused paused;
    thunder_status* again = thunder_context_add_executor(trial.context, executor);
    trial.right(!again, "thunder_context_add_executor that fails leaves the name free");
    thunder_status_release(again);
    return;
  }
  static const char* const rules[] = {"neg(neg(a)) -> a"};
  thunder_pass_desc p{};
  p.size = sizeof p, p.name = name, p.rules = rules, p.n_rules = 1;
  Pass pass;
  FAULTS_OK(thunder_pass_create(trial.context, &p, pass.out()));
  if (!trial.ok(thunder_context_add_pass(trial.context, pass), "thunder_context_add_pass")) {
    const Paused paused;
    thunder_status* again = thunder_context_add_pass(trial.context, pass);
    trial.right(!again, "thunder_context_add_pass that fails leaves the name free");
    thunder_status_release(again);
    return;
  }
  Options options;
  Function f;
  Compiled compiled;
  FAULTS_OK(thunder_options_create(trial.context, options.out()));
  thunder_options_set_str(options, "executors", "a list that is longer than what a string holds inside itself");
  thunder_options_set_str(options, "executors", "host");
  FAULTS_OK(thunder_function_create(trial.context, "f", forward, nullptr, nullptr, f.out()));
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
}

constexpr Scenario kScenarios[] = {
    {"module_setters", module_setters}, {"optimizer_setters", optimizer_setters}, {"registry_setters", registry_setters}};

}  // namespace

Scenarios setter_scenarios() { return {kScenarios, std::size(kScenarios)}; }

}  // namespace faults
