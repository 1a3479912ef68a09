// What a call costs: the guard alone, and a + b on 16 floats, compiled and eager.
#include "support.h"

#include <string>

using namespace bench;

namespace {

constexpr int kParameters = 150;

thunder_compiled* compile(thunder_context* c, const char* name, thunder_fn fn, void* user) {
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  check(thunder_function_create(c, name, fn, user, nullptr, &f));
  check(thunder_compile(f, nullptr, &compiled));
  thunder_function_release(f);
  return compiled;
}

thunder_status* empty(thunder_scope*, const thunder_values*, thunder_values*, void*) { return nullptr; }

thunder_status* add(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, op(s, "add", {any(thunder_values_tensor(in, 0)), any(thunder_values_tensor(in, 1))}));
  return nullptr;
}

// Reads every parameter and argument, computes nothing that is kept: what is left of a call is its guard.
thunder_status* read_all(thunder_scope* s, const thunder_values* in, thunder_values*, void* user) {
  auto* module = static_cast<thunder_module*>(user);
  for (int i = 0; i < kParameters; i++) thunder_module_tensor(s, module, ("p" + std::to_string(i)).c_str());
  for (size_t i = 0; i < 3; i++) thunder_values_tensor(in, i);
  return nullptr;
}

void time_guard(thunder_context* c) {
  thunder_module* module = nullptr;
  check(thunder_module_create(c, "Module", nullptr, 0, nullptr, &module));
  for (int i = 0; i < kParameters; i++) {
    thunder_tensor* p = floats(c, {8}, 1);
    check(thunder_module_set_tensor(module, ("p" + std::to_string(i)).c_str(), p, THUNDER_PARAMETER));
    thunder_tensor_release(p);
  }
  thunder_tensor* in[3] = {floats(c, {4, 8}, 0), floats(c, {8}, 0), floats(c, {2, 3, 4}, 0)};
  thunder_compiled* f = compile(c, "read_all", read_all, module);
  row("call: guard of 3 tensors and 150 parameters", "ns",
      median_ns(15, 20000, [&] { check(thunder_compiled_call_tensors(f, in, 3, nullptr, 0)); }));
  thunder_compiled* nothing = compile(c, "empty", empty, nullptr);
  row("call: empty", "ns", median_ns(15, 20000, [&] { check(thunder_compiled_call_tensors(nothing, in, 0, nullptr, 0)); }));
  for (thunder_tensor* t : in) thunder_tensor_release(t);
  thunder_compiled_release(nothing);
  thunder_compiled_release(f);
  thunder_module_release(module);
}

void time_add(thunder_context* c) {
  thunder_tensor *in[2] = {floats(c, {16}, 0), floats(c, {16}, 1)}, *bound = floats(c, {16}, 0);
  thunder_compiled* f = compile(c, "add", add, nullptr);
  row("call: add 16 f32", "ns", median_ns(15, 20000, [&] {
        thunder_tensor* out = nullptr;
        check(thunder_compiled_call_tensors(f, in, 2, &out, 1));
        thunder_tensor_release(out);
      }));
  thunder_values *values = nullptr, *results = nullptr;
  check(thunder_values_create(c, &values));
  check(thunder_values_create(c, &results));
  for (thunder_tensor* t : in) thunder_values_push_tensor(values, t);
  thunder_values_bind(results, 0, bound);
  row("call: add 16 f32, bound result", "ns", median_ns(15, 20000, [&] { check(thunder_compiled_call(f, nullptr, values, results)); }));
  thunder_scope* s = nullptr;
  check(thunder_scope_create(c, 0, &s));
  row("call: add 16 f32, eager", "ns", median_ns(15, 20000, [&] {
        op(s, "add", {any(in[0]), any(in[1])});
        thunder_scope_reset(s);
      }));
  thunder_scope_release(s);
  thunder_values_release(values);
  thunder_values_release(results);
  thunder_compiled_release(f);
  for (thunder_tensor* t : {in[0], in[1], bound}) thunder_tensor_release(t);
}

}  // namespace

int main() {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  time_guard(c);
  time_add(c);
  thunder_context_release(c);
}
