// Products of f16: every size and layout, rounding once, and against the host executor.
// covers: core/executors/cpu/isa/kernels.cpp core/executors/cpu/products/narrow.cpp
#include "executors/cpu/products/narrow.h"

#include <cmath>

#include "executors/cpu/isa/kernels.h"
#include "support/functions.h"
#include "support/machines.h"
#include "support/products.h"

namespace thunder::test {
namespace {

std::vector<f16> halves(int64_t n, uint32_t seed) {
  std::vector<f16> out;
  for (float v : noise(n, seed)) out.push_back(f16(v));
  return out;
}

struct F16Products : testing::Test {
  void SetUp() override {
    if (!kernels_for(this_machine().instructions)) GTEST_SKIP() << "no vectors here";
  }
  const ProductKernels& kernels() { return kernels_for(this_machine().instructions)->products; }
};

// Sums are of f32: as far from the exact ones as half a unit of f16 and the rounding of k terms.
TEST_F(F16Products, round_each_element_once_for_every_size_and_layout) {
  uint32_t seed = 0;
  for (const Sizes3& s : kSizes)
    for (const Layout& left : kLayouts)
      for (const Layout& right : kLayouts)
        for (bool add : {false, true}) {
          const int64_t row = s.n + 1;
          const std::vector<f16> a = halves(2 * (s.m + 3) * (s.k + 3), ++seed), b = halves(2 * (s.n + 3) * (s.k + 3), ++seed),
                                 before = halves(s.m * row, ++seed);
          std::vector<f16> c = before;
          const Matrix x = left.of(nullptr, s.m, s.k), y = right.of(nullptr, s.k, s.n);
          const ProductOf<f16> p{s.m, s.n, s.k, {a.data(), x.row, x.column}, {b.data(), y.row, y.column}, c.data(), row, add};
          ASSERT_TRUE(multiply_f16(kernels(), p));
          for (int64_t i = 0; i < s.m; i++)
            for (int64_t j = 0; j < s.n; j++) {
              const auto at = static_cast<size_t>(i * row + j);
              double want = add ? static_cast<double>(before[at]) : 0;
              for (int64_t l = 0; l < s.k; l++)
                want += static_cast<double>(a[static_cast<size_t>(i * x.row + l * x.column)]) *
                        static_cast<double>(b[static_cast<size_t>(l * y.row + j * y.column)]);
              const double off = std::ldexp(std::fabs(want), -11) + 1e-6 * static_cast<double>(s.k) + 0x1p-25;
              ASSERT_NEAR(static_cast<double>(c[at]), want, off) << s.m << " x " << s.n << " x " << s.k << ", " << left.name << " by " << right.name;
            }
          for (int64_t i = 0; i < s.m; i++)
            ASSERT_EQ(c[static_cast<size_t>(i * row + s.n)].bits, before[static_cast<size_t>(i * row + s.n)].bits) << "between the rows";
        }
}

TEST_F(F16Products, overflow_to_infinity) {
  std::vector<f16> a = {f16(300.0f), f16(300.0f)}, c(1);
  ASSERT_TRUE(multiply_f16(kernels(), {1, 1, 2, {a.data(), 2, 1}, {a.data(), 1, 1}, c.data(), 1, false}));
  EXPECT_TRUE(std::isinf(static_cast<float>(c[0])));
}

struct F16Executor : CompiledTest {
  static Lambda::Body of_halves(std::string name) {
    return [name](Scope& s, const Values& in, Values& out) {
      std::vector<Any> args;
      for (size_t i = 0; i < in.size(); i++) args.push_back(any(op(s, "to", {any(in[i].tensor.get()), Any::string("float16")})));
      out.push(Ref<Tensor>(op(s, "to", {any(op(s, name.c_str(), args)), Any::string("float32")})));
    };
  }
};

TEST_F(F16Executor, runs_batched_matmul_and_linear_with_bias) {
  if (!kernels_for(this_machine().instructions)) GTEST_SKIP() << "no vectors here";
  const auto check = [&](const char* name, const char* line, std::vector<Tensor*> in) {
    const Floats expected = run(*compile(of_halves(name), only("host").get()), in);
    ASSERT_FALSE(expected.empty()) << error;
    auto compiled = compile(of_halves(name), only("half").get());
    const Floats got = run(*compiled, in);
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 0.002f * (1 + std::fabs(expected[i]))) << name << " at " << i;
    EXPECT_GT(lines_of(*compiled, "products", line), 0) << name;
  };
  for (int64_t rows : {1, 3, 40}) {
    check("matmul", "prims.matmul", {random({2, rows, 30}, 1).get(), random({30, 50}, 2).get()});
    check("linear", "linear", {random({rows, 70}, 1).get(), random({300, 70}, 2).get(), random({300}, 3).get()});
  }
}

}  // namespace
}  // namespace thunder::test
