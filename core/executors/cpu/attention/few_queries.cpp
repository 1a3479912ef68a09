// The forward for a few queries a head, as in decoding the next token: bound by reading keys and values from memory, so
// each is read once, for all query heads that share it.
#include <algorithm>
#include <limits>
#include <utility>

#include "executors/cpu/attention/ops.h"
#include "executors/cpu/parallel.h"

namespace thunder {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Scores that stay in the L1 cache. Many keys at a time: the hardware prefetcher follows long streams, not short ones.
constexpr int64_t kScores = 4096;

// The buffers are those of the forward. A task is one key head; its rows are the queries of all heads in its group.
class FewQueries : public Kernel {
 public:
  FewQueries(const AttentionKernels& kernels, const AttentionShape& shape)
      : Kernel(this), t_(kernels), g_(shape), rows_(g_.group * g_.queries),
        keys_(std::max(kKeys, kScores / std::max<int64_t>(1, rows_))) {
    int64_t elements = 0;
    auto take = [&](int64_t n) { return std::exchange(elements, elements + n); };
    queries_ = take(rows_ * g_.width), out_ = take(rows_ * g_.value_width), scores_ = take(rows_ * keys_);
    maxima_ = take(rows_), totals_ = take(rows_), factors_ = take(rows_);
    mask_ = take(g_.masked ? keys_ : 0);
    slots_ = Slots(g_.key_heads(), t_.choose_slot_count(g_), elements);
  }

  std::unique_ptr<const KernelOfClass> of_class(const LineView& line) const override {
    return attention_of_class(t_, *line.of_class);
  }
  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    return slots_.run(launch, [&](int64_t index, float* scratch) { attend_key_head(launch, index, scratch); });
  }

 private:
  void attend_key_head(const Launch* l, int64_t key_head, float* scratch) const {
    const Matrix key = matrix_of(l->inputs[1], key_head), value = matrix_of(l->inputs[2], key_head);
    float *queries = scratch + queries_, *out = scratch + out_, *scores = scratch + scores_,
          *factors = scratch + factors_;
    gather_queries(l, key_head, queries);
    std::fill_n(scratch + maxima_, rows_, kMinusInfinity);
    std::fill_n(scratch + totals_, rows_, 0.0f);
    const int64_t end = g_.visible_keys(g_.queries);
    for (int64_t j = 0; j < end; j += keys_) {
      const int64_t n = std::min(keys_, end - j);
      multiply({rows_, n, g_.width, {queries, g_.width, 1}, transposed(submatrix(key, j, 0)), scores, keys_});
      for (int64_t r = 0; r < rows_; r++) {
        apply_mask(l, key_head * g_.group + r / g_.queries, r % g_.queries, j, n, scores + r * keys_, scratch + mask_);
        t_.softmax->online_softmax_row(scores + r * keys_, n, scratch + maxima_ + r, scratch + totals_ + r,
                                       factors + r);
      }
      if (j) t_.softmax->scale_rows(out, g_.value_width, rows_, g_.value_width, factors);
      multiply({rows_, g_.value_width, n, {scores, keys_, 1}, submatrix(value, j, 0), out, g_.value_width, j > 0});
    }
    store_results(l, key_head, scratch);
  }

  // Reads b once, whatever the number of rows.
  void multiply(const Product& p) const {
    (p.b.row == 1 || p.b.column == 1 ? t_.products->thin : t_.products->small)(p);
  }

  void gather_queries(const Launch* l, int64_t key_head, float* to) const {
    for (int64_t r = 0; r < rows_; r++, to += g_.width) {
      const Matrix from = submatrix(matrix_of(l->inputs[0], key_head * g_.group + r / g_.queries), r % g_.queries, 0);
      for (int64_t x = 0; x < g_.width; x++) to[x] = from.data[x * from.column] * g_.scale;
    }
  }

  void apply_mask(const Launch* l, int64_t head, int64_t query, int64_t j, int64_t n, float* scores,
                  float* mask_row) const {
    if (g_.causal)
      for (int64_t i = std::max<int64_t>(0, query + 1 - j); i < n; i++) scores[i] = kMinusInfinity;
    if (!g_.masked) return;
    Mask(l->inputs[3], l->inputs[0], head).copy_additive(query, j, 1, n, mask_row, n);
    for (int64_t i = 0; i < n; i++) scores[i] += mask_row[i];
  }

  void store_results(const Launch* l, int64_t key_head, float* scratch) const {
    for (int64_t r = 0; r < rows_; r++) {
      const bool empty = scratch[maxima_ + r] == kMinusInfinity;
      const int64_t row = key_head * rows_ + r;
      l->outputs[1].as<float>()[row] = empty ? 0 : scratch[maxima_ + r];
      const float total = l->outputs[2].as<float>()[row] = empty ? 1 : scratch[totals_ + r];
      float* to = l->outputs[0].as<float>() + row * g_.value_width;
      for (int64_t x = 0; x < g_.value_width; x++) to[x] = scratch[out_ + r * g_.value_width + x] / total;
    }
  }

  const AttentionKernels& t_;
  const AttentionShape g_;
  const int64_t rows_, keys_;  // keys: how many at a time
  // Offsets in the scratch.
  int64_t queries_ = 0, out_ = 0, scores_ = 0, maxima_ = 0, totals_ = 0, factors_ = 0, mask_ = 0;
  Slots slots_;
};

}  // namespace

KernelPtr prepare_few_queries(const AttentionKernels& kernels, const AttentionShape& shape) {
  return std::make_unique<FewQueries>(kernels, shape);
}

}  // namespace thunder
