// The loops of a nest: work items, rows, passes, positions.
#include <algorithm>
#include <tuple>

#include "executors/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;
using fusion::Step;
using fusion::Output;
using fusion::OutputKind;

namespace {

bool scans(const Nest& nest) {
  return std::any_of(nest.exprs.begin(), nest.exprs.end(), [](const fusion::Expr& e) { return e.fn == Fn::cumsum; });
}

}  // namespace

unsigned choose_lanes(const Nest& nest, unsigned machine_bits) {
  const unsigned machine = machine_bits / 32;
  if (fusion::is_short(nest) || nest.blocked) return machine;
  // Lanes that are summed one after the other take steps by their number.
  if (!nest.lane_is_outer() && scans(nest)) return machine;
  size_t live = nest.exprs.size();
  bool wide = false, functions = false;
  for (const fusion::Expr& e : nest.exprs) {
    wide |= e.dtype == DType::f64 || e.dtype == DType::i64;
    functions |= e.fn >= Fn::exp && e.fn <= Fn::erf && e.fn != Fn::sqrt;
  }
  if (wide) live *= 2;
  if (functions || live > 8) return live > 48 ? machine : 2 * machine;
  return 4 * machine;
}

Code::Code(const Nest& nest, llvm::Function* function, unsigned lanes, const llvm::TargetTransformInfo& machine)
    : nest_(nest), machine_(machine), function_(function), lanes_(lanes), b_(function->getContext()) {
  at_.index.assign(nest.axes(), nullptr);
  picked_.assign(nest.exprs.size(), nullptr);
  offsets_.assign(nest.exprs.size(), nullptr);
}

Value* Code::parameter(size_t index) {
  auto* load = b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstGEP1_64(b_.getInt64Ty(), function_->getArg(1), index));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b_.getContext(), {}));
  return load;
}

void Code::read_arguments() {
  for (size_t i = 0; i < nest_.buffers.size(); i++)
    buffers_.push_back(b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getPtrTy(), function_->getArg(0), i)));
  size_t next = 0;
  for (uint32_t a = 0; a < nest_.axes(); a++) extents_.push_back(parameter(next++));
  for (const Map& map : nest_.maps) {
    strides_.emplace_back();
    for (int64_t stride : map) {
      const Step step = fusion::step_of(stride);
      strides_.back().push_back(step == Step::none ? nullptr : step == Step::unit ? b_.getInt64(1) : parameter(next++));
    }
  }
  for (size_t i = 0; i < nest_.exprs.size(); i++)
    if (has_parameter(nest_.exprs[i])) offsets_[i] = parameter(next++);
  for (const Output& s : nest_.stores) store_offsets_.push_back(s.offset ? parameter(next++) : nullptr);
  for (uint32_t a = 0; a < nest_.axes(); a++) {
    cuts_.push_back(nest_.cuts(a));
    cut_at_.emplace_back();
    for (size_t i = 0; i < cuts_[a].size(); i++) cut_at_[a].push_back(parameter(next++));
  }
  if (has_pieces()) piece_ = parameter(next);
  if (nest_.blocked) block_ = parameter(next + 1);
  refusal_ = function_->getArg(4);
}

void Code::loop(Value* begin, Value* end, uint64_t step, const std::function<void(Value*)>& body) {
  auto& c = b_.getContext();
  auto* before = b_.GetInsertBlock();
  auto* in = llvm::BasicBlock::Create(c, "loop", function_);
  auto* out = llvm::BasicBlock::Create(c, "done", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(begin, end), in, out);
  b_.SetInsertPoint(in);
  auto* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(begin, before);
  body(i);
  Value* next = b_.CreateAdd(i, b_.getInt64(step), "", true, true);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), in, out);
  b_.SetInsertPoint(out);
}

void Code::emit() {
  b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function_));
  read_arguments();
  begin_streams();
  make_room();
  loop(function_->getArg(2), function_->getArg(3), 1, [&](Value* item) {
    place(item);
    if (!nest_.lane_is_outer()) return emit_rows();
    emit_lanes([&] { emit_rows(); });
  });
  end_streams();
  b_.CreateRetVoid();
}

// Where the part of an extent begins and ends that an item stands for; what is left of the item chooses others.
std::pair<Value*, Value*> Code::part(Value*& item, Value* extent, Value* length) {
  Value* parts = b_.CreateUDiv(b_.CreateAdd(extent, b_.CreateSub(length, b_.getInt64(1))), length);
  Value* begin = b_.CreateMul(b_.CreateURem(item, parts), length);
  item = b_.CreateUDiv(item, parts);
  return {begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, length), extent)};
}

// The indices of a work item: pieces of the lane axis run fastest, then blocks, then the outer axes from the last.
void Code::place(Value* item) {
  lane_begin_ = b_.getInt64(0);
  lane_end_ = extents_[nest_.lane];
  if (has_pieces()) std::tie(lane_begin_, lane_end_) = part(item, lane_end_, piece_);
  if (nest_.blocked) std::tie(block_begin_, block_end_) = part(item, extents_[nest_.block_axis()], block_);
  for (uint32_t a = nest_.outer; a-- > 0;) {
    if (a == nest_.lane) continue;
    at_.index[a] = a == 0 ? item : b_.CreateURem(item, extents_[a]);
    if (a > 0) item = b_.CreateUDiv(item, extents_[a]);
  }
}

void Code::emit_rows() {
  row_.assign(nest_.exprs.size(), nullptr);
  reciprocals_.assign(nest_.exprs.size(), Reciprocal());
  for (uint32_t pass = 0; pass < nest_.passes; pass++) emit_pass(pass);
  std::vector<const Output*> stores;
  for (const Output& s : nest_.stores)
    if (nest_.is_row(s)) stores.push_back(&s);
  store_all(stores);
}

// Everything is computed before anything is stored: an output may lie in an input's memory. What is known at some positions only
// is of no kernel that works so.
void Code::store_all(const std::vector<const Output*>& stores) {
  std::vector<std::pair<const Output*, Value*>> values;
  for (const Output* s : stores)
    if (s->only.empty()) values.emplace_back(s, evaluate(s->value));
  for (auto [s, value] : values) store(*s, value);
  for (const Output* s : stores)
    if (!s->only.empty() && is_here(*s)) store_where_known(*s);
}

void Code::emit_pass(uint32_t pass) {
  pass_ = pass;
  looked_below_.assign(nest_.exprs.size(), false);
  std::vector<ExprId> reductions;
  std::vector<const Output*> stores;
  for (ExprId id = 0; id < nest_.exprs.size(); id++)
    if (fusion::is_reduction(nest_.exprs[id].fn) && nest_.exprs[id].level == pass + 1) reductions.push_back(id);
  for (const Output& s : nest_.stores)
    if (!nest_.is_row(s) && nest_.exprs[s.value].level == pass) stores.push_back(&s);
  if (reductions.empty() && stores.empty()) return;
  for (ExprId id : reductions) evaluate_rows_below(nest_.exprs[id].in[0]);
  for (const Output* s : stores)
    if (s->only.empty()) evaluate_rows_below(s->value);

  choose_lines(stores);
  begin_scans(pass);
  std::vector<Sum> sums;
  for (ExprId id : reductions) sums.push_back(begin_sum(id));
  emit_inner(nest_.outer, [&] {
    position_.assign(nest_.exprs.size(), nullptr);
    for (const Sum& sum : sums) step(sum);
    store_all(stores);
  });
  for (const Sum& sum : sums) end_sum(sum);
}

void Code::emit_inner(uint32_t axis, const std::function<void()>& body) {
  if (axis == nest_.outer + nest_.inner) return body();
  if (axis == nest_.lane) return emit_lanes([&] { emit_inner(axis + 1, body); });
  if (nest_.blocked) return emit_block(axis, body);
  loop(b_.getInt64(0), extents_[axis], 1, [&](Value* i) {
    at_.index[axis] = nest_.backwards ? b_.CreateSub(b_.CreateSub(extents_[axis], b_.getInt64(1)), i) : i;
    emit_inner(axis + 1, body);
  });
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

// Where rows are odd, vectors would cut lines of the cache in two: they are taken by the lines of what is streamed, or stored, or else of
// what is read. Not where lanes go down the rows, each of which begins elsewhere, sums run from whole vectors into the next ones, or
// columns are summed, which are read and written at each vector and begin with a line.
void Code::choose_lines(const std::vector<const Output*>& stores) {
  lines_of_.reset();
  if (fusion::is_even(nest_) || fusion::is_short(nest_) || nest_.lane_is_outer() || nest_.blocked || scans(nest_)) return;
  const auto choose = [&](const auto& wanted) {
    for (const Output* s : stores)
      if (!lines_of_ && wanted(*s)) lines_of_ = {s->buffer, s->map, more_of(*s)};
  };
  choose([](const Output& s) { return s.streams; });
  const bool columns = std::any_of(stores.begin(), stores.end(), [](const Output* s) { return s->kind == OutputKind::column; });
  if (!has_registers_of_lines() || columns) return;
  const auto is_row_of_many = [this](uint32_t map) {
    bool many = false;
    for (uint32_t a = 0; a < nest_.outer; a++) many |= nest_.maps[map][a] != 0;
    return many && nest_.maps[map][nest_.lane] == 1;
  };
  choose([&](const Output& s) { return s.kind == OutputKind::each && is_row_of_many(s.map); });
  for (const fusion::Expr& e : nest_.exprs)
    if (!lines_of_ && e.fn == Fn::load && is_row_of_many(e.map)) lines_of_ = {e.buffer, e.map, more_of(e)};
}

// Buffers are taken to begin with a line, so that sums of the same elements are the same wherever they lie.
Value* Code::lanes_before_line(Value* begin) {
  at_.index[nest_.lane] = begin;
  const uint64_t lanes = kLine / (memory_type(b_.getContext(), nest_.buffers[lines_of_->buffer])->getPrimitiveSizeInBits() / 8);
  return b_.CreateAnd(b_.CreateNeg(offset(lines_of_->map, lines_of_->more).scalar), b_.getInt64(lanes - 1));
}

// Whole vectors, then what is left with a mask: at the end, or backwards at the beginning, and what lies before the first whole line.
// With masks alone where they cost nothing, and few vectors are whole or the code of all rows is in the body.
void Code::emit_stretch(Value* begin, Value* end, const std::function<void()>& body) {
  const auto masked = [&](Value* from, Value* to, const std::function<Value*(Value*)>& mask) {
    loop(from, to, lanes_, [&](Value* i) {
      at_.index[nest_.lane] = first_lane(i);
      at_.mask = mask(i);
      body();
      at_.mask = nullptr;
    });
  };
  const auto inside = [&](Value* i) {
    return from_the_end() ? b_.CreateICmpSGE(lane_numbers(), spread(b_.CreateNeg(at_.index[nest_.lane]))) : lanes_below(i, end);
  };
  const bool outer = nest_.lane_is_outer(), even = fusion::is_even(nest_) && !outer;
  if ((fusion::is_short(nest_) && has_masks()) || (outer && has_free_masks())) return masked(begin, end, inside);
  if (lines_of_) {
    Value* line = b_.CreateAdd(begin, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, lanes_before_line(begin), b_.CreateSub(end, begin)));
    masked(begin, line, [&](Value* i) { return lanes_below(i, line); });
    begin = line;
  }
  Value* whole = even ? end : b_.CreateSub(end, b_.CreateURem(b_.CreateSub(end, begin), b_.getInt64(lanes_)));
  loop(begin, whole, lanes_, [&](Value* i) {
    at_.index[nest_.lane] = first_lane(i);
    body();
  });
  if (even) return;
  masked(whole, end, inside);
}

// As AVX-512 has: every vector that does not begin with a line is of two, and masks have registers of their own.
bool Code::has_registers_of_lines() const {
  return machine_.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue() >= 8 * kLine;
}

// Whether the machine leaves lanes out of loads and stores of every element type here; else LLVM writes a branch for each.
bool Code::has_masks() const {
  return std::all_of(nest_.buffers.begin(), nest_.buffers.end(), [&](DType d) {
    llvm::Type* element = memory_type(b_.getContext(), d);
    auto* vector = llvm::FixedVectorType::get(element, lanes_);
    const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
    return machine_.isLegalMaskedLoad(vector, align) && machine_.isLegalMaskedStore(vector, align);
  });
}

// Whether stores that leave lanes out take no longer than others.
bool Code::has_free_masks() const {
  constexpr auto kCost = llvm::TargetTransformInfo::TCK_RecipThroughput;
  return has_masks() && std::all_of(nest_.buffers.begin(), nest_.buffers.end(), [&](DType d) {
    llvm::Type* element = memory_type(b_.getContext(), d);
    auto* vector = llvm::FixedVectorType::get(element, lanes_);
    const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
    return machine_.getMaskedMemoryOpCost(llvm::Instruction::Store, vector, align, 0, kCost) <= machine_.getMemoryOpCost(llvm::Instruction::Store, vector, align, 0, kCost);
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
