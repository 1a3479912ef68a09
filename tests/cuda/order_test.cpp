// sort, topk, kthvalue and median on the device (cuda's order, block_sort, selection, sorted_lines and ranks): the
// places and values that the CPU gives, of lines of every length.
// covers: core/executors/cuda/block_sort.cpp core/executors/cuda/cuda.cpp core/executors/cuda/rules/order.cpp
// covers: core/executors/cuda/rules/permutations.cpp core/executors/cuda/rules/ranks.cpp core/executors/cuda/selection.cpp
// covers: core/executors/cuda/sorted_lines.cpp
#include <limits>

#include "cuda/cuda.h"

namespace thunder::test {
namespace {

struct CudaOrder : CudaTest {
  Ref<CompileOptions> all = make<CompileOptions>();

  // Both results of an op of one tensor.
  void agrees(const Ref<Tensor>& x, DType dtype, std::string_view name, const std::vector<Any>& args) {
    for (const size_t which : {0, 1}) {
      auto f = compile([&](Scope& s, const Values& in, Values& out) {
        std::vector<Any> given = {any(op(s, "to", {any(in[0].tensor), as(dtype)}))};
        given.insert(given.end(), args.begin(), args.end());
        Tensor* both[2] = {};
        s.invoke(name, given, nullptr, both, 2, "here:1");
        out.push(Ref<Tensor>(op(s, "to", {any(both[which]), as(DType::f32)})));
      }, all.get());
      const Floats expected = CompiledTest::run(*f, {x.get()}), got = run(*f, {on_gpu(x).get()});
      ASSERT_EQ(got.size(), expected.size()) << error;
      for (size_t i = 0; i < got.size(); i++)
        ASSERT_TRUE(got[i] == expected[i] || (got[i] != got[i] && expected[i] != expected[i])) << which << " at " << i;
      EXPECT_EQ(executor_of(*f, cat("prims.", name == "nanmedian" ? "median" : name)), "cuda");
    }
  }
  // With equal elements, both zeros, infinities and NaN.
  Ref<Tensor> mixed(const std::vector<int64_t>& shape, uint32_t seed) {
    const Ref<Tensor> t = random(shape, seed, -9, 9);
    auto* p = reinterpret_cast<float*>(t->data());
    const float special[] = {0, -0.0F, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")};
    for (int64_t i = 0; i < t->elements(); i++) p[i] = i % 7 == 3 ? special[i / 7 % 5] : std::floor(p[i]);
    return t;
  }
};

TEST_F(CudaOrder, of_lines_of_every_length) {
  for (const int64_t n : {1, 2, 31, 32, 33, 64, 65, 1000, 5000})
    for (const bool descending : {false, true}) {
      SCOPED_TRACE(cat(n, descending ? " descending" : ""));
      agrees(mixed({3, n}, static_cast<uint32_t>(n)), DType::f32, "sort", {Any::integer(1), Any::boolean(descending)});
    }
}

TEST_F(CudaOrder, of_every_dtype_and_dim) {
  for (const DType d : {DType::f64, DType::bf16, DType::f16, DType::i8, DType::u8, DType::i16, DType::i32, DType::i64, DType::u32, DType::boolean})
    for (const int64_t dim : {0, 1, 2}) {
      SCOPED_TRACE(cat(name(d), " along ", dim));
      agrees(is_real(d) ? mixed({4, 70, 5}, 1) : random({4, 70, 5}, 2, d == DType::u8 || d == DType::u32 ? 0 : -50, 50), d, "sort",
             {Any::integer(dim), Any::boolean(dim == 1)});
    }
}

TEST_F(CudaOrder, of_lines_that_fit_into_a_block_is_made_there) {
  for (const DType d : {DType::f32, DType::bf16, DType::f16, DType::i8, DType::u8, DType::i16, DType::i32, DType::u32, DType::boolean})
    for (const int64_t n : size_of(d) == 4 ? std::vector<int64_t>{1500, 2049} : std::vector<int64_t>{1500, 4097}) {
      SCOPED_TRACE(cat(name(d), " of ", n));
      agrees(is_real(d) ? mixed({2, n}, 1) : random({2, n}, 2, d == DType::u8 || d == DType::u32 ? 0 : -100, 100), d, "sort",
             {Any::integer(1), Any::boolean(n != 1500)});
    }
  for (const DType d : {DType::f32, DType::bf16}) agrees(random({1, d == DType::f32 ? 4096 : 8192}, 3), d, "sort", {Any::integer(1), Any::boolean(true)});
  agrees(mixed({2, 1100, 3}, 4), DType::bf16, "sort", {Any::integer(1), Any::boolean(false)});
}

TEST_F(CudaOrder, of_the_greatest_and_the_least) {
  for (const int64_t k : {0, 1, 5, 100})
    for (const bool largest : {false, true})
      for (const int64_t dim : {0, 1}) {
        SCOPED_TRACE(cat(k, " along ", dim, largest ? " largest" : ""));
        agrees(mixed(dim ? std::vector<int64_t>{3, 100} : std::vector<int64_t>{100, 3}, 4), DType::f32, "topk",
               {Any::integer(k), Any::integer(dim), Any::boolean(largest), Any::boolean(true)});
      }
  agrees(mixed({2, 3000}, 5), DType::bf16, "topk", {Any::integer(40), Any::integer(1), Any::boolean(true), Any::boolean(true)});
}

// Each digit of the last key that is taken, and of its place among equal ones, is found by passes over all of a line's blocks.
TEST_F(CudaOrder, of_the_greatest_of_long_lines_selects_them) {
  const std::vector<Any> large = {Any::integer(1), Any::boolean(true), Any::boolean(true)}, small = {Any::integer(1), Any::boolean(false), Any::boolean(true)};
  const auto topk = [&](const Ref<Tensor>& x, DType d, int64_t k, const std::vector<Any>& how) {
    SCOPED_TRACE(cat(k, " of ", name(d)));
    std::vector<Any> args = {Any::integer(k)};
    args.insert(args.end(), how.begin(), how.end());
    agrees(x, d, "topk", args);
  };
  for (const auto& how : {large, small}) {
    topk(mixed({2, 40000}, 5), DType::f32, 300, how);
    topk(random({1, 70000}, 6), DType::f32, 1, how);
    topk(mixed({2, 3000}, 7), DType::f64, 1024, how);
    topk(random({1, 20000}, 8, -40000, 40000), DType::i64, 77, how);
  }
  for (const DType d : {DType::bf16, DType::f16, DType::u8, DType::boolean, DType::i16}) topk(random({2, 20000}, 9, 0, 100), d, 500, large);
  topk(tensor({1, 40000}, Floats(40000, 3)), DType::f32, 700, small);  // all are equal: the first 700 places
  agrees(mixed({2, 1500, 3}, 10), DType::f32, "topk", {Any::integer(9), Any::integer(1), Any::boolean(true), Any::boolean(true)});
}

// Weights choose the least of times that are drawn.
TEST_F(CudaOrder, of_times_that_choose_by_weights_is_not_made) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* const x = in[0].tensor.get();
    out.push(Ref<Tensor>(op(s, "to", {any(op(s, "multinomial", {any(op(s, "exp", {any(x)})), Any::integer(4)})), as(DType::f32)})));
  }, all.get());
  const Ref<Tensor> x = random({2, 3000}, 11);
  battery::reset_random(*context);
  const Floats chosen = CompiledTest::run(*f, {x.get()});
  battery::reset_random(*context);
  EXPECT_EQ(run(*f, {on_gpu(x).get()}), chosen) << error;
  EXPECT_EQ(executor_of(*f, "prims.sort"), "none");
  EXPECT_EQ(executor_of(*f, "prims.topk"), "cuda");
}

TEST_F(CudaOrder, of_a_rank) {
  for (const int64_t n : {1, 100, 70000}) {
    SCOPED_TRACE(n);
    for (const int64_t k : {int64_t{1}, n / 3 + 1, n})
      agrees(mixed({2, n}, 6), DType::f32, "kthvalue", {Any::integer(k), Any::integer(1)});
    for (const char* middle : {"median", "nanmedian"})
      for (const Ref<Tensor>& x : {mixed({2, n}, 7), random({2, n}, 8)}) agrees(x, DType::f32, middle, {Any::integer(1)});
  }
  for (const DType d : {DType::f64, DType::bf16, DType::i64, DType::u8})
    agrees(random({300, 3}, 9, 0, 50), d, "median", {Any::integer(0)});
}

TEST_F(CudaOrder, of_random_permutations_is_that_of_the_cpu) {
  const Ref<Tensor> state = integers({2}, {7, 3});
  for (const int64_t n : {1, 5, 8192, 8193, 30000}) {
    SCOPED_TRACE(n);
    auto f = compile([n](Scope& s, const Values& in, Values& out) {
      const int64_t shape[] = {2, n};
      Tensor* drawn = op(s, "prims.philox_permutation", {any(in[0].tensor), Any::integer(2), Any::dims(shape)});
      out.push(Ref<Tensor>(op(s, "to", {any(drawn), as(DType::f32)})));
    }, all.get());
    const Floats expected = CompiledTest::run(*f, {state.get()});
    EXPECT_EQ(run(*f, {on_gpu(state).get()}), expected) << error;
    EXPECT_EQ(executor_of(*f, "prims.philox_permutation"), "cuda");
  }
}

}  // namespace
}  // namespace thunder::test
