// The backward in tiles: probabilities are recomputed from the scores and the row statistics that the forward saved, a
// block of queries against a block of keys at a time, and used for all three gradients while they are in the caches.
#include <algorithm>
#include <utility>

#include "executors/cpu/attention/ops.h"
#include "executors/cpu/parallel.h"

namespace thunder {
namespace {

// With fewer key heads than this, the query blocks of one head are split into parts, whose sums are added at the end.
constexpr int64_t kMinTasks = 8;

// The node's buffers: grad, query, key, value, out, running_max, total, mask; the gradients of query, key and value. A
// task is a part of the work for one key head, always in the same order.
class Backward : public Kernel {
 public:
  Backward(const AttentionKernels& kernels, const AttentionShape& shape)
      : Kernel(this), t_(kernels), g_(shape), width_(kernels.softmax->width) {
    blocks_ = (g_.queries + kQueries - 1) / kQueries;
    panels_ = (std::min(kQueries, g_.queries) + width_ - 1) / width_;
    parts_ = std::clamp<int64_t>(kMinTasks / g_.key_heads(), 1, g_.group * blocks_);
    int64_t elements = 0;
    auto take = [&](int64_t n) { return std::exchange(elements, elements + n); };
    const int64_t row = panels_ * width_;
    queries_ = take(row * g_.width), grads_ = take(row * g_.value_width);
    maxima_ = take(row), inverse_totals_ = take(row), deltas_ = take(row);
    scores_ = take(kKeys * row), score_grads_ = take(kKeys * row);
    mask_ = take(g_.masked ? kKeys * width_ : 0), mask_rows_ = take(g_.masked ? kKeys * width_ : 0);
    slots_ = Slots(g_.key_heads() * parts_, t_.choose_slot_count(g_), elements);
    sums_ = static_cast<int64_t>(slots_.bytes() / sizeof(float));
  }

  std::unique_ptr<const KernelOfClass> of_class(const LineView& line) const override {
    return attention_of_class(t_, *line.of_class);
  }
  size_t scratch() const override {
    return slots_.bytes() +
           (parts_ > 1 ? static_cast<size_t>(g_.key_heads() * parts_ * sum_elements()) * sizeof(float) : 0);
  }

  Status* run(const Launch* launch) const {
    Status* failed = slots_.run(
        launch, [&](int64_t index, float* scratch) { sum_part(launch, index / parts_, index % parts_, scratch); });
    if (failed || parts_ == 1) return failed;
    const Slots shares(g_.key_heads() * parts_, t_.choose_slot_count(g_), 0);
    return shares.run(launch, [&](int64_t index, float*) { add_up_parts(launch, index / parts_, index % parts_); });
  }

 private:
  // The buffers in which a task accumulates the gradients of its keys and values; both are dense.
  struct Sums {
    float *key, *value;
  };
  int64_t sum_elements() const { return g_.keys * (g_.width + g_.value_width); }
  Sums output_grads(const Launch* l, int64_t key_head) const {
    return {l->outputs[1].as<float>() + key_head * g_.keys * g_.width,
            l->outputs[2].as<float>() + key_head * g_.keys * g_.value_width};
  }
  Sums part_sums(const Launch* l, int64_t key_head, int64_t part) const {
    if (parts_ == 1) return output_grads(l, key_head);
    float* at = static_cast<float*>(l->scratch) + sums_ + (key_head * parts_ + part) * sum_elements();
    return {at, at + g_.keys * g_.width};
  }

  struct Block;
  void sum_part(const Launch* l, int64_t key_head, int64_t part, float* scratch) const;

  // Adds up all parts for one share of a key head's results.
  void add_up_parts(const Launch* l, int64_t key_head, int64_t share) const {
    const Sums to = output_grads(l, key_head);
    auto add = [&](float* result, float* Sums::*which, int64_t n) {
      const int64_t begin = n * share / parts_, end = n * (share + 1) / parts_;
      std::copy(part_sums(l, key_head, 0).*which + begin, part_sums(l, key_head, 0).*which + end, result + begin);
      for (int64_t p = 1; p < parts_; p++) {
        const float* from = part_sums(l, key_head, p).*which;
        for (int64_t i = begin; i < end; i++) result[i] += from[i];
      }
    };
    add(to.key, &Sums::key, g_.keys * g_.width);
    add(to.value, &Sums::value, g_.keys * g_.value_width);
  }

  const AttentionKernels& t_;
  const AttentionShape g_;
  const int64_t width_;
  int64_t blocks_ = 0, panels_ = 0, parts_ = 1;
  // Offsets in the scratch.
  int64_t queries_ = 0, grads_ = 0, maxima_ = 0, inverse_totals_ = 0, deltas_ = 0, scores_ = 0, score_grads_ = 0,
          mask_ = 0, mask_rows_ = 0, sums_ = 0;
  Slots slots_;
};

// A block of queries of one head. The scores and score_grads of all its panels are adjacent, a row for each key.
struct Backward::Block {
  Block(const Backward& op, const Launch* launch, int64_t head_index, int64_t first_query, float* memory,
        const Sums& into)
      : s(op), t(op.t_), g(op.g_), l(launch), head(head_index), first(first_query),
        count(std::min(kQueries, g.queries - first)), panels((count + s.width_ - 1) / s.width_),
        row(s.panels_ * s.width_), scratch(memory), sums(into), grad(matrix_of(l->inputs[0], head)),
        query(matrix_of(l->inputs[1], head)), key(matrix_of(l->inputs[2], head / g.group)),
        value(matrix_of(l->inputs[3], head / g.group)), mask(l->inputs[7], l->inputs[1], head) {}

  const Backward& s;
  const AttentionKernels& t;
  const AttentionShape& g;
  const Launch* l;
  const int64_t head, first, count, panels, row;
  float* scratch;
  const Sums sums;
  const Matrix grad, query, key, value;
  const Mask mask;

  int64_t rows(int64_t panel) const { return std::min(s.width_, count - panel * s.width_); }
  int64_t visible_keys_end(int64_t panel) const { return g.visible_keys(first + (panel + 1) * s.width_); }
  float* transposed_query(int64_t panel) const { return scratch + s.queries_ + panel * s.width_ * g.width; }
  float* transposed_grad(int64_t panel) const { return scratch + s.grads_ + panel * s.width_ * g.value_width; }

  void run() const {
    for (int64_t p = 0; p < panels; p++) prepare_panel(p);
    for (int64_t j = 0; j < visible_keys_end(panels - 1); j += kKeys) {
      for (int64_t p = 0; p < panels; p++)
        if (j < visible_keys_end(p)) softmax_backward(p, j, std::min(kKeys, visible_keys_end(p) - j));
      add_keys(j, std::min(kKeys, visible_keys_end(panels - 1) - j));
    }
  }

  void prepare_panel(int64_t p) const {
    const int64_t at = first + p * s.width_;
    t.softmax->copy_transposed(submatrix(query, at, 0), rows(p), g.width, g.scale, transposed_query(p));
    t.softmax->copy_transposed(submatrix(grad, at, 0), rows(p), g.value_width, 1, transposed_grad(p));
    const Matrix out = matrix_of(l->inputs[4], head), maxima = matrix_of(l->inputs[5], head),
                 totals = matrix_of(l->inputs[6], head);
    for (int64_t i = 0; i < s.width_; i++) {
      const int64_t lane = p * s.width_ + i;
      const bool there = i < rows(p);
      scratch[s.maxima_ + lane] = there ? *submatrix(maxima, at + i, 0).data : 0;
      scratch[s.inverse_totals_ + lane] = there ? 1 / *submatrix(totals, at + i, 0).data : 0;
      scratch[s.deltas_ + lane] = 0;
      if (there)
        t.multiply({1, 1, g.value_width, submatrix(grad, at + i, 0), transposed(submatrix(out, at + i, 0)),
                    &scratch[s.deltas_ + lane], 1});
    }
  }

  // The probabilities and score_grads of a panel for keys j to j + n, and their contribution to the query's gradient.
  void softmax_backward(int64_t p, int64_t j, int64_t n) const {
    const int64_t w = s.width_, at = first + p * w;
    float *scores = scratch + s.scores_ + p * w, *score_grads = scratch + s.score_grads_ + p * w;
    t.multiply({n, w, g.width, submatrix(key, j, 0), {transposed_query(p), w, 1}, scores, row});
    t.multiply({n, w, g.value_width, submatrix(value, j, 0), {transposed_grad(p), w, 1}, score_grads, row});
    Panel panel{scores, row, n, nullptr, g.causal ? at - j + 1 : n};
    if (mask.buffer) {
      mask.copy_additive(at, j, rows(p), n, scratch + s.mask_rows_, n);
      t.softmax->copy_transposed({scratch + s.mask_rows_, n, 1}, rows(p), n, 1, scratch + s.mask_);
      panel.mask = scratch + s.mask_;
    }
    t.softmax->softmax_backward(panel, score_grads, scratch + s.maxima_ + p * w, scratch + s.inverse_totals_ + p * w,
                                scratch + s.deltas_ + p * w, g.scale);
    float* to = l->outputs[0].as<float>() + (head * g.queries + at) * g.width;
    t.multiply({rows(p), g.width, n, {score_grads, 1, row}, submatrix(key, j, 0), to, g.width, j > 0});
  }

  // The contribution of this block to the gradients of keys j to j + n. Where the causal diagonal passes through, a
  // panel's height of keys at a time, each from the first panel on that attends to it.
  void add_keys(int64_t j, int64_t n) const {
    const bool diagonal = g.causal && j + n > first + 1;
    const int64_t step = diagonal ? s.width_ : n;
    for (int64_t r = 0; r < n; r += step) {
      const int64_t from = diagonal ? std::max<int64_t>(0, j + r - first) : 0, keys = std::min(step, n - r);
      if (from >= count) continue;
      const int64_t at = r * row + from;
      t.multiply({keys, g.value_width, count - from, {scratch + s.scores_ + at, row, 1},
                  submatrix(grad, first + from, 0), sums.value + (j + r) * g.value_width, g.value_width, true});
      t.multiply({keys, g.width, count - from, {scratch + s.score_grads_ + at, row, 1},
                  submatrix(query, first + from, 0), sums.key + (j + r) * g.width, g.width, true});
    }
  }
};

void Backward::sum_part(const Launch* l, int64_t key_head, int64_t part, float* scratch) const {
  const Sums into = part_sums(l, key_head, part);
  std::fill_n(into.key, g_.keys * g_.width, 0.0f);
  std::fill_n(into.value, g_.keys * g_.value_width, 0.0f);
  for (int64_t i = part; i < g_.group * blocks_; i += parts_)
    Block(*this, l, key_head * g_.group + i / blocks_, i % blocks_ * kQueries, scratch, into).run();
}

}  // namespace

KernelPtr prepare_backward(const AttentionKernels& kernels, const AttentionShape& shape) {
  return std::make_unique<Backward>(kernels, shape);
}

}  // namespace thunder
