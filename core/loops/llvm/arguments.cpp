#include "loops/llvm/arguments.h"

#include <algorithm>

namespace thunder::codegen {

using llvm::Value;
using loops::StrideKind;

namespace {

Value* parameter(Builder& b, llvm::Function* function, size_t index) {
  auto* load = b.CreateLoad(b.getInt64Ty(), b.CreateConstGEP1_64(b.getInt64Ty(), function->getArg(1), index));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

}  // namespace

Arguments::Arguments(Builder& b, const CpuNest& nest, llvm::Function* function) {
  size_t next = 0;
  const auto read = [&] { return parameter(b, function, next++); };
  for (size_t i = 0; i < nest.buffers.size(); i++)
    buffers.push_back(b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getPtrTy(), function->getArg(0), i)));
  for (uint32_t a = 0; a < nest.axes(); a++) extents.push_back(read());
  for (const loops::Map& map : nest.maps) {
    strides.emplace_back();
    for (int64_t stride : map) {
      const StrideKind kind = loops::stride_kind(stride);
      strides.back().push_back(kind == StrideKind::none ? nullptr : kind == StrideKind::unit ? b.getInt64(1) : read());
    }
  }
  offsets.assign(nest.exprs.size(), nullptr);
  for (size_t i = 0; i < nest.exprs.size(); i++)
    if (has_parameter(nest.exprs[i])) offsets[i] = read();
  for (const loops::Output& s : nest.stores) store_offsets.push_back(s.offset ? read() : nullptr);
  for (uint32_t a = 0; a < nest.axes(); a++) {
    cuts.push_back(nest.cuts(a));
    cut_at.emplace_back();
    for (size_t i = 0; i < cuts[a].size(); i++) cut_at[a].push_back(read());
  }
  strip = read();
  block = read();
  begin = function->getArg(2), end = function->getArg(3), index_error = function->getArg(4);
}

Value* Arguments::cut(uint32_t axis, int64_t at) const {
  const auto found = std::find(cuts[axis].begin(), cuts[axis].end(), at);
  return cut_at[axis][static_cast<size_t>(found - cuts[axis].begin())];
}

}  // namespace thunder::codegen
