// Loads of what lies side by side along the axis of a block: as vectors of that axis, a square of them at a time, turned round
// into vectors of lanes.
#include "executors/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

bool Code::is_turned(ExprId id) const {
  const fusion::Expr& e = nest_.exprs[id];
  if (e.fn != Fn::load || e.axes & at_.picked) return false;
  const Map& m = nest_.maps[e.map];
  return m[nest_.block_axis()] == 1 && fusion::step_of(m[nest_.lane]) == fusion::Step::any;
}

// Whole squares, then what is left step by step.
void Code::emit_block(uint32_t axis, const std::function<void()>& body) {
  const auto each = [&](Value* begin, Value* end) {
    loop(begin, end, 1, [&](Value* i) {
      at_.index[axis] = i;
      body();
    });
  };
  if (at_.mask) return each(block_begin_, block_end_);
  Value* side = b_.getInt64(lanes_);
  Value* whole = b_.CreateSub(block_end_, b_.CreateURem(b_.CreateSub(block_end_, block_begin_), side));
  squares_.assign(nest_.exprs.size(), nullptr);
  loop(block_begin_, whole, lanes_, [&](Value* first) {
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (is_turned(id)) turn(id, first);
    square_ = first;
    each(first, b_.CreateAdd(first, side));
    square_ = nullptr;
  });
  each(whole, block_end_);
}

void Code::turn(ExprId id, Value* first) {
  const fusion::Expr& e = nest_.exprs[id];
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[e.buffer]);
  auto* row = llvm::FixedVectorType::get(element, lanes_);
  at_.index[nest_.block_axis()] = first;
  Offset at{offset(e.map).scalar};
  if (offsets_[id]) at.scalar = b_.CreateAdd(at.scalar, offsets_[id]);
  std::vector<Value*> rows;
  for (unsigned lane = 0; lane < lanes_; lane++) {
    rows.push_back(b_.CreateAlignedLoad(row, address(e.buffer, at), llvm::Align(element->getPrimitiveSizeInBits() / 8)));
    at.scalar = b_.CreateAdd(at.scalar, strides_[e.map][nest_.lane]);
  }
  transpose(rows);
  auto& entry = function_->getEntryBlock();
  squares_[id] = Builder(&entry, entry.begin()).CreateAlloca(row, b_.getInt64(lanes_));
  for (unsigned i = 0; i < lanes_; i++) b_.CreateStore(rows[i], b_.CreateConstGEP1_64(row, squares_[id], i));
}

// Swaps quarters of squares that are half as large each time.
void Code::transpose(std::vector<Value*>& rows) {
  for (unsigned half = lanes_ / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 64> low, high;
    for (unsigned i = 0; i < lanes_; i++) {
      low.push_back(static_cast<int>(i & half ? lanes_ + i - half : i));
      high.push_back(static_cast<int>(i & half ? lanes_ + i : i + half));
    }
    for (unsigned i = 0; i < lanes_; i++) {
      if (i & half) continue;
      Value *a = rows[i], *b = rows[i + half];
      rows[i] = b_.CreateShuffleVector(a, b, low);
      rows[i + half] = b_.CreateShuffleVector(a, b, high);
    }
  }
}

Value* Code::load_turned(ExprId id) {
  const DType d = nest_.buffers[nest_.exprs[id].buffer];
  auto* row = llvm::FixedVectorType::get(memory_type(b_.getContext(), d), lanes_);
  Value* place = b_.CreateSub(at_.index[nest_.block_axis()], square_);
  return from_memory(b_, b_.CreateLoad(row, b_.CreateGEP(row, squares_[id], place)), d);
}

}  // namespace thunder::codegen
