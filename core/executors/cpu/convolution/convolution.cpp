#include "executors/cpu/executors.h"

#include <array>

#include "executors/cpu/convolution/ops.h"
#include "executors/cpu/widened_kernel.h"
#include "executors/cpu/isa/kernels.h"
#include "ir/prim.h"

namespace thunder {
namespace {

struct Row {
  std::string_view op;
  PrepareConvolution make;
};
constexpr std::array kRows = {
    Row{name(Prim::conv2d), prepare_convolution},
    Row{name(Prim::conv2d_input_grad), prepare_convolution_input_grad},
    Row{name(Prim::conv2d_weight_grad), prepare_convolution_weight_grad},
};

KernelPtr prepare(const NodeView& view, void* user) {
  const auto& code = *static_cast<const ConvolutionCode*>(user);
  KernelPtr made = find_row(kRows, view).make(code, view);
  if (!made) fail(Code::declined, "an image with its padding has more elements than 32-bit offsets can count");
  return widened_kernel(std::move(made), code.kernels, view);
}

}  // namespace

std::optional<ExecutorDesc> convolution_executor(const Machine& machine) {
  const IsaKernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  const auto code =
      std::make_shared<const ConvolutionCode>(ConvolutionCode{kernels->products, kernels->winograd, machine});
  ExecutorDesc d = table_executor("convolution", kRows, all_tensors_are_floats, prepare, code.get());
  d.owner = code;
  return d;
}

}  // namespace thunder
