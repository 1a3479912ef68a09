// The text of tensors on a device: that of the host's, of which no more is copied than what is shown.
#include "cuda/cuda.h"
#include "tensor/print.h"

namespace thunder::test {
namespace {

using CudaPrint = CudaTest;

std::string with_device(std::string text) { return text.insert(text.size() - 1, ", device='cuda:0'"); }

TEST_F(CudaPrint, names_the_device) {
  EXPECT_EQ(print(*on_gpu(tensor({2}, {1, 2.5}))), "tensor([1.0000, 2.5000], device='cuda:0')");
}

TEST_F(CudaPrint, summarizes_a_strided_view_as_on_the_host) {
  const Ref<Tensor> x = random({60, 40}, 2), there = on_gpu(x);
  TensorType turned = x->type();
  turned.shape = {40, 30};
  const auto view = [&](const Ref<Tensor>& of) {
    TensorType type = turned;
    type.device = of->type().device;
    return Tensor::view(of->storage(), type, Sizes{1, 80}, 8);
  };
  EXPECT_EQ(print(*view(there), {.precision = 2}), with_device(print(*view(x), {.precision = 2})));
}

}  // namespace
}  // namespace thunder::test
