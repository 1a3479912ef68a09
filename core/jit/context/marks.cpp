#include "jit/context/marks.h"

#include "base/text.h"
#include "ir/shape.h"

namespace thunder {

std::vector<Ref<Tensor>> SizeMarks::remove_unused() {
  std::vector<Ref<Tensor>> out;
  for (auto it = marked_.begin(); it != marked_.end();) {
    if (!it->second.tensor->unique()) {
      ++it;
      continue;
    }
    out.push_back(std::move(it->second.tensor));
    it = marked_.erase(it);
  }
  return out;
}

void SizeMarks::mark(const Ref<Tensor>& tensor, int64_t dim, SizeMark mark) {
  require(tensor->concrete(), "sizes are marked of tensors with data, outside of the functions that are traced");
  const TensorType& type = tensor->type();
  const auto rank = static_cast<int64_t>(type.rank());
  require(dim >= -rank && dim < rank, "dim ", dim, " is not one of ", name(type));
  const auto at = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  const int64_t size = tensor->sizes()[at];
  require(mark.min >= 0 && mark.min <= mark.max, "min ", mark.min, " and max ", mark.max, " leave no size");
  require(mark.kind == SizeMark::Kind::fixed || (size >= mark.min && size <= mark.max), "dim ", dim, " of ", name(type),
          " is not between min ", mark.min, " and max ", mark.max);
  std::vector<Ref<Tensor>> gone;
  std::lock_guard lock(mutex_);
  gone = remove_unused();
  Marked& m = marked_[tensor.get()];
  m.tensor = tensor;
  m.dims.resize(type.rank());
  m.dims[at] = mark;
}

std::vector<SizeMark> SizeMarks::marks_of(const Tensor& tensor) {
  std::vector<Ref<Tensor>> gone;
  std::lock_guard lock(mutex_);
  gone = remove_unused();
  const auto it = marked_.find(&tensor);
  return it == marked_.end() ? std::vector<SizeMark>() : it->second.dims;
}

}  // namespace thunder
