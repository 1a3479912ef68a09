// float16 and narrow integers on a CUDA device: products, convolutions, attention and kernels of ours against the CPU's.
#include "cuda/cuda.h"

namespace thunder::test {
namespace {

struct CudaNarrow : CudaTest {
  using Body = std::function<Tensor*(Scope&, const std::vector<Tensor*>&)>;
  // The same function of inputs that are converted to the dtype, on both devices.
  void agrees(DType dtype, const std::vector<std::vector<int64_t>>& shapes, float most, float apart, const Body& body) {
    const auto whole = [&](Scope& s, const Values& in, Values& out) {
      std::vector<Tensor*> narrow;
      for (size_t i = 0; i < shapes.size(); i++) narrow.push_back(op(s, "to", {any(in[i].tensor), as(dtype)}));
      out.push(Ref<Tensor>(op(s, "to", {any(body(s, narrow)), as(DType::f32)})));
    };
    std::vector<Ref<Tensor>> kept;
    std::vector<Tensor*> on_cpu, on_device;
    for (const auto& shape : shapes) {
      kept.push_back(random(shape, static_cast<uint32_t>(kept.size()) + 1, -most, most)), on_cpu.push_back(kept.back().get());
      kept.push_back(on_gpu(kept.back())), on_device.push_back(kept.back().get());
    }
    const Ref<Tensor> expected = result(*compile(whole), on_cpu);
    ASSERT_TRUE(expected) << error;
    const Floats want = data(*expected), got = run(*compile(whole), on_device);
    ASSERT_EQ(got.size(), want.size()) << error;
    for (size_t i = 0; i < want.size(); i++) ASSERT_NEAR(got[i], want[i], apart) << name(dtype) << ", element " << i;
  }
};

TEST_F(CudaNarrow, products_of_f16_are_summed_in_f32) {
  agrees(DType::f16, {{64, 96}, {96, 32}}, 2, 0.05F, [](Scope& s, const std::vector<Tensor*>& in) {
    return op(s, "matmul", {any(in[0]), any(in[1])});
  });
  agrees(DType::f16, {{64, 96}, {32, 96}, {32}}, 2, 0.05F, [](Scope& s, const std::vector<Tensor*>& in) {
    return op(s, "linear", {any(in[0]), any(in[1]), any(in[2])});
  });
}

TEST_F(CudaNarrow, convolutions_and_attention_of_f16_are_cudnns) {
  agrees(DType::f16, {{2, 8, 10, 10}, {16, 8, 3, 3}}, 1, 0.05F, [](Scope& s, const std::vector<Tensor*>& in) {
    return op(s, "conv2d", {any(in[0]), any(in[1])});
  });
  agrees(DType::f16, {{2, 4, 32, 64}, {2, 4, 32, 64}, {2, 4, 32, 64}}, 1, 0.01F, [](Scope& s, const std::vector<Tensor*>& in) {
    return op(s, "scaled_dot_product_attention", {any(in[0]), any(in[1]), any(in[2]), Any(), Any::real(0), Any::boolean(true)});
  });
}

TEST_F(CudaNarrow, kernels_compute_f16_in_f32_and_round_once) {
  for (const char* name : {"gelu", "exp", "tanh"})
    agrees(DType::f16, {{1000}}, 3, 0.02F, [&](Scope& s, const std::vector<Tensor*>& in) { return op(s, name, {any(in[0])}); });
  agrees(DType::f16, {{64, 96}}, 3, 0.002F, [](Scope& s, const std::vector<Tensor*>& in) {
    return op(s, "softmax", {any(in[0]), Any::integer(1)});
  });
  agrees(DType::f16, {{64, 96}}, 3, 0.05F, [](Scope& s, const std::vector<Tensor*>& in) { return op(s, "sum", {any(in[0])}); });
}

TEST_F(CudaNarrow, integers_wrap_around) {
  constexpr float most = 100;
  for (DType dtype : {DType::i8, DType::i16}) {
    agrees(dtype, {{1000}, {1000}}, most, 0, [](Scope& s, const std::vector<Tensor*>& in) {
      return op(s, "add", {any(op(s, "mul", {any(in[0]), any(in[1])})), any(in[0])});
    });
    agrees(dtype, {{16, 24}, {24, 8}}, most, 0, [](Scope& s, const std::vector<Tensor*>& in) {
      return op(s, "matmul", {any(in[0]), any(in[1])});
    });
    agrees(dtype, {{64, 96}}, most, 0, [](Scope& s, const std::vector<Tensor*>& in) {
      return op(s, "amax", {any(in[0]), Any::integer(1)});
    });
  }
}

}  // namespace
}  // namespace thunder::test
