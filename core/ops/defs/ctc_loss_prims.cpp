// The prims of ctc_loss: the likelihood of label sequences under every alignment of them, computed in logarithms.
#include <algorithm>
#include <cmath>

#include "ops/batch.h"
#include "ops/indices.h"
#include "ops/tables.h"

namespace thunder {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b))
double log_sum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}
double log_sum(double a, double b, double c) {
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

Status* refuse_length(std::string_view op, std::string_view what, int64_t length, int64_t most, int64_t n) {
  return refuse(cat(op, ": ", what, " ", length, " of sequence ", n, " is not between 0 and ", most));
}
// Sequence n, whose lengths and labels are looked at.
Status* read_sequence(std::string_view op, const Kernel& k, size_t first, const Buffer& alphas, int64_t blank,
                      int64_t n, Sequence& out) {
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
Status* each_sequence(const Kernel& k, const Buffer& alphas, const F& f) {
  constexpr int64_t kEach = 16;  // simple elements that the logarithms of one alpha cost as much as
  return in_parts(k, alphas.shape[1], alphas.elements() * kEach, [&](int64_t begin, int64_t end) -> Status* {
    for (int64_t n = begin; n < end; n++)
      if (Status* failed = f(n)) return failed;
    return nullptr;
  });
}

// ---- prims.ctc_loss ----

void require_sequences(const Call& c, size_t first, int64_t blank) {
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
void forward_meta(const Call& c, Types& out) {
  require_sequences(c, 0, c.integer(4));
  TensorType t = c.type(0);
  const Shape shape{t.shape[0], t.shape[1], c.type(1).shape[1] * 2 + 1};
  t.shape = Shape{t.shape[1]};
  out.push(t);
  t.shape = shape, t.dtype = DType::f64;
  out.push(t);
}
// alpha(t, s): the logarithm of the probability of all alignments of the first t + 1 steps that end in state s.
void fill_alphas(const Sequence& q) {
  for (int64_t t = 0; t < q.alphas.shape[0]; t++)
    for (int64_t s = 0; s < q.alphas.shape[2]; s++) {
      double before = kNever;
      if (t >= q.time || s >= q.states) before = kNever;
      else if (t == 0) before = s < 2 ? 0 : kNever;
      else {
        const double two = q.skips(s) ? q.alpha(t - 1, s - 2) : kNever;
        before = log_sum(q.alpha(t - 1, s), s > 0 ? q.alpha(t - 1, s - 1) : kNever, two);
      }
      q.alpha(t, s) = before == kNever ? kNever : before + q.log_prob(t, s);
    }
}
double likelihood(const Sequence& q) {
  if (q.time == 0) return q.states == 1 ? 0 : kNever;
  const double last = q.alpha(q.time - 1, q.states - 1);
  return q.states == 1 ? last : log_sum(last, q.alpha(q.time - 1, q.states - 2));
}
Status* forward(const Kernel& k) {
  const Buffer &loss = k.out[0], &alphas = k.out[1];
  return each_sequence(k, alphas, [&](int64_t n) -> Status* {
    Sequence q;
    if (Status* refused = read_sequence("prims.ctc_loss", k, 0, alphas, k.args[4].i, n, q)) return refused;
    fill_alphas(q);
    by_real(loss.dtype,
            [&](auto t) { loss.as<decltype(t)>()[n * loss.strides[0]] = static_cast<decltype(t)>(-likelihood(q)); });
    return nullptr;
  });
}
void forward_vjp(Grad& g) {
  g.add(0, g.builder.call("prims.ctc_loss_backward",
                          {g.cotangent(), g.var(0), g.var(1), g.var(2), g.var(3), g.result(1), g.integer(4)}));
}

// ---- prims.ctc_loss_backward ----

void backward_meta(const Call& c, Types& out) {
  require_sequences(c, 1, c.integer(6));
  const TensorType &x = c.type(1), &grad = c.type(0), &alphas = c.type(5);
  c.require(grad.dtype == x.dtype && grad.shape == Shape{x.shape[1]},
            "grad must be [batch] and have log_probs' dtype; ", c.types());
  const Shape shape{x.shape[0], x.shape[1], c.type(2).shape[1] * 2 + 1};
  c.require(alphas.dtype == DType::f64 && alphas.shape == shape, "alphas must be f64 ", name(shape), "; ", c.types());
  out.push(x);
}
// Takes from out(t, c) the share of all alignments that are at a label c in step t, times grad.
template <class T>
void subtract_shares(const Sequence& q, const Buffer& out, double grad) {
  const double whole = likelihood(q);
  // Of the steps behind t, by the state in step t.
  std::vector<double> beta(static_cast<size_t>(q.states), kNever), later;
  for (int64_t t = q.time - 1; t >= 0; t--) {
    if (t == q.time - 1) {
      for (int64_t s = std::max<int64_t>(0, q.states - 2); s < q.states; s++) beta[static_cast<size_t>(s)] = 0;
    } else {
      later = beta;
      const auto from = [&](int64_t s) {
        return later[static_cast<size_t>(s)] == kNever ? kNever : later[static_cast<size_t>(s)] + q.log_prob(t + 1, s);
      };
      for (int64_t s = 0; s < q.states; s++) {
        const double two = s + 2 < q.states && q.skips(s + 2) ? from(s + 2) : kNever;
        beta[static_cast<size_t>(s)] = log_sum(from(s), s + 1 < q.states ? from(s + 1) : kNever, two);
      }
    }
    T* row = out.as<T>() + t * out.strides[0] + q.n * out.strides[1];
    for (int64_t s = 0; s < q.states; s++) {
      T& to = row[q.label(s) * out.strides[2]];
      to = static_cast<T>(static_cast<double>(to) -
                          grad * std::exp(q.alpha(t, s) + beta[static_cast<size_t>(s)] - whole));
    }
  }
}
Status* backward(const Kernel& k) {
  const Buffer &grad = k.in[0], &out = k.out[0];
  return by_real(out.dtype, [&](auto zero) -> Status* {
    using T = decltype(zero);
    each0<T>(k, [](int64_t) { return T(0); });
    return each_sequence(k, k.in[5], [&](int64_t n) -> Status* {
      Sequence q;
      if (Status* refused = read_sequence("prims.ctc_loss_backward", k, 1, k.in[5], k.args[6].i, n, q)) return refused;
      // A loss that is not asked for has no share, also where it is infinite.
      const auto factor = static_cast<double>(static_cast<Compute<T>>(grad.as<T>()[n * grad.strides[0]]));
      if (factor != 0) subtract_shares<T>(q, out, factor);
      return nullptr;
    });
  });
}
// Linear in grad: each loss's gradient against the cotangent. How the shares change with log_probs nobody asks of a
// loss.
void backward_vjp(Grad& g) {
  g.require(!g.wants(1) && !g.wants(5), "the gradient of its gradient by log_probs is not there");
  Var ones = full_like(g.var(0), 1);
  Var shares =
      g.builder.call("prims.ctc_loss_backward", {ones, g.var(1), g.var(2), g.var(3), g.var(4), g.var(5), g.integer(6)});
  g.add(0, g.builder.call("prims.sum", {shares * g.cotangent(), Shape{0, 2}}));
}

// ---- over a batch: examples are more sequences ----

// [examples, time, batch, ...] as [time, examples * batch, ...], and back.
Var joined(const Batch& b, size_t arg) {
  Var x = permute_to(b.operand(arg), Shape{1, 0, 2, 3});
  return reshape_to(x, Shape{x.size(0), x.size(1) * x.size(2), x.size(3)});
}
Var parted_in_time(const Batch& b, Var x) {
  return permute_to(reshape_to(x, Shape{x.size(0), b.size(), x.size(1) / hint(b.size()), x.size(2)}),
                    Shape{1, 0, 2, 3});
}
Results batch_forward(Batch& b) {
  Results out = b.again({joined(b, 0), b.merged(1), b.merged(2), b.merged(3), b.integer(4)});
  return {b.parted(b.builder.var(out[0]), 0).id, parted_in_time(b, b.builder.var(out[1])).id};
}
Results batch_backward(Batch& b) {
  return parted_in_time(b, b.builder.var(b.again({b.merged(0), joined(b, 1), b.merged(2), b.merged(3), b.merged(4),
                                                  joined(b, 5), b.integer(6)})[0]));
}

// ---- samples ----

void forward_samples(Samples& s) {
  s.add_without_gradient({TensorSpec{{4, 2, 3}, DType::f32, -2, -0.1}, integers({2, 2}, 1, 2), integers({2}, 3, 4),
                          integers({2}, 0, 2), 0});
  s.refuse({TensorSpec{{4, 2, 3}}, integers({3, 2}, 1, 2), integers({2}, 4, 4), integers({2}, 1, 1), 0},
           "targets must be [batch, length]");
}
void backward_samples(Samples& s) {
  s.add_without_gradient({TensorSpec{{2}}, TensorSpec{{4, 2, 3}, DType::f32, -2, -0.1}, integers({2, 2}, 1, 2),
                          integers({2}, 4, 4), integers({2}, 1, 1), TensorSpec{{4, 2, 5}, DType::f64, -2, -0.1}, 0});
  s.refuse({TensorSpec{{3}}, TensorSpec{{4, 2, 3}}, integers({2, 2}, 1, 2), integers({2}, 4, 4), integers({2}, 1, 1),
            TensorSpec{{4, 2, 5}, DType::f64}, 0},
           "grad must be [batch]");
}

constexpr OpRow kRows[] = {
    checked({.schema = "prims.ctc_loss(tensor log_probs, tensor targets, tensor input_lengths, tensor target_lengths, "
                       "int blank) -> (tensor, tensor)",
             .doc = "The loss of each sequence, and the logarithms of what its alignments up to each step and state "
                    "add up to.",
             .meta = forward_meta,
             .reference = forward,
             .vjp = forward_vjp,
             .batch = batch_forward,
             .samples = forward_samples,
             .tags = kChecksData}),
    checked({.schema = "prims.ctc_loss_backward(tensor grad, tensor log_probs, tensor targets, tensor input_lengths, "
                       "tensor target_lengths, tensor alphas, "
                       "int blank) -> tensor",
             .doc = "The gradient of prims.ctc_loss's log_probs.",
             .meta = backward_meta,
             .reference = backward,
             .vjp = backward_vjp,
             .batch = batch_backward,
             .samples = backward_samples,
             .tags = kChecksData}),
};

}  // namespace

void register_ctc_loss_prims(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
