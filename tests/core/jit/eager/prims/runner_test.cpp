// Eager ops through executors.
#include "jit/eager/prims/runner.h"

#include "ops/widened.h"
#include "support/function_kernel.h"
#include "support/functions.h"
#include "tracer/eager.h"

namespace thunder::test {
namespace {

// Counts what it prepares and runs; results are the number of elements of the first input plus the last argument.
struct Counting {
  int prepared = 0, ran = 0, dropped = 0;
};

Executors counting(Counting& counts, uint32_t flags = kStrided) {
  ExecutorDesc d;
  d.name = "counting";
  d.ops = {"prims.mul", "prims.cat"};
  d.flags = flags;
  d.user = &counts;
  d.claim = [](const NodeView& v, void*) { return v.store.type(v.node.results[0]).dtype == DType::f32; };
  d.prepare = [](const NodeView&, void* user) -> KernelPtr {
    static_cast<Counting*>(user)->prepared++;
    const auto run = [](const Launch* l, void* state) -> Status* {
      static_cast<Counting*>(state)->ran++;
      std::fill_n(static_cast<char*>(l->scratch), 64, char{1});
      std::fill_n(l->outputs[0].as<float>(), l->outputs[0].elements(), 7.0f);
      return nullptr;
    };
    const auto drop = [](void* state) { static_cast<Counting*>(state)->dropped++; };
    return std::make_unique<FunctionKernel>(KernelCall{run, user}, 64, drop);
  };
  ExecutorDesc host;
  host.name = "host";
  host.flags = kStrided;
  host.claim = [](const NodeView&, void*) { return true; };
  host.prepare = runs_on_node<[](const Launch* l, void* state) -> Status* {
    const Node& node = *static_cast<const Node*>(state);
    return run_reference(def(node), {{l->inputs, l->n_inputs}, {l->outputs, l->n_outputs}, node.args});
  }>;
  return {make<Executor>(d), make<Executor>(host)};
}

struct EagerRunner : CompiledTest {
  Counting counts;
  std::unique_ptr<OpRunner> runner = eager_runner(counting(counts), context->devices(), context->threads());

  // x * x's first element.
  float square(Tensor* x) {
    ScopeEnvironment environment = context->scope_environment();
    environment.runner = runner.get();
    EagerScope scope(environment, false);
    Tensor* y = op(scope, "mul", {any(x), any(x)});
    EXPECT_FALSE(scope.status());
    return y->type().dtype == DType::f32 ? *reinterpret_cast<float*>(y->data()) : static_cast<float>(*reinterpret_cast<int64_t*>(y->data()));
  }
};

TEST_F(EagerRunner, asks_executors_that_list_the_op) { EXPECT_EQ(square(tensor({2}, {3, 4}).get()), 7); }

TEST_F(EagerRunner, prepares_each_kind_of_call_once) {
  for (int i = 0; i < 3; i++) {
    square(tensor({2}, {3, 4}).get());
    square(tensor({3}, {3, 4, 5}).get());
  }
  EXPECT_EQ(counts.prepared, 2);
  EXPECT_EQ(counts.ran, 6);
  runner.reset();
  EXPECT_EQ(counts.dropped, 2);
}

TEST_F(EagerRunner, keeps_a_bounded_number_of_calls) {
  for (int64_t n = 1; n <= 600; n++) square(tensor({n}, Floats(static_cast<size_t>(n))).get());
  EXPECT_GT(counts.dropped, 0);
}

TEST_F(EagerRunner, runs_unclaimed_ops_on_the_last_executor) { EXPECT_EQ(square(integers({1}, {3}).get()), 9); }

TEST_F(EagerRunner, skips_executors_without_strided_support) {
  runner = eager_runner(counting(counts, 0), context->devices(), context->threads());
  EXPECT_EQ(square(tensor({2}, {3, 4}).get()), 9);
}

}  // namespace
}  // namespace thunder::test
