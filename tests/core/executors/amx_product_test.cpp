// The executors of tile registers: products of every size and layout, what has no parts in bf16, and when they are taken.
// Covers products/amx_product, products/amx_pack, base/tile_registers and products/amx.
// covers: core/base/tile_registers.cpp core/executors/cpu/products/amx.cpp
#include "executors/cpu/products/amx_product.h"

#include <cmath>
#include <limits>

#include "executors/cpu/isa/kernels.h"
#include "base/tile_registers.h"
#include "executors/cpu/products/algorithms.h"
#include "support/machines.h"
#include "support/functions.h"
#include "support/products.h"

namespace thunder::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

void product(Scope& s, const Values& in, Values& out) {
  out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor.get()), any(in[1].tensor.get())})));
}
void half_product(Scope& s, const Values& in, Values& out) {
  Tensor *a = op(s, "to", {any(in[0].tensor.get()), Any::string("bfloat16")});
  Tensor *b = op(s, "to", {any(in[1].tensor.get()), Any::string("bfloat16")});
  out.push(Ref<Tensor>(op(s, "to", {any(op(s, "matmul", {any(a), any(b)})), Any::string("float32")})));
}

struct Amx : CompiledTest {
  void SetUp() override {
    if (!this_machine().tile_registers || !enable_tile_registers()) GTEST_SKIP() << "no tile registers (AMX) here";
  }
  static Ref<CompileOptions> precision(const char* value) {
    auto options = make<CompileOptions>();
    options->set("float32_matmul_precision", Any::string(value));
    return options;
  }
};

TEST_F(Amx, splitting_f32_into_two_bf16_parts_handles_every_size_and_layout) {
  each_product([](const Product& p) { EXPECT_TRUE((AmxProduct<float, 2>::multiply(p, avx512_kernels().products))); }, 1e-5);
}

TEST_F(Amx, rounding_f32_to_one_bf16_part_handles_every_size_and_layout) {
  each_product([](const Product& p) { EXPECT_TRUE((AmxProduct<float, 1>::multiply(p, avx512_kernels().products))); }, 3e-3);
}

TEST_F(Amx, bf16_products_are_exact_when_the_sums_are_exact) {
  each_bf16_product([](const ProductOf<Bf16>& p) { EXPECT_TRUE((AmxProduct<Bf16, 1>::multiply(p, avx512_kernels().products))); });
}

// Cutting an infinity leaves NaN; a number near the greatest rounds to an infinity; the smallest have no second part.
TEST_F(Amx, infinities_nans_and_subnormals_are_multiplied_in_f32) {
  const float values[] = {kInfinity, -kInfinity, std::nanf(""), 3.4e38f};
  for (float special : values) {
    std::vector<float> a(64 * 600, 0.5f), b(600 * 64, 0.25f);
    a[3 * 600 + 400] = special;
    std::vector<float> c(64 * 64), d = c;
    Product p{64, 64, 600, {a.data(), 600, 1}, {b.data(), 64, 1}, c.data(), 64, false};
    ASSERT_TRUE((AmxProduct<float, 2>::multiply(p, avx512_kernels().products)));
    p.c = d.data();
    avx512_kernels().products.small(p);
    for (size_t i = 0; i < c.size(); i++)
      EXPECT_TRUE(std::isnan(d[i]) ? std::isnan(c[i]) : c[i] == d[i] || std::fabs(c[i] - d[i]) <= 1e-5f * std::fabs(d[i])) << special << " at " << i << ": " << c[i] << " for " << d[i];
  }
  std::vector<float> tiny(64 * 64, 1e-35f), large(64 * 64, 1e30f), c(64 * 64);
  ASSERT_TRUE((AmxProduct<float, 2>::multiply({64, 64, 64, {tiny.data(), 64, 1}, {large.data(), 64, 1}, c.data(), 64, false}, avx512_kernels().products)));
  for (float v : c) EXPECT_NEAR(v, 64e-5f, 1e-9f);
}

TEST_F(Amx, results_have_the_same_bits_for_any_number_of_threads) {
  const std::vector<float> a = noise(3 * 300 * 80, 1), b = noise(80 * 1100, 2), bias = noise(1100, 3);
  std::vector<float> results[2];
  for (int parallel : {0, 1}) {
    ThreadPool threads(parallel ? 3 : 1);
    results[parallel].resize(3 * 300 * 1100);
    BatchedProduct<float> p;
    p.each = {300, 1100, 80, {a.data(), 1, 300}, {b.data(), 1, 80}, results[parallel].data(), 1100, false};
    p.bias = bias.data();
    p.batch[p.rank++] = {3, 300 * 80, 0, 300 * 1100};
    Launch launch;
    launch.parallel_for = parallel_for;
    launch.threads = &threads;
    const auto multiply = [](const Product& tile) { return AmxProduct<float, 2>::multiply(tile, avx512_kernels().products); };
    EXPECT_EQ(TiledProducts(p, tiling(300, 1100, 80, 1 << 20), multiply).run(&launch), nullptr);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(Amx, executor_multiplies_bf16_on_tile_registers) {
  for (const auto& [a, b] : {std::pair<std::vector<int64_t>, std::vector<int64_t>>{{70, 80}, {80, 90}}, {{2, 3, 5}, {5, 4}}, {{3, 30}, {30, 40}}, {{3, 40, 30}, {3, 30, 1}}}) {
    auto compiled = compile(half_product);
    auto x = random(a, 1), y = random(b, 2);
    const Floats got = run(*compiled, {x.get(), y.get()});
    EXPECT_EQ(executor_of(*compiled, "prims.matmul"), "products");
    const Floats expected = run(*compile(half_product, only("host").get()), {x.get(), y.get()});
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 0.01f * (1 + std::fabs(expected[i])));
  }
}

// The rows of the table that are there for a product of these sizes.
template <class T>
std::string rows_of(std::span<const AlgorithmRow<T>> rows, Precision precision, const GemmSize& size) {
  const Backends backends{avx512_kernels().products, Instructions::avx512, nullptr, nullptr, true};
  const Available available = rows_for(rows, backends, precision, size);
  std::string names;
  for (size_t i = 0; i < rows.size(); i++)
    if (available[i] && rows[i].name.substr(0, 3) == "amx") names += rows[i].name;
  return names;
}

TEST_F(Amx, bf16_products_of_one_or_two_rows_use_vector_instructions) {
  for (const int64_t rows : {1, 2, 3}) EXPECT_EQ(rows_of(algorithms<Bf16>(), Precision::highest, {rows, 40, 30}), rows > 2 ? "amx" : "");
}

TEST_F(Amx, f32_uses_tile_registers_only_if_float32_matmul_precision_allows_it) {
  const std::pair<Precision, const char*> cases[] = {{Precision::highest, ""}, {Precision::high, "amx_high"}, {Precision::medium, "amx_medium"}};
  for (auto [value, expected] : cases) EXPECT_EQ(rows_of(algorithms<float>(), value, {64, 64, 64}), expected);
  auto x = random({64, 64}, 1);
  const Floats exact = run(*compile(product, precision("highest").get()), {x.get(), x.get()});
  const Floats cut = run(*compile(product, precision("medium").get()), {x.get(), x.get()});
  ASSERT_EQ(exact.size(), cut.size()) << error;
  EXPECT_NE(exact, cut);
}

TEST_F(Amx, small_f32_products_do_not_use_tile_registers) {
  EXPECT_EQ(rows_of(algorithms<float>(), Precision::medium, {64, 64, 8}), "");
  EXPECT_EQ(rows_of(algorithms<float>(), Precision::medium, {1, 64, 64}), "");
}

TEST(Precision, rejects_an_unknown_value_of_the_option) {
  auto context = make<Context>(ContextHooks{});
  auto options = make<CompileOptions>();
  options->set("float32_matmul_precision", Any::string("low"));
  try {
    make<Compiled>(context, Ref<Function>::adopt(new Lambda(product)), options.get());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "compile: option 'float32_matmul_precision' must be \"highest\", \"high\" or \"medium\", got \"low\"");
  }
}

}  // namespace
}  // namespace thunder::test
