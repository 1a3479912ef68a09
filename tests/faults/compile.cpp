// Scenarios of the sweep: compiled functions, traces as text, and Lua scripts.
#include <cstdio>
#include <cstring>
#include <iterator>

#include "scenario.h"

namespace faults {
namespace {

thunder_status* formula(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_tensor* x = thunder_values_tensor(in, 0);
  thunder_tensor* y = th_softmax(s, th_add(s, th_matmul(s, x, x), th_f64(s, thunder_values_f64(in, 1))), 1);
  thunder_values_push_tensor(out, th_sum(s, th_mul(s, y, y)));
  thunder_values_push_tensor(out, th_relu(s, th_sub(s, x, y)));
  return nullptr;
}

void compile(Trial& trial) {
  const int64_t shape[] = {3, 3}, larger[] = {4, 4};
  Tensor x, other;
  FAULTS_OK(counting(trial.context, 2, shape, 1, x.out()));
  FAULTS_OK(counting(trial.context, 2, larger, 1, other.out()));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Function f;
  FAULTS_OK(thunder_function_create(trial.context, "formula", formula, take(trial), destroy, f.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
  Values in, out;
  FAULTS_OK(thunder_values_create(trial.context, in.out()));
  FAULTS_OK(thunder_values_create(trial.context, out.out()));
  const thunder_any two = thunder_any_f64(2);
  for (thunder_tensor* argument : {x.operator thunder_tensor*(), other.operator thunder_tensor*(), x.operator thunder_tensor*()}) {
    thunder_values_reset(in);
    thunder_values_push_tensor(in, argument);
    thunder_values_push(in, &two);
    FAULTS_OK(thunder_compiled_call(compiled, nullptr, in, out));
    FAULTS_OK(thunder_values_status(out));
    float sum = 0;
    FAULTS_OK(first_of(thunder_values_tensor(out, 0), &sum, 1));
    FAULTS_RIGHT(sum > 0.9f * static_cast<float>(argument == other ? 4 : 3));
  }
  thunder_statistics statistics{};
  statistics.size = sizeof statistics;
  FAULTS_OK(thunder_compiled_statistics(compiled, &statistics));
  FAULTS_RIGHT(statistics.hits == 1 && statistics.misses == 2);
}

void parse(Trial& trial) {
  const int64_t shape[] = {3, 3};
  Tensor x;
  FAULTS_OK(counting(trial.context, 2, shape, 1, x.out()));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Function f;
  FAULTS_OK(thunder_function_create(trial.context, "formula", formula, nullptr, nullptr, f.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(f, options, compiled.out()));
  Values in;
  FAULTS_OK(thunder_values_create(trial.context, in.out()));
  const thunder_any two = thunder_any_f64(2);
  thunder_values_push_tensor(in, x);
  thunder_values_push(in, &two);
  FAULTS_OK(thunder_compiled_prepare(compiled, in));
  Trace written, read;
  FAULTS_OK(thunder_compiled_trace(compiled, 0, written.out()));
  const char* text = thunder_trace_text(written);
  FAULTS_RIGHT(std::strstr(text, "softmax(") && std::strstr(text, "return function"));
  FAULTS_OK(thunder_trace_parse(trial.context, text, std::strlen(text), read.out()));
  FAULTS_RIGHT(!std::strcmp(text, thunder_trace_text(read)));
}

constexpr int64_t kLast[] = {3};

thunder_status* norm(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_tensor* x = thunder_values_tensor(in, 0);
  thunder_values_push_tensor(out, th_sum(s, th_mul(s, x, th_layer_norm(s, th_mul(s, x, x), kLast, 1))));
  return nullptr;
}

void value_and_grad(Trial& trial) {
  const int64_t shape[] = {2, 3};
  Tensor x;
  FAULTS_OK(counting(trial.context, 2, shape, 1, x.out()));
  Function f, g;
  FAULTS_OK(thunder_function_create(trial.context, "norm", norm, take(trial), destroy, f.out()));
  FAULTS_OK(thunder_function_value_and_grad(f, nullptr, nullptr, g.out()));
  Options options;
  FAULTS_OK(own_code_only(trial.context, options.out()));
  Compiled compiled;
  FAULTS_OK(thunder_compile(g, options, compiled.out()));
  thunder_tensor* in[] = {x};
  thunder_tensor* results[2] = {};
  FAULTS_OK(thunder_compiled_call_tensors(compiled, in, 1, results, 2));
  Tensor loss(results[0]), grad(results[1]);
  FAULTS_RIGHT(thunder_tensor_rank(loss) == 0 && thunder_tensor_size(grad, 1) == 3);
}

// Its file was written before, without faults.
void script(Trial& trial) {
  char path[300];
  std::snprintf(path, sizeof path, "%s/script.lua", trial.folder);
  FAULTS_OK(thunder_context_load_script(trial.context, path));
}

constexpr Scenario kScenarios[] = {
    {"compile", compile}, {"parse", parse}, {"value_and_grad", value_and_grad}, {"script", script}};

}  // namespace

Scenarios compile_scenarios() { return {kScenarios, std::size(kScenarios)}; }

}  // namespace faults
