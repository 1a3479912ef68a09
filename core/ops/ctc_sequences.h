// Label sequences under their alignments, as the prims of ctc_loss look at them, in logarithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/batch.h"
#include "ops/indices.h"
#include "ops/tables.h"

namespace thunder::ctc {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b))
inline double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}
inline double log_sum(double a, double b, double c) {
  if (a < b) std::swap(a, b);
  if (a < c) std::swap(a, c);
  if (a == kNever) return a;
  return a + std::log1p((b == kNever ? 0 : std::exp(b - a)) + (c == kNever ? 0 : std::exp(c - a)));
}

// ---- one sequence: its labels with blanks around each, as states that an alignment goes through ----

// Buffers: log_probs [time, batch, classes], targets [batch, length], the two lengths [batch], alphas [time, batch, 2
// length + 1].
struct Sequence {
  Buffer log_probs, targets, alphas;
  int64_t n, blank, time, states;

  int64_t label(int64_t state) const {
    return state % 2 ? index_at(targets, n * targets.strides[0] + state / 2 * targets.strides[1]) : blank;
  }
  // Whether an alignment may come from two states before: a blank is left out between labels that differ.
  bool skips(int64_t state) const { return state % 2 && state > 1 && label(state) != label(state - 2); }
  double log_prob(int64_t t, int64_t state) const {
    const int64_t at = t * log_probs.strides[0] + n * log_probs.strides[1] + label(state) * log_probs.strides[2];
    return log_probs.dtype == DType::f64 ? log_probs.as<double>()[at] : static_cast<double>(log_probs.as<float>()[at]);
  }
  double& alpha(int64_t t, int64_t state) const {
    return alphas.as<double>()[t * alphas.strides[0] + n * alphas.strides[1] + state * alphas.strides[2]];
  }
};

inline Status* refuse_length(std::string_view op, std::string_view what, int64_t length, int64_t most, int64_t n) {
  return refuse(cat(op, ": ", what, " ", length, " of sequence ", n, " is not between 0 and ", most));
}
// Sequence n, whose lengths and labels are looked at.
inline Status* read_sequence(std::string_view op, const KernelArgs& k, size_t first, const Buffer& alphas,
                             int64_t blank, int64_t n, Sequence& out) {
  const Buffer &targets = k.in[first + 1], &times = k.in[first + 2], &lengths = k.in[first + 3];
  out = {k.in[first],
         targets,
         alphas,
         n,
         blank,
         index_at(times, n * times.strides[0]),
         index_at(lengths, n * lengths.strides[0])};
  const int64_t length = out.states, classes = out.log_probs.shape[2];
  if (out.time < 0 || out.time > out.log_probs.shape[0])
    return refuse_length(op, "input length", out.time, out.log_probs.shape[0], n);
  if (length < 0 || length > targets.shape[1]) return refuse_length(op, "target length", length, targets.shape[1], n);
  out.states = 2 * length + 1;
  for (int64_t s = 1; s < out.states; s += 2)
    if (const int64_t label = out.label(s); label < 0 || label >= classes)
      return refuse(cat(op, ": label ", label, " of sequence ", n, " is out of range for ", classes, " classes"));
  return nullptr;
}

// Calls f(n), which gives a status, for each sequence, on the threads of the kernel.
template <class F>
inline Status* each_sequence(const KernelArgs& k, const Buffer& alphas, const F& f) {
  constexpr int64_t kEach = 16;  // simple elements that the logarithms of one alpha cost as much as
  return in_parts(k, alphas.shape[1], alphas.elements() * kEach, [&](int64_t begin, int64_t end) -> Status* {
    for (int64_t n = begin; n < end; n++)
      if (Status* failed = f(n)) return failed;
    return nullptr;
  });
}

// ---- what the prims are declared by ----

inline void require_sequences(const Call& c, size_t first, int64_t blank) {
  const TensorType &x = c.type(first), &targets = c.type(first + 1);
  c.require(x.rank() == 3 && (x.dtype == DType::f32 || x.dtype == DType::f64),
            "log_probs must be f32 or f64 [time, batch, classes], got ", name(x));
  const Shape batch{x.shape[1]};
  c.require(targets.rank() == 2 && targets.shape[0] == batch[0], "targets must be [batch, length]; ", c.types());
  for (size_t i = 1; i < 4; i++)
    c.require(c.type(first + i).dtype == DType::i64 || c.type(first + i).dtype == DType::i32,
              "targets and lengths must be integers; ", c.types());
  for (size_t i = 2; i < 4; i++) c.require(c.type(first + i).shape == batch, "lengths must be [batch]; ", c.types());
  c.require(blank >= 0 && blank < hint(x.shape[2]), "blank ", blank, " is out of range for ", name(x.shape[2]),
            " classes");
}

// [examples, time, batch, ...] as [time, examples * batch, ...], and back.
inline Var joined(const Batch& b, size_t arg) {
  Var x = permute_to(b.operand(arg), Shape{1, 0, 2, 3});
  return reshape_to(x, Shape{x.size(0), x.size(1) * x.size(2), x.size(3)});
}
inline Var parted_in_time(const Batch& b, Var x) {
  return permute_to(reshape_to(x, Shape{x.size(0), b.size(), x.size(1) / hint(b.size()), x.size(2)}),
                    Shape{1, 0, 2, 3});
}
}  // namespace thunder::ctc
