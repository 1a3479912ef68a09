// Values are compared leaf by leaf, with the tolerances of torch.testing.
#include "jit/programs/trace_check.h"

#include "support/functions.h"

namespace thunder::test {
namespace {

struct TraceCheck : CompiledTest {
  static Values of(const std::vector<Ref<Tensor>>& tensors) {
    Values out;
    for (auto& t : tensors) out.push(t);
    return out;
  }
  std::string between(const Floats& a, const Floats& b, double tolerance = 1e-5) {
    const auto n = static_cast<int64_t>(a.size());
    return value_difference(of({tensor({n}, a)}), of({tensor({n}, b)}), tolerance, "output");
  }
};

TEST_F(TraceCheck, takes_what_is_near_and_nans_for_equal) {
  EXPECT_EQ(between({1, 1000, NAN, INFINITY, -0.0f}, {1, 1000.005f, NAN, INFINITY, 0}), "");
  EXPECT_NE(between({1000}, {1000.02f}), "");
  EXPECT_EQ(between({1000}, {1000.02f}, 1e-3), "");
}

TEST_F(TraceCheck, names_the_largest_error_and_its_place) {
  const std::string found = between({1, 2, 3}, {1, 2.5f, 4});
  EXPECT_EQ(found, "output 0 differs in 2 of 3 elements; the largest error is 1, at [2]: 3 in the trace, 4 otherwise\n");
  EXPECT_NE(between({1, INFINITY}, {1, NAN}).find("the largest error is inf, at [1]"), std::string::npos);
}

TEST_F(TraceCheck, compares_integers_exactly_and_types_first) {
  const auto one = of({integers({2}, {1, 2})}), other = of({integers({2}, {1, 3})});
  EXPECT_EQ(value_difference(one, other, 1, "output"), "output 0 differs in 1 of 2 elements; the largest error is 1, at [1]: 2 in the trace, 3 otherwise\n");
  EXPECT_EQ(value_difference(one, of({tensor({2}, {1, 2})}), 1, "output"), "output 0 is i64[2] in the trace, f32[2] otherwise\n");
}

TEST_F(TraceCheck, compares_constants_and_structures) {
  Values a, b;
  a.push(Any::integer(1)), b.push(Any::integer(2));
  EXPECT_EQ(value_difference(a, b, 1, "output"), "output 0 is another value than in the trace\n");
  EXPECT_EQ(value_difference(a, of({tensor({1}, {1}), tensor({1}, {1})}), 1, "output"), "the structure of the outputs is * in the trace, *,* of the function\n");
}

}  // namespace
}  // namespace thunder::test
