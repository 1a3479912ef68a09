// Random numbers: the generator's published vectors, the quantile, and that draws depend on what they should.
// covers: core/ops/normals.cpp
#include <cmath>

#include "ops/normals.h"
#include "ops/philox.h"
#include "support/eager.h"

namespace thunder {
namespace {

using Ints = std::vector<int64_t>;

TEST(Normals, many_at_a_time_are_those_of_each_element) {
  Philox one(123, 4, 5);
  for (int64_t first : {0, 1, 2, 3, 255, 256})
    for (int64_t n : {0, 1, 3, 4, 255, 257, 1000}) {
      std::vector<float> found(static_cast<size_t>(2 * n + 1), 7);
      fill_normals(one, first, n, 2, found.data());
      for (int64_t i = 0; i < n; i++) {
        ASSERT_EQ(found[static_cast<size_t>(2 * i)], static_cast<float>(normal32(one.bits32(first + i)))) << first << " + " << i;
        ASSERT_EQ(found[static_cast<size_t>(2 * i + 1)], 7);
      }
    }
}

// The counter and key words that a Philox is made with are {block, draw} and {seed}.
TEST(Philox, agrees_with_the_published_vectors) {
  EXPECT_EQ(Philox(0, 0, 0).block(0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~0ull, ~0ull, 0).block(~0ull), (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox(0x299f31d0a4093822, 0x13198a2e03707340, 4).block(0x85a308d3243f6a88),
            (Philox::Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Quantile, inverts_the_normal_distribution) {
  for (double p : {1e-12, 1e-5, 0.02, 0.074, 0.076, 0.3, 0.5, 0.6, 0.97})
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / p, 1, 1e-13) << p;
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_TRUE(std::isfinite(normal32(0)) && std::isfinite(normal32(~0u)) && std::isfinite(normal52(0)) && std::isfinite(normal52(~0ull)));
}

TEST(Below, is_the_high_half_of_the_product) {
  EXPECT_EQ(below(~0ull, 10), 9u);
  EXPECT_EQ(below(0, 10), 0u);
  EXPECT_EQ(below(1ull << 63, 10), 5u);
  EXPECT_EQ(below(0x123456789abcdef0, 0xfedcba9876543210), 0x121fa00ad77d7422u);
}

TEST(Rand, depends_on_the_draw_and_the_call_and_nothing_else) {
  Eager e, other;
  auto first = values(e.run("rand", {any(Ints{5})})), second = values(e.run("rand", {any(Ints{5})}));
  EXPECT_NE(first, second);
  EXPECT_EQ(values(other.run("rand", {any(Ints{5})})), first);
  auto longer = values(Eager().run("rand", {any(Ints{2, 4})}));
  longer.resize(5);
  EXPECT_EQ(longer, first) << "an element's number is all that counts of the shape";
  e.scope().reset();
  auto next_call = values(e.run("rand", {any(Ints{5})}));
  EXPECT_NE(next_call, first);
  EXPECT_EQ(reinterpret_cast<int64_t*>(e.random()->data())[1], 3) << "each draw is counted as it is made";
}

TEST(Randn, has_the_moments_of_a_standard_normal) {
  Eager e;
  for (DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    auto v = values(e.run("randn", {any(Ints{20000}), any(dtype)}));
    double mean = 0, square = 0;
    for (double x : v) mean += x / 20000, square += x * x / 20000;
    EXPECT_NEAR(mean, 0, 0.03);
    EXPECT_NEAR(square, 1, 0.05);
  }
}

TEST(Randint, stays_in_its_range_and_reaches_its_ends) {
  Eager e;
  auto v = values(e.run("randint", {any(-2), any(3), any(Ints{500})}));
  EXPECT_EQ(*std::min_element(v.begin(), v.end()), -2);
  EXPECT_EQ(*std::max_element(v.begin(), v.end()), 2);
}

TEST(Uniform, fills_its_range) {
  Eager e;
  for (DType dtype : {DType::f32, DType::f64, DType::bf16})
    for (double x : values(e.run("uniform", {any(Ints{500}), any(-3.0), any(-1.0), any(dtype)}))) EXPECT_TRUE(x >= -3 && x <= -1) << x;
}

TEST(Dropout, scales_what_it_keeps_and_its_gradient_uses_the_same_mask) {
  Eager e(true);
  Tensor* x = e.tensor({1000}, Doubles(1000, 3.0));
  Tensor* y = e.run("dropout", {any(x), any(0.25)});
  auto kept = values(y);
  double count = 0;
  for (double v : kept) EXPECT_TRUE(v == 0 || v == 4) << v;
  for (double v : kept) count += v != 0;
  EXPECT_NEAR(count, 750, 60);
  auto g = values(e.grad(e.run("sum", {any(y)}), {x})[0]);
  for (size_t i = 0; i < g.size(); i++) EXPECT_FLOAT_EQ(static_cast<float>(g[i]), kept[i] != 0 ? 4.0f / 3 : 0);
}

}  // namespace
}  // namespace thunder
