// The text of a tensor, as PyTorch prints it.
#pragma once

#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace thunder {

// The options of torch.set_printoptions, with its defaults.
struct TensorPrintOptions {
  int64_t precision = 4;     // digits behind the point
  int64_t threshold = 1000;  // tensors of more elements are summarized
  int64_t edgeitems = 3;     // what is shown then of each end of a dim
  int64_t linewidth = 80;    // where lines are broken
  std::optional<bool> sci_mode = {};  // scientific notation; none: as the elements' range asks for it
};

// torch's profiles: "default", "short" and "full", which leave sci_mode open. None: there is no such profile.
std::optional<TensorPrintOptions> print_profile(std::string_view name);

// "tensor([1., 2.], dtype=thunder.float64)". Elements of other devices are copied to the host, of a summarized tensor
// those that are shown. A proxy shows its shape. Throws the failure of a failed one.
std::string print(const Tensor& t, const TensorPrintOptions& options = {});

}  // namespace thunder
