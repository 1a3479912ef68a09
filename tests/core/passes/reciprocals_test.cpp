// Divisions stay divisions, in every executor, unless reciprocals are allowed; then the numbers that repeat are inverted once.
#include "passes/reciprocals.h"

#include "ir/print.h"
#include "support/functions.h"
#include "support/traces.h"

namespace thunder {
namespace {

using tests::TraceMaker;

Trace divided(TraceMaker& m, DType dtype, bool repeats) {
  Var x = m.input("x", {2, 3}, dtype), by = m.input("by", {2, repeats ? 1 : 3}, dtype);
  if (repeats) by = m.call("prims.expand", {by, Shape{2, 3}});
  return m.finish({m.call("prims.div", {x, by})});
}
std::vector<std::string> lines_after(DType dtype, bool repeats, bool allowed) {
  TraceMaker m;
  const Trace before = divided(m, dtype, repeats);
  CompileSettings settings;
  settings.allow_reciprocal = allowed;
  PassContext context{.registry = m.registry, .settings = settings};
  const auto after = reciprocals(before, context);
  return tests::ops_of_lines(after ? *after : before);
}

using Names = std::vector<std::string>;

TEST(Reciprocals, multiplies_by_those_of_numbers_that_repeat) {
  EXPECT_EQ(lines_after(DType::f32, true, true), (Names{"expand", "reciprocal", "expand", "mul"}));
}
TEST(Reciprocals, leaves_divisions_where_they_are_not_allowed) {
  EXPECT_EQ(lines_after(DType::f32, true, false), (Names{"expand", "div"}));
}
TEST(Reciprocals, leaves_divisions_of_each_by_each_and_of_integers) {
  EXPECT_EQ(lines_after(DType::f32, false, true), (Names{"div"}));
  EXPECT_EQ(lines_after(DType::i64, true, true), (Names{"expand", "div"}));
}

}  // namespace

namespace test {
namespace {

using CompiledDivision = CompiledTest;

void by_greatest(Scope& s, const Values& in, Values& out) {
  Tensor* x = in[0].tensor.get();
  Tensor* most = op(s, "amax", {any(x), Any::dims(std::vector<int64_t>{1}), Any::boolean(true)});
  out.push(Ref<Tensor>(op(s, "div", {any(x), any(most)})));
}

TEST_F(CompiledDivision, of_rows_by_a_number_of_theirs_has_the_bits_of_single_ops) {
  const auto x = random({37, 61}, 5, 0.1f, 9.0f);
  auto options = make<CompileOptions>();
  auto fused = compile(by_greatest, options.get()), single = compile(by_greatest);
  const Floats a = run(*fused, {x.get()}), b = run(*single, {x.get()});
  ASSERT_EQ(a.size(), 37u * 61u) << error;
  EXPECT_EQ(a, b);
  for (size_t row = 0; row < 37; row++)  // x / x is 1
    EXPECT_EQ(*std::max_element(a.begin() + static_cast<ptrdiff_t>(row * 61), a.begin() + static_cast<ptrdiff_t>(row * 61 + 61)), 1.0f);
}

TEST_F(CompiledDivision, by_small_numbers_does_not_overflow_on_the_way) {
  const auto x = tensor({2, 2}, {1e-42f, 5e-43f, 3e38f, 1.0f});
  auto options = make<CompileOptions>();
  EXPECT_EQ(run(*compile(by_greatest, options.get()), {x.get()}), run(*compile(by_greatest), {x.get()}));
}

TEST_F(CompiledDivision, is_a_product_where_the_option_allows_it) {
  const auto x = random({5, 7}, 3, 1.0f, 2.0f);
  auto options = make<CompileOptions>();
  options->set("allow_reciprocal", Any::boolean(true));
  auto f = compile(by_greatest, options.get());
  const Floats made = run(*f, {x.get()});
  ASSERT_EQ(made.size(), 35u) << error;
  const std::vector<Trace> traces = f->reports().traces();
  const std::string last = thunder::print(traces.back());
  EXPECT_EQ(last.find("prims.div"), std::string::npos);
  EXPECT_NE(last.find("prims.reciprocal"), std::string::npos);
}

}  // namespace
}  // namespace test
}  // namespace thunder
