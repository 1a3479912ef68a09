#include "loops/llvm/lane_loops.h"

#include <algorithm>

namespace thunder::codegen {

using llvm::Value;
using loops::Output;
using loops::OutputKind;

namespace {

constexpr unsigned kFewestLanes = 4;

bool scans(const CpuNest& nest) {
  return std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const loops::Expr& e) { return e.fn == Fn::cumsum; });
}

}  // namespace

// From cut to cut within the strip: each interval has code of its own, in which selects are resolved.
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

// Vectors are aligned to cache lines by peeling: of a buffer that is stored non-temporally, otherwise of one that is
// stored, otherwise of one that is loaded. Not if vectors run across rows, whose addresses are unrelated, if scans
// carry whole vectors, or if columns are summed: their accumulators are aligned already.
void LaneLoops::choose_lines(const std::vector<const Output*>& stores) {
  lines_of_.reset();
  if (loops::is_even(nest_) || loops::is_short(nest_) || nest_.lane_is_outer() || nest_.blocked || overlapping_ ||
      scans(nest_))
    return;
  const auto choose = [&](const auto& wanted) {
    for (const Output* s : stores)
      if (!lines_of_ && wanted(*s)) lines_of_ = {s->buffer, s->map, memory_.more_of(*s)};
  };
  choose([this](const Output& s) { return nest_.is_nontemporal(s); });
  const bool columns =
      std::any_of(stores.begin(), stores.end(), [](const Output* s) { return s->kind == OutputKind::column; });
  if (!k_.has_registers_of_lines() || columns) return;
  const auto is_row_of_many = [this](uint32_t map) {
    bool many = false;
    for (uint32_t a = 0; a < nest_.outer; a++) many |= nest_.maps[map][a] != 0;
    return many && nest_.maps[map][nest_.lane] == 1;
  };
  choose([&](const Output& s) { return s.kind == OutputKind::each && is_row_of_many(s.map); });
  for (const loops::Expr& e : nest_.exprs)
    if (!lines_of_ && e.fn == Fn::load && is_row_of_many(e.map)) lines_of_ = {e.buffer, e.map, memory_.more_of(e)};
}

// Assumes that buffers are aligned to cache lines, so that sums do not depend on where operands lie.
Value* LaneLoops::lanes_before_line(const Cursor& at, Value* begin) {
  Cursor first = at;
  first.index[nest_.lane] = begin;
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[lines_of_->buffer]);
  const uint64_t lanes = kCacheLine / (element->getPrimitiveSizeInBits() / 8);
  return b_.CreateAnd(b_.CreateNeg(memory_.offset(first, lines_of_->map, lines_of_->more).scalar),
                      b_.getInt64(lanes - 1));
}

// Whole vectors, then a masked remainder: at the end, or, backwards, at the beginning, and before the first whole cache
// line. Masked vectors only, if masks cost nothing and few vectors are whole or the body holds the code of all
// pipelined rows.
void LaneLoops::emit_interval(const Cursor& at, Value* begin, Value* end, const Body& body) {
  const bool outer = nest_.lane_is_outer(), even = loops::is_even(nest_) && !outer;
  if ((loops::is_short(nest_) && has_masks(at)) || (outer && has_free_masks(at)))
    return emit_masked(at, begin, end, body);
  if (lines_of_) {
    Value* length = b_.CreateSub(end, begin);
    Value* line =
        b_.CreateAdd(begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes_before_line(at, begin), length));
    emit_rest(at, begin, line, body);
    begin = line;
  }
  if (even) emit_vectors(at, begin, end, body);
  else emit_rest(at, emit_vectors(at, begin, whole_vectors(at, begin, end), body), end, body);
}

// The end of the whole vectors that start at `begin`.
Value* LaneLoops::whole_vectors(const Cursor& at, Value* begin, Value* end) {
  return b_.CreateSub(end, b_.CreateURem(b_.CreateSub(end, begin), b_.getInt64(at.lanes)));
}

Value* LaneLoops::emit_vectors(const Cursor& at, Value* begin, Value* end, const Body& body) {
  k_.loop(begin, end, at.lanes, [&](Value* i) {
    Cursor inside = at;
    inside.index[nest_.lane] = first_lane(at, i);
    body(inside);
  });
  return end;
}

void LaneLoops::emit_masked(const Cursor& at, Value* begin, Value* end, const Body& body) {
  k_.loop(begin, end, at.lanes, [&](Value* i) {
    Cursor inside = at;
    Value* first = inside.index[nest_.lane] = first_lane(at, i);
    const auto all = [&](Value* v) { return k_.broadcast(v, at.lanes); };
    if (from_the_end()) inside.mask = b_.CreateICmpSGE(k_.lane_numbers(at.lanes), all(b_.CreateNeg(first)));
    else inside.mask = b_.CreateICmpSLT(k_.lane_numbers(at.lanes), all(b_.CreateSub(end, i)));
    body(inside);
  });
}

// The remainder. It runs on one register rather than several: masked-out lanes cost as much as others in each
// expression. Whole vectors have a loop of their own, unless the body holds the code of all pipelined rows.
void LaneLoops::emit_rest(const Cursor& at, Value* begin, Value* end, const Body& body) {
  Cursor narrow = at;
  narrow.lanes = std::min(at.lanes, std::max(kFewestLanes, k_.register_bits() / 32));
  if (narrow.lanes < at.lanes && !nest_.lane_is_outer())
    begin = emit_vectors(narrow, begin, whole_vectors(narrow, begin, end), body);
  emit_masked(narrow, begin, end, body);
}

// Whether a predicate holds for vectors of each element type in memory.
template <class Holds>
bool LaneLoops::each_memory(const Cursor& at, const Holds& holds) const {
  return std::all_of(nest_.buffers.begin(), nest_.buffers.end(), [&](DType d) {
    llvm::Type* element = memory_type(b_.getContext(), d);
    return holds(k_.vector_of(element, at.lanes), llvm::Align(element->getPrimitiveSizeInBits() / 8));
  });
}

// Whether the machine has masked loads and stores of all element types used; otherwise LLVM makes a branch for each
// lane.
bool LaneLoops::has_masks(const Cursor& at) const {
  return each_memory(at, [&](llvm::Type* vector, llvm::Align align) {
    return k_.machine.isLegalMaskedLoad(vector, align) && k_.machine.isLegalMaskedStore(vector, align);
  });
}

// Whether masked stores take no longer than others.
bool LaneLoops::has_free_masks(const Cursor& at) const {
  constexpr auto kStore = llvm::Instruction::Store;
  constexpr auto kCost = llvm::TargetTransformInfo::TCK_RecipThroughput;
  return has_masks(at) && each_memory(at, [&](llvm::Type* vector, llvm::Align align) {
           return k_.machine.getMaskedMemoryOpCost(kStore, vector, align, 0, kCost) <=
                  k_.machine.getMemoryOpCost(kStore, vector, align, 0, kCost);
         });
}

// The index of lane 0 after so many positions.
Value* LaneLoops::first_lane(const Cursor& at, Value* behind) {
  return from_the_end() ? b_.CreateSub(b_.CreateSub(at.lane_end, behind), b_.getInt64(at.lanes)) : behind;
}

}  // namespace thunder::codegen
