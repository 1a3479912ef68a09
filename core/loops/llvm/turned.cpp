// Loads of what lies side by side along the axis of a block: as vectors of that axis, a square of them at a time, turned round
// into vectors of lanes.
#include <llvm/Analysis/VectorUtils.h>

#include "loops/llvm/code.h"

namespace thunder::codegen {

using llvm::Value;

constexpr unsigned kQuad = 4;  // elements; every machine has as many lanes, or a multiple of them

bool Code::is_turned(ExprId id) const {
  const loops::Expr& e = nest_.exprs[id];
  if (e.fn != Fn::load || e.axes & at_.picked) return false;
  const Map& m = nest_.maps[e.map];
  return m[nest_.block_axis()] == 1 && loops::step_of(m[nest_.lane]) == loops::Step::any;
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

// Read in quads, from where they come to stand: four registers then need turning round only four by four.
void Code::turn(ExprId id, Value* first) {
  const loops::Expr& e = nest_.exprs[id];
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[e.buffer]);
  auto* quad = llvm::FixedVectorType::get(element, kQuad);
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  at_.index[nest_.block_axis()] = first;
  Offset at{offset(e.map, more_of(e)).scalar};
  std::vector<Value*> from, rows;
  for (unsigned lane = 0; lane < lanes_; lane++) {
    from.push_back(address(e.buffer, at));
    if (is_prefetched(id)) fetch(b_.CreateConstGEP1_64(element, from.back(), lanes_));  // of the next square
    at.scalar = b_.CreateAdd(at.scalar, strides_[e.map][nest_.lane]);
  }
  for (unsigned i = 0; i < lanes_; i++) {
    llvm::SmallVector<Value*> quads;
    for (unsigned lane = i % kQuad; lane < lanes_; lane += kQuad)
      quads.push_back(b_.CreateAlignedLoad(quad, b_.CreateConstGEP1_64(element, from[lane], i / kQuad * kQuad), align));
    rows.push_back(llvm::concatenateVectors(b_, quads));
  }
  for (unsigned i = 0; i < lanes_; i += kQuad) turn_quads(&rows[i]);
  auto* row = llvm::FixedVectorType::get(element, lanes_);
  auto& entry = function_->getEntryBlock();
  squares_[id] = Builder(&entry, entry.begin()).CreateAlloca(row, b_.getInt64(lanes_));
  for (unsigned i = 0; i < lanes_; i++) b_.CreateStore(rows[i], b_.CreateConstGEP1_64(row, squares_[id], i));
}

// In each quad of lanes, four rows of four become their columns: elements of two rows in turns, then pairs of two such.
void Code::turn_quads(Value** rows) {
  const auto joined = [&](Value* a, Value* b, unsigned each, unsigned half) {
    llvm::SmallVector<int, 64> from;
    for (unsigned i = 0; i < lanes_; i++) {
      const unsigned place = i % kQuad, of = place / each % 2, step = place / (2 * each) * each + place % each;
      from.push_back(static_cast<int>(of * lanes_ + i - place + half * 2 + step));
    }
    return b_.CreateShuffleVector(a, b, from);
  };
  Value* low[] = {joined(rows[0], rows[1], 1, 0), joined(rows[2], rows[3], 1, 0)};
  Value* high[] = {joined(rows[0], rows[1], 1, 1), joined(rows[2], rows[3], 1, 1)};
  rows[0] = joined(low[0], low[1], 2, 0), rows[1] = joined(low[0], low[1], 2, 1);
  rows[2] = joined(high[0], high[1], 2, 0), rows[3] = joined(high[0], high[1], 2, 1);
}

Value* Code::load_turned(ExprId id) {
  const DType d = nest_.buffers[nest_.exprs[id].buffer];
  auto* row = llvm::FixedVectorType::get(memory_type(b_.getContext(), d), lanes_);
  Value* place = b_.CreateSub(at_.index[nest_.block_axis()], square_);
  return from_memory(b_, b_.CreateLoad(row, b_.CreateGEP(row, squares_[id], place)), d);
}

}  // namespace thunder::codegen
