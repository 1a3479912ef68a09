#include "executors/convolution/convolution.h"

#include <array>

#include "executors/convolution/sites.h"
#include "executors/cpu/widened_site.h"
#include "executors/isa/kernels.h"

namespace thunder {
namespace {

struct Row {
  std::string_view op;
  MakeConvolution make;
};
constexpr std::array kRows = {
    Row{"prims.conv2d", convolution_forward},
    Row{"prims.conv2d_input_grad", convolution_input_grad},
    Row{"prims.conv2d_weight_grad", convolution_weight_grad},
};

Status* prepare(const NodeView& view, void** state, size_t* scratch, void* user) {
  const auto& code = *static_cast<const ConvolutionCode*>(user);
  std::unique_ptr<Site> site = row_of(kRows, view).make(code, view, scratch);
  if (!site)
    return make<Status>(Code::declined, "an image with its padding has more elements than offsets count").detach();
  *state = widened_site(std::move(site), code.kernels, view, scratch).release();
  return nullptr;
}

}  // namespace

std::optional<ExecutorDesc> convolution_executor(const Machine& machine) {
  const IsaKernels* kernels = kernels_for(machine.instructions);
  if (!kernels) return std::nullopt;
  const auto code =
      std::make_shared<const ConvolutionCode>(ConvolutionCode{kernels->products, kernels->winograd, machine});
  ExecutorDesc d = site_executor("convolution", kRows, all_tensors_are_floats, prepare, code.get());
  d.owner = code;
  return d;
}

}  // namespace thunder
