#include "loops/llvm/memory.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>

namespace thunder::codegen {

using llvm::Value;

Memory::Offset Memory::offset(const Cursor& at, uint32_t map, Value* base) {
  Offset out{base ? base : b_.getInt64(0)};
  const auto add_lanes = [&](Value* v) { out.vector = out.vector ? b_.CreateAdd(out.vector, v) : v; };
  for (uint32_t a = 0; a < nest_.axes(); a++) {
    Value* stride = k_.args.strides[map][a];
    if (!stride) continue;
    const bool by_lane = a == nest_.lane && !(at.gathered & loops::axis_bit(a));
    Value* index = at.index[a];
    if (is_vector(index)) {
      add_lanes(b_.CreateMul(index, k_.broadcast(stride, at.lanes)));
      continue;
    }
    out.scalar = b_.CreateAdd(out.scalar, b_.CreateMul(index, stride));
    if (!by_lane) continue;
    if (nest_.maps[map][a] == 1) out.contiguous = true;
    else add_lanes(b_.CreateMul(k_.lane_numbers(at.lanes), k_.broadcast(stride, at.lanes)));
  }
  if (out.vector && out.contiguous) {
    add_lanes(k_.lane_numbers(at.lanes));
    out.contiguous = false;
  }
  return out;
}

Value* Memory::address(uint32_t buffer, const Offset& at) {
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[buffer]);
  Value* base = b_.CreateGEP(element, k_.args.buffers[buffer], at.scalar);
  return at.vector ? b_.CreateGEP(element, base, at.vector) : base;
}

Value* Memory::load(const Cursor& at, const loops::Expr& e) {
  const auto id = static_cast<ExprId>(&e - nest_.exprs.data());
  const Offset place = offset(at, e.map, base_offset(e));
  const DType d = nest_.buffers[e.buffer];
  llvm::Type* element = memory_type(b_.getContext(), d);
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Value* from = address(e.buffer, place);
  if (!place.vector && !place.contiguous) return from_memory(b_, b_.CreateAlignedLoad(element, from, align), d);
  auto* vector = k_.vector_of(element, at.lanes);
  Value* all = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(at.lanes), b_.getTrue());
  Value* nothing = llvm::Constant::getNullValue(vector);
  Value* v;
  if (place.vector) v = b_.CreateMaskedGather(vector, from, align, at.mask ? at.mask : all, nothing);
  else if (at.mask) v = b_.CreateMaskedLoad(vector, from, align, at.mask, nothing);
  else {
    v = b_.CreateAlignedLoad(vector, from, align);
    if (!at.gathered && !at.conditional) prefetch_next(at, id, from, at.lanes * align.value());
  }
  return from_memory(b_, v, d);
}

bool Memory::is_prefetched(const Cursor& at, ExprId id) const {
  const auto is_it = [&](const loops::Prefetch& p) { return p.load == id && p.pass == at.pass(); };
  return std::any_of(nest_.prefetches.begin(), nest_.prefetches.end(), is_it);
}

void Memory::prefetch(Value* address) {
  constexpr uint32_t kRead = 0, kSecondLevel = 2, kData = 1;
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()},
                     {address, b_.getInt32(kRead), b_.getInt32(kSecondLevel), b_.getInt32(kData)});
}

// Prefetches the element of the next row, or of the next tile, that corresponds to the one being loaded.
void Memory::prefetch_next(const Cursor& at, ExprId id, Value* from, size_t bytes) {
  if (!is_prefetched(at, id)) return;
  const loops::Expr& e = nest_.exprs[id];
  const auto& strides = k_.args.strides[e.map];
  Value* distance =
      nest_.blocked ? b_.CreateMul(strides[nest_.block_axis()], b_.getInt64(at.lanes)) : strides[nest_.outer - 1];
  Value* next = b_.CreateGEP(memory_type(b_.getContext(), nest_.buffers[e.buffer]), from, distance);
  for (size_t byte = 0; byte < bytes; byte += kCacheLine) prefetch(b_.CreateConstGEP1_64(b_.getInt8Ty(), next, byte));
}

Value* Memory::iota(const Cursor& at, const loops::Expr& e) {
  const Offset place = offset(at, e.map, base_offset(e));
  Value* v = place.scalar;
  if (place.vector) v = b_.CreateAdd(k_.broadcast(v, at.lanes), place.vector);
  if (place.contiguous) v = b_.CreateAdd(k_.broadcast(v, at.lanes), k_.lane_numbers(at.lanes));
  return convert(b_, v, DType::i64, e.dtype);
}

void Memory::store(const Cursor& at, const loops::Output& s, Value* value) {
  const Offset place = offset(at, s.map, base_offset(s));
  const DType d = nest_.buffers[s.buffer], from = nest_.exprs[s.value].dtype;
  const bool column = s.kind == loops::OutputKind::column;
  llvm::Type* element = memory_type(b_.getContext(), d);
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Value* to = address(s.buffer, place);
  value = convert(b_, value, from, d);
  if (!place.vector && !place.contiguous) {
    if (is_vector(value)) value = b_.CreateExtractElement(value, uint64_t{0});  // the lanes are equal
    if (column) value = combine(b_, Fn::sum, b_.CreateAlignedLoad(element, to, align), value, d);
    b_.CreateAlignedStore(to_memory(b_, value, d), to, align);
    return;
  }
  value = to_memory(b_, k_.broadcast(value, at.lanes), d);
  llvm::Type* vector = value->getType();
  Value* all = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(at.lanes), b_.getTrue());
  Value *mask = at.mask ? at.mask : all, *nothing = llvm::Constant::getNullValue(vector);
  if (place.vector) {
    if (column) value = combine(b_, Fn::sum, b_.CreateMaskedGather(vector, to, align, mask, nothing), value, d);
    b_.CreateMaskedScatter(value, to, align, mask);
  } else if (at.mask) {
    if (column) value = combine(b_, Fn::sum, b_.CreateMaskedLoad(vector, to, align, mask, nothing), value, d);
    b_.CreateMaskedStore(value, to, align, mask);
  } else {
    if (column) value = combine(b_, Fn::sum, b_.CreateAlignedLoad(vector, to, align), value, d);
    store_vector(s, value, to, align);
  }
}

// An output that is updated in place has been loaded, so that its line is in the cache: it is stored normally.
void Memory::begin_nontemporal() {
  may_store_nontemporally_.assign(nest_.buffers.size(), nullptr);
  for (const loops::Output& s : nest_.stores) {
    if (!nest_.is_nontemporal(s)) continue;
    Value*& may = may_store_nontemporally_[s.buffer];
    may = b_.getTrue();
    for (const loops::Expr& e : nest_.exprs)
      if (e.fn == Fn::load)
        may = b_.CreateAnd(may, b_.CreateICmpNE(k_.args.buffers[e.buffer], k_.args.buffers[s.buffer]));
  }
}

// Non-temporal stores must be visible before another thread is notified; on x86 only a fence orders them.
void Memory::end_nontemporal() {
  const bool x86 = llvm::Triple(k_.function->getParent()->getTargetTriple()).isX86();
  if (nest_.any_nontemporal() && x86) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

void Memory::store_vector(const loops::Output& s, Value* value, Value* to, llvm::Align align) {
  const uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  if (!nest_.is_nontemporal(s) || bytes % kCacheLine) {
    b_.CreateAlignedStore(value, to, align);
    return;
  }
  Value* within = b_.CreateAnd(b_.CreatePtrToInt(to, b_.getInt64Ty()), b_.getInt64(kCacheLine - 1));
  k_.emit_branch(b_.CreateAnd(may_store_nontemporally_[s.buffer], b_.CreateICmpEQ(within, b_.getInt64(0))), [&] {
    auto* past = llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt32(1)));
    b_.CreateAlignedStore(value, to, llvm::Align(kCacheLine))->setMetadata(llvm::LLVMContext::MD_nontemporal, past);
  }, [&] { b_.CreateAlignedStore(value, to, align); });
}

}  // namespace thunder::codegen
