// Loads and stores: along the lane axis as vectors, masked at the end, gathered where memory is strided.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

Value* Code::lane_numbers() {
  llvm::SmallVector<llvm::Constant*, 64> numbers;
  for (unsigned i = 0; i < lanes_; i++) numbers.push_back(b_.getInt64(i));
  return llvm::ConstantVector::get(numbers);
}

Code::Offset Code::offset(uint32_t map, Value* more) {
  Offset at{more ? more : b_.getInt64(0)};
  const auto add_lanes = [&](Value* v) { at.vector = at.vector ? b_.CreateAdd(at.vector, v) : v; };
  for (uint32_t a = 0; a < nest_.axes(); a++) {
    Value* stride = strides_[map][a];
    if (!stride) continue;
    const bool by_lane = a == nest_.lane && !(at_.picked & loops::bit(a));
    Value* index = at_.index[a];
    if (is_vector(index)) {
      add_lanes(b_.CreateMul(index, spread(stride)));
      continue;
    }
    at.scalar = b_.CreateAdd(at.scalar, b_.CreateMul(index, stride));
    if (!by_lane) continue;
    if (nest_.maps[map][a] == 1) at.contiguous = true;
    else add_lanes(b_.CreateMul(lane_numbers(), spread(stride)));
  }
  if (at.vector && at.contiguous) {
    add_lanes(lane_numbers());
    at.contiguous = false;
  }
  return at;
}

Value* Code::address(uint32_t buffer, const Offset& at) {
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[buffer]);
  Value* base = b_.CreateGEP(element, buffers_[buffer], at.scalar);
  return at.vector ? b_.CreateGEP(element, base, at.vector) : base;
}

Value* Code::load(const loops::Expr& e) {
  const auto id = static_cast<ExprId>(&e - nest_.exprs.data());
  if (square_ && is_turned(id)) return load_turned(id);
  const Offset at = offset(e.map, more_of(e));
  const DType d = nest_.buffers[e.buffer];
  llvm::Type* element = memory_type(b_.getContext(), d);
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Value* from = address(e.buffer, at);
  if (!at.vector && !at.contiguous) return from_memory(b_, b_.CreateAlignedLoad(element, from, align), d);
  auto* vector = llvm::FixedVectorType::get(element, lanes_);
  Value* all = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), b_.getTrue());
  Value* v;
  if (at.vector) v = b_.CreateMaskedGather(vector, from, align, at_.mask ? at_.mask : all, llvm::Constant::getNullValue(vector));
  else if (at_.mask) v = b_.CreateMaskedLoad(vector, from, align, at_.mask, llvm::Constant::getNullValue(vector));
  else {
    v = b_.CreateAlignedLoad(vector, from, align);
    if (!at_.picked && !apart_) prefetch_next(id, from, lanes_ * align.value());
  }
  return from_memory(b_, v, d);
}

bool Code::is_prefetched(ExprId id) const {
  return std::any_of(nest_.prefetches.begin(), nest_.prefetches.end(), [&](const CpuNest::Prefetch& a) { return a.load == id && a.pass == pass_; });
}

void Code::fetch(Value* at) {
  constexpr uint32_t kRead = 0, kSecondLevel = 2, kData = 1;
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {b_.getPtrTy()}, {at, b_.getInt32(kRead), b_.getInt32(kSecondLevel), b_.getInt32(kData)});
}

// While this row, or this square, is found near, memory gets the next one ready.
void Code::prefetch_next(ExprId id, Value* from, size_t bytes) {
  if (!is_prefetched(id)) return;
  const loops::Expr& e = nest_.exprs[id];
  Value* distance = nest_.blocked ? b_.CreateMul(strides_[e.map][nest_.block_axis()], b_.getInt64(lanes_)) : strides_[e.map][nest_.outer - 1];
  Value* next = b_.CreateGEP(memory_type(b_.getContext(), nest_.buffers[e.buffer]), from, distance);
  for (size_t at = 0; at < bytes; at += kCacheLine) fetch(b_.CreateConstGEP1_64(b_.getInt8Ty(), next, at));
}

Value* Code::position(const loops::Expr& e) {
  const Offset at = offset(e.map, more_of(e));
  Value* v = at.scalar;
  if (at.vector) v = b_.CreateAdd(spread(v), at.vector);
  if (at.contiguous) v = b_.CreateAdd(spread(v), lane_numbers());
  return convert(b_, v, DType::i64, e.dtype);
}

// What is added to the places that maps give: of a part of something, where it begins.
Value* Code::more_of(const loops::Expr& e) const { return offsets_[static_cast<size_t>(&e - nest_.exprs.data())]; }
Value* Code::more_of(const loops::Output& s) const { return store_offsets_[static_cast<size_t>(&s - nest_.stores.data())]; }

void Code::store(const loops::Output& s, Value* value) {
  const Offset at = offset(s.map, more_of(s));
  const DType d = nest_.buffers[s.buffer], from = nest_.exprs[s.value].dtype;
  const bool column = s.kind == loops::OutputKind::column;
  llvm::Type* element = memory_type(b_.getContext(), d);
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Value* to = address(s.buffer, at);
  value = convert(b_, value, from, d);
  if (!at.vector && !at.contiguous) {
    if (is_vector(value)) value = b_.CreateExtractElement(value, uint64_t{0});  // the same in all lanes
    if (column) value = combine(b_, Fn::sum, b_.CreateAlignedLoad(element, to, align), value, d);
    b_.CreateAlignedStore(to_memory(b_, value, d), to, align);
    return;
  }
  value = to_memory(b_, spread(value), d);
  llvm::Type* vector = value->getType();
  Value* all = llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), b_.getTrue());
  Value* mask = at_.mask ? at_.mask : all;
  if (at.vector) {
    if (column) value = combine(b_, Fn::sum, b_.CreateMaskedGather(vector, to, align, mask, llvm::Constant::getNullValue(vector)), value, d);
    b_.CreateMaskedScatter(value, to, align, mask);
  } else if (at_.mask) {
    if (column) value = combine(b_, Fn::sum, b_.CreateMaskedLoad(vector, to, align, mask, llvm::Constant::getNullValue(vector)), value, d);
    b_.CreateMaskedStore(value, to, align, mask);
  } else {
    if (column) value = combine(b_, Fn::sum, b_.CreateAlignedLoad(vector, to, align), value, d);
    store_vector(s, value, to, align);
  }
}

// What is updated in place was read, and is there.
void Code::begin_nontemporal() {
  may_bypass_.assign(nest_.buffers.size(), nullptr);
  for (const loops::Output& s : nest_.stores) {
    if (!nest_.is_nontemporal(s)) continue;
    may_bypass_[s.buffer] = b_.getTrue();
    for (const loops::Expr& e : nest_.exprs)
      if (e.fn == Fn::load) may_bypass_[s.buffer] = b_.CreateAnd(may_bypass_[s.buffer], b_.CreateICmpNE(buffers_[e.buffer], buffers_[s.buffer]));
  }
}

// Before another thread is told, lines stored past the caches must have arrived; x86 orders them with nothing else.
void Code::end_nontemporal() {
  const bool any = nest_.any_nontemporal();
  if (any && llvm::Triple(function_->getParent()->getTargetTriple()).isX86()) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

void Code::store_vector(const loops::Output& s, Value* value, Value* to, llvm::Align align) {
  const uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  if (!nest_.is_nontemporal(s) || bytes % kCacheLine) {
    b_.CreateAlignedStore(value, to, align);
    return;
  }
  Value* within = b_.CreateAnd(b_.CreatePtrToInt(to, b_.getInt64Ty()), b_.getInt64(kCacheLine - 1));
  branch(b_.CreateAnd(may_bypass_[s.buffer], b_.CreateICmpEQ(within, b_.getInt64(0))), [&] {
    auto* past = llvm::MDNode::get(b_.getContext(), llvm::ConstantAsMetadata::get(b_.getInt32(1)));
    b_.CreateAlignedStore(value, to, llvm::Align(kCacheLine))->setMetadata(llvm::LLVMContext::MD_nontemporal, past);
  }, [&] { b_.CreateAlignedStore(value, to, align); });
}

}  // namespace thunder::codegen
