// Values that lie as [N, H, W, C] on a device (memory_formats, plan, cudnn's convolutions): what does and what does not, and that numbers are those of
// the row-major order.
// covers: core/executors/cuda/cudnn/cudnn.cpp core/executors/cuda/cudnn/plan.cpp core/program/memory_formats.cpp
#include "cuda/cuda.h"

#include "jit/reports/explain.h"

namespace thunder::test {
namespace {

constexpr std::string_view kLast = "{1,3,2,0}";

struct CudaMemoryFormats : CudaTest {
  static Tensor* half(Scope& s, Tensor* t) { return op(s, "to", {any(t), Any::string("bfloat16")}); }
  static Tensor* convolved(Scope& s, Tensor* x, Tensor* w) {
    const std::vector<int64_t> one = {1, 1};
    const int64_t around = w->type().shape[2].value() / 2;
    return op(s, "conv2d", {any(x), any(w), Any(), Any::dims(one), Any::dims(std::vector<int64_t>{around, around})});
  }
  static Tensor* normalised(Scope& s, Tensor* x) {
    return op(s, "batch_norm", {any(x), Any(), Any(), Any(), Any(), Any::boolean(true), Any::real(0.1), Any::real(1e-5)});
  }
  // The sum of a tensor's squares.
  static Tensor* squares(Scope& s, Tensor* t) {
    Tensor* wide = op(s, "to", {any(t), Any::string("float32")});
    return op(s, "sum", {any(op(s, "mul", {any(wide), any(wide)}))});
  }
  // A residual block over x in bfloat16: the sum of its squares, and what that gives each weight.
  static void block(Scope& s, const Values& in, Values& out) {
    Tensor *x = half(s, in[0].tensor.get()), *a = in[1].tensor.get(), *b = in[2].tensor.get();
    Tensor* y = op(s, "relu", {any(normalised(s, convolved(s, x, half(s, a))))});
    y = op(s, "relu", {any(op(s, "add", {any(normalised(s, convolved(s, y, half(s, b)))), any(y)}))});
    Tensor* loss = squares(s, y);
    Values wrt;
    wrt.push(in[1].tensor), wrt.push(in[2].tensor);
    const Values* grads = s.grad(loss, wrt);
    out.push(Ref<Tensor>(loss)), out.push((*grads)[0].tensor), out.push((*grads)[1].tensor);
  }
  static Ref<CompileOptions> without(const char* passes) {
    auto options = make<CompileOptions>();
    options->set("disable_passes", Any::string(passes));
    return options;
  }
  // All results of one call.
  std::vector<std::vector<double>> results(Compiled& f, std::vector<Tensor*> in, size_t count) {
    std::vector<Tensor*> out(count);
    Status* failed = f.call_tensors(in.data(), in.size(), out.data(), count);
    EXPECT_EQ(failed, nullptr) << (failed ? failed->message() : "");
    std::vector<std::vector<double>> numbers;
    for (Tensor* t : out) {
      if (!t) return {};
      const Ref<Tensor> own = Ref<Tensor>::adopt(t);
      EXPECT_TRUE(own->contiguous());
      numbers.push_back(battery::numbers_of(*own));
    }
    return numbers;
  }
  static size_t count_last(const Compiled& f) {
    const std::string text = explain(f, "channels_last");
    size_t count = 0;
    for (size_t at = text.find(kLast); at != text.npos; at = text.find(kLast, at + 1)) count++;
    return count;
  }
};

TEST_F(CudaMemoryFormats, keep_channels_last_from_convolution_to_convolution_and_back) {
  const Ref<Tensor> x = on_gpu(random({4, 16, 6, 5}, 1)), a = on_gpu(random({16, 16, 3, 3}, 2)), b = on_gpu(random({16, 16, 1, 1}, 3));
  auto options = make<CompileOptions>();
  auto last = compile(block, options.get()), first = compile(block, without("channels_last").get());
  const auto got = results(*last, {x.get(), a.get(), b.get()}, 3), expected = results(*first, {x.get(), a.get(), b.get()}, 3);
  ASSERT_EQ(got.size(), 3u);
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(battery::difference(got[i], expected[i], 2e-2), "") << "result " << i;
  // Two convolutions, the gradients of two filters and of one image, the activation between them and the gradients that go back.
  EXPECT_GE(count_last(*last), 8u) << explain(*last, "channels_last");
  EXPECT_EQ(count_last(*first), 0u);
  for (const char* name : {"prims.conv2d", "prims.conv2d_input_grad", "prims.conv2d_weight_grad"}) EXPECT_EQ(executor_of(*last, name), "cudnn");
}

TEST_F(CudaMemoryFormats, give_the_same_bits_in_each_call) {
  const Ref<Tensor> x = on_gpu(random({4, 16, 6, 5}, 1)), a = on_gpu(random({16, 16, 3, 3}, 2)), b = on_gpu(random({16, 16, 1, 1}, 3));
  auto options = make<CompileOptions>();
  auto f = compile(block, options.get());
  const auto once = results(*f, {x.get(), a.get(), b.get()}, 3);
  for (int i = 0; i < 3; i++) EXPECT_EQ(results(*f, {x.get(), a.get(), b.get()}, 3), once);
}

// The number of channels that a first layer reads, and one that tensor cores do not take.
TEST_F(CudaMemoryFormats, take_images_of_three_colours_and_not_odd_channels) {
  for (const int64_t channels : {3, 17}) {
    auto options = make<CompileOptions>();
    auto f = compile([](Scope& s, const Values& in, Values& out) {
      out.push(Ref<Tensor>(squares(s, op(s, "relu", {any(convolved(s, half(s, in[0].tensor.get()), half(s, in[1].tensor.get())))}))));
    }, options.get());
    const Ref<Tensor> x = on_gpu(random({2, channels, 6, 5}, 1)), w = on_gpu(random({16, channels, 3, 3}, 2));
    EXPECT_EQ(results(*f, {x.get(), w.get()}, 1).size(), 1u);
    EXPECT_EQ(count_last(*f) > 0, channels == 3) << explain(*f, "channels_last");
  }
}

// A result lies as the caller sees it, and so does what it is computed with, element by element.
TEST_F(CudaMemoryFormats, of_what_leaves_stay_row_major) {
  auto options = make<CompileOptions>();
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* w = half(s, in[1].tensor.get());
    Tensor* y = op(s, "relu", {any(convolved(s, half(s, in[0].tensor.get()), w))});
    out.push(Ref<Tensor>(y)), out.push(Ref<Tensor>(squares(s, convolved(s, y, w))));
  }, options.get());
  const Ref<Tensor> x = on_gpu(random({2, 16, 6, 5}, 1)), w = on_gpu(random({16, 16, 3, 3}, 2));
  EXPECT_EQ(results(*f, {x.get(), w.get()}, 2).size(), 2u);
  EXPECT_EQ(count_last(*f), 3u) << "x, the filter and the second convolution\n" << explain(*f, "channels_last");
}

TEST_F(CudaMemoryFormats, of_float32_stay_row_major) {
  auto options = make<CompileOptions>();
  auto f = compile([](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "relu", {any(convolved(s, in[0].tensor.get(), in[1].tensor.get()))});
    out.push(Ref<Tensor>(convolved(s, y, in[1].tensor.get())));
  }, options.get());
  const Ref<Tensor> x = on_gpu(random({2, 16, 6, 5}, 1)), w = on_gpu(random({16, 16, 3, 3}, 2));
  EXPECT_EQ(results(*f, {x.get(), w.get()}, 1).size(), 1u);
  EXPECT_EQ(count_last(*f), 0u);
}

// Pooling and a flattened matrix read row-major memory: copies of what lies otherwise.
TEST_F(CudaMemoryFormats, are_turned_for_what_reads_rows) {
  const auto net = [](Scope& s, const Values& in, Values& out) {
    Tensor* y = op(s, "relu", {any(convolved(s, half(s, in[0].tensor.get()), half(s, in[1].tensor.get())))});
    Tensor* pooled = op(s, "max_pool2d", {any(y), Any::dims(std::vector<int64_t>{2, 2})});
    Tensor* flat = op(s, "flatten", {any(convolved(s, y, half(s, in[1].tensor.get()))), Any::integer(1)});
    out.push(Ref<Tensor>(pooled)), out.push(Ref<Tensor>(op(s, "matmul", {any(flat), any(op(s, "transpose", {any(flat), Any::integer(0), Any::integer(1)}))})));
  };
  const Ref<Tensor> x = on_gpu(random({4, 16, 6, 4}, 1)), w = on_gpu(random({16, 16, 3, 3}, 2));
  auto options = make<CompileOptions>();
  auto last = compile(net, options.get()), first = compile(net, without("channels_last").get());
  const auto got = results(*last, {x.get(), w.get()}, 2), expected = results(*first, {x.get(), w.get()}, 2);
  ASSERT_EQ(got.size(), 2u);
  for (size_t i = 0; i < 2; i++) EXPECT_EQ(battery::difference(got[i], expected[i], 2e-2), "") << "result " << i;
  EXPECT_GT(count_last(*last), 0u);
}

// What concatenates and cuts channels keeps their order.
TEST_F(CudaMemoryFormats, go_through_concatenations_and_slices) {
  const auto net = [](Scope& s, const Values& in, Values& out) {
    Tensor *w = half(s, in[1].tensor.get()), *y = convolved(s, half(s, in[0].tensor.get()), w), *z = op(s, "relu", {any(y)});
    Tensor* const pair[] = {y, z};
    Any both;
    both.kind = ArgKind::values, both.count = 2, both.ts = pair;
    Tensor* cut = op(s, "narrow", {any(op(s, "cat", {both, Any::integer(1)})), Any::integer(1), Any::integer(8), Any::integer(16)});
    out.push(Ref<Tensor>(squares(s, op(s, "add", {any(convolved(s, cut, w)), any(z)}))));
  };
  const Ref<Tensor> x = on_gpu(random({2, 16, 6, 5}, 1)), w = on_gpu(random({16, 16, 3, 3}, 2));
  auto options = make<CompileOptions>();
  auto last = compile(net, options.get()), first = compile(net, without("channels_last").get());
  const auto got = results(*last, {x.get(), w.get()}, 1), expected = results(*first, {x.get(), w.get()}, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(battery::difference(got[0], expected[0], 2e-2), "");
  EXPECT_GE(count_last(*last), 4u) << explain(*last, "channels_last");
}

}  // namespace
}  // namespace thunder::test
