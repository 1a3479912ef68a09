// scaled_dot_product_attention against naive loops.
#include "support/gradients.h"

namespace thunder {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

Tensor* f64(Eager& e, const Numbers& n) { return e.tensor(n.shape, n.values, DType::f64); }

// One head: q [l, e], k [s, e], v [s, w]; allowed(i, j) says which keys a query sees.
template <class Allowed>
Doubles naive(const Numbers& q, const Numbers& k, const Numbers& v, double scale, Allowed allowed) {
  const int64_t l = q.shape[0], s = k.shape[0], e = q.shape[1], w = v.shape[1];
  Doubles out(static_cast<size_t>(l * w), 0);
  for (int64_t i = 0; i < l; i++) {
    Doubles p(static_cast<size_t>(s), 0);
    double sum = 0;
    for (int64_t j = 0; j < s; j++) {
      if (!allowed(i, j)) continue;
      double score = 0;
      for (int64_t x = 0; x < e; x++) score += q.values[static_cast<size_t>(i * e + x)] * k.values[static_cast<size_t>(j * e + x)];
      sum += p[static_cast<size_t>(j)] = std::exp(score * scale);
    }
    for (int64_t j = 0; j < s; j++)
      for (int64_t x = 0; x < w && sum > 0; x++) out[static_cast<size_t>(i * w + x)] += p[static_cast<size_t>(j)] / sum * v.values[static_cast<size_t>(j * w + x)];
  }
  return out;
}
void expect_near(const Doubles& found, const Doubles& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); i++) EXPECT_NEAR(found[i], expected[i], 1e-13) << i;
}

const Numbers kQuery = numbers({3, 4}, 1), kKey = numbers({5, 4}, 2), kValue = numbers({5, 2}, 3);

TEST(Attention, weighs_values_by_the_softmax_of_scores) {
  Eager e;
  Tensor* out = e.run(kOp, {any(f64(e, kQuery)), any(f64(e, kKey)), any(f64(e, kValue))});
  expect_near(values(out), naive(kQuery, kKey, kValue, 0.5, [](int64_t, int64_t) { return true; }));
  Tensor* scaled = e.run(kOp, {any(f64(e, kQuery)), any(f64(e, kKey)), any(f64(e, kValue)), Any(), any(0.0), any(false), any(2.0)});
  expect_near(values(scaled), naive(kQuery, kKey, kValue, 2, [](int64_t, int64_t) { return true; }));
}

TEST(Attention, sees_no_later_keys_when_causal) {
  Eager e;
  Tensor* out = e.run(kOp, {any(f64(e, kQuery)), any(f64(e, kKey)), any(f64(e, kValue)), Any(), any(0.0), any(true)});
  expect_near(values(out), naive(kQuery, kKey, kValue, 0.5, [](int64_t i, int64_t j) { return j <= i; }));
}

TEST(Attention, of_a_query_that_sees_nothing_is_zero) {
  Eager e;
  Tensor* mask = e.tensor({3, 5}, {1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, DType::boolean);
  const Doubles out = values(e.run(kOp, {any(f64(e, kQuery)), any(f64(e, kKey)), any(f64(e, kValue)), any(mask)}));
  expect_near(out, naive(kQuery, kKey, kValue, 0.5, [](int64_t i, int64_t j) { return i == 2 || (i == 0 && j % 2 == 0); }));
  EXPECT_EQ(out[2], 0);
}

TEST(Attention, adds_a_real_mask) {
  Eager e;
  Tensor* mask = e.tensor({5}, {0, -1e300, 0, -1e300, 0}, DType::f64);
  Tensor* out = e.run(kOp, {any(f64(e, kQuery)), any(f64(e, kKey)), any(f64(e, kValue)), any(mask)});
  expect_near(values(out), naive(kQuery, kKey, kValue, 0.5, [](int64_t, int64_t j) { return j % 2 == 0; }));
}

TEST(Attention, shares_key_heads_among_groups_of_query_heads) {
  Eager e;
  const Numbers q = numbers({4, 3, 4}, 1), k = numbers({2, 5, 4}, 2), v = numbers({2, 5, 2}, 3);
  const Doubles out = values(e.run(kOp, {any(f64(e, q)), any(f64(e, k)), any(f64(e, v)), Any(), any(0.0), any(false), Any(), any(true)}));
  auto head = [](const Numbers& n, int64_t i) {
    const auto size = static_cast<int64_t>(n.values.size()) / n.shape[0];
    return Numbers{{n.shape[1], n.shape[2]}, Doubles(n.values.begin() + i * size, n.values.begin() + (i + 1) * size)};
  };
  Doubles expected;
  for (int64_t i = 0; i < 4; i++)
    for (double x : naive(head(q, i), head(k, i / 2), head(v, i / 2), 0.5, [](int64_t, int64_t) { return true; })) expected.push_back(x);
  expect_near(out, expected);
}

TEST(Attention, has_gradients_of_gradients) {
  const EagerFunction f = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run(kOp, {any(x[0]), any(x[1]), any(x[2]), Any(), any(0.0), any(true)});
  };
  expect_gradients({numbers({2, 3, 4}, 1), numbers({2, 3, 4}, 2), numbers({2, 3, 2}, 3)}, f);
  expect_second_gradients({numbers({1, 3, 2}, 1), numbers({1, 3, 2}, 2), numbers({1, 3, 2}, 3)}, f);
}

TEST(Attention, has_gradients_for_groups_broadcasts_and_masks) {
  const EagerFunction grouped = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run(kOp, {any(x[0]), any(x[1]), any(x[2]), Any(), any(0.0), any(false), any(0.3), any(true)});
  };
  expect_gradients({numbers({2, 4, 3, 2}, 1), numbers({2, 2, 3, 2}, 2), numbers({2, 1, 3, 2}, 3)}, grouped);
  expect_gradients({numbers({2, 4, 3, 2}, 1), numbers({2, 3, 2}, 2), numbers({4, 3, 2}, 3)}, grouped);
  const EagerFunction masked = [](Eager& e, const std::vector<Tensor*>& x) { return e.run(kOp, {any(x[0]), any(x[1]), any(x[2]), any(x[3])}); };
  expect_gradients({numbers({2, 3, 2}, 1), numbers({4, 2}, 2), numbers({1, 4, 2}, 3), numbers({3, 4}, 4)}, masked);
  const EagerFunction hidden = [](Eager& e, const std::vector<Tensor*>& x) {
    return e.run(kOp, {any(x[0]), any(x[1]), any(x[2]), any(e.tensor({2, 2}, {1, 0, 0, 0}, DType::boolean))});
  };
  expect_gradients({numbers({2, 2}, 1), numbers({2, 2}, 2), numbers({2, 2}, 3)}, hidden);
}

TEST(Attention, names_what_does_not_fit) {
  Eager e;
  EXPECT_EQ(e.refused(kOp, {any(e.tensor({1, 2}, {1, 2})), any(e.tensor({1, 1}, {1})), any(e.tensor({1, 1}, {1}))}),
            "scaled_dot_product_attention: query and key differ in their last dim: got 2 and 1; query is f32[1, 2], key is f32[1, 1], value is f32[1, 1]");
}

}  // namespace
}  // namespace thunder
