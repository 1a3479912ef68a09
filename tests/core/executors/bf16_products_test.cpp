// The executor of bf16 on vectors of f32: products of every size and layout, rounding, threads, and when it is taken.
// Covers products/bf16, products/bf16_dot, and the bf16 kernels of cpu.
// covers: core/executors/cpu/products/bf16_dot.cpp core/executors/cpu/products/products.cpp
#include "executors/cpu/isa/kernels.h"
#include "executors/cpu/products/narrow.h"
#include "executors/cpu/products/products.h"

#include <cmath>
#include <limits>

#include "support/machines.h"
#include "support/functions.h"
#include "support/products.h"

namespace thunder::test {
namespace {

using Shape = std::vector<int64_t>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<const ProductKernels*> kernels_here() {
  std::vector<const ProductKernels*> out;
  for (Instructions i : {Instructions::avx2, Instructions::avx512})
    if (i <= this_machine().instructions) out.push_back(&kernels_for(i)->products);
  return out;
}
// The same, and those that multiply pairs, if there are any here.
std::vector<Bf16Kernels> bf16_kernels_here() {
  std::vector<Bf16Kernels> out;
  for (const ProductKernels* k : kernels_here()) out.push_back({*k});
  if (this_machine().bf16_dot_products) out.push_back({*kernels_here().back(), multiply_pairs()});
  return out;
}

Tensor* half(Scope& s, const Any& x) { return op(s, "to", {x, Any::string("bfloat16")}); }

// `name` of the inputs as bf16, the second one turned if the test says so; as f32.
Lambda::Body of_halves(std::string name, bool turned = false) {
  return [name, turned](Scope& s, const Values& in, Values& out) {
    std::vector<Any> args;
    for (size_t i = 0; i < in.size(); i++) {
      Tensor* x = in[i].tensor.get();
      if (turned && i == 1) x = op(s, "transpose", {any(x), Any::integer(-1), Any::integer(-2)});
      args.push_back(any(half(s, any(x))));
    }
    out.push(Ref<Tensor>(op(s, "to", {any(op(s, name.c_str(), args)), Any::string("float32")})));
  };
}

struct Bf16Executor : CompiledTest {
  void SetUp() override {
    if (kernels_here().empty()) GTEST_SKIP() << "no vectors here";
  }
  // Within a rounding of what is summed.
  void expect_like_host(const Lambda::Body& body, std::vector<Tensor*> in, const std::string& op) {
    const Floats expected = run(*compile(body, only("host").get()), in);
    ASSERT_FALSE(expected.empty()) << error;
    auto compiled = compile(body, only("half").get());
    const Floats got = run(*compiled, in);
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) ASSERT_NEAR(got[i], expected[i], 0.01f * (1 + std::fabs(expected[i]))) << op << " at " << i;
    EXPECT_GT(lines_of(*compiled, "products", op), 0) << op;
  }
};

TEST_F(Bf16Executor, products_of_every_size_and_layout_are_exact_when_the_sums_are_exact) {
  for (const Bf16Kernels& kernels : bf16_kernels_here())
    each_bf16_product([&](const ProductOf<Bf16>& p) { EXPECT_TRUE(multiply_bf16(kernels, p)); });
}

TEST_F(Bf16Executor, rounds_to_the_nearest_even_bf16) {
  const float from[] = {1.0f, 1.00390625f, 1.01171875f, -1.00390625f, kInfinity, -kInfinity, std::nanf(""), 3.4e38f, 0.0f, -0.0f, 1.0f, 1e-40f};
  const Bf16 expected[] = {0x3f80, 0x3f80, 0x3f82, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x7f80, 0, 0x8000, 0x3f80, 1};
  for (const ProductKernels* kernels : kernels_here())
    for (size_t n = 1; n <= std::size(from); n++) {
      Bf16 got[std::size(from)];
      kernels->narrow(from, static_cast<int64_t>(n), got);
      for (size_t i = 0; i < n; i++) EXPECT_EQ(got[i], expected[i]) << from[i] << ", one of " << n;
    }
}

TEST_F(Bf16Executor, conversion_to_f32_and_back_preserves_every_bf16) {
  std::vector<Bf16> all(1 << 16), back(all.size());
  std::vector<float> wide(all.size());
  for (size_t i = 0; i < all.size(); i++) all[i] = static_cast<Bf16>(i);
  for (const ProductKernels* kernels : kernels_here()) {
    kernels->widen(all.data(), 1 << 16, wide.data());
    kernels->narrow(wide.data(), 1 << 16, back.data());
    for (size_t i = 0; i < all.size(); i++) {
      if (std::isnan(wide[i])) continue;
      ASSERT_EQ(back[i], all[i]) << i;
    }
  }
}

// Sums of bf16 would stay at 256.
TEST_F(Bf16Executor, rounds_sums_once) {
  for (int64_t rows : {1, 9})
    for (bool turned : {false, true}) {
      auto compiled = compile(of_halves("matmul", turned), only("half").get());
      auto x = random({rows, 1030}, 1, 1, 1), y = random(turned ? Shape{5, 1030} : Shape{1030, 5}, 2, 1, 1);
      EXPECT_EQ(run(*compiled, {x.get(), y.get()}), Floats(static_cast<size_t>(rows * 5), 1032));
    }
}

TEST_F(Bf16Executor, results_have_the_same_bits_for_any_number_of_threads) {
  for (const Sizes3& s : {Sizes3{300, 1100, 600}, Sizes3{1, 5000, 300}, Sizes3{7, 40, 30}}) {
    std::vector<Bf16> a(static_cast<size_t>(3 * s.m * s.k)), b(static_cast<size_t>(s.k * s.n));
    const ProductKernels& kernels = *kernels_here().back();
    kernels.narrow(noise(3 * s.m * s.k, 1).data(), 3 * s.m * s.k, a.data());
    kernels.narrow(noise(s.k * s.n, 2).data(), s.k * s.n, b.data());
    std::vector<Bf16> results[2];
    for (int parallel : {0, 1}) {
      ThreadPool threads(parallel ? 3 : 1);
      results[parallel].resize(static_cast<size_t>(3 * s.m * s.n));
      BatchedProduct<Bf16> p;
      p.each = {s.m, s.n, s.k, {a.data(), 1, s.m}, {b.data(), 1, s.k}, results[parallel].data(), s.n, false};
      p.batch[p.rank++] = {3, s.m * s.k, 0, s.m * s.n};
      Launch launch;
      launch.parallel_for = parallel_for;
      launch.threads = &threads;
      const auto multiply = [&](const ProductOf<Bf16>& tile) { return multiply_bf16(bf16_kernels_here().back(), tile); };
      EXPECT_EQ(TiledProducts(p, tiling_of_bf16(p.each), multiply).run(&launch), nullptr);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST_F(Bf16Executor, runs_batched_matmul) {
  const std::vector<std::vector<Shape>> shapes = {{{70, 80}, {80, 90}}, {{4, 30, 20}, {20, 50}},       {{2, 1, 5, 30}, {3, 30, 4}}, {{30}, {30, 40}}, {{40, 30}, {30}},
                                                  {{3, 40, 30}, {3, 30, 1}}, {{1, 300}, {300, 2000}}, {{201, 515}, {515, 33}}};
  for (auto& s : shapes) {
    auto x = random(s[0], 1), y = random(s[1], 2);
    expect_like_host(of_halves("matmul"), {x.get(), y.get()}, "prims.matmul");
    if (s[1].size() > 1) {
      Shape turned = s[1];
      std::swap(turned.end()[-1], turned.end()[-2]);
      expect_like_host(of_halves("matmul", true), {x.get(), random(turned, 2).get()}, "prims.matmul");
    }
  }
}

TEST_F(Bf16Executor, products_of_depth_zero_are_zero) {
  auto x = random({4, 0}, 1), y = random({0, 3}, 2);
  EXPECT_EQ(run(*compile(of_halves("matmul"), only("half").get()), {x.get(), y.get()}), Floats(12, 0));
}

TEST_F(Bf16Executor, runs_linear_of_any_rank) {
  for (Shape shape : {Shape{}, {1}, {33}, {4, 9}, {70, 5, 2}}) {
    shape.push_back(77);
    expect_like_host(of_halves("linear"), {random(shape, 1).get(), random({65, 77}, 2).get(), random({65}, 3).get()}, "linear");
    expect_like_host(of_halves("linear"), {random(shape, 1).get(), random({65, 77}, 2).get()}, "linear");
    expect_like_host(of_halves("linear"), {random(shape, 1).get(), random({77}, 2).get(), random({}, 3).get()}, "linear");
  }
}

TEST_F(Bf16Executor, runs_bf16_without_tile_registers) {
  auto x = random({40, 40}, 1);
  auto compiled = compile(of_halves("matmul"));
  run(*compiled, {x.get(), x.get()});
  EXPECT_EQ(executor_of(*compiled, "prims.matmul"), "products");
}

TEST(ProductsExecutor, is_absent_without_vector_instructions) {
  std::string report;
  EXPECT_FALSE(products_executor(limited_to(Instructions::none), {}, report).has_value());
}

}  // namespace
}  // namespace thunder::test
