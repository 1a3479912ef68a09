#include "onnx/windows.h"

#include <algorithm>

#include "base/text.h"

namespace thunder::onnx {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

std::vector<int64_t> read_dims_attribute(Node& n, const char* name, size_t dims, int64_t otherwise, int64_t least) {
  std::vector<int64_t> list = n.integers(name);
  if (list.empty()) list.assign(dims, otherwise);
  n.require(list.size() == dims, "its attribute '", name, "' has ", list.size(), " numbers, ", dims, " are needed");
  for (int64_t i : list) n.require(i >= least && i < kLargest, "its attribute '", name, "' has ", i);
  return list;
}

}  // namespace

bool Windows::has_padding() const {
  const auto some = [](auto& list) { return std::any_of(list.begin(), list.end(), [](int64_t p) { return p != 0; }); };
  return some(begin) || some(end);
}

Windows windows_of(Node& n, const Shape& input, std::vector<int64_t> kernel) {
  n.require(input.size() >= 3, "its input is of rank ", input.size(), "; it needs a batch, channels and other dims");
  const size_t dims = input.size() - 2;
  Windows w;
  w.kernel = n.integers("kernel_shape");
  if (w.kernel.empty()) w.kernel = kernel;
  n.require(w.kernel.size() == dims, "its attribute 'kernel_shape' has ", w.kernel.size(), " numbers, ", dims,
            " are needed");
  n.require(kernel.empty() || w.kernel == kernel, "its attribute 'kernel_shape' is not the shape of the kernel");
  for (int64_t k : w.kernel) n.require(k >= 1 && k < kLargest, "its kernel has a size of ", k);
  w.strides = read_dims_attribute(n, "strides", dims, 1, 1);
  w.dilations = read_dims_attribute(n, "dilations", dims, 1, 1);
  const std::string_view automatic = n.text("auto_pad", "NOTSET");
  std::vector<int64_t> pads = n.integers("pads");
  if (automatic != "NOTSET" || pads.empty()) pads.assign(2 * dims, 0);
  n.require(pads.size() == 2 * dims, "its attribute 'pads' has ", pads.size(), " numbers, ", 2 * dims, " are needed");
  for (int64_t p : pads) n.require(p >= 0 && p < kLargest, "its attribute 'pads' has ", p);
  w.begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(dims));
  w.end.assign(pads.begin() + static_cast<ptrdiff_t>(dims), pads.end());
  if (automatic == "NOTSET" || automatic == "VALID") return w;
  n.require(automatic == "SAME_UPPER" || automatic == "SAME_LOWER", "its attribute 'auto_pad' is '",
            automatic.substr(0, 40), "'");
  for (size_t d = 0; d < dims; d++) {
    // With a stride of 1 the padding does not depend on the size.
    int64_t missing = w.extent(d) - 1;
    if (w.strides[d] != 1) {
      const int64_t size = hint(input[d + 2]), outputs = (size + w.strides[d] - 1) / w.strides[d];
      missing = std::max<int64_t>(0, (outputs - 1) * w.strides[d] + w.extent(d) - size);
    }
    w.begin[d] = automatic == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
    w.end[d] = missing - w.begin[d];
  }
  return w;
}

Tensor* pad_tensor(Node& n, Tensor* x, std::span<const int64_t> begin, std::span<const int64_t> end, double value) {
  std::vector<int64_t> pads;  // from the last dim on
  for (size_t d = begin.size(); d-- > 0;) pads.push_back(begin[d]), pads.push_back(end[d]);
  return n.op("pad", {x, pads, "constant", value});
}

std::string op_name_with_dims(std::string_view op, size_t dims) {
  return cat(op, dims, "d");
}

}  // namespace thunder::onnx
