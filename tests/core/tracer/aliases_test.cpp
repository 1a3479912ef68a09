// What lies in whose memory when the memory was made inside an operation. Views in sight: views_test.cpp.
#include "tracer/aliases.h"

#include <chrono>

#include "support/interpret.h"
#include "support/traces.h"

namespace thunder::tests {
namespace {

// A reduction that keeps dims ends in a view of what it made inside, which no line outside can name.
TEST(Aliases, allow_writes_to_a_returned_view_of_a_composites_inner_value) {
  const Function f = [](const Ops& op, std::span<Tensor* const> in) {
    const int64_t rows[] = {0};
    Tensor* most = op("amax", {any(in[0]), Any::dims(rows), any(true)});
    Tensor* first = op("select", {any(most), any(0), any(0)});
    op("mul_", {any(first), any(10)});
    return std::vector{most, first};
  };
  const MakeInputs make = [] { return std::vector{counting({2, 3})}; };
  for (const Outcome& o : {run_eagerly(f, make), run_eagerly(f, make, true), run_traced(f, make)}) {
    EXPECT_EQ(o.error, "");
    EXPECT_EQ(o.values, (std::vector<Doubles>{{40, 50, 60}, {40, 50, 60}, {1, 2, 3, 4, 5, 6}}));
  }
}

struct ClosingAComposite : testing::Test {
  ClosingAComposite() {
    inside = maker.call("prims.neg", {x});
    view = seen(maker.call("prims.reshape", {inside, Shape{6}}));
  }
  Var seen(Var v) {
    aliases.add_view(*maker.recorder.nodes().back());
    return v;
  }
  TraceMaker maker;
  Aliases aliases;
  Var x = maker.input("x", {2, 3}), inside, view;
};

TEST_F(ClosingAComposite, makes_a_returned_view_own_its_memory) {
  const ValueId results[] = {view.id};
  EXPECT_EQ(aliases.root(view.id), inside.id);
  EXPECT_TRUE(aliases.close(results, inside.id));
  EXPECT_EQ(aliases.root(view.id), view.id);
}

TEST_F(ClosingAComposite, keeps_views_of_arguments_and_of_other_results) {
  const ValueId results[] = {view.id, inside.id}, of_argument[] = {view.id};
  EXPECT_TRUE(aliases.close(results, inside.id));
  EXPECT_TRUE(aliases.close(of_argument, view.id));
  EXPECT_EQ(aliases.root(view.id), inside.id);
}

TEST_F(ClosingAComposite, is_rejected_if_two_results_share_an_inner_value) {
  Var other = seen(maker.call("prims.permute", {inside, Shape{1, 0}}));
  const ValueId results[] = {view.id, other.id};
  EXPECT_FALSE(aliases.close(results, inside.id));
  EXPECT_EQ(aliases.root(view.id), inside.id);
}

TEST_F(ClosingAComposite, rebases_views_of_a_result) {
  Var through = seen(maker.call("prims.reshape", {view, Shape{3, 2}}));
  Var twice = seen(maker.call("prims.reshape", {through, Shape{6}}));
  const ValueId results[] = {view.id};
  EXPECT_EQ(aliases.root(twice.id), inside.id);
  EXPECT_TRUE(aliases.close(results, inside.id));
  EXPECT_EQ(aliases.root(through.id), view.id);
  EXPECT_EQ(aliases.root(twice.id), view.id);
}

// Lines of a trace, and how long they took. Each step takes what the step before gave.
struct Chain {
  size_t lines = 0;
  double seconds = 0;
};
Chain trace_chain(size_t steps, const std::function<Tensor*(const Ops&, Tensor*, size_t)>& step) {
  Eager e;
  TracingScope scope(e.scope().environment(), "f");
  Tensor* x = scope.argument_proxy(tensor_type({2, 3}), "x", nullptr);
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 0; i < steps; i++) x = step(Ops{scope}, x, i);
  EXPECT_FALSE(scope.status()) << scope.status()->message();
  Tensor* out[] = {x};
  const Trace trace = scope.finish(out);
  return {trace.nodes.size(), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

// A walk to the root at each step takes a hundred seconds for these, and a table one: the bound stands far from both.
constexpr size_t kLongChain = 100'000;
constexpr double kSeconds = 20;

TEST(Aliases, trace_long_chains_of_views_in_linear_time) {
  const Chain chain = trace_chain(kLongChain, [](const Ops& op, Tensor* x, size_t) { return op("transpose", {any(x), any(0), any(1)}); });
  EXPECT_EQ(chain.lines, kLongChain);
  EXPECT_LT(chain.seconds, kSeconds);
}

TEST(Aliases, trace_long_chains_of_writes_in_linear_time) {
  const Chain chain = trace_chain(kLongChain, [](const Ops& op, Tensor* x, size_t) { return op("add_", {any(x), any(1)}); });
  EXPECT_EQ(chain.lines, kLongChain);
  EXPECT_LT(chain.seconds, kSeconds);
}

// A write under a chain of views, each of which some handle stands for: what is made again is made once for all.
TEST(Aliases, rebuild_a_chain_of_views_once_for_all_its_handles) {
  constexpr size_t kViews = 200;
  std::vector<Tensor*> views;
  const Chain chain = trace_chain(2 * kViews, [&](const Ops& op, Tensor* x, size_t i) {
    if (i < kViews) return views.emplace_back(op("transpose", {any(x), any(0), any(1)}));
    if (i == kViews) op("add_", {any(views[0]), any(1)});
    return op("neg", {any(views[i - kViews])});
  });
  EXPECT_LT(chain.lines, 4 * kViews);
}

}  // namespace
}  // namespace thunder::tests
