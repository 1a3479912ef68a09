// The lane axis in vectors: how wide they are, where they begin, and what is left beside whole ones.
#include <algorithm>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;
using loops::Output;
using loops::OutputKind;

namespace {

bool scans(const CpuNest& nest) {
  return std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const loops::Expr& e) { return e.fn == Fn::cumsum; });
}

}  // namespace

constexpr unsigned kFewestLanes = 4;

unsigned choose_lanes(const CpuNest& nest, unsigned machine_bits) {
  const unsigned machine = machine_bits / 32;
  if (loops::is_short(nest) || nest.blocked) return machine;
  size_t live = nest.exprs.size();
  bool wide = false, functions = false, constants = false, sums = false;
  for (const loops::Expr& e : nest.exprs) {
    wide |= e.dtype == DType::f64 || e.dtype == DType::i64;
    functions |= e.fn >= Fn::exp && e.fn <= Fn::erf && e.fn != Fn::sqrt;
    constants |= e.fn == Fn::sin || e.fn == Fn::cos || e.fn == Fn::erf;
    sums |= loops::is_reduction(e.fn) && !nest.lane_is_outer();
  }
  if (wide) live *= 2;
  if (live > 48) return machine;
  // Down the columns more of each row is then read at a time.
  const bool columns = nest.lane_is_outer() && machine_bits >= 512 && !functions && !wide && live <= 24;
  // A sum waits for the one before, and a power's steps for each other: four vectors of either are in flight at once, as of few
  // expressions. Of functions of more constants than registers hold, each vector reads them again.
  const bool few = !functions && live <= 8, waits = (sums || functions) && !constants && !wide;
  return few || columns || waits ? 4 * machine : 2 * machine;
}

// The lane axis from cut to cut, as far as it is in the piece: code is made for each, which knows what is chosen there.
void Code::each_stretch(const std::function<void(Value*, Value*)>& body) {
  const auto& cuts = cut_at_[nest_.lane];
  Value* begin = lane_begin_;
  for (stretch_ = 0; stretch_ <= cuts.size(); stretch_++) {
    Value* end = lane_end_;
    if (stretch_ < cuts.size()) {
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, cuts[stretch_], lane_end_);
      end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, begin);
    }
    body(begin, end);
    begin = end;
  }
}

void Code::emit_lanes(const std::function<void()>& body) {
  each_stretch([&](Value* begin, Value* end) { emit_stretch(begin, end, body); });
}

// Where rows are odd, vectors would cut lines of the cache in two: they are taken by the lines of what is stored past the caches, or stored, or else of
// what is read. Not where lanes go down the rows, each of which begins elsewhere, sums run from whole vectors into the next ones, or
// columns are summed, which are read and written at each vector and begin with a line.
void Code::choose_lines(const std::vector<const Output*>& stores) {
  lines_of_.reset();
  if (loops::is_even(nest_) || loops::is_short(nest_) || nest_.lane_is_outer() || nest_.blocked || pipelined_ || scans(nest_)) return;
  const auto choose = [&](const auto& wanted) {
    for (const Output* s : stores)
      if (!lines_of_ && wanted(*s)) lines_of_ = {s->buffer, s->map, more_of(*s)};
  };
  choose([this](const Output& s) { return nest_.is_nontemporal(s); });
  const bool columns = std::any_of(stores.begin(), stores.end(), [](const Output* s) { return s->kind == OutputKind::column; });
  if (!has_registers_of_lines() || columns) return;
  const auto is_row_of_many = [this](uint32_t map) {
    bool many = false;
    for (uint32_t a = 0; a < nest_.outer; a++) many |= nest_.maps[map][a] != 0;
    return many && nest_.maps[map][nest_.lane] == 1;
  };
  choose([&](const Output& s) { return s.kind == OutputKind::each && is_row_of_many(s.map); });
  for (const loops::Expr& e : nest_.exprs)
    if (!lines_of_ && e.fn == Fn::load && is_row_of_many(e.map)) lines_of_ = {e.buffer, e.map, more_of(e)};
}

// Buffers are taken to begin with a line, so that sums of the same elements are the same wherever they lie.
Value* Code::lanes_before_line(Value* begin) {
  at_.index[nest_.lane] = begin;
  const uint64_t lanes = kCacheLine / (memory_type(b_.getContext(), nest_.buffers[lines_of_->buffer])->getPrimitiveSizeInBits() / 8);
  return b_.CreateAnd(b_.CreateNeg(offset(lines_of_->map, lines_of_->more).scalar), b_.getInt64(lanes - 1));
}

// Whole vectors, then what is left with a mask: at the end, or backwards at the beginning, and what lies before the first whole line.
// With masks alone where they cost nothing, and few vectors are whole or the code of all rows is in the body.
void Code::emit_stretch(Value* begin, Value* end, const std::function<void()>& body) {
  const bool outer = nest_.lane_is_outer(), even = loops::is_even(nest_) && !outer;
  if ((loops::is_short(nest_) && has_masks()) || (outer && has_free_masks())) return emit_masked(begin, end, body);
  if (lines_of_) {
    Value* line = b_.CreateAdd(begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes_before_line(begin), b_.CreateSub(end, begin)));
    emit_rest(begin, line, body);
    begin = line;
  }
  if (even) emit_vectors(begin, end, body);
  else emit_rest(emit_vectors(begin, whole_vectors(begin, end), body), end, body);
}

// Where whole vectors from `begin` on end.
Value* Code::whole_vectors(Value* begin, Value* end) { return b_.CreateSub(end, b_.CreateURem(b_.CreateSub(end, begin), b_.getInt64(lanes_))); }

Value* Code::emit_vectors(Value* begin, Value* end, const std::function<void()>& body) {
  loop(begin, end, lanes_, [&](Value* i) {
    at_.index[nest_.lane] = first_lane(i);
    body();
  });
  return end;
}

void Code::emit_masked(Value* begin, Value* end, const std::function<void()>& body) {
  loop(begin, end, lanes_, [&](Value* i) {
    at_.index[nest_.lane] = first_lane(i);
    at_.mask = from_the_end() ? b_.CreateICmpSGE(lane_numbers(), spread(b_.CreateNeg(at_.index[nest_.lane]))) : lanes_below(i, end);
    body();
    at_.mask = nullptr;
  });
}

// Less than a vector. Vectors are a register meanwhile, the first lanes of what several hold: lanes left out take as long as others, in
// each expression. Whole ones have a loop of their own, but not where the code of all rows is in the body.
void Code::emit_rest(Value* begin, Value* end, const std::function<void()>& body) {
  const unsigned lanes = lanes_;
  lanes_ = std::min(lanes, std::max(kFewestLanes, register_bits() / 32));
  if (lanes_ < lanes && !nest_.lane_is_outer()) begin = emit_vectors(begin, whole_vectors(begin, end), body);
  emit_masked(begin, end, body);
  lanes_ = lanes;
}

// As AVX-512 has: every vector that does not begin with a line is of two, and masks have registers of their own.
bool Code::has_registers_of_lines() const { return register_bits() >= 8 * kCacheLine; }

unsigned Code::register_bits() const {
  return static_cast<unsigned>(machine_.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue());
}

// Whether it holds for a vector of each buffer's elements.
template <class Holds>
bool Code::each_memory(const Holds& holds) const {
  return std::all_of(nest_.buffers.begin(), nest_.buffers.end(), [&](DType d) {
    llvm::Type* element = memory_type(b_.getContext(), d);
    return holds(llvm::FixedVectorType::get(element, lanes_), llvm::Align(element->getPrimitiveSizeInBits() / 8));
  });
}

// Whether the machine leaves lanes out of loads and stores of every element type here; else LLVM writes a branch for each.
bool Code::has_masks() const {
  return each_memory([&](llvm::Type* vector, llvm::Align align) {
    return machine_.isLegalMaskedLoad(vector, align) && machine_.isLegalMaskedStore(vector, align);
  });
}

// Whether stores that leave lanes out take no longer than others.
bool Code::has_free_masks() const {
  constexpr auto kStore = llvm::Instruction::Store;
  constexpr auto kCost = llvm::TargetTransformInfo::TCK_RecipThroughput;
  return has_masks() && each_memory([&](llvm::Type* vector, llvm::Align align) {
    return machine_.getMaskedMemoryOpCost(kStore, vector, align, 0, kCost) <= machine_.getMemoryOpCost(kStore, vector, align, 0, kCost);
  });
}

// The index of lane 0 when so many positions are behind.
Value* Code::first_lane(Value* behind) {
  return from_the_end() ? b_.CreateSub(b_.CreateSub(lane_end_, behind), b_.getInt64(lanes_)) : behind;
}

Value* Code::lanes_below(Value* first, Value* end) {
  return b_.CreateICmpSLT(lane_numbers(), spread(b_.CreateSub(end, first)));
}

}  // namespace thunder::codegen
