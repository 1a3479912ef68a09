#include "ops/place_view.h"

#include <algorithm>

#include "tensor/tensor.h"

namespace thunder {

bool place_view(const OpDef& op, std::span<const int64_t> sizes, std::span<const Arg> args, std::span<const int64_t> to,
                ViewOf& view) {
  if (std::find(to.begin(), to.end(), 0) == to.end()) return op.view(sizes, args, to, view);
  view.strides = dense_strides(to);
  return true;
}

}  // namespace thunder
