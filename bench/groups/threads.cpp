// What it costs to divide a loop among threads and to wait for all of them, through the launch of an executor.
#include "support.h"

using namespace bench;

namespace {

constexpr int kLoops = 1000;

thunder_status* nothing(int64_t, int64_t, void*) { return nullptr; }

thunder_status* run(const thunder_launch* launch, void*) {
  for (int i = 0; i < kLoops; i++) check(launch->parallel_for(launch, 1000, 1, nothing, nullptr));
  return nullptr;
}

thunder_status* negate(thunder_scope* s, const thunder_values* in, thunder_values* out, void*) {
  thunder_values_push_tensor(out, op(s, "neg", {any(thunder_values_tensor(in, 0))}));
  return nullptr;
}

thunder_compiled* loops(thunder_context* c) {
  static const char* const ops[] = {"prims.neg"};
  thunder_executor_desc desc{};
  desc.size = sizeof desc;
  desc.name = "loops";
  desc.ops = ops;
  desc.n_ops = 1;
  desc.prepare = [](const thunder_node*, void**, size_t*, void*) -> thunder_status* { return nullptr; };
  desc.run = run;
  thunder_executor* executor = nullptr;
  thunder_options* options = nullptr;
  thunder_function* f = nullptr;
  thunder_compiled* compiled = nullptr;
  check(thunder_executor_create(c, &desc, &executor));
  check(thunder_options_create(c, &options));
  thunder_options_add_executor(options, executor);
  check(thunder_function_create(c, "negate", negate, nullptr, nullptr, &f));
  check(thunder_compile(f, options, &compiled));
  thunder_function_release(f);
  thunder_options_release(options);
  thunder_executor_release(executor);
  return compiled;
}

void time(thunder_context* c, const char* name, size_t threads) {
  check(thunder_context_set_num_threads(c, threads));
  thunder_compiled* f = loops(c);
  thunder_tensor* in = floats(c, {1}, 1);
  row(name, "ns", median_ns(15, 20, [&] {
                    thunder_tensor* out = nullptr;
                    check(thunder_compiled_call_tensors(f, &in, 1, &out, 1));
                    thunder_tensor_release(out);
                  }) / kLoops);
  thunder_tensor_release(in);
  thunder_compiled_release(f);
}

}  // namespace

int main() {
  thunder_context* c = nullptr;
  check(thunder_context_create(nullptr, &c));
  time(c, "threads: a loop of one part", 1);
  time(c, "threads: fork and join of two", 2);
  thunder_context_release(c);
}
