#include "loops/llvm/nest_code.h"

#include <algorithm>

namespace thunder::codegen {

using llvm::Value;
using loops::Output;

namespace {

// With 16 registers, column sums beside the reductions of all pipelined rows would spill.
bool has_registers_to_pipeline(const CpuNest& nest, const llvm::TargetTransformInfo& machine) {
  constexpr unsigned kMany = 32;
  const auto is_column = [](const Output& s) { return s.kind == loops::OutputKind::column; };
  const bool columns = std::any_of(nest.stores.begin(), nest.stores.end(), is_column);
  return !columns || machine.getNumberOfRegisters(machine.getRegisterClassForType(true)) >= kMany;
}

}  // namespace

NestCode::NestCode(const CpuNest& nest, llvm::Function* function, unsigned lanes,
                   const llvm::TargetTransformInfo& machine)
    : k_(nest, function, lanes, machine),
      b_(k_.b),
      nest_(nest),
      software_pipelined_(nest.software_pipelined && has_registers_to_pipeline(nest, machine)),
      memory_(k_),
      tiles_(k_, memory_),
      row_buffers_(k_),
      expressions_(k_, memory_, tiles_, row_buffers_),
      reductions_(k_, expressions_),
      lane_loops_(k_, memory_, software_pipelined_),
      rows_(software_pipelined_ ? nest.passes : 1) {}

void NestCode::emit() {
  memory_.begin_nontemporal();
  row_buffers_.allocate(rows_);
  Cursor at;
  at.index.assign(nest_.axes(), nullptr);
  at.lanes = k_.lanes;
  if (software_pipelined_) emit_software_pipeline(at);
  else k_.emit_loop(k_.args.begin, k_.args.end, 1, [&](Value* item) {
    const Cursor here = delinearize(at, item);
    if (nest_.lane_is_outer()) lane_loops_.emit(here, [this](const Cursor& inside) { emit_rows(inside); });
    else emit_rows(here);
  });
  memory_.end_nontemporal();
  b_.CreateRetVoid();
}

// Computes the indices of a work item. The last index needs no division, which matters since divisions dominate the
// time of a small call.
Cursor NestCode::delinearize(const Cursor& at, Value* item) {
  using Kind = loops::ItemAxis::Kind;
  Cursor out = at;
  out.lane_begin = b_.getInt64(0);
  out.lane_end = k_.args.extents[nest_.lane];
  const auto item_axes = loops::item_axes(nest_);
  for (const loops::ItemAxis& part : item_axes) {
    Value* extent = k_.args.extents[part.axis];
    Value* length = part.kind == Kind::strip ? k_.args.strip : part.kind == Kind::block ? k_.args.block : nullptr;
    Value* number = item;
    if (&part != &item_axes.back()) {
      Value* count =
          length ? b_.CreateUDiv(b_.CreateAdd(extent, b_.CreateSub(length, b_.getInt64(1))), length) : extent;
      number = b_.CreateURem(item, count);
      item = b_.CreateUDiv(item, count);
    }
    if (!length) {
      out.index[part.axis] = number;
      continue;
    }
    Value* begin = b_.CreateMul(number, length);
    Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, length), extent);
    auto& side = part.kind == Kind::strip ? out.lane_begin : out.block_begin;
    (part.kind == Kind::strip ? out.lane_end : out.block_end) = end;
    side = begin;
  }
  return out;
}

void NestCode::for_each_row(const Cursor& at, std::span<Row> rows, const Body& body) {
  Cursor of = at;
  of.first_row = &rows.front();
  for (Row& row : rows) {
    of.row = &row;
    if (software_pipelined_) std::copy_n(row.index.begin(), nest_.outer, of.index.begin());
    body(of);
  }
}

void NestCode::emit_rows(const Cursor& at) {
  row_buffers_.clear();
  clear_memoized(rows_[0]);
  for (rows_[0].pass = 0; rows_[0].pass < nest_.passes; rows_[0].pass++) emit_pass(at, rows_);
  for_each_row(at, rows_, [this](const Cursor& of) { store_row(of); });
}

// Clears the values memoized for the row.
void NestCode::clear_memoized(Row& row) {
  row.known.assign(nest_.exprs.size(), nullptr);
}

void NestCode::store_row(const Cursor& at) {
  std::vector<const Output*> stores;
  for (const Output& s : nest_.stores)
    if (nest_.is_row(s)) stores.push_back(&s);
  store_all(at, stores);
}

// Computes all values before storing any, since an output may share memory with an input. This does not hold for values
// that are stored in intervals, whose kernels never run in place.
void NestCode::store_all(const Cursor& at, const std::vector<const Output*>& stores) {
  std::vector<std::pair<const Output*, Value*>> values;
  for (const Output* s : stores)
    if (s->only.empty()) values.emplace_back(s, expressions_.evaluate(at, s->value));
  for (auto [s, value] : values) memory_.store(at, *s, value);
  for (const Output* s : stores)
    if (!s->only.empty() && expressions_.is_inside_interval(at, *s)) expressions_.store_in_intervals(at, *s);
}

// Emits one loop over positions for these rows, each in the pass that it is in.
void NestCode::emit_pass(const Cursor& at, std::span<Row> rows) {
  std::vector<const Output*> stores;
  bool reduces = false;
  for (Row& row : rows) {
    row.reduced.clear(), row.stores.clear();
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (loops::is_reduction(nest_.exprs[id].fn) && nest_.exprs[id].level == row.pass + 1) row.reduced.push_back(id);
    for (const Output& s : nest_.stores)
      if (!nest_.is_row(s) && nest_.exprs[s.value].level == row.pass) row.stores.push_back(&s);
    reduces |= !row.reduced.empty();
    stores.insert(stores.end(), row.stores.begin(), row.stores.end());
  }
  if (!reduces && stores.empty()) return;
  lane_loops_.choose_aligned_buffer(stores);
  for_each_row(at, rows, [&](const Cursor& of) {
    Row& row = *of.row;
    row.visited.assign(nest_.exprs.size(), false);
    for (ExprId id : row.reduced) expressions_.evaluate_row_values(of, nest_.exprs[id].in[0]);
    for (const Output* s : row.stores)
      if (s->only.empty()) expressions_.evaluate_row_values(of, s->value);
    expressions_.begin_scans(of);
    row.reductions.clear();
    for (ExprId id : row.reduced) row.reductions.push_back(reductions_.begin(of, id));
  });
  Cursor inner = at;
  inner.row = inner.first_row = &rows.front();
  emit_inner(inner, nest_.outer, [&](const Cursor& position) {
    for_each_row(position, rows, [&](const Cursor& of) {
      of.row->position.assign(nest_.exprs.size(), nullptr);
      for (const Reduction& r : of.row->reductions) reductions_.step(of, r);
      store_all(of, of.row->stores);
    });
  });
  for_each_row(at, rows, [&](const Cursor& of) {
    for (const Reduction& r : of.row->reductions) reductions_.end(of, r);
  });
}

void NestCode::emit_inner(const Cursor& at, uint32_t axis, const Body& body) {
  if (axis == nest_.outer + nest_.inner) return body(at);
  if (axis == nest_.lane)
    return lane_loops_.emit(at, [&](const Cursor& inside) { emit_inner(inside, axis + 1, body); });
  if (nest_.blocked) return tiles_.emit_block(at, axis, body);
  Value *extent = k_.args.extents[axis], *start = b_.getInt64(0);
  const auto each = [&](Value* begin, Value* end) {
    k_.emit_loop(begin, end, 1, [&](Value* i) {
      Cursor inside = at;
      inside.index[axis] = nest_.backwards ? b_.CreateSub(b_.CreateSub(extent, b_.getInt64(1)), i) : i;
      emit_inner(inside, axis + 1, body);
    });
  };
  if (axis + 1 < nest_.outer + nest_.inner || !loops::sums_in_runs(nest_)) return each(start, extent);
  k_.emit_loop(start, extent, loops::kRun, [&](Value* first) {
    Value* end = b_.CreateAdd(first, b_.getInt64(loops::kRun));
    each(first, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, extent));
    for_each_row(at, rows_, [&](const Cursor& of) {
      for (const Reduction& r : of.row->reductions) reductions_.end_run(of, r);
    });
  });
}

}  // namespace thunder::codegen
