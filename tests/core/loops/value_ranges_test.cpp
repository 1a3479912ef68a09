// What is known of values before they are computed, and what is made of it.
#include "loops/value_ranges.h"

#include "core/executors/fusion/support.h"

namespace thunder::fusion {
namespace {

// Lines of their own for each value that is asked for.
struct Lines : LinesTest {
  void TestBody() override {}
  Var largest_of(Var x) { return prim("prims.expand", {prim("prims.reshape", {prim("prims.amax", {x, In(Shape{1})}), In(Shape{8, 1})}), In(Shape{8, 32})}); }
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
struct Known : ValueRange {
  Known(double least, double most) : ValueRange{least, most} {}
  Known(const ValueRange& b) : ValueRange(b) {}
  friend bool operator==(const Known& a, const Known& b) { return a.low == b.low && a.high == b.high; }
  friend void PrintTo(const Known& k, std::ostream* to) { *to << "[" << k.low << ", " << k.high << "]"; }
};

// Of what the one kernel stores.
template <class Make>
Known range_of(const Make& make) {
  Lines lines;
  const CpuNest n = lines.nest({make(lines)});
  return value_ranges(n)[n.stores[0].value];
}
// Of a function of x, or of a function of that.
Known range_of(std::initializer_list<std::string_view> ops) {
  return range_of([&](Lines& l) {
    Var y = l.input({8});
    for (std::string_view op : ops) y = l.prim(op, {y});
    return y;
  });
}

TEST(ValueRanges, follow_from_the_functions) {
  EXPECT_EQ(range_of({"prims.sin"}), Known(-1, 1));
  EXPECT_EQ(range_of({"prims.neg", "prims.cos"}), Known(-1, 1));
  EXPECT_EQ(range_of({"prims.tanh", "prims.neg", "prims.abs"}), Known(0, 1));
  EXPECT_EQ(range_of({"prims.erf"}), Known(-1, 1));
  EXPECT_EQ(range_of({"prims.exp", "prims.neg"}), Known(-kInfinity, 0));
  EXPECT_EQ(range_of({"prims.sqrt"}), Known(0, kInfinity));
}

TEST(ValueRanges, of_products_follow_from_their_corners) {
  const auto square = [](Lines& l, Var x) { return l.prim("prims.mul", {x, x}); };
  EXPECT_EQ(range_of([&](Lines& l) { return square(l, l.input({8})); }), Known(0, kInfinity));
  EXPECT_EQ(range_of([&](Lines& l) { return l.prim("prims.neg", {square(l, l.input({8}))}); }), Known(-kInfinity, 0));
  EXPECT_EQ(range_of([&](Lines& l) { return l.prim("prims.mul", {l.prim("prims.sin", {l.input({8})}), l.prim("prims.cos", {l.input({8})})}); }), Known(-1, 1));
  EXPECT_EQ(range_of([&](Lines& l) {
              const Var x = l.input({8});
              return l.prim("prims.mul", {square(l, x), l.prim("prims.cos", {x})});
            }), Known(-kInfinity, kInfinity));
}

TEST(ValueRanges, of_a_value_minus_its_row_maximum_end_at_zero) {
  EXPECT_EQ(range_of([](Lines& l) {
              const Var x = l.input({8, 32});
              return l.prim("prims.sub", {x, l.largest_of(x)});
            }), Known(-kInfinity, 0));
  EXPECT_EQ(range_of([](Lines& l) { return l.prim("prims.sub", {l.input({8, 32}), l.largest_of(l.input({8, 32}))}); }), Known(-kInfinity, kInfinity));
}

TEST(ValueRanges, of_a_softmax_denominator_begin_at_one) {
  const auto power = [](Lines& l) {
    const Var x = l.input({8, 32});
    return l.prim("prims.exp", {l.prim("prims.sub", {x, l.largest_of(x)})});
  };
  EXPECT_EQ(range_of(power), Known(0, 1));
  EXPECT_EQ(range_of([&](Lines& l) { return l.prim("prims.sum", {power(l), In(Shape{1})}); }), Known(1, kInfinity));
  EXPECT_EQ(range_of([](Lines& l) { return l.prim("prims.sum", {l.prim("prims.exp", {l.input({8, 32})}), In(Shape{1})}); }), Known(-kInfinity, kInfinity));
}

TEST(ValueRanges, of_loads_and_growing_values_are_unbounded) {
  EXPECT_EQ(range_of({"prims.neg"}), Known(-kInfinity, kInfinity));
  EXPECT_EQ(range_of([](Lines& l) {
              const Var y = l.prim("prims.sin", {l.input({8})});
              return l.prim("prims.add", {y, y});
            }), Known(-kInfinity, kInfinity));
}

struct MathOnValueRanges : FusedTest {};

// Of large numbers, of infinities and of NaN too.
TEST_F(MathOnValueRanges, functions_of_small_arguments_lose_no_accuracy) {
  test::Floats values = {0.0f, -0.0f, 1.0f, -1.0f, 1e30f, -1e6f, 3.0f, INFINITY, -INFINITY, NAN};
  for (int i = 0; i < 90; i++) values.push_back(static_cast<float>(i) * 0.11f - 5);
  agree([](Scope& s, std::span<Tensor* const> t) {
    const auto of = [&](const char* op, Tensor* x) { return call(s, op, {arg(x)}); };
    Tensor *sin = of("sin", t[0]), *twice = call(s, "add", {arg(sin), arg(sin)});
    return std::vector{of("sin", sin), of("cos", of("neg", of("cos", t[0]))), of("sin", of("tanh", t[0])), of("cos", of("erf", t[0])), of("sin", twice), of("cos", twice)};
  }, {tensor({100}, values)}, 6, 1e-6);
}

TEST_F(MathOnValueRanges, exp_of_negative_arguments_loses_no_accuracy) {
  test::Floats values = {0.0f, -0.0f, 1.0f, -1.0f, 1e30f, -1e6f, 3.0f, INFINITY, -INFINITY, NAN};
  for (int i = 0; i < 90; i++) values.push_back(static_cast<float>(i) * 1.2f - 2);
  agree([](Scope& s, std::span<Tensor* const> t) {
    const auto of = [&](const char* op, Tensor* x) { return call(s, op, {arg(x)}); };
    Tensor* square = call(s, "mul", {arg(t[0]), arg(t[0])});
    return std::vector{of("exp", of("neg", of("abs", t[0]))), of("exp", of("neg", square)), of("exp", of("neg", of("neg", square)))};
  }, {tensor({100}, values)}, 3, 1e-6);
}

}  // namespace
}  // namespace thunder::fusion
