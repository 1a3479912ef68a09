// What programs on a device need of its memory: what a backward computes again, what is overwritten, where scratch lies
// (overwrites, scratch).
// covers: core/device/cuda/memory.cpp core/program/overwrites.cpp core/program/scratch.cpp
#include "cuda/cuda.h"
#include "jit/reports/explain.h"

#include <algorithm>
#include <cmath>

namespace thunder::test {
namespace {

struct CudaMemory : CudaTest {
  Ref<CompileOptions> defaults = make<CompileOptions>();
  const CompileOptions* all = defaults.get();

  // The arena of the device in bytes, as the report says.
  static size_t arena(const Compiled& f) {
    const std::string report = explain(f, "memory"), before = "on cuda:0: ", within = "(arena ";
    const size_t device = report.find(before), at = report.find(within, device);
    return device == report.npos ? 0 : std::stoull(report.substr(at + within.size()));
  }
  // Results on the device are those of the CPU.
  void expect_as_on_cpu(Compiled& f, const std::vector<Ref<Tensor>>& in, float tolerance) {
    std::vector<Tensor*> here, there;
    std::vector<Ref<Tensor>> held;
    for (auto& t : in) here.push_back(t.get()), held.push_back(on_gpu(t)), there.push_back(held.back().get());
    const Floats expected = CompiledTest::run(f, here), got = run(f, there);
    ASSERT_FALSE(got.empty()) << error;
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], tolerance * std::max(1.0f, std::abs(expected[i]))) << i;
  }
};

Tensor* attention(Scope& s, Tensor* q, Tensor* k, Tensor* v) {
  return op(s, "scaled_dot_product_attention", {any(q), any(k), any(v), Any(), Any::real(0), Any::boolean(true), Any(), Any::boolean(false)});
}
Tensor* gradient_of_sum(Scope& s, Tensor* y, Tensor* x) {
  Values wrt;
  wrt.push(Ref<Tensor>(x));
  const Values* grads = s.grad(op(s, "sum", {any(op(s, "mul", {any(y), any(y)}))}), wrt);
  return (*grads)[0].tensor.get();
}

// Ten layers would keep ten matrices of probabilities; a step of one layer needs four at most.
TEST_F(CudaMemory, backward_of_attention_computes_scores_again_rather_than_keep_them) {
  constexpr int64_t kLength = 64, kWidth = 8;
  constexpr size_t kScores = 4 * kLength * kLength;
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = in[0].tensor.get();
    for (int i = 0; i < 10; i++) y = attention(s, y, y, y);
    out.push(Ref<Tensor>(gradient_of_sum(s, y, in[0].tensor.get())));
  }, all);
  expect_as_on_cpu(*f, {random({1, 1, kLength, kWidth}, 1)}, 1e-4f);
  EXPECT_LT(arena(*f), 7 * kScores);
}

// Whatever is between: the forward and the backward of many layers.
TEST_F(CudaMemory, what_is_cheap_is_computed_again_however_far_away_it_is_read) {
  constexpr int kLines = 2200;
  constexpr size_t kMatrix = 4 * 64 * 64;
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *cheap = op(s, "mul", {any(in[0].tensor), any(in[1].tensor)}), *w = in[2].tensor.get();
    Tensor* m = op(s, "mul", {any(w), any(op(s, "sum", {any(op(s, "sin", {any(cheap)}))}))});
    for (int i = 0; i < kLines; i++) m = op(s, "matmul", {any(m), any(w)});
    out.push(Ref<Tensor>(op(s, "exp", {any(op(s, "add", {any(cheap), any(op(s, "sum", {any(m)}))}))})));
  }, all);
  expect_as_on_cpu(*f, {random({64, 64}, 1), random({64, 64}, 2), random({2, 2}, 3, -0.5f, 0.5f)}, 1e-4f);
  EXPECT_LT(arena(*f), kMatrix / 2);
}

// A chain of products and functions between them holds two matrices at a time: functions overwrite what they are of.
TEST_F(CudaMemory, functions_overwrite_operands_that_nobody_reads_afterwards) {
  constexpr size_t kMatrix = 4 * 192 * 192;  // cuBLASLt may take 32 KiB besides
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor *x = in[0].tensor.get(), *y = x;
    for (int i = 0; i < 4; i++) y = op(s, "tanh", {any(op(s, "matmul", {any(y), any(x)}))});
    out.push(Ref<Tensor>(op(s, "matmul", {any(y), any(x)})));
  }, by_line().get());
  expect_as_on_cpu(*f, {random({192, 192}, 1, -0.1f, 0.1f)}, 1e-4f);
  EXPECT_LT(arena(*f), 3 * kMatrix);
}

// What is read again later, under another shape, or is no operand of the same type stays.
TEST_F(CudaMemory, functions_leave_operands_alone_that_are_read_again) {
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* x = in[0].tensor.get();
    Tensor* y = op(s, "matmul", {any(x), any(x)});
    const int64_t swapped[] = {1, 0};
    Tensor* turned = op(s, "prims.permute", {any(y), Any::dims(swapped)});
    Tensor* a = op(s, "tanh", {any(y)});
    Tensor* b = op(s, "mul", {any(a), any(turned)});
    Tensor* z = op(s, "matmul", {any(b), any(x)});
    out.push(Ref<Tensor>(op(s, "add", {any(z), any(op(s, "prims.permute", {any(z), Any::dims(swapped)}))})));
  }, by_line().get());
  expect_as_on_cpu(*f, {random({12, 12}, 1)}, 1e-4f);
}

// Of bf16 logits the gradient is made in one kernel: no matrix of f32 is stored for the loss, nor for its gradient.
TEST_F(CudaMemory, cross_entropy_stores_no_logarithms_of_classes) {
  constexpr int64_t kRows = 8192, kClasses = 64;
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* logits = op(s, "to", {any(in[0].tensor), Any::string("bfloat16")});
    logits = op(s, "matmul", {any(logits), any(op(s, "to", {any(in[1].tensor), Any::string("bfloat16")}))});
    Tensor* target = op(s, "to", {any(op(s, "mul", {any(in[2].tensor), Any::real(63)})), Any::string("int64")});
    Tensor* loss = op(s, "cross_entropy", {any(op(s, "to", {any(logits), Any::string("float32")})), any(target)});
    Values wrt;
    wrt.push(in[1].tensor);
    out.push((*s.grad(loss, wrt))[0].tensor);
  }, all);
  expect_as_on_cpu(*f, {random({kRows, 8}, 1), random({8, kClasses}, 2), random({kRows}, 3, 0, 1)}, 1e-3f);
  // Logits and their gradient in bf16, and less than half of a matrix of f32 besides.
  EXPECT_LT(arena(*f), 2 * 2 * kRows * kClasses + 2 * kRows * kClasses) << explain(*f, "memory");
}

// Each layer keeps its bf16 input for the backward, not the f32 values that it computes with.
TEST_F(CudaMemory, batch_norm_keeps_its_input_as_narrow_as_it_is) {
  constexpr int64_t kRows = 4096, kChannels = 64;
  constexpr int kLayers = 8;
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* w = op(s, "to", {any(in[1].tensor), Any::string("bfloat16")});
    Tensor* y = op(s, "to", {any(in[0].tensor), Any::string("bfloat16")});
    for (int i = 0; i < kLayers; i++)
      y = op(s, "batch_norm", {any(op(s, "matmul", {any(y), any(w)})), Any(), Any(), Any(), Any(), Any::boolean(true), Any::real(0.1), Any::real(1e-5)});
    out.push(Ref<Tensor>(gradient_of_sum(s, op(s, "to", {any(y), Any::string("float32")}), in[1].tensor.get())));
  }, all);
  const auto x = on_gpu(random({kRows, kChannels}, 1)), w = on_gpu(random({kChannels, kChannels}, 2));
  ASSERT_FALSE(run(*f, {x.get(), w.get()}).empty()) << error;
  // The products and the layers' results in bf16, and the room of four more.
  EXPECT_LT(arena(*f), 2 * kRows * kChannels * (2 * kLayers + 4)) << explain(*f, "memory");
}

// Blocks whose way around has a norm, too: the backward reads both norms' inputs, bf16 as they are, and the next block's input.
// The first norm's activation, which no product reads, is computed again.
TEST_F(CudaMemory, sums_of_norms_keep_the_norms_inputs_and_what_products_read) {
  constexpr int64_t kRows = 4096, kChannels = 64;
  constexpr int kBlocks = 6;
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* w = op(s, "to", {any(in[1].tensor), Any::string("bfloat16")});
    const auto norm = [&](Tensor* x) {
      return op(s, "batch_norm", {any(x), Any(), Any(), Any(), Any(), Any::boolean(true), Any::real(0.1), Any::real(1e-5)});
    };
    Tensor* y = op(s, "to", {any(in[0].tensor), Any::string("bfloat16")});
    for (int i = 0; i < kBlocks; i++) {
      Tensor* around = op(s, "matmul", {any(y), any(op(s, "mul", {any(w), Any::real(2)}))});
      y = op(s, "relu", {any(op(s, "add", {any(norm(op(s, "matmul", {any(y), any(w)}))), any(norm(around))}))});
    }
    out.push(Ref<Tensor>(gradient_of_sum(s, op(s, "to", {any(y), Any::string("float32")}), in[1].tensor.get())));
  }, all);
  const auto x = on_gpu(random({kRows, kChannels}, 1)), w = on_gpu(random({kChannels, kChannels}, 2));
  ASSERT_FALSE(run(*f, {x.get(), w.get()}).empty()) << error;
  EXPECT_LT(arena(*f), 2 * kRows * kChannels * (3 * kBlocks + 5)) << explain(*f, "memory");
}

}  // namespace
}  // namespace thunder::test
