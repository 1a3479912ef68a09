// Emits software-pipelined rows. One loop over positions computes as many rows as there are passes, each in another
// pass: while one row waits for a reduction or for memory, exponentials and products of the others are computed. An
// iteration of the outer loop moves each row to its next pass.
#include "loops/llvm/nest_code.h"

namespace thunder::codegen {

using llvm::Value;

void NestCode::allocate_results() {
  for (size_t r = 0; r < rows_.size(); r++) {
    Row& row = rows_[r];
    row.pass = static_cast<uint32_t>(r);
    row.results.assign(nest_.exprs.size(), nullptr), row.kept_addresses.assign(nest_.exprs.size(), nullptr);
    for (ExprId id = 0; id < nest_.exprs.size(); id++) {
      const loops::Expr& e = nest_.exprs[id];
      if (loops::is_reduction(e.fn) && e.level <= r)
        row.results[id] = k_.allocate_variable(register_type(b_.getContext(), e.dtype));
    }
    for (ExprId id : nest_.kept) {
      row.kept_addresses[id] = k_.allocate_variable(b_.getPtrTy());
      b_.CreateStore(row.kept[id], row.kept_addresses[id]);
    }
  }
}

void NestCode::emit_software_pipeline(const Cursor& at) {
  Value *begin = k_.args.begin, *end = k_.args.end;
  const uint64_t last = nest_.passes - 1;
  allocate_results();
  k_.emit_loop(begin, b_.CreateAdd(end, b_.getInt64(last)), 1, [&](Value* step) {
    Cursor here = at;
    for (Row& row : rows_) {
      here = delinearize(here, b_.CreateSub(step, b_.getInt64(row.pass)));
      row.index = here.index;
      load_results(row);
    }
    row_buffers_.clear();
    // Prologue and epilogue: at the beginning and the end some passes have no row.
    Value* first_ended = b_.CreateICmpSGE(b_.CreateSub(step, b_.getInt64(last)), begin);
    k_.emit_branch(
        b_.CreateAnd(first_ended, b_.CreateICmpSLT(step, end)), [&] { emit_passes(here, 0, rows_.size()); },
        [&] {
          row_buffers_.clear();
          for (size_t r = 0; r < rows_.size(); r++) {
            Value* item = b_.CreateSub(step, b_.getInt64(r));
            Value* has_row = b_.CreateAnd(b_.CreateICmpSGE(item, begin), b_.CreateICmpSLT(item, end));
            k_.emit_branch(has_row, [&] { emit_passes(here, r, 1); });
          }
        });
    move_rows_to_next_pass();
  });
}

// Loads the results of earlier passes of the row.
void NestCode::load_results(Row& row) {
  clear_memoized(row);
  for (ExprId id = 0; id < nest_.exprs.size(); id++) {
    if (row.results[id])
      row.known[id] = b_.CreateLoad(register_type(b_.getContext(), nest_.exprs[id].dtype), row.results[id]);
    if (row.kept_addresses[id]) row.kept[id] = b_.CreateLoad(b_.getPtrTy(), row.kept_addresses[id]);
  }
}

// Emits one pass of each of these rows. Results reach the next iteration through variables in the frame; other code
// does not see them.
void NestCode::emit_passes(const Cursor& at, size_t first, size_t count) {
  std::vector<Memo> before;
  const auto rows = std::span(rows_).subspan(first, count);
  for (const Row& row : rows) before.push_back(row.known);
  emit_pass(at, rows);
  for_each_row(at, rows, [&](const Cursor& of) {
    if (of.row == &rows_.back()) store_row(of);
    else
      for (const Reduction& r : of.row->reductions) b_.CreateStore(of.row->known[r.id], of.row[1].results[r.id]);
  });
  for (size_t i = 0; i < count; i++) {
    clear_memoized(rows[i]);
    rows[i].known = std::move(before[i]);
  }
}

// Moves each row's state to the next pass, from the last pass on, so that no state is overwritten before it has been
// moved. Row buffers rotate from the last pass to the first one.
void NestCode::move_rows_to_next_pass() {
  for (size_t r = rows_.size(); r-- > 0;) {
    const Row& from = rows_[r];
    Row& to = rows_[(r + 1) % rows_.size()];
    for (ExprId id = 0; id < nest_.exprs.size(); id++) {
      if (from.results[id] && to.results[id]) b_.CreateStore(from.known[id], to.results[id]);
      if (from.kept_addresses[id]) b_.CreateStore(from.kept[id], to.kept_addresses[id]);
    }
  }
}

}  // namespace thunder::codegen
