#include "loops/llvm/transposed_tiles.h"

#include <llvm/Analysis/VectorUtils.h>

namespace thunder::codegen {

using llvm::Value;

constexpr unsigned kQuad = 4;  // elements; every machine's vectors have that many lanes, or a multiple

bool TransposedTiles::is_transposed(const Cursor& at, ExprId id) const {
  const loops::Expr& e = nest_.exprs[id];
  if (e.fn != Fn::load || e.axes & (at.gathered | nest_.only_gathered_set())) return false;
  const loops::Map& m = nest_.maps[e.map];
  return m[nest_.block_axis()] == 1 && loops::stride_kind(m[nest_.lane]) == loops::StrideKind::any;
}

void TransposedTiles::emit_block(const Cursor& at, uint32_t axis, const std::function<void(const Cursor&)>& body) {
  const auto each = [&](const Cursor& from, Value* begin, Value* end) {
    k_.emit_loop(begin, end, 1, [&](Value* i) {
      Cursor inside = from;
      inside.index[axis] = i;
      body(inside);
    });
  };
  if (at.mask) return each(at, at.block_begin, at.block_end);
  Value* side = b_.getInt64(at.lanes);
  Value* whole = b_.CreateSub(at.block_end, b_.CreateURem(b_.CreateSub(at.block_end, at.block_begin), side));
  tiles_.assign(nest_.exprs.size(), nullptr);
  k_.emit_loop(at.block_begin, whole, at.lanes, [&](Value* first) {
    for (ExprId id = 0; id < nest_.exprs.size(); id++)
      if (is_transposed(at, id)) transpose(at, id, first);
    Cursor inside = at;
    inside.tile = first;
    each(inside, first, b_.CreateAdd(first, side));
  });
  each(at, whole, at.block_end);
}

// Loads each quad into the lanes of its final position, so that four registers at a time need only 4 by 4 transposes.
void TransposedTiles::transpose(const Cursor& at, ExprId id, Value* first) {
  const loops::Expr& e = nest_.exprs[id];
  llvm::Type* element = memory_type(b_.getContext(), nest_.buffers[e.buffer]);
  auto* quad = k_.vector_of(element, kQuad);
  const llvm::Align align(element->getPrimitiveSizeInBits() / 8);
  Cursor corner = at;
  corner.index[nest_.block_axis()] = first;
  Memory::Offset place{memory_.offset(corner, e.map, memory_.base_offset(e)).scalar};
  std::vector<Value*> from, rows;
  for (unsigned lane = 0; lane < at.lanes; lane++) {
    from.push_back(memory_.address(e.buffer, place));
    // The row of the next tile that corresponds to this one.
    if (memory_.is_prefetched(at, id)) memory_.prefetch(b_.CreateConstGEP1_64(element, from.back(), at.lanes));
    place.scalar = b_.CreateAdd(place.scalar, k_.args.strides[e.map][nest_.lane]);
  }
  for (unsigned i = 0; i < at.lanes; i++) {
    llvm::SmallVector<Value*> quads;
    for (unsigned lane = i % kQuad; lane < at.lanes; lane += kQuad)
      quads.push_back(b_.CreateAlignedLoad(quad, b_.CreateConstGEP1_64(element, from[lane], i / kQuad * kQuad), align));
    rows.push_back(llvm::concatenateVectors(b_, quads));
  }
  for (unsigned i = 0; i < at.lanes; i += kQuad) transpose_quads(&rows[i], at.lanes);
  auto* row = k_.vector_of(element, at.lanes);
  auto& entry = k_.function->getEntryBlock();
  tiles_[id] = Builder(&entry, entry.begin()).CreateAlloca(row, b_.getInt64(at.lanes));
  for (unsigned i = 0; i < at.lanes; i++) b_.CreateStore(rows[i], b_.CreateConstGEP1_64(row, tiles_[id], i));
}

// Transposes 4 by 4 in each quad of lanes: interleaves elements of two rows, then pairs.
void TransposedTiles::transpose_quads(Value** rows, unsigned lanes) {
  const auto joined = [&](Value* a, Value* b, unsigned each, unsigned half) {
    llvm::SmallVector<int, 64> from;
    for (unsigned i = 0; i < lanes; i++) {
      const unsigned place = i % kQuad, of = place / each % 2, step = place / (2 * each) * each + place % each;
      from.push_back(static_cast<int>(of * lanes + i - place + half * 2 + step));
    }
    return b_.CreateShuffleVector(a, b, from);
  };
  Value* low[] = {joined(rows[0], rows[1], 1, 0), joined(rows[2], rows[3], 1, 0)};
  Value* high[] = {joined(rows[0], rows[1], 1, 1), joined(rows[2], rows[3], 1, 1)};
  rows[0] = joined(low[0], low[1], 2, 0), rows[1] = joined(low[0], low[1], 2, 1);
  rows[2] = joined(high[0], high[1], 2, 0), rows[3] = joined(high[0], high[1], 2, 1);
}

Value* TransposedTiles::load(const Cursor& at, ExprId id) {
  const DType d = nest_.buffers[nest_.exprs[id].buffer];
  auto* row = k_.vector_of(memory_type(b_.getContext(), d), at.lanes);
  Value* place = b_.CreateSub(at.index[nest_.block_axis()], at.tile);
  return from_memory(b_, b_.CreateLoad(row, b_.CreateGEP(row, tiles_[id], place)), d);
}

}  // namespace thunder::codegen
