// What lies in whose memory when the memory was made inside an operation. Views in sight: views_test.cpp.
#include "tracer/aliases.h"

#include "support/interpret.h"
#include "support/traces.h"

namespace thunder::tests {
namespace {

// A reduction that keeps dims ends in a view of what it made inside, which no line outside can name.
TEST(Aliases, let_a_view_of_what_an_operation_made_inside_be_written) {
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

struct Closing : testing::Test {
  Closing() {
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

TEST_F(Closing, makes_a_result_own_the_memory_that_it_hides) {
  const ValueId results[] = {view.id};
  EXPECT_EQ(aliases.root(view.id), inside.id);
  EXPECT_TRUE(aliases.close(results, inside.id));
  EXPECT_EQ(aliases.root(view.id), view.id);
}

TEST_F(Closing, leaves_views_of_arguments_and_of_other_results_alone) {
  const ValueId results[] = {view.id, inside.id}, of_argument[] = {view.id};
  EXPECT_TRUE(aliases.close(results, inside.id));
  EXPECT_TRUE(aliases.close(of_argument, view.id));
  EXPECT_EQ(aliases.root(view.id), inside.id);
}

TEST_F(Closing, is_refused_when_two_results_share_what_is_hidden) {
  Var other = seen(maker.call("prims.permute", {inside, Shape{1, 0}}));
  const ValueId results[] = {view.id, other.id};
  EXPECT_FALSE(aliases.close(results, inside.id));
  EXPECT_EQ(aliases.root(view.id), inside.id);
}

}  // namespace
}  // namespace thunder::tests
