// The loops of a nest: work items, rows, passes, positions.
#include <tuple>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;
using loops::Step;
using loops::Output;

Code::Code(const CpuNest& nest, llvm::Function* function, unsigned lanes, const llvm::TargetTransformInfo& machine)
    : nest_(nest), bounds_(loops::bounds(nest)), machine_(machine), function_(function), lanes_(lanes), b_(function->getContext()),
      pipelined_(nest.pipelined && has_registers_for_pipeline(nest, machine)) {
  at_.index.assign(nest.axes(), nullptr);
  picked_.assign(nest.exprs.size(), nullptr);
  offsets_.assign(nest.exprs.size(), nullptr);
  rows_.resize(pipelined_ ? nest.passes : 1);
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
      const Step step = loops::step_of(stride);
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
  piece_ = parameter(next);
  block_ = parameter(next + 1);
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

void Code::branch(Value* condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  auto& c = b_.getContext();
  auto* yes = llvm::BasicBlock::Create(c, "then", function_);
  auto* no = otherwise ? llvm::BasicBlock::Create(c, "else", function_) : nullptr;
  auto* after = llvm::BasicBlock::Create(c, "after", function_);
  b_.CreateCondBr(condition, yes, no ? no : after);
  b_.SetInsertPoint(yes);
  then();
  b_.CreateBr(after);
  if (no) {
    b_.SetInsertPoint(no);
    otherwise();
    b_.CreateBr(after);
  }
  b_.SetInsertPoint(after);
}

void Code::emit() {
  b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function_));
  read_arguments();
  begin_nontemporal();
  make_room();
  Value *begin = function_->getArg(2), *end = function_->getArg(3);
  if (pipelined_) emit_pipeline(begin, end);
  else loop(begin, end, 1, [&](Value* item) {
    place(item);
    if (nest_.lane_is_outer()) emit_lanes([&] { emit_rows(); });
    else emit_rows();
  });
  end_nontemporal();
  b_.CreateRetVoid();
}

void Code::each_row(const std::function<void()>& body) {
  for (Row& row : walked_) {
    row_ = &row;
    pass_ = row.pass;
    if (pipelined_) std::copy_n(row.index.begin(), nest_.outer, at_.index.begin());
    body();
  }
}

// The indices of a work item. The last choice is what the others left of its number: divisions are most of a small call's kernel.
void Code::place(Value* item) {
  using Of = loops::Choice::Of;
  lane_begin_ = b_.getInt64(0);
  lane_end_ = extents_[nest_.lane];
  const auto choices = loops::choices(nest_);
  for (const loops::Choice& choice : choices) {
    Value *extent = extents_[choice.axis], *length = choice.of == Of::piece ? piece_ : choice.of == Of::block ? block_ : nullptr;
    Value* number = item;
    if (&choice != &choices.back()) {
      Value* count = length ? b_.CreateUDiv(b_.CreateAdd(extent, b_.CreateSub(length, b_.getInt64(1))), length) : extent;
      number = b_.CreateURem(item, count);
      item = b_.CreateUDiv(item, count);
    }
    if (!length) {
      at_.index[choice.axis] = number;
      continue;
    }
    Value* begin = b_.CreateMul(number, length);
    Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, length), extent);
    (choice.of == Of::piece ? std::tie(lane_begin_, lane_end_) : std::tie(block_begin_, block_end_)) = std::tuple(begin, end);
  }
}

void Code::emit_rows() {
  kept_in_.assign(nest_.exprs.size(), UINT32_MAX);
  begin_row(rows_[0]);
  walked_ = rows_;
  for (rows_[0].pass = 0; rows_[0].pass < nest_.passes; rows_[0].pass++) emit_pass();
  each_row([&] { store_row(); });
}

// Nothing is known of it yet.
void Code::begin_row(Row& row) {
  row.known.assign(nest_.exprs.size(), nullptr);
  row.reciprocals.assign(nest_.exprs.size(), Reciprocal());
}

void Code::store_row() {
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

// Of each row that is walked, the pass that it is in.
void Code::emit_pass() {
  std::vector<const Output*> stores;
  bool sums = false;
  each_row([&] {
    row_->reductions.clear(), row_->stores.clear();
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (loops::is_reduction(nest_.exprs[id].fn) && nest_.exprs[id].level == pass_ + 1) row_->reductions.push_back(id);
    for (const Output& s : nest_.stores)
      if (!nest_.is_row(s) && nest_.exprs[s.value].level == pass_) row_->stores.push_back(&s);
    sums |= !row_->reductions.empty();
    stores.insert(stores.end(), row_->stores.begin(), row_->stores.end());
  });
  if (!sums && stores.empty()) return;
  choose_lines(stores);
  each_row([&] {
    row_->looked_below.assign(nest_.exprs.size(), false);
    for (ExprId id : row_->reductions) evaluate_rows_below(nest_.exprs[id].in[0]);
    for (const Output* s : row_->stores)
      if (s->only.empty()) evaluate_rows_below(s->value);
    begin_scans(pass_);
    row_->sums.clear();
    for (ExprId id : row_->reductions) row_->sums.push_back(begin_sum(id));
  });
  emit_inner(nest_.outer, [&] {
    each_row([&] {
      row_->position.assign(nest_.exprs.size(), nullptr);
      for (const Sum& sum : row_->sums) step(sum);
      store_all(row_->stores);
    });
  });
  each_row([&] {
    for (const Sum& sum : row_->sums) end_sum(sum);
  });
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

}  // namespace thunder::codegen
