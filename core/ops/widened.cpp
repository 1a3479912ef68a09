#include "ops/widened.h"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "base/text.h"
#include "ops/convert_elements.h"
#include "ops/kernels.h"

namespace thunder {
namespace {

// Buffers of a call, the narrow ones exchanged for dense ones of the wider type.
class Widened {
 public:
  // False: there is not enough memory.
  bool add(std::span<const Buffer> given, bool inputs) {
    for (const Buffer& b : given) {
      buffers.push_back(b);
      if (!b.present() || kernel_dtype(b.dtype) == b.dtype) continue;
      if (!widen(buffers.back())) return false;
      if (inputs) convert_elements(b, buffers.back());
    }
    return true;
  }
  std::vector<Buffer> buffers;

 private:
  bool widen(Buffer& b) {
    b.dtype = kernel_dtype(b.dtype);
    const auto rank = static_cast<size_t>(b.rank);
    Sizes& strides = *strides_.emplace_back(std::make_unique<Sizes>(rank, 0));
    int64_t step = 1;
    for (size_t i = rank; i-- > 0; step *= std::max<int64_t>(1, b.shape[i])) strides[i] = step;
    const auto bytes = static_cast<size_t>(b.elements()) * size_of(b.dtype);
    auto& memory = memory_.emplace_back(new (std::nothrow) std::byte[std::max<size_t>(1, bytes)]);
    b.data = memory.get(), b.strides = strides.data();
    return memory != nullptr;
  }

  std::vector<std::unique_ptr<std::byte[]>> memory_;
  std::vector<std::unique_ptr<Sizes>> strides_;
};

Status* run_widened(const OpDef& op, const KernelArgs& k) {
  Widened in, out;
  if (!in.add(k.in, true) || !out.add(k.out, false))
    return make<Status>(Code::out_of_memory, cat(op.name(), ": no memory to widen its operands in")).detach();
  if (Status* failed = op.reference({in.buffers, out.buffers, k.args, &op, k.threads})) return failed;
  for (size_t i = 0; i < k.out.size(); i++)
    if (out.buffers[i].dtype != k.out[i].dtype) convert_elements(out.buffers[i], k.out[i]);
  return nullptr;
}

}  // namespace

DType kernel_dtype(DType d) {
  const DTypeInfo& row = info(d);
  if (row.category != Category::integer || d == DType::u8 || row.size == 8) return d;
  return d == DType::u32 ? DType::i64 : DType::i32;
}

Status* run_reference(const OpDef& op, const KernelArgs& k) {
  const auto narrow = [](const Buffer& b) { return b.present() && kernel_dtype(b.dtype) != b.dtype; };
  const bool widens = op.widens && (std::any_of(k.in.begin(), k.in.end(), narrow) ||
                                    std::any_of(k.out.begin(), k.out.end(), narrow));
  return widens ? run_widened(op, k) : op.reference({k.in, k.out, k.args, &op, k.threads});
}

}  // namespace thunder
