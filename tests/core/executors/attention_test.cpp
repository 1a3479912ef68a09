// Tiled attention beside its decomposition on the reference kernels: every kind of operand, layout and gradient, for each
// set of instructions. Covers shape, forward, few_queries and backward.
// covers: core/executors/cpu/attention/*.cpp
#include "executors/cpu/executors.h"
#include "jit/reports/explain.h"

#include <cmath>

#include "base/text.h"
#include "support/machines.h"
#include "support/functions.h"
#include "support/num_threads.h"

namespace thunder::test {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention";

// Masks: n: none, c: causal, a: added [T, S], b: boolean, of each head, r: added, one row for all queries.
struct Shapes {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;
  char mask = 'n';
  double scale = 0;  // 0: the default
};
constexpr Shapes kShapes[] = {
    {1, 1, 1, 1, 1, 1, 1},           {2, 3, 3, 7, 5, 3, 4},           {1, 2, 2, 33, 129, 17, 19},     {1, 1, 1, 128, 128, 64, 64, 'c'},
    {2, 2, 2, 131, 131, 8, 8, 'c'},  {1, 2, 1, 200, 150, 24, 40, 'c'}, {1, 1, 1, 60, 300, 16, 16, 'c'}, {1, 4, 2, 37, 70, 12, 20, 'n', 0.3},
    {1, 2, 2, 140, 139, 32, 33, 'a'}, {2, 6, 3, 30, 45, 9, 5, 'b'},     {2, 2, 2, 19, 300, 7, 6, 'r'},   {1, 3, 3, 1, 257, 64, 64},
    {2, 8, 2, 1, 130, 20, 12, 'r'},  {1, 4, 2, 3, 200, 33, 31, 'c'},  {1, 4, 4, 4, 150, 8, 200, 'b'}, {3, 1, 1, 2, 1, 5, 1, 'a', -0.7},
    {1, 9, 9, 70, 70, 16, 16, 'c'},  {1, 2, 1, 4, 1300, 8, 6, 'b'},   {1, 1, 1, 1, 5000, 4, 5, 'a'},
};
std::string name(const Shapes& s) {
  return cat(s.batch, "x", s.heads, "/", s.key_heads, " ", s.queries, " by ", s.keys, ", ", s.width, " and ", s.value_width, ", ", std::string(1, s.mask));
}

Any as(DType d) {
  Any a;
  a.kind = ArgKind::dtype, a.i = 0, a.dtype = d;
  return a;
}

struct Attention : CompiledTest {
  void SetUp() override {
    if (this_machine().instructions == Instructions::none) GTEST_SKIP() << "no processor with AVX2";
  }
  // query, key, value, what the result is multiplied by for a loss, and a mask.
  std::vector<Ref<Tensor>> operands(const Shapes& s) {
    std::vector<Ref<Tensor>> in = {random({s.batch, s.heads, s.queries, s.width}, 1, -2, 2), random({s.batch, s.key_heads, s.keys, s.width}, 2, -2, 2),
                                   random({s.batch, s.key_heads, s.keys, s.value_width}, 3), random({s.batch, s.heads, s.queries, s.value_width}, 4)};
    if (s.mask == 'a') in.push_back(random({s.queries, s.keys}, 5, -3, 3));
    if (s.mask == 'b') in.push_back(random({s.batch, s.heads, s.queries, s.keys}, 6, 0, 1));
    if (s.mask == 'r') in.push_back(random({s.batch, 1, 1, s.keys}, 7, -3, 3));
    return in;
  }
  // The result, then the gradients of query, key and value.
  static Lambda::Body body(const Shapes& s) {
    return [s](Scope& scope, const Values& in, Values& out) {
      Tensor* mask = in.size() > 4 ? in[4].tensor.get() : nullptr;
      if (s.mask == 'b') mask = op(scope, "lt", {any(mask), Any::real(0.5)});
      Tensor* y = op(scope, kOp, {any(in[0].tensor), any(in[1].tensor), any(in[2].tensor), mask ? any(mask) : Any(), Any::real(0), Any::boolean(s.mask == 'c'),
                                  s.scale ? Any::real(s.scale) : Any(), Any::boolean(s.heads != s.key_heads)});
      Values wrt;
      for (size_t i = 0; i < 3; i++) wrt.push(in[i].tensor);
      Values* grads = scope.grad(op(scope, "sum", {any(op(scope, "mul", {any(y), any(in[3].tensor)}))}), wrt);
      out.push(Ref<Tensor>(y));
      for (size_t i = 0; i < 3; i++) out.push((*grads)[i].tensor);
    };
  }
  std::vector<Floats> results(Compiled& f, const std::vector<Ref<Tensor>>& operands, size_t n) {
    std::vector<Tensor*> in, out(n);
    for (auto& t : operands) in.push_back(t.get());
    if (Ref<Status> failed = Ref<Status>::adopt(f.call_tensors(in.data(), in.size(), out.data(), n))) {
      ADD_FAILURE() << failed->message();
      return {};
    }
    std::vector<Floats> found;
    for (Tensor* t : out) found.push_back(data(*t)), t->release();
    return found;
  }
  Ref<CompileOptions> with(Instructions i) {
    auto options = only("host");
    options->add_executor(make<Executor>(*attention_executor(limited_to(i))));
    return options;
  }
  void expect_like_host(const Lambda::Body& body, const std::vector<Ref<Tensor>>& in, size_t n, int lines, const std::string& what) {
    const std::vector<Floats> expected = results(*compile(body, only("host").get()), in, n);
    for (Instructions i : {Instructions::neon, Instructions::avx2, Instructions::avx512}) {
      if (i > this_machine().instructions) continue;
      auto f = compile(body, with(i).get());
      const std::vector<Floats> found = results(*f, in, n);
      ASSERT_EQ(lines_of(*f, "attention"), lines) << what;
      for (size_t r = 0; r < n; r++) {
        ASSERT_EQ(found[r].size(), expected[r].size());
        for (size_t x = 0; x < found[r].size(); x++) {
          if (std::isnan(expected[r][x]) && std::isnan(found[r][x])) continue;
          ASSERT_NEAR(found[r][x], expected[r][x], 4e-6 * (5 + std::fabs(expected[r][x]))) << what << ", result " << r << " at " << x;
        }
      }
    }
  }
};

TEST_F(Attention, matches_its_decomposition) {
  for (const Shapes& s : kShapes) {
    expect_like_host(body(s), operands(s), 4, 2, name(s));
    if (HasFatalFailure()) return;
  }
}

TEST_F(Attention, fully_masked_rows_are_zero) {
  for (int64_t queries : {3, 40}) {
    const Shapes s{1, 1, 1, queries, 150, 8, 8, 'a'};
    std::vector<Ref<Tensor>> in = operands(s);
    auto* mask = reinterpret_cast<float*>(in[4]->data());
    for (int64_t j = 0; j < 150; j++) mask[j] = mask[150 + j] = -INFINITY;
    for (int64_t j = 0; j < 140; j++) mask[300 + j] = -INFINITY;  // a first block of keys without any
    mask[150 + 149] = 1;
    expect_like_host(body(s), in, 4, 2, cat(queries, " queries"));
    const Floats out = results(*compile(body(s), with(this_machine().instructions).get()), in, 4)[0];
    EXPECT_EQ(Floats(out.begin(), out.begin() + 8), Floats(8, 0));
    // As little as a number can be is not nothing: all keys of such a row have the same weight, also in the gradients.
    for (int64_t j = 0; j < 150; j++) mask[j] = -3e38f;
    expect_like_host(body(s), in, 4, 2, cat(queries, " queries, finite"));
  }
}

TEST_F(Attention, propagates_nan) {
  for (int64_t queries : {2, 35}) {
    const Shapes s{1, 1, 1, queries, 20, 8, 8, 'n'};
    std::vector<Ref<Tensor>> in = operands(s);
    reinterpret_cast<float*>(in[0]->data())[3] = NAN;
    const std::vector<Floats> found = results(*compile(body(s), with(this_machine().instructions).get()), in, 4);
    EXPECT_TRUE(std::isnan(found[0][0]) && std::isnan(found[1][0]) && std::isnan(found[2][0]));
    EXPECT_FALSE(std::isnan(found[0][8]));
  }
}

// One [B, T, 3 C] tensor holds query, key and value of all heads.
TEST_F(Attention, reads_strided_heads_without_copies) {
  const NumThreads threads(1);
  const int64_t batch = 8, length = 200, heads = 3, width = 16;
  const Lambda::Body packed = [=](Scope& s, const Values& in, Values& out) {
    const int64_t split[] = {batch, length, 3, heads, width}, order[] = {2, 0, 3, 1, 4};
    Tensor* all = op(s, "permute", {any(op(s, "reshape", {any(in[0].tensor), Any::dims(split)})), Any::dims(order)});
    Tensor* parts[3];
    for (int64_t i = 0; i < 3; i++) parts[i] = op(s, "select", {any(all), Any::integer(0), Any::integer(i)});
    out.push(Ref<Tensor>(op(s, kOp, {any(parts[0]), any(parts[1]), any(parts[2]), Any(), Any::real(0), Any::boolean(true)})));
  };
  const std::vector<Ref<Tensor>> in = {random({batch, length, 3 * heads * width}, 1)};
  expect_like_host(packed, in, 1, 1, "packed");
  auto f = compile(packed);
  results(*f, in, 1);
  const std::vector<Trace> traces = f->reports().traces();
  for (const Node* n : traces.back().nodes) EXPECT_TRUE(def(*n).view || n->op->name() == cat(kOp, "_forward")) << n->op->name();
  EXPECT_LT(f->reports().statistics().peak_bytes, static_cast<size_t>(batch * length * heads * width) * sizeof(float)) << "no copy of a part";
}

TEST_F(Attention, reads_operands_whose_last_dim_is_not_dense) {
  const Lambda::Body apart = [](Scope& s, const Values& in, Values& out) {
    Tensor* x[3];
    for (size_t i = 0; i < 3; i++) x[i] = op(s, "transpose", {any(in[i].tensor), Any::integer(-1), Any::integer(-2)});
    Tensor* y = op(s, kOp, {any(x[0]), any(x[1]), any(x[2])});
    Values wrt;
    for (size_t i = 0; i < 3; i++) wrt.push(in[i].tensor);
    Values* grads = s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
    out.push(Ref<Tensor>(y));
    for (size_t i = 0; i < 3; i++) out.push((*grads)[i].tensor);
  };
  for (int64_t queries : {2, 50}) expect_like_host(apart, {random({2, 9, queries}, 1), random({2, 9, 70}, 2), random({2, 11, 70}, 3)}, 4, 2, "apart");
}

TEST_F(Attention, gradients_match_finite_differences) {
  const Shapes s{1, 2, 1, 40, 50, 8, 8, 'c'};
  const std::vector<Ref<Tensor>> in = operands(s);
  auto f = compile(body(s), with(this_machine().instructions).get());
  const std::vector<Floats> at = results(*f, in, 4);
  const Floats weights = data(*in[3]);
  for (size_t i = 0; i < 3; i++) {
    const Floats before = data(*in[i]), direction = data(*random({static_cast<int64_t>(before.size())}, 9));
    double expected = 0, losses[2] = {};
    for (size_t x = 0; x < before.size(); x++) expected += static_cast<double>(at[i + 1][x]) * static_cast<double>(direction[x]);
    for (int sign : {0, 1}) {
      for (size_t x = 0; x < before.size(); x++) reinterpret_cast<float*>(in[i]->data())[x] = before[x] + (sign ? 1e-2f : -1e-2f) * direction[x];
      const Floats y = results(*f, in, 4)[0];
      for (size_t x = 0; x < y.size(); x++) losses[sign] += static_cast<double>(y[x]) * static_cast<double>(weights[x]);
    }
    std::copy(before.begin(), before.end(), reinterpret_cast<float*>(in[i]->data()));
    EXPECT_NEAR((losses[1] - losses[0]) / 2e-2, expected, 1e-3 * (1 + std::fabs(expected))) << i;
  }
}

TEST_F(Attention, results_have_the_same_bits_for_any_number_of_threads) {
  for (const Shapes& s : {Shapes{1, 1, 1, 300, 300, 32, 32, 'c'}, Shapes{2, 6, 3, 130, 140, 16, 24, 'b'}, Shapes{1, 12, 12, 1, 900, 64, 64}}) {
    std::vector<Floats> found[3];
    for (int n : {1, 2, 3}) {
      const NumThreads threads(n);
      context = make<Context>(ContextHooks{});
      found[n - 1] = results(*compile(body(s)), operands(s), 4);
    }
    EXPECT_EQ(found[0], found[1]) << name(s);
    EXPECT_EQ(found[0], found[2]) << name(s);
  }
}

TEST_F(Attention, never_stores_the_matrix_of_scores) {
  const NumThreads threads(2);
  const Shapes s{1, 2, 2, 2048, 2048, 8, 8, 'c'};
  auto f = compile(body(s));
  results(*f, operands(s), 4);
  EXPECT_EQ(lines_of(*f, "attention"), 2);
  EXPECT_LT(f->reports().statistics().peak_bytes, 2048u * 2048 * sizeof(float) / 4) << explain(*f, "memory");
}

TEST_F(Attention, common_subexpression_elimination_merges_forward_nodes) {
  auto f = compile(body(kShapes[1]));
  results(*f, operands(kShapes[1]), 4);
  const std::vector<Trace> traces = f->reports().traces();
  int forwards = 0;
  for (const Node* n : traces.back().nodes) forwards += n->op->name() == cat(kOp, "_forward");
  EXPECT_EQ(forwards, 1);
}

TEST_F(Attention, declines_unsupported_operands) {
  const auto lines = [&](double dropout, bool wants_mask, DType dtype, std::vector<int64_t> keys) {
    const Lambda::Body body = [=](Scope& s, const Values& in, Values& out) {
      Tensor* x[3];
      for (size_t i = 0; i < 3; i++) x[i] = op(s, "to", {any(in[i].tensor), as(dtype)});
      Tensor* y = op(s, kOp, {any(x[0]), any(x[1]), any(x[2]), any(in[3].tensor), Any::real(dropout)});
      Values wrt;
      wrt.push(in[wants_mask ? 3 : 0].tensor);
      out.push((*s.grad(op(s, "sum", {any(y)}), wrt))[0].tensor);
    };
    auto f = compile(body);
    results(*f, {random({2, 3, 8}, 1), random(keys, 2), random(keys, 3), random({3, 5}, 4)}, 1);
    return lines_of(*f, "attention");
  };
  EXPECT_EQ(lines(0, false, DType::f32, {2, 5, 8}), 2);
  EXPECT_EQ(lines(0, true, DType::f32, {2, 5, 8}), 1) << "a mask's gradient needs the forward's sums";
  EXPECT_EQ(lines(0.5, false, DType::f32, {2, 5, 8}), 0);
  EXPECT_EQ(lines(0, false, DType::f64, {2, 5, 8}), 0);
  EXPECT_EQ(lines(0, false, DType::bf16, {2, 5, 8}), 2) << "which is widened";
  EXPECT_EQ(lines(0, false, DType::f32, {5, 8}), 0) << "broadcast batches";
}

TEST_F(Attention, second_gradient_matches_the_decomposition) {
  const Lambda::Body body = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, kOp, {any(in[0].tensor), any(in[1].tensor), any(in[2].tensor), Any(), Any::real(0), Any::boolean(true)});
    Values wrt;
    wrt.push(in[0].tensor);
    Tensor* first = (*s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt))[0].tensor.get();
    Tensor* again = op(s, "sum", {any(op(s, "mul", {any(first), any(first)}))});
    Values all;
    for (size_t i = 0; i < 3; i++) all.push(in[i].tensor);
    Values* grads = s.grad(again, all);
    for (size_t i = 0; i < 3; i++) out.push((*grads)[i].tensor);
  };
  const std::vector<Ref<Tensor>> in = {random({2, 9, 4}, 1), random({2, 9, 4}, 2), random({2, 9, 4}, 3)};
  const std::vector<Floats> expected = results(*compile(body, only("host").get()), in, 3), found = results(*compile(body), in, 3);
  for (size_t r = 0; r < 3; r++)
    for (size_t x = 0; x < found[r].size(); x++) EXPECT_NEAR(found[r][x], expected[r][x], 2e-5 * (1 + std::fabs(expected[r][x]))) << r << " at " << x;
}

}  // namespace
}  // namespace thunder::test
