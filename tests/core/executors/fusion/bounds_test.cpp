// What is known of values before they are computed, and what is made of it.
#include "executors/fusion/bounds.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

struct Bounds : LinesTest {
  // Of what the one kernel of a line of x, or of a line of that, stores.
  double of(std::initializer_list<std::string_view> ops) {
    Var y = input({8});
    for (std::string_view op : ops) y = prim(op, {y});
    const Nest n = nest({y});
    return bound(n, n.stores[0].value);
  }
};

constexpr double kUnknown = std::numeric_limits<double>::infinity();

TEST_F(Bounds, are_those_of_the_functions) {
  EXPECT_EQ(of({"prims.sin"}), 1);
  EXPECT_EQ(of({"prims.neg", "prims.cos"}), 1);
  EXPECT_EQ(of({"prims.tanh", "prims.neg", "prims.abs"}), 1);
  EXPECT_EQ(of({"prims.erf"}), 1);
}

TEST_F(Bounds, are_not_known_of_what_is_read_or_grows) {
  EXPECT_EQ(of({"prims.neg"}), kUnknown);
  EXPECT_EQ(of({"prims.sin", "prims.exp"}), kUnknown);
  Var x = input({8}), y = prim("prims.sin", {x});
  const Nest n = nest({prim("prims.add", {y, y})});
  EXPECT_EQ(bound(n, n.stores[0].value), kUnknown);
}

struct Bounded : FusedTest {};

// Of large numbers, of infinities and of NaN too.
TEST_F(Bounded, functions_of_what_is_small_are_as_exact) {
  test::Floats values = {0.0f, -0.0f, 1.0f, -1.0f, 1e30f, -1e6f, 3.0f, INFINITY, -INFINITY, NAN};
  for (int i = 0; i < 90; i++) values.push_back(static_cast<float>(i) * 0.11f - 5);
  agree([](Scope& s, std::span<Tensor* const> t) {
    const auto of = [&](const char* op, Tensor* x) { return call(s, op, {arg(x)}); };
    Tensor *sin = of("sin", t[0]), *twice = call(s, "add", {arg(sin), arg(sin)});
    return std::vector{of("sin", sin), of("cos", of("neg", of("cos", t[0]))), of("sin", of("tanh", t[0])), of("cos", of("erf", t[0])), of("sin", twice), of("cos", twice)};
  }, {tensor({100}, values)}, 6, 1e-6);
}

}  // namespace
}  // namespace thunder::fusion
