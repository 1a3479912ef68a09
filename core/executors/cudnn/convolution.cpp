#include "executors/cudnn/convolution.h"

#include "ops/pair.h"
#include "tensor/transfer.h"

namespace thunder::cudnn {
namespace {

using Four = std::array<int64_t, 4>;

size_t aligned_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

Four sizes_of(const Buffer& b) { return {b.shape[0], b.shape[1], b.shape[2], b.shape[3]}; }

// Strides of dense memory in which the dims of `order` follow each other, the innermost last.
Four dense_in(const Four& sizes, const std::array<size_t, 4>& order) {
  Four out{};
  int64_t stride = 1;
  for (size_t i = 4; i-- > 0; stride *= sizes[order[i]]) out[order[i]] = stride;
  return out;
}

// Whether a buffer lies so; strides of dims of one element do not matter.
bool lies(const Buffer& b, const Four& strides) {
  for (size_t d = 0; d < 4; d++)
    if (b.shape[d] != 1 && b.strides[d] != strides[d]) return false;
  return true;
}

// As it lies, if it is dense with channels first or last; `packed`: neither, it is copied to channels first.
Layout layout_of(const Buffer& b, bool& packed) {
  const Four sizes = sizes_of(b), first = dense_in(sizes, {0, 1, 2, 3}), last = dense_in(sizes, {0, 2, 3, 1});
  packed = !lies(b, first) && !lies(b, last);
  return {sizes, packed || lies(b, first) ? first : last};
}

Kind operation_of(std::string_view op) {
  return op == "prims.conv2d" ? kForward : op == "prims.conv2d_input_grad" ? kBackwardData : kBackwardFilter;
}

}  // namespace

// A gradient's window follows the size of its result.
Window::Window(const Node& node) : operation(operation_of(node.op->name())) {
  const size_t first = operation == kForward ? 2 : 3;
  stride = pair_of(node.args[first]), padding = pair_of(node.args[first + 1]), dilation = pair_of(node.args[first + 2]);
}

Convolution::Convolution(Session& session, const Window& window, std::span<const Buffer> inputs, const Buffer& output, bool aligned)
    : session_(session) {
  Problem p{};
  p.operation = window.operation, p.stride = window.stride, p.padding = window.padding, p.dilation = window.dilation;
  role_of_input_ = p.operation == kForward ? std::array{image, filter} : p.operation == kBackwardData ? std::array{result, filter} : std::array{result, image};
  role_of_output_ = p.operation == kForward ? result : p.operation == kBackwardData ? image : filter;
  Layout* const layouts[] = {&p.filter, &p.image, &p.result};
  for (size_t i = 0; i < 2; i++) {
    bool packed = false;
    *layouts[role_of_input_[i]] = layout_of(inputs[i], packed);
    if (packed) packed_bytes_[i] = aligned_up(static_cast<size_t>(inputs[i].elements()) * size_of(inputs[i].dtype));
    packed_strides_[i] = layouts[role_of_input_[i]]->strides;
  }
  bool packed = false;
  *layouts[role_of_output_] = layout_of(output, packed);
  ensure(!packed, "a convolution's result is dense");
  if (!inputs[0].elements() || !inputs[1].elements() || !output.elements()) return;
  p.dtype = output.dtype;
  p.alignment = aligned ? kAlignment : static_cast<int64_t>(size_of(p.dtype));
  if (Status* failed = session.device().enter()) throw Error(Ref<Status>::adopt(failed));
  plan_ = session.plan(p.key(), [&] { return std::make_shared<const Plan>(session, p); });
  workspace_bytes_ = aligned_up(plan_->workspace_bytes());
}

Status* Convolution::run(std::span<const Buffer> inputs, const Buffer& output, void* scratch) const {
  if (!output.elements()) return nullptr;
  if (Status* failed = session_.device().enter()) return failed;
  if (!plan_) return session_.device().fill_with_zeros(output.data, static_cast<size_t>(output.elements()) * size_of(output.dtype));
  const auto address = reinterpret_cast<uintptr_t>(scratch);
  std::byte* const workspace = static_cast<std::byte*>(scratch) + (kScratchAlign - address % kScratchAlign) % kScratchAlign;
  std::byte* free = workspace + workspace_bytes_;
  std::array<void*, 3> pointers{};
  for (size_t i = 0; i < 2; i++) {
    pointers[role_of_input_[i]] = inputs[i].data;
    if (!packed_bytes_[i]) continue;
    Buffer dense = inputs[i];
    dense.data = free, dense.strides = packed_strides_[i].data();
    if (Status* failed = copy_on_device(session_.device(), inputs[i], dense)) return failed;
    pointers[role_of_input_[i]] = free;
    free += packed_bytes_[i];
  }
  pointers[role_of_output_] = output.data;
  std::lock_guard lock(session_.mutex());
  return plan_->run(session_, pointers[filter], pointers[image], pointers[result], workspace);
}

}  // namespace thunder::cudnn
