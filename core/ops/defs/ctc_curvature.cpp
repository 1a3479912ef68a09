// The second derivative of ctc_loss: the same sums over alignments, with what a step along a direction changes of each.
#include <vector>

#include "ops/ctc_sequences.h"

namespace thunder {
namespace {

using namespace ctc;

void curvature_meta(const Call& c, Types& out) {
  require_sequences(c, 2, c.integer(6));
  const TensorType &x = c.type(2), &grad = c.type(1), &direction = c.type(0);
  c.require(direction.dtype == x.dtype && direction.shape == x.shape, "direction must have log_probs' type; ",
            c.types());
  c.require(grad.dtype == x.dtype && grad.shape == Shape{x.shape[1]},
            "grad must be [batch] and have log_probs' dtype; ", c.types());
  out.push(x);
}
// A logarithm and its derivative along the direction.
struct Moving {
  double at = kNever, slope = 0;
  Moving operator+(const Moving& other) const { return {at + other.at, slope + other.slope}; }
};
Moving log_add_moving(const Moving& a, const Moving& b, const Moving& c = {}) {
  Moving sum{log_sum(a.at, b.at, c.at), 0};
  if (sum.at == kNever) return sum;
  for (const Moving* part : {&a, &b, &c})
    if (part->at != kNever) sum.slope += std::exp(part->at - sum.at) * part->slope;
  return sum;
}
// A sequence along a direction: alphas [time, states], and betas of one step after the other from the end.
class MovingSequence {
 public:
  MovingSequence(const Sequence& q, const Buffer& direction)
      : q_(q), direction_(direction), alphas_(static_cast<size_t>(q.time * q.states)) {
    for (int64_t t = 0; t < q.time; t++)
      for (int64_t s = 0; s < q.states; s++) {
        Moving before{s < 2 ? 0 : kNever, 0};
        if (t > 0)
          before = log_add_moving(alpha(t - 1, s), s > 0 ? alpha(t - 1, s - 1) : Moving(),
                                  q.skips(s) ? alpha(t - 1, s - 2) : Moving());
        if (before.at != kNever) alpha(t, s) = before + log_prob_with_slope(t, s);
      }
  }
  // Takes from out(t, c) how the shares of a label c in step t change, times grad; nothing where no alignment fits.
  template <class T>
  void subtract_changes(const Buffer& out, double grad) {
    const int64_t time = q_.time, states = q_.states;
    if (time == 0) return;
    const Moving whole =
        log_add_moving(alpha(time - 1, states - 1), states > 1 ? alpha(time - 1, states - 2) : Moving());
    if (whole.at == kNever) return;
    std::vector<Moving> beta(static_cast<size_t>(states)), later;
    for (int64_t t = time - 1; t >= 0; t--) {
      later.swap(beta), beta.assign(static_cast<size_t>(states), {});
      const auto from = [&](int64_t s) {
        return s < states && later[static_cast<size_t>(s)].at != kNever
                   ? later[static_cast<size_t>(s)] + log_prob_with_slope(t + 1, s)
                   : Moving();
      };
      T* row = out.as<T>() + t * out.strides[0] + q_.n * out.strides[1];
      for (int64_t s = 0; s < states; s++) {
        Moving& b = beta[static_cast<size_t>(s)];
        if (t == time - 1)
          b.at = s >= states - 2 ? 0 : kNever;
        else
          b = log_add_moving(from(s), from(s + 1), s + 2 < states && q_.skips(s + 2) ? from(s + 2) : Moving());
        const Moving share = alpha(t, s) + b;
        if (share.at == kNever) continue;
        T& to = row[q_.label(s) * out.strides[2]];
        to = static_cast<T>(static_cast<double>(to) -
                            grad * std::exp(share.at - whole.at) * (share.slope - whole.slope));
      }
    }
  }

 private:
  Moving& alpha(int64_t t, int64_t s) { return alphas_[static_cast<size_t>(t * q_.states + s)]; }
  Moving log_prob_with_slope(int64_t t, int64_t s) const {
    const int64_t at = t * direction_.strides[0] + q_.n * direction_.strides[1] + q_.label(s) * direction_.strides[2];
    return {q_.log_prob(t, s), direction_.dtype == DType::f64 ? direction_.as<double>()[at]
                                                              : static_cast<double>(direction_.as<float>()[at])};
  }
  const Sequence& q_;
  const Buffer& direction_;
  std::vector<Moving> alphas_;
};
Status* curvature(const KernelArgs& k) {
  const Buffer &grad = k.in[1], &out = k.out[0];
  return by_real(out.dtype, [&](auto zero) -> Status* {
    using T = decltype(zero);
    each0<T>(k, [](int64_t) { return T(0); });
    return each_sequence(k, out, [&](int64_t n) -> Status* {
      Sequence q;
      if (Status* refused = read_sequence("prims.ctc_loss_curvature", k, 2, out, k.args[6].i, n, q)) return refused;
      const auto factor = static_cast<double>(static_cast<Compute<T>>(grad.as<T>()[n * grad.strides[0]]));
      if (factor != 0) MovingSequence(q, k.in[0]).subtract_changes<T>(out, factor);
      return nullptr;
    });
  });
}
// Linear in the direction, along which it is symmetric, and in grad.
void curvature_vjp(Grad& g) {
  g.require(!g.wants(2), "third derivatives by log_probs are not there");
  const auto along = [&](Var direction, Var grad) {
    return g.builder.call(Prim::ctc_loss_curvature,
                          {direction, grad, g.var(2), g.var(3), g.var(4), g.var(5), g.integer(6)});
  };
  if (g.wants(0)) g.add(0, along(g.cotangent(), g.var(1)));
  if (g.wants(1))
    g.add(1, g.builder.call(Prim::sum, {along(g.var(0), full_like(g.var(1), 1)) * g.cotangent(), Shape{0, 2}}));
}

Results batch_curvature(Batch& b) {
  return parted_in_time(b, b.builder.var(b.invoke_same_op({joined(b, 0), b.merged(1), joined(b, 2), b.merged(3),
                                                           b.merged(4), b.merged(5), b.integer(6)})[0]));
}

void curvature_samples(Samples& s) {
  const TensorSpec x{{4, 2, 3}, DType::f32, -2, -0.1};
  s.add_without_gradient({x, TensorSpec{{2}}, x, integers({2, 2}, 1, 2), integers({2}, 4, 4), integers({2}, 1, 1), 0});
  s.refuse(
      {TensorSpec{{4, 2, 2}}, TensorSpec{{2}}, x, integers({2, 2}, 1, 2), integers({2}, 4, 4), integers({2}, 1, 1), 0},
      "direction must have log_probs' type");
}

constexpr OpRow kRows[] = {
    primitive("prims.ctc_loss_curvature(tensor direction, tensor grad, tensor log_probs, tensor targets, "
              "tensor input_lengths, tensor target_lengths, int blank) -> tensor",
              "How prims.ctc_loss_backward changes along a direction of log_probs.", curvature_meta, curvature,
              curvature_vjp, kChecksData, {.batch = batch_curvature, .samples = curvature_samples}),
};

}  // namespace

extern const OpRows ctc_curvature_ops = kRows;

}  // namespace thunder
