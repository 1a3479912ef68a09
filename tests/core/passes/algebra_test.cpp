// Also covers pattern and constants: every rule of the table, on values that break careless algebra.
// covers: core/passes/constants.cpp core/passes/pattern.cpp
#include "passes/algebra.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ir/print.h"
#include "ops/kernels.h"
#include "ops/widened.h"
#include "passes/constants.h"
#include "support/traces.h"
#include "tracer/eager.h"

namespace thunder {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {0.0, -0.0, 1, -1, kInf, -kInf, std::numeric_limits<double>::quiet_NaN(), 0.1, -2.5, 1e-40, 3e38, 7, 2, -7, 100};
constexpr double kInteger[] = {0, 1, -1, 2, -2, 7, 255, 128, -128, 2147483647, -2147483648.0, 100, 3, 16, 5};
constexpr size_t kCount = std::size(kSpecial);
static_assert(std::size(kInteger) == kCount);

std::optional<double> stored(const Arg& number, DType dtype) {
  const auto value = stored_value(number, dtype);
  return value ? std::optional(number_of(*value)) : std::nullopt;
}

class Reference : public OpRunner {
 public:
  Status* run(const OpDef& op, std::span<const Arg> args, std::span<const Buffer> in, std::span<const Buffer> out) override {
    return run_reference(op, {in, out, args});
  }
};

// Runs both sides of rules on every pair of the values above.
class Sides {
 public:
  explicit Sides(const Registry& registry) {
    environment_.registry = &registry;
    environment_.allocator = default_allocator();
    environment_.runner = &runner_;
    builder_ = std::make_unique<EagerBuilder>(environment_, false);
  }

  // Bound to a rule's variables: the first takes a value through a row, the second through a column. "c" is a condition.
  std::vector<Arg> variables(const Rule& rule, DType dtype, bool tame) {
    std::vector<Arg> bound;
    for (size_t k = 0; k < rule.variables.size(); k++) {
      const DType own = rule.variables[k] == "c" ? DType::boolean : dtype;
      auto t = Tensor::empty(default_allocator(), tests::tensor_type({kCount, kCount}, own));
      by_element(own, [&](auto type) {
        using T = decltype(type);
        for (size_t i = 0; i < kCount * kCount; i++) {
          const size_t at = k % 2 ? i % kCount : i / kCount;
          const double v = tame ? 0.5 + 0.1 * static_cast<double>(at) : is_real(own) ? kSpecial[at] : kInteger[at];
          reinterpret_cast<T*>(t->data())[i] = converted<T>(v);
        }
      });
      bound.push_back(Arg::value(builder_->add(std::move(t))));
    }
    return bound;
  }

  // Throws where the pass would not apply the rule.
  std::vector<double> values(const Rule& rule, const std::vector<Term>& side, std::span<const Arg> bound, DType dtype) {
    for (const Term& t : side)
      if (t.kind == Term::Kind::number)
        require(stored(Arg::real(t.number), dtype) == t.number, "the dtype does not hold ", t.number);
    const ValueId v = rule.build(*builder_, side, bound, tests::tensor_type({kCount, kCount}, dtype));
    result_ = &side == &rule.left || result_ == builder_->type(v).dtype ? builder_->type(v).dtype : DType::none;
    require(result_ != DType::none, "the sides have different dtypes");
    Ref<Tensor> dense = Tensor::empty(default_allocator(), builder_->type(v));
    copy_strided(builder_->tensor(v)->buffer(), dense->buffer());
    std::vector<double> out;
    by_element(dense->type().dtype, [&](auto type) {
      using T = decltype(type);
      for (int64_t i = 0; i < dense->elements(); i++)
        out.push_back(static_cast<double>(static_cast<Compute<T>>(reinterpret_cast<const T*>(dense->data())[i])));
    });
    return out;
  }

 private:
  DType result_ = DType::none;
  Reference runner_;
  ScopeEnvironment environment_;
  std::unique_ptr<EagerBuilder> builder_;
};

bool same_bits(double a, double b) { return (a != a && b != b) || std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }

bool claimed_exact(Exact exact, DType dtype) {
  return exact == Exact::always || (exact == Exact::reals && is_real(dtype)) || (exact == Exact::integers && !is_real(dtype));
}

TEST(Algebra, has_rules_that_are_exact_where_they_say_so) {
  const Registry registry;
  Sides sides(registry);
  for (const AlgebraRow& row : algebra_rules()) {
    SCOPED_TRACE(row.rule);
    const Rule rule(row.rule, registry, "prims.");
    int tested = 0;
    for (auto& info : all_dtypes()) {
      if (!claimed_exact(row.exact, info.dtype)) continue;
      std::vector<double> left, right;
      try {
        const auto bound = sides.variables(rule, info.dtype, false);
        left = sides.values(rule, rule.left, bound, info.dtype);
        right = sides.values(rule, rule.right, bound, info.dtype);
      } catch (const Error&) {
        continue;  // the op does not take this dtype
      }
      tested++;
      ASSERT_EQ(left.size(), right.size());
      for (size_t i = 0; i < left.size(); i++) EXPECT_TRUE(same_bits(left[i], right[i])) << info.name << ": " << left[i] << " and " << right[i] << " at " << i;
    }
    EXPECT_TRUE(tested > 0 || row.exact == Exact::never);
  }
}

TEST(Algebra, has_rules_that_hold_nearly_with_fast_math) {
  const Registry registry;
  Sides sides(registry);
  for (const AlgebraRow& row : algebra_rules()) {
    if (row.exact == Exact::always || row.exact == Exact::reals) continue;
    SCOPED_TRACE(row.rule);
    const Rule rule(row.rule, registry, "prims.");
    for (DType dtype : {DType::f32, DType::f64}) {
      const auto bound = sides.variables(rule, dtype, true);
      const auto left = sides.values(rule, rule.left, bound, dtype), right = sides.values(rule, rule.right, bound, dtype);
      for (size_t i = 0; i < left.size(); i++) EXPECT_NEAR(left[i], right[i], 1e-5 * std::max(1.0, std::fabs(left[i])));
    }
  }
}

TEST(Algebra, rewrites_inexactly_only_when_asked) {
  tests::TraceMaker m;
  Var x = m.input("x", {3});
  Trace t = m.finish({m.call("prims.reciprocal", {m.call("prims.sqrt", {x})})});
  PassContext context{m.registry};
  EXPECT_FALSE(algebra(t, context));
  context.fast_math = true;
  EXPECT_TRUE(algebra(t, context));
}

TEST(Algebra, does_not_apply_rules_of_reals_to_integers) {
  tests::TraceMaker m;
  Var x = m.input("x", {3}, DType::i32);
  Var two = full(m.recorder, Shape{3}, 2, DType::i32), one = full(m.recorder, Shape{3}, 1, DType::i32);
  Trace t = m.finish({m.call("prims.div", {x, two}), m.call("prims.div", {one, x})});
  PassContext context{m.registry};
  context.fast_math = true;
  EXPECT_FALSE(algebra(t, context));
}

struct BadRule {
  const char *text, *message;
};

TEST(Rule, says_where_it_cannot_be_read) {
  const Registry registry;
  const BadRule cases[] = {
      {"add(x, y)", "rule:1:10: expected '->', got the end of the line"},
      {"nope(x) -> x", "rule:1:6: unknown op 'nope'"},
      {"x -> x", "the left side must be an op"},
      {"neg(x) -> y", "'y' does not occur on the left"},
      {"neg(x, y) -> x", "neg takes at most 1 arguments"},
      {"neg(x) -> x x", "expected the end of the rule, got 'x'"},
      {"neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(neg(x)))))))))))))))))) -> x", "nested more than 16 deep"},
  };
  for (auto& c : cases) {
    try {
      Rule rule(c.text, registry);
      ADD_FAILURE() << c.text;
    } catch (const Error& e) {
      EXPECT_NE(e.message().find(c.message), std::string::npos) << e.message();
    }
  }
}

TEST(Rule, works_on_composites_and_their_arguments) {
  tests::TraceMaker m;
  Var x = m.input("x", {4, 2});
  Var y = m.call("mul", {m.call("neg", {x}), 2.0});
  Var s = m.call("prims.sum", {m.call("prims.neg", {y}), Shape{1}});
  const Rule rules[] = {Rule("mul(neg(x), 2) -> mul(x, -2)", m.registry), Rule("prims.sum(prims.neg(x), dims) -> prims.neg(prims.sum(x, dims))", m.registry)};
  auto after = apply_rules(m.finish({s}), m.registry, rules);
  ASSERT_TRUE(after);
  EXPECT_NE(print(*after).find("  t[2] = mul(i[1], -0x1p+1)  -- f32[4, 2]\n"
                               "  t[3] = prims.neg(t[2])  -- f32[4, 2]\n"
                               "  t[4] = prims.sum(t[2], {1})  -- f32[4]\n"
                               "  t[5] = prims.neg(t[4])  -- f32[4]\n"),
            std::string::npos)
      << print(*after);
}

TEST(Rule, leaves_results_of_another_type_alone) {
  tests::TraceMaker m;
  Var x = m.input("x", {2}), y = m.input("y", {4, 2});
  const Rule rules[] = {Rule("add(x, y) -> x", m.registry)};
  EXPECT_FALSE(apply_rules(m.finish({m.call("add", {x, y})}), m.registry, rules));
}

TEST(Rule, that_undoes_itself_ends) {
  tests::TraceMaker m;
  Var x = m.input("x", {2}), y = m.input("y", {2});
  const Rule rules[] = {Rule("add(x, y) -> add(y, x)", m.registry)};
  EXPECT_TRUE(apply_rules(m.finish({m.call("add", {x, y})}), m.registry, rules));
}

TEST(Constants, are_what_their_dtype_stores) {
  EXPECT_EQ(stored(Arg::real(0.1), DType::f32), static_cast<double>(0.1f));
  EXPECT_EQ(stored(Arg::real(-3), DType::boolean), 1);
  EXPECT_EQ(stored(Arg::real(2.9), DType::i32), 2);
  EXPECT_EQ(stored(Arg::real(-1), DType::u8), std::nullopt);
  EXPECT_EQ(stored(Arg::real(0x1p63), DType::i64), std::nullopt);
  EXPECT_EQ(stored(Arg::real(kInf), DType::i64), std::nullopt);
}

TEST(Constants, keep_all_bits_of_integers) {
  constexpr int64_t kBig = (int64_t{1} << 53) + 1;
  EXPECT_EQ(stored_value(Arg::integer(kBig), DType::i64)->i, kBig);
  EXPECT_EQ(stored_value(Arg::integer(kBig), DType::i32), std::nullopt);
  EXPECT_EQ(stored(Arg::integer(kBig), DType::f64), 0x1p53);
}

}  // namespace
}  // namespace thunder
