#include "loops/llvm/lane_loops.h"

#include <algorithm>

namespace thunder::codegen {

using llvm::Value;
using loops::Output;
using loops::OutputKind;

namespace {

constexpr unsigned kMinLanes = 4;

bool has_scan(const CpuNest& nest) {
  return std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const loops::Expr& e) { return e.fn == Fn::cumsum; });
}

}  // namespace

// Emits a loop for each interval between cuts of the axis, in which the operands of selects are known.
void LaneLoops::emit(const Cursor& at, const Body& body) {
  const auto& cuts = k_.args.cut_at[nest_.lane];
  Value* begin = at.lane_begin;
  for (size_t i = 0; i <= cuts.size(); i++) {
    Value* end = at.lane_end;
    if (i < cuts.size()) {
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, cuts[i], at.lane_end);
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, begin);
    }
    Cursor inside = at;
    inside.interval = i;
    emit_interval(inside, begin, end, body);
    begin = end;
  }
}

// Peeling aligns vectors to the cache lines of one buffer: of one that is stored non-temporally, otherwise of one that
// is stored, otherwise of one that is loaded. There is no peeling if each lane is another row, since their addresses
// are unrelated; if scans carry whole vectors; or if columns are summed, whose accumulators are aligned already.
void LaneLoops::choose_aligned_buffer(const std::vector<const Output*>& stores) {
  aligned_.reset();
  if (loops::has_whole_vectors_only(nest_) || loops::has_short_lanes(nest_) || nest_.lane_is_outer() || nest_.blocked ||
      software_pipelined_ || has_scan(nest_))
    return;
  const auto choose = [&](const auto& wanted) {
    for (const Output* s : stores)
      if (!aligned_ && wanted(*s)) aligned_ = {s->buffer, s->map, memory_.base_offset(*s)};
  };
  choose([this](const Output& s) { return nest_.is_nontemporal(s); });
  const bool columns =
      std::any_of(stores.begin(), stores.end(), [](const Output* s) { return s->kind == OutputKind::column; });
  if (!k_.has_cache_line_registers() || columns) return;
  const auto is_row_of_many = [this](uint32_t map) {
    bool many = false;
    for (uint32_t a = 0; a < nest_.outer; a++) many |= nest_.maps[map][a] != 0;
    return many && nest_.maps[map][nest_.lane] == 1;
  };
  choose([&](const Output& s) { return s.kind == OutputKind::each && is_row_of_many(s.map); });
  for (const loops::Expr& e : nest_.exprs)
    if (!aligned_ && e.fn == Fn::load && is_row_of_many(e.map)) aligned_ = {e.buffer, e.map, memory_.base_offset(e)};
}

// The number of lanes before the next cache line. It assumes that buffers begin at cache lines rather than looking at
// addresses, so that the order of sums does not depend on where operands are in memory.
Value* LaneLoops::lanes_before_alignment(const Cursor& at, Value* begin) {
  Cursor first = at;
  first.index[nest_.lane] = begin;
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[aligned_->buffer]);
  const uint64_t lanes = kCacheLine / (element->getPrimitiveSizeInBits() / 8);
  return b_.CreateAnd(b_.CreateNeg(memory_.offset(first, aligned_->map, aligned_->base).scalar),
                      b_.getInt64(lanes - 1));
}

// Emits the peeled lanes, whole vectors, and a masked remainder, which is at the end, or at the beginning if the loop
// runs backwards. If the axis is short, or if each lane is a row and masks cost nothing, it emits masked vectors only.
void LaneLoops::emit_interval(const Cursor& at, Value* begin, Value* end, const Body& body) {
  const bool outer = nest_.lane_is_outer(), even = loops::has_whole_vectors_only(nest_) && !outer;
  if ((loops::has_short_lanes(nest_) && has_masks(at)) || (outer && has_free_masks(at)))
    return emit_masked(at, begin, end, body);
  if (aligned_) {
    Value* length = b_.CreateSub(end, begin);
    Value* line =
        b_.CreateAdd(begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes_before_alignment(at, begin), length));
    emit_remainder(at, begin, line, body);
    begin = line;
  }
  if (even) emit_vectors(at, begin, end, body);
  else emit_remainder(at, emit_vectors(at, begin, end_of_whole_vectors(at, begin, end), body), end, body);
}

// The end of the whole vectors that start at `begin`.
Value* LaneLoops::end_of_whole_vectors(const Cursor& at, Value* begin, Value* end) {
  return b_.CreateSub(end, b_.CreateURem(b_.CreateSub(end, begin), b_.getInt64(at.lanes)));
}

Value* LaneLoops::emit_vectors(const Cursor& at, Value* begin, Value* end, const Body& body) {
  k_.emit_loop(begin, end, at.lanes, [&](Value* i) {
    Cursor inside = at;
    inside.index[nest_.lane] = first_lane(at, i);
    body(inside);
  });
  return end;
}

void LaneLoops::emit_masked(const Cursor& at, Value* begin, Value* end, const Body& body) {
  k_.emit_loop(begin, end, at.lanes, [&](Value* i) {
    Cursor inside = at;
    Value* first = inside.index[nest_.lane] = first_lane(at, i);
    const auto all = [&](Value* v) { return k_.broadcast(v, at.lanes); };
    if (is_reversed()) inside.mask = b_.CreateICmpSGE(k_.lane_numbers(at.lanes), all(b_.CreateNeg(first)));
    else inside.mask = b_.CreateICmpSLT(k_.lane_numbers(at.lanes), all(b_.CreateSub(end, i)));
    body(inside);
  });
}

// The remainder uses vectors of one register rather than several, since masked-out lanes cost as much as others. Those
// that are whole have a loop without masks, unless the body has the loops of whole rows in it.
void LaneLoops::emit_remainder(const Cursor& at, Value* begin, Value* end, const Body& body) {
  Cursor narrow = at;
  narrow.lanes = std::min(at.lanes, std::max(kMinLanes, k_.register_bits() / 32));
  if (narrow.lanes < at.lanes && !nest_.lane_is_outer())
    begin = emit_vectors(narrow, begin, end_of_whole_vectors(narrow, begin, end), body);
  emit_masked(narrow, begin, end, body);
}

// Whether a predicate holds for vectors of each element type in memory.
template <class Holds>
bool LaneLoops::holds_for_all_memory_types(const Cursor& at, const Holds& holds) const {
  return std::all_of(nest_.buffers.begin(), nest_.buffers.end(), [&](DType d) {
    llvm::Type* element = memory_type(b_.getContext(), d);
    return holds(k_.vector_of(element, at.lanes), llvm::Align(element->getPrimitiveSizeInBits() / 8));
  });
}

// Whether the machine has masked loads and stores of all element types used; otherwise LLVM makes a branch for each
// lane.
bool LaneLoops::has_masks(const Cursor& at) const {
  return holds_for_all_memory_types(at, [&](llvm::Type* vector, llvm::Align align) {
    return k_.machine.isLegalMaskedLoad(vector, align) && k_.machine.isLegalMaskedStore(vector, align);
  });
}

// Whether masked stores take no longer than others.
bool LaneLoops::has_free_masks(const Cursor& at) const {
  constexpr auto kStore = llvm::Instruction::Store;
  constexpr auto kCost = llvm::TargetTransformInfo::TCK_RecipThroughput;
  return has_masks(at) && holds_for_all_memory_types(at, [&](llvm::Type* vector, llvm::Align align) {
           return k_.machine.getMaskedMemoryOpCost(kStore, vector, align, 0, kCost) <=
                  k_.machine.getMemoryOpCost(kStore, vector, align, 0, kCost);
         });
}

// The index of lane 0 for a position counted from the loop's first one.
Value* LaneLoops::first_lane(const Cursor& at, Value* position) {
  return is_reversed() ? b_.CreateSub(b_.CreateSub(at.lane_end, position), b_.getInt64(at.lanes)) : position;
}

}  // namespace thunder::codegen
