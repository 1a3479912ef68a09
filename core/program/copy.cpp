#include "program/copy.h"

#include <algorithm>

#include "tensor/transfer.h"

namespace thunder {

// Parallel over parts of the first axis, long enough for the blocked transpose of copy_strided.
Status* run_copy(const Launch* l, void*) {
  constexpr int64_t kPart = 64, kFew = 1 << 15;
  const Buffer& to = l->outputs[0];
  const int64_t parts = to.rank ? (to.shape[0] + kPart - 1) / kPart : 1;
  const auto some = [](int64_t begin, int64_t end, void* arg) -> Status* {
    const auto& launch = *static_cast<const Launch*>(arg);
    Buffer from = launch.inputs[0], to = launch.outputs[0];
    if (to.rank == 0) return copy_strided(from, to), nullptr;
    const int64_t first = begin * kPart;
    Sizes shape(to.shape, to.shape + to.rank);
    shape[0] = std::min(end * kPart, shape[0]) - first;
    for (Buffer* b : {&from, &to})
      b->shape = shape.data(),
      b->data = b->as<std::byte>() + first * b->strides[0] * static_cast<int64_t>(size_of(b->dtype));
    copy_strided(from, to);
    return nullptr;
  };
  const int64_t each = to.elements() / std::max<int64_t>(1, parts);
  return l->parallel_for(l, parts, 1 + kFew / std::max<int64_t>(1, each), some, const_cast<Launch*>(l));
}

Status* run_copy_on_device(const Launch* l, void* state) {
  return copy_on_device(*static_cast<Accelerator*>(state), l->inputs[0], l->outputs[0]);
}

}  // namespace thunder
