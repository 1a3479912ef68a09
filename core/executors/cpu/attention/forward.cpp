// The forward in tiles: for a block of queries, blocks of keys are processed one after the other with online softmax;
// the accumulated values are rescaled when a larger score appears. The matrix of scores is never stored.
#include <algorithm>
#include <limits>
#include <utility>

#include "executors/cpu/attention/ops.h"
#include "executors/cpu/parallel.h"

namespace thunder {
namespace {

// The node's buffers: query, key, value, mask; out, running_max, total. A task is a block of queries of one head.
class Forward : public Kernel {
 public:
  Forward(const AttentionKernels& kernels, const AttentionShape& shape)
      : Kernel(this), t_(kernels), g_(shape), width_(kernels.softmax->width) {
    blocks_ = (g_.queries + kQueries - 1) / kQueries;
    panels_ = (std::min(kQueries, g_.queries) + width_ - 1) / width_;
    int64_t elements = 0;
    auto take = [&](int64_t n) { return std::exchange(elements, elements + n); };
    transposed_ = take(panels_ * width_ * g_.width);
    maxima_ = take(panels_ * width_), totals_ = take(panels_ * width_), factors_ = take(width_);
    scores_ = take(kKeys * width_);
    mask_ = take(g_.masked ? kKeys * width_ : 0), mask_rows_ = take(g_.masked ? kKeys * width_ : 0);
    slots_ = Slots(g_.heads * blocks_, t_.choose_slot_count(g_), elements);
  }

  std::unique_ptr<const KernelOfClass> of_class(const LineView& line) const override {
    return attention_of_class(t_, *line.of_class);
  }
  size_t scratch() const override { return slots_.bytes(); }

  Status* run(const Launch* launch) const {
    return slots_.run(launch, [&](int64_t index, float* scratch) {
      // Later causal blocks cost more: cheap and expensive ones alternate, so that equal shares of the tasks are equal
      // shares of the work.
      const int64_t i = index % blocks_, block = i % 2 ? blocks_ - 1 - i / 2 : i / 2;
      Block(*this, launch, index / blocks_, block * kQueries, scratch).run();
    });
  }

 private:
  struct Block {
    Block(const Forward& op, const Launch* launch, int64_t head, int64_t first_query, float* memory)
        : s(op), t(op.t_), g(op.g_), l(launch), head(head), first(first_query),
          count(std::min(kQueries, g.queries - first)), scratch(memory), key(matrix_of(l->inputs[1], head / g.group)),
          value(matrix_of(l->inputs[2], head / g.group)), out(matrix_of(l->outputs[0], head)),
          mask(l->inputs[3], l->inputs[0], head) {}

    const Forward& s;
    const AttentionKernels& t;
    const AttentionShape& g;
    const Launch* l;
    int64_t head, first, count;
    float* scratch;
    Matrix key, value, out;
    Mask mask;

    int64_t rows(int64_t panel) const { return std::min(s.width_, count - panel * s.width_); }
    // The keys that a panel may attend to, as if all its lanes were valid.
    int64_t visible_keys_end(int64_t panel) const { return g.visible_keys(first + (panel + 1) * s.width_); }
    float* transposed_query(int64_t panel) const { return scratch + s.transposed_ + panel * s.width_ * g.width; }
    float* running_max(int64_t panel) const { return scratch + s.maxima_ + panel * s.width_; }
    float* total(int64_t panel) const { return scratch + s.totals_ + panel * s.width_; }
    float* result(int64_t panel) const { return const_cast<float*>(submatrix(out, panel * s.width_ + first, 0).data); }

    void run() const {
      const int64_t panels = (count + s.width_ - 1) / s.width_;
      const Matrix query = matrix_of(l->inputs[0], head);
      for (int64_t p = 0; p < panels; p++) {
        t.softmax->copy_transposed(submatrix(query, first + p * s.width_, 0), rows(p), g.width, g.scale,
                                   transposed_query(p));
        std::fill_n(running_max(p), s.width_, -std::numeric_limits<float>::infinity());
        std::fill_n(total(p), s.width_, 0.0f);
      }
      for (int64_t j = 0; j < visible_keys_end(panels - 1); j += kKeys)
        for (int64_t p = 0; p < panels; p++)
          if (j < visible_keys_end(p)) attend_to_keys(p, j, std::min(kKeys, visible_keys_end(p) - j));
      for (int64_t p = 0; p < panels; p++) normalize_panel(p);
    }

    // The contribution of keys j to j + n to a panel.
    void attend_to_keys(int64_t p, int64_t j, int64_t n) const {
      float *scores = scratch + s.scores_, *factors = scratch + s.factors_;
      const int64_t query = first + p * s.width_;
      t.multiply({n, s.width_, g.width, submatrix(key, j, 0), {transposed_query(p), s.width_, 1}, scores, s.width_});
      Panel panel{scores, s.width_, n, nullptr, g.causal ? query - j + 1 : n};
      if (mask.buffer) {
        mask.copy_additive(query, j, rows(p), n, scratch + s.mask_rows_, n);
        t.softmax->copy_transposed({scratch + s.mask_rows_, n, 1}, rows(p), n, 1, scratch + s.mask_);
        panel.mask = scratch + s.mask_;
      }
      t.softmax->online_softmax(panel, running_max(p), total(p), factors);
      if (j) t.softmax->scale_rows(result(p), out.row, rows(p), g.value_width, factors);
      t.multiply({rows(p), g.value_width, n, {scores, 1, s.width_}, submatrix(value, j, 0), result(p), out.row, j > 0});
    }

    void normalize_panel(int64_t p) const {
      float *factors = scratch + s.factors_, *maxima = l->outputs[1].as<float>(), *totals = l->outputs[2].as<float>();
      const int64_t query = head * g.queries + first + p * s.width_;
      for (int64_t i = 0; i < rows(p); i++) {
        const bool empty = running_max(p)[i] == -std::numeric_limits<float>::infinity();
        maxima[query + i] = empty ? 0 : running_max(p)[i];
        totals[query + i] = empty ? 1 : total(p)[i];
        factors[i] = 1 / totals[query + i];
      }
      t.softmax->scale_rows(result(p), out.row, rows(p), g.value_width, factors);
    }
  };

  const AttentionKernels& t_;
  const AttentionShape g_;
  const int64_t width_;
  int64_t blocks_ = 0, panels_ = 0;
  // Offsets in the scratch.
  int64_t transposed_ = 0, maxima_ = 0, totals_ = 0, factors_ = 0, scores_ = 0, mask_ = 0, mask_rows_ = 0;
  Slots slots_;
};

}  // namespace

KernelPtr prepare_forward(const AttentionKernels& kernels, const AttentionShape& shape) {
  return std::make_unique<Forward>(kernels, shape);
}

}  // namespace thunder
