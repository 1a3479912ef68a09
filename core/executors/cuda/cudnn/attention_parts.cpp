#include "executors/cuda/cudnn/attention_parts.h"

#include <algorithm>

namespace thunder::cudnn {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

AttentionSizes part_sizes(const AttentionSizes& whole, int64_t batch, int64_t key_heads) {
  AttentionSizes s = whole;
  s.batch = batch, s.key_heads = key_heads, s.heads = whole.heads / whole.key_heads * key_heads;
  if (s.mask_sizes[0] > 1) s.mask_sizes[0] = s.batch;
  if (s.mask_sizes[1] > 1) s.mask_sizes[1] = s.heads;
  return s;
}

// Whether the backward needs too much memory: it is known to keep a matrix of scores in bf16, of whole tiles.
bool needs_too_much_memory(const AttentionSizes& s) {
  constexpr int64_t kTile = 128, kBytes = 2;
  const auto of_head = static_cast<double>(ceil_div(s.queries, kTile) * kTile) *
                       static_cast<double>(ceil_div(s.keys, kTile) * kTile) * kBytes;
  return s.backward && of_head * static_cast<double>(s.batch) * static_cast<double>(s.heads) >=
                           static_cast<double>(kAttentionOptions.most_workspace);
}

// Heuristics also propose engines for a bias that refuse it when a plan is made, so that one is; and for dropout.
bool is_supported(const Session& session, const AttentionSizes& sizes) {
  const AttentionLayouts layouts = dense_layouts(sizes);
  if (!attention_graph(session, sizes, layouts).is_supported()) return false;
  try {
    if (sizes.mask != Mask::none || sizes.drops)
      Plan(attention_graph(session, sizes, layouts), kAttentionOptions, "attention");
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool can_run(Session& session, const AttentionSizes& s) {
  return !needs_too_much_memory(s) &&
         session.ask_once(key_of(s, dense_layouts(s)), [&] { return is_supported(session, s); });
}

// Each part's rows of the forward's statistics begin where the library can write them.
bool parts_begin_aligned(const AttentionSizes& s) {
  return s.backward || s.heads * s.queries * static_cast<int64_t>(sizeof(float)) % Graph::kAlignment == 0;
}

// `count` in pieces that are taken, of which the last may be smaller: as few as what they need allows, and then twice
// as many each time, since the library is asked. 0: no piece is taken.
template <class Piece>
int64_t choose_piece_size(Session& session, int64_t count, const Piece& piece) {
  int64_t pieces = 1;
  while (pieces < count && needs_too_much_memory(piece(ceil_div(count, pieces)))) pieces++;
  for (;; pieces *= 2) {
    const int64_t size = ceil_div(count, pieces), last = count - size * (ceil_div(count, size) - 1);
    const bool whole = size == count || parts_begin_aligned(piece(size));
    if (whole && can_run(session, piece(size)) && can_run(session, piece(last))) return size;
    if (size == 1) return 0;
  }
}

// Divides the heads, if each batch is a part of its own already.
void add_head_parts(std::vector<AttentionPart>& out, const AttentionSizes& whole, int64_t batch, int64_t size) {
  for (int64_t head = 0; head < whole.key_heads; head += size)
    out.push_back({part_sizes(whole, 1, std::min(size, whole.key_heads - head)), batch, head});
}

}  // namespace

std::vector<AttentionPart> split_into_parts(Session& session, const AttentionSizes& whole) {
  std::vector<AttentionPart> out;
  const int64_t batches =
      choose_piece_size(session, whole.batch, [&](int64_t size) { return part_sizes(whole, size, whole.key_heads); });
  for (int64_t batch = 0; batches && batch < whole.batch; batch += batches)
    out.push_back({part_sizes(whole, std::min(batches, whole.batch - batch), whole.key_heads), batch, 0});
  if (batches || (whole.batch > 1 && !parts_begin_aligned(whole))) return out;
  const int64_t heads =
      choose_piece_size(session, whole.key_heads, [&](int64_t size) { return part_sizes(whole, 1, size); });
  for (int64_t batch = 0; heads && batch < whole.batch; batch++) add_head_parts(out, whole, batch, heads);
  return out;
}

void refuse_part(Session& session, const AttentionSizes& part) {
  session.refuse(key_of(part, dense_layouts(part)));
}

PartBuffers::PartBuffers(const AttentionSizes& whole, const AttentionPart& part, std::span<const Buffer> inputs,
                         std::span<const Buffer> outputs)
    : n_inputs_(inputs.size()), n_outputs_(outputs.size()) {
  const int64_t group = whole.heads / whole.key_heads;
  for (size_t i = 0; i < n_inputs_ + n_outputs_; i++) {
    Buffer& b = buffers_[i] = i < n_inputs_ ? inputs[i] : outputs[i - n_inputs_];
    if (b.rank < 3) continue;  // absent, or a mask that is the same for all heads
    const auto head_dim = static_cast<size_t>(b.rank) - 3;
    Sizes4& shape = shapes_[i];
    std::copy_n(b.shape, b.rank, shape.begin());
    const int64_t item = static_cast<int64_t>(size_of(b.dtype));
    int64_t skipped = 0;
    if (head_dim == 1 && shape[0] > 1) shape[0] = part.sizes.batch, skipped += part.batch * b.strides[0];
    // Queries have all heads; grouped keys have fewer, and a mask may have one for all heads.
    if (shape[head_dim] == whole.heads && whole.heads > 1)
      shape[head_dim] = part.sizes.heads, skipped += part.key_head * group * b.strides[head_dim];
    else if (shape[head_dim] == whole.key_heads && whole.key_heads > 1)
      shape[head_dim] = part.sizes.key_heads, skipped += part.key_head * b.strides[head_dim];
    b.shape = shape.data();
    if (b.data) b.data = b.as<std::byte>() + skipped * item;  // while memory is planned there is none
  }
}

}  // namespace thunder::cudnn
