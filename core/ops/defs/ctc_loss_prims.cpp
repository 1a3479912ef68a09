// The prims of ctc_loss: the likelihood of label sequences under every alignment of them, computed in logarithms.
#include <algorithm>
#include <cmath>

#include "ops/ctc_sequences.h"

namespace thunder {
namespace {

using namespace ctc;

// ---- prims.ctc_loss ----

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
      if (t >= q.time || s >= q.states)
        before = kNever;
      else if (t == 0)
        before = s < 2 ? 0 : kNever;
      else {
        const double two = q.skips(s) ? q.alpha(t - 1, s - 2) : kNever;
        before = log_sum(q.alpha(t - 1, s), s > 0 ? q.alpha(t - 1, s - 1) : kNever, two);
      }
      q.alpha(t, s) = before == kNever ? kNever : before + q.log_prob(t, s);
    }
}
double log_likelihood(const Sequence& q) {
  if (q.time == 0) return q.states == 1 ? 0 : kNever;
  const double last = q.alpha(q.time - 1, q.states - 1);
  return q.states == 1 ? last : log_sum(last, q.alpha(q.time - 1, q.states - 2));
}
Status* forward(const KernelArgs& k) {
  const Buffer &loss = k.out[0], &alphas = k.out[1];
  return each_sequence(k, alphas, [&](int64_t n) -> Status* {
    Sequence q;
    if (Status* refused = read_sequence("prims.ctc_loss", k, 0, alphas, k.args[4].i, n, q)) return refused;
    fill_alphas(q);
    by_real(loss.dtype, [&](auto t) {
      loss.as<decltype(t)>()[n * loss.strides[0]] = static_cast<decltype(t)>(-log_likelihood(q));
    });
    return nullptr;
  });
}
void forward_vjp(Grad& g) {
  g.add(0, g.builder.call(Prim::ctc_loss_backward,
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
  const double whole = log_likelihood(q);
  // The log probabilities of the steps behind t, for each state in step t.
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
Status* backward(const KernelArgs& k) {
  const Buffer &grad = k.in[0], &out = k.out[0];
  return by_real(out.dtype, [&](auto zero) -> Status* {
    using T = decltype(zero);
    each0<T>(k, [](int64_t) { return T(0); });
    return each_sequence(k, k.in[5], [&](int64_t n) -> Status* {
      Sequence q;
      if (Status* refused = read_sequence("prims.ctc_loss_backward", k, 1, k.in[5], k.args[6].i, n, q)) return refused;
      // A loss with a zero cotangent contributes nothing, even if it is infinite.
      const auto factor = static_cast<double>(static_cast<Compute<T>>(grad.as<T>()[n * grad.strides[0]]));
      if (factor != 0) subtract_shares<T>(q, out, factor);
      return nullptr;
    });
  });
}
// Linear in grad: each loss's gradient against the cotangent. By log_probs it is all of what changes, also by way of
// alphas, which are those of log_probs: their second derivatives are symmetric, so that the cotangent is a direction.
void backward_vjp(Grad& g) {
  Builder& b = g.builder;
  if (g.wants(0)) {
    Var ones = full_like(g.var(0), 1);
    Var shares =
        b.call(Prim::ctc_loss_backward, {ones, g.var(1), g.var(2), g.var(3), g.var(4), g.var(5), g.integer(6)});
    g.add(0, b.call(Prim::sum, {shares * g.cotangent(), Shape{0, 2}}));
  }
  if (g.wants(1))
    g.add(1, b.call(Prim::ctc_loss_curvature,
                    {g.cotangent(), g.var(0), g.var(1), g.var(2), g.var(3), g.var(4), g.integer(6)}));
}

// ---- over a batch: examples are more sequences ----

Results batch_forward(Batch& b) {
  Results out = b.invoke_same_op({joined(b, 0), b.merged(1), b.merged(2), b.merged(3), b.integer(4)});
  return {b.parted(b.builder.var(out[0]), 0).id, parted_in_time(b, b.builder.var(out[1])).id};
}
Results batch_backward(Batch& b) {
  return parted_in_time(b, b.builder.var(b.invoke_same_op({b.merged(0), joined(b, 1), b.merged(2), b.merged(3),
                                                           b.merged(4), joined(b, 5), b.integer(6)})[0]));
}
// ---- samples ----

void forward_samples(Samples& s) {
  s.add_without_gradient({TensorSpec{{4, 2, 3}, DType::f32, -2, -0.1}, integers({2, 2}, 1, 2), integers({2}, 3, 4),
                          integers({2}, 0, 2), 0});
  s.refuse({TensorSpec{{4, 2, 3}}, integers({3, 2}, 1, 2), integers({2}, 4, 4), integers({2}, 1, 1), 0},
           "targets must be [batch, length]");
}
void sample_ctc_loss_gradients(Samples& s) {
  s.add_without_gradient({TensorSpec{{2}}, TensorSpec{{4, 2, 3}, DType::f32, -2, -0.1}, integers({2, 2}, 1, 2),
                          integers({2}, 4, 4), integers({2}, 1, 1), TensorSpec{{4, 2, 5}, DType::f64, -2, -0.1}, 0});
  s.refuse({TensorSpec{{3}}, TensorSpec{{4, 2, 3}}, integers({2, 2}, 1, 2), integers({2}, 4, 4), integers({2}, 1, 1),
            TensorSpec{{4, 2, 5}, DType::f64}, 0},
           "grad must be [batch]");
}
constexpr OpRow kRows[] = {
    primitive("prims.ctc_loss(tensor log_probs, tensor targets, tensor input_lengths, tensor target_lengths, "
              "int blank) -> (tensor, tensor)",
              "The loss of each sequence, and the logarithms of what its alignments up to each step and state "
              "add up to.",
              forward_meta, forward, forward_vjp, kChecksData, {.batch = batch_forward, .samples = forward_samples}),
    primitive("prims.ctc_loss_backward(tensor grad, tensor log_probs, tensor targets, tensor input_lengths, "
              "tensor target_lengths, tensor alphas, "
              "int blank) -> tensor",
              "The gradient of prims.ctc_loss's log_probs.", backward_meta, backward, backward_vjp, kChecksData,
              {.batch = batch_backward, .samples = sample_ctc_loss_gradients}),
};

}  // namespace

extern const OpRows ctc_loss_prims_ops = kRows;

}  // namespace thunder
