#include "executors/cpu/executors.h"

#include <array>

#include "executors/convolution/ops.h"
#include "executors/cpu/widened_op.h"
#include "executors/isa/kernels.h"

namespace thunder {
namespace {

struct Row {
  std::string_view op;
  PrepareConvolution make;
};
constexpr std::array kRows = {
    Row{"prims.conv2d", prepare_convolution},
    Row{"prims.conv2d_input_grad", prepare_convolution_input_grad},
    Row{"prims.conv2d_weight_grad", prepare_convolution_weight_grad},
};

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  const auto& code = *static_cast<const ConvolutionCode*>(user);
  PreparedOpPtr op = row_of(kRows, view).make(code, view, scratch);
  if (!op)
    return make<Status>(Code::declined, "an image with its padding has more elements than 32-bit offsets can count")
        .detach();
  *state = widened_op(std::move(op), code.kernels, view, scratch).release();
  return nullptr;
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
