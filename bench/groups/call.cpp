// What a call costs: guards and binding alone, and with the work; a + b on 16 floats, compiled and eager; a chain of small lines.
#include "support.h"

#include <cmath>
#include <string>

using namespace bench;

namespace {

constexpr int kParameters = 150, kLinks = 64;

thunder_compiled* compile(thunder_context* c, const char* name, thunder_fn fn, void* user, const thunder_options* options = nullptr) {
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  check(thunder_function_create(c, name, fn, user, nullptr, &f));
  check(thunder_compile(f, options, &compiled));
  thunder_function_release(f);
  return compiled;
}

thunder_status* empty(thunder_scope*, const thunder_values*, thunder_values*, void*) { return nullptr; }

// Reads every parameter of the module, and returns nothing.
thunder_status* read_all(thunder_scope* s, const thunder_values*, thunder_values*, void* user) {
  for (int i = 0; i < kParameters; i++) thunder_module_tensor(s, static_cast<thunder_module*>(user), ("p" + std::to_string(i)).c_str());
  return nullptr;
}

thunder_status* add(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, op(s, "add", {any(thunder_values_tensor(in, 0)), any(thunder_values_tensor(in, 1))}));
  return nullptr;
}

// One result of the three arguments and of every parameter of the module, if there is one.
thunder_status* use_all(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  auto* module = static_cast<thunder_module*>(user);
  std::vector<thunder_tensor*> parts;
  for (int i = 0; module && i < kParameters; i++) parts.push_back(thunder_module_tensor(s, module, ("p" + std::to_string(i)).c_str()));
  for (size_t i = 0; i < 3; i++) parts.push_back(op(s, "reshape", {any(thunder_values_tensor(in, i)), dims({-1})}));
  thunder_any list{};
  list.kind = THUNDER_TENSORS;
  list.count = static_cast<uint32_t>(parts.size());
  list.u.ts = parts.data();
  thunder_values_push_tensor(out, op(s, "sum", {any(op(s, "cat", {list}))}));
  return nullptr;
}

// An executor that takes the lines and does none of their work: what is left of a call is its checks, its binding, the
// result and the way to each step.
thunder_options* without_work(thunder_context* c) {
  static const char* const ops[] = {"prims.cat", "prims.sum"};
  thunder_executor_desc desc{};
  desc.size = sizeof desc;
  desc.name = "nothing";
  desc.ops = ops;
  desc.n_ops = 2;
  desc.flags = THUNDER_EXECUTOR_STRIDED;
  desc.prepare = [](const thunder_node*, void**, size_t*, void*) -> thunder_status* { return nullptr; };
  desc.run = [](const thunder_launch*, void*) -> thunder_status* { return nullptr; };
  thunder_executor* nothing = nullptr;
  thunder_options* options = nullptr;
  check(thunder_executor_create(c, &desc, &nothing));
  check(thunder_options_create(c, &options));
  thunder_options_add_executor(options, nothing);
  thunder_executor_release(nothing);
  return options;
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
  thunder_options* options = without_work(c);
  auto time = [&](const char* name, thunder_compiled* f) {
    row(name, "ns", median_ns(15, 20000, [&] {
          thunder_tensor* out = nullptr;
          check(thunder_compiled_call_tensors(f, in, 3, &out, 1));
          thunder_tensor_release(out);
        }));
    thunder_compiled_release(f);
  };
  time("call: 3 tensors, steps without work", compile(c, "use", use_all, nullptr, options));
  time("call: 3 tensors and 150 parameters, steps without work", compile(c, "use_all", use_all, module, options));
  time("call: 3 tensors and 150 parameters, cat and sum", compile(c, "use_all", use_all, module));
  thunder_compiled* nothing = compile(c, "empty", empty, nullptr);
  row("call: empty", "ns", median_ns(15, 20000, [&] { check(thunder_compiled_call_tensors(nothing, in, 0, nullptr, 0)); }));
  row("call: empty, guard of 3 tensors", "ns", median_ns(15, 20000, [&] { check(thunder_compiled_call_tensors(nothing, in, 3, nullptr, 0)); }));
  thunder_compiled* reads = compile(c, "read_all", read_all, module);
  row("call: empty, guard of 3 tensors and 150 parameters", "ns",
      median_ns(15, 20000, [&] { check(thunder_compiled_call_tensors(reads, in, 3, nullptr, 0)); }));
  thunder_compiled_release(reads);
  thunder_compiled_release(nothing);
  for (thunder_tensor* t : in) thunder_tensor_release(t);
  thunder_options_release(options);
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

thunder_status* chain(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_tensor* x = thunder_values_tensor(in, 0);
  for (int i = 0; i < kLinks; i++) x = op(s, i % 2 ? "cos" : "sin", {any(x)});
  thunder_values_push_tensor(out, x);
  return nullptr;
}

// What it gives is compared with the C library's, so that all who are timed do the same.
void time_chain(thunder_context* c) {
  thunder_tensor* in = floats(c, {16}, 0);
  thunder_compiled* f = compile(c, "chain", chain, nullptr);
  float given[16], found[16];
  thunder_tensor* out = nullptr;
  check(thunder_compiled_call_tensors(f, &in, 1, &out, 1));
  check(thunder_tensor_read(in, given, sizeof given));
  check(thunder_tensor_read(out, found, sizeof found));
  thunder_tensor_release(out);
  for (int i = 0; i < 16; i++) {
    double want = given[i];
    for (int link = 0; link < kLinks; link++) want = link % 2 ? std::cos(want) : std::sin(want);
    if (!(std::abs(found[i] - want) < 1e-5)) std::fprintf(stderr, "chain: %g for %g, not %g\n", found[i], given[i], want), std::exit(1);
  }
  row("call: 64-op chain", "ns", median_ns(15, 4000, [&] {
        check(thunder_compiled_call_tensors(f, &in, 1, &out, 1));
        thunder_tensor_release(out);
      }));
  thunder_compiled_release(f);
  thunder_tensor_release(in);
}

// A loop that reads a value each time round: one segment, which all rounds record.
struct Rounds {
  static constexpr int kRounds = 100, kOps = 8;
  double recording_ns = 0;
};

thunder_status* read_each_round(thunder_scope* s, const thunder_values* in, thunder_values* out, void* user) {
  auto& rounds = *static_cast<Rounds*>(user);
  thunder_tensor *start = thunder_values_tensor(in, 0), *x = start;
  for (int round = 0; round < Rounds::kRounds; round++) {
    const double began = now_ns();
    for (int i = 0; i < Rounds::kOps; i++) x = op(s, i % 2 ? "mul" : "maximum", {any(x), any(start)});
    rounds.recording_ns += now_ns() - began;
    float value[2];
    if (thunder_status* failed = thunder_tensor_read(x, value, sizeof value)) return failed;
  }
  thunder_values_push_tensor(out, x);
  return nullptr;
}

void time_segments(thunder_context* c) {
  Rounds rounds;
  thunder_options* options = nullptr;
  check(thunder_options_create(c, &options));
  thunder_options_set_bool(options, "fullgraph", 0);
  thunder_compiled* f = compile(c, "rounds", read_each_round, &rounds, options);
  thunder_tensor* in = floats(c, {2}, 0);
  const auto call = [&] {
    thunder_tensor* out = nullptr;
    check(thunder_compiled_call_tensors(f, &in, 1, &out, 1));
    thunder_tensor_release(out);
  };
  const auto misses = [&] {
    thunder_statistics s{};
    s.size = sizeof s;
    check(thunder_compiled_statistics(f, &s));
    return static_cast<double>(s.misses);
  };
  call();
  const double compiled = misses();
  std::vector<double> recorded;
  for (int i = 0; i < 50; i++) {
    rounds.recording_ns = 0;
    call();
    recorded.push_back(rounds.recording_ns / (Rounds::kRounds * Rounds::kOps));
  }
  row("call: 100 rounds that read a value, compiled again", "programs", misses() - compiled);
  row("call: 100 rounds that read a value, an op recorded", "ns", median(std::move(recorded)));
  row("call: 100 rounds that read a value, an op in all", "ns", median_ns(15, 20, call) / (Rounds::kRounds * Rounds::kOps));
  thunder_tensor_release(in);
  thunder_compiled_release(f);
  thunder_options_release(options);
}

// A result whose memory is kept from call to call, and one that the system gives anew, page by page.
void time_memory(thunder_context* c) {
  thunder_compiled* f = compile(c, "add", add, nullptr);
  auto time = [&](const char* name, int64_t n, int calls) {
    thunder_tensor* in[2] = {floats(c, {n}, 0), floats(c, {n}, 1)};
    row(name, "us", median_ns(9, calls, [&] {
                      thunder_tensor* out = nullptr;
                      check(thunder_compiled_call_tensors(f, in, 2, &out, 1));
                      thunder_tensor_release(out);
                    }) / 1000);
    for (thunder_tensor* t : in) thunder_tensor_release(t);
  };
  time("call: add 1M f32", 1 << 20, 40);
  time("call: add 16M f32", 1 << 24, 4);
  check(thunder_context_set_memory_cache(c, 0));
  time("call: add 1M f32, no memory kept", 1 << 20, 40);
  time("call: add 16M f32, no memory kept", 1 << 24, 4);
  thunder_compiled_release(f);
}

}  // namespace

int main() {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  time_guard(c);
  time_add(c);
  time_chain(c);
  time_segments(c);
  time_memory(c);
  thunder_context_release(c);
}
