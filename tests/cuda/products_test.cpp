// Matrix products through cuBLASLt (cublaslt, product, library): every way in which operands lie. Constants of its headers are compared where
// those are installed.
// covers: core/executors/cuda/cublaslt/cublaslt.cpp core/executors/cuda/cublaslt/library.cpp
// covers: core/executors/cuda/cublaslt/product.cpp core/executors/cuda/rules/products.cpp
// covers: core/executors/cuda/cublaslt/linear.cpp
#include "cuda/cuda.h"

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif
#include "executors/cuda/cublaslt/library.h"

namespace thunder::test {
namespace {

struct CudaProducts : CudaTest {
  // a b, with views of both taken on the device.
  void agrees(const std::vector<int64_t>& a_shape, const std::vector<int64_t>& b_shape, bool turn_a, bool turn_b) {
    auto f = compile([=](Scope& s, const Values& in, Values& out) {
      Tensor *a = in[0].tensor.get(), *b = in[1].tensor.get();
      if (turn_a) a = op(s, "transpose", {any(a), Any::integer(-1), Any::integer(-2)});
      if (turn_b) b = op(s, "transpose", {any(b), Any::integer(-1), Any::integer(-2)});
      out.push(Ref<Tensor>(op(s, "matmul", {any(a), any(b)})));
    });
    const Ref<Tensor> a = random(a_shape, 1), b = random(b_shape, 2), ga = on_gpu(a), gb = on_gpu(b);
    const Floats expected = CompiledTest::run(*f, {a.get(), b.get()}), got = run(*f, {ga.get(), gb.get()});
    ASSERT_EQ(got.size(), expected.size()) << error;
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
    EXPECT_EQ(executor_of(*f, "prims.matmul"), "cublaslt");
  }
};

TEST_F(CudaProducts, of_rows_and_columns) {
  for (bool turn_a : {false, true})
    for (bool turn_b : {false, true}) {
      const std::vector<int64_t> a = {5, 7}, a_turned = {7, 5}, b = {7, 4}, b_turned = {4, 7};
      agrees(turn_a ? a_turned : a, turn_b ? b_turned : b, turn_a, turn_b);
    }
}

TEST_F(CudaProducts, of_batches_of_several_dims) {
  agrees({2, 3, 5, 7}, {2, 3, 4, 7}, false, true);
  agrees({3, 1, 7}, {3, 7, 1}, false, false);
}

// Heads within rows of a batch, as an attention splits them: views over whose matrices no one step leads.
TEST_F(CudaProducts, of_batches_that_lie_apart) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> heads = {2, 5, 3, 4}, order = {0, 2, 1, 3}, turned = {0, 2, 3, 1};
    Tensor *a = op(s, "reshape", {any(in[0].tensor), Any::dims(heads)}), *b = op(s, "reshape", {any(in[1].tensor), Any::dims(heads)});
    out.push(Ref<Tensor>(op(s, "matmul", {any(op(s, "prims.permute", {any(a), Any::dims(order)})), any(op(s, "prims.permute", {any(b), Any::dims(turned)}))})));
  });
  const Ref<Tensor> a = random({2, 5, 12}, 1), b = random({2, 5, 12}, 2), ga = on_gpu(a), gb = on_gpu(b);
  const Floats expected = CompiledTest::run(*f, {a.get(), b.get()}), got = run(*f, {ga.get(), gb.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
}

TEST_F(CudaProducts, of_a_matrix_for_several_batches) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> each = {2, 3, 7, 4};
    out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(op(s, "prims.expand", {any(in[1].tensor), Any::dims(each)}))})));
  });
  const Ref<Tensor> a = random({2, 3, 5, 7}, 1), b = random({2, 1, 7, 4}, 2), ga = on_gpu(a), gb = on_gpu(b);
  const Floats expected = CompiledTest::run(*f, {a.get(), b.get()}), got = run(*f, {ga.get(), gb.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
}

TEST_F(CudaProducts, over_nothing_are_zero) { agrees({3, 0}, {0, 4}, false, false); }

TEST_F(CudaProducts, of_operands_without_dense_rows_or_columns_are_packed) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    const std::vector<int64_t> low = {0, 0, 0}, high = {6, 8, 1}, step = {2, 2, 1};
    Tensor* a = op(s, "prims.slice", {any(in[0].tensor), Any::dims(low), Any::dims(high), Any::dims(step)});
    a = op(s, "squeeze", {any(a), Any::integer(2)});
    out.push(Ref<Tensor>(op(s, "matmul", {any(a), any(in[1].tensor)})));
  });
  const Ref<Tensor> a = random({6, 8, 3}, 1), b = random({4, 5}, 2), ga = on_gpu(a), gb = on_gpu(b);
  const Floats expected = CompiledTest::run(*f, {a.get(), b.get()}), got = run(*f, {ga.get(), gb.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
}

// In 16 bits the bias joins before the result is rounded, and the input's rows may lie apart.
TEST_F(CudaProducts, of_linear_add_the_bias_in_their_epilogue) {
  for (const char* dtype : {"float32", "bfloat16", "float16"})
    for (const bool apart : {false, true}) {
      auto f = compile([=](Scope& s, const Values& in, Values& out) {
        Tensor* t[3];
        for (size_t i = 0; i < 3; i++) t[i] = op(s, "to", {any(in[i].tensor), Any::string(dtype)});
        if (apart) t[0] = op(s, "transpose", {any(t[0]), Any::integer(0), Any::integer(1)});
        out.push(Ref<Tensor>(op(s, "to", {any(op(s, "linear", {any(t[0]), any(t[1]), any(t[2])})), Any::string("float32")})));
      });
      const Ref<Tensor> x = random({2, 3, 7}, 1), w = random({4, 7}, 2), b = random({4}, 3), gx = on_gpu(x), gw = on_gpu(w), gb = on_gpu(b);
      const Floats expected = CompiledTest::run(*f, {x.get(), w.get(), b.get()}), got = run(*f, {gx.get(), gw.get(), gb.get()});
      ASSERT_EQ(got.size(), expected.size()) << error;
      for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], std::string_view(dtype) == "float32" ? 1e-5 : 2e-2);
      EXPECT_EQ(executor_of(*f, "linear"), "cublaslt");
    }
}

TEST_F(CudaProducts, of_linear_take_a_bias_that_begins_anywhere) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* bias = op(s, "narrow", {any(in[2].tensor), Any::integer(0), Any::integer(1), Any::integer(8)});
    const std::vector<int64_t> low = {0}, high = {16}, step = {2};
    Tensor* apart = op(s, "prims.slice", {any(in[3].tensor), Any::dims(low), Any::dims(high), Any::dims(step)});
    Tensor* y = op(s, "linear", {any(in[0].tensor), any(in[1].tensor), any(bias)});
    out.push(Ref<Tensor>(op(s, "add", {any(y), any(op(s, "linear", {any(in[0].tensor), any(in[1].tensor), any(apart)}))})));
  });
  const Ref<Tensor> x = random({5, 16}, 1), w = random({8, 16}, 2), b = random({9}, 3), c = random({16}, 4);
  const Ref<Tensor> gx = on_gpu(x), gw = on_gpu(w), gb = on_gpu(b), gc = on_gpu(c);
  const Floats expected = CompiledTest::run(*f, {x.get(), w.get(), b.get(), c.get()}), got = run(*f, {gx.get(), gw.get(), gb.get(), gc.get()});
  ASSERT_EQ(got.size(), expected.size()) << error;
  for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-5);
}

// Of 1 + 2^-12, which TF32 does not hold.
TEST_F(CudaProducts, round_to_tf32_where_the_precision_of_float32_allows_it) {
  constexpr int64_t kSize = 128;
  const Ref<Tensor> a = on_gpu(tensor({kSize, kSize}, Floats(kSize * kSize, 1 + 1.0F / 4096))),
                    b = on_gpu(tensor({kSize, kSize}, Floats(kSize * kSize, 1)));
  for (const char* precision : {"highest", "high", "medium"}) {
    auto options = make<CompileOptions>();
    options->set("float32_matmul_precision", Any::string(precision));
    auto f = compile([](Scope& s, const Values& in, Values& out) { out.push(Ref<Tensor>(op(s, "matmul", {any(in[0].tensor), any(in[1].tensor)}))); }, options.get());
    const Floats got = run(*f, {a.get(), b.get()});
    ASSERT_FALSE(got.empty()) << error;
    EXPECT_EQ(got[0], std::string_view(precision) == "highest" ? kSize + kSize / 4096.0F : kSize) << precision;
    EXPECT_EQ(executor_of(*f, "prims.matmul"), "cublaslt");
  }
}

#if __has_include(<cublasLt.h>)
TEST(CublasLt, constants_are_those_of_its_headers) {
  using namespace cublaslt;
  EXPECT_EQ(kF32, static_cast<int>(CUDA_R_32F));
  EXPECT_EQ(kF64, static_cast<int>(CUDA_R_64F));
  EXPECT_EQ(kBF16, static_cast<int>(CUDA_R_16BF));
  EXPECT_EQ(kF16, static_cast<int>(CUDA_R_16F));
  EXPECT_EQ(kCompute32F, static_cast<int>(CUBLAS_COMPUTE_32F));
  EXPECT_EQ(kCompute64F, static_cast<int>(CUBLAS_COMPUTE_64F));
  EXPECT_EQ(kCompute32FFastTF32, static_cast<int>(CUBLAS_COMPUTE_32F_FAST_TF32));
  EXPECT_EQ(kTransposed, static_cast<int>(CUBLAS_OP_T));
  EXPECT_EQ(kTransA, static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSA));
  EXPECT_EQ(kTransB, static_cast<int>(CUBLASLT_MATMUL_DESC_TRANSB));
  EXPECT_EQ(kEpilogue, static_cast<int>(CUBLASLT_MATMUL_DESC_EPILOGUE));
  EXPECT_EQ(kBiasPointer, static_cast<int>(CUBLASLT_MATMUL_DESC_BIAS_POINTER));
  EXPECT_EQ(kEpilogueBias, static_cast<int>(CUBLASLT_EPILOGUE_BIAS));
  EXPECT_EQ(kBatchCount, static_cast<int>(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT));
  EXPECT_EQ(kBatchStride, static_cast<int>(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET));
  EXPECT_EQ(kMaxWorkspace, static_cast<int>(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES));
  EXPECT_EQ(kAlignmentOfA, static_cast<int>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES));
  EXPECT_EQ(kAlignmentOfD, static_cast<int>(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES));
  EXPECT_EQ(sizeof(Algorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(Heuristic), sizeof(cublasLtMatmulHeuristicResult_t));
}
#endif

}  // namespace
}  // namespace thunder::test
