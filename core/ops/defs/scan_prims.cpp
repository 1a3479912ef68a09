// Running sums, products, extrema and logarithms of sums along a dim.
#include <cmath>

#include "ops/fold.h"
#include "ops/lines.h"
#include "ops/tables.h"

namespace thunder {
namespace {

void scan_meta(const Call& c, Types& out) {
  c.axis(1, c.type(0).rank());
  out.push(c.type(0));
}

// ---- cumsum, cumprod ----

template <class F>
void each_scanned(const KernelArgs& k, bool reverse, F f) {
  const Buffer &in = k.in[0], &out = k.out[0];
  const size_t axis = normalize_axis(k.args[1].i, static_cast<size_t>(in.rank));
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    each_line(k, in, out, out, axis, 0, [&](int64_t from, int64_t to, int64_t, int) {
      auto x = line_at<const T>(in, axis, from);
      auto y = line_at<T>(out, axis, to);
      if (reverse && x.size)
        x.data += (x.size - 1) * x.step, x.step = -x.step, y.data += (y.size - 1) * y.step, y.step = -y.step;
      f(x, y);
    });
  });
}
// Each element is the fold of those so far; it is rounded, the accumulator is not.
template <template <class> class Fold>
Status* scan_kernel(const KernelArgs& k) {
  each_scanned(k, k.args[2].i, [](auto x, auto y) {
    using T = std::remove_reference_t<decltype(*y.data)>;
    auto sum = Fold<T>::start();
    for (int64_t i = 0; i < x.size; i++) {
      sum = Fold<T>::step(sum, static_cast<Accumulator<T>>(x[i]));
      y[i] = static_cast<T>(sum);
    }
  });
  return nullptr;
}
// Without a division, so that zeros are no exception: what comes before, times a sum from the end that each step
// multiplies by the element that it leaves behind.
Status* cumprod_backward_kernel(const KernelArgs& k) {
  const Buffer &grad = k.in[0], &in = k.in[1], &out = k.out[0];
  const size_t axis = normalize_axis(k.args[2].i, static_cast<size_t>(in.rank));
  const bool reverse = k.args[3].i;
  by_real(in.dtype, [&](auto t) {
    using T = decltype(t);
    each_line(k, grad, in, out, axis, std::vector<double>(), [&](int64_t g0, int64_t x0, int64_t y0, auto& before) {
      auto g = line_at<const T>(grad, axis, g0), x = line_at<const T>(in, axis, x0);
      auto y = line_at<T>(out, axis, y0);
      const auto at = [&](int64_t i) { return reverse ? x.size - 1 - i : i; };
      before.assign(1, 1.0);
      for (int64_t i = 0; i < x.size; i++) before.push_back(before.back() * static_cast<double>(x[at(i)]));
      double sum = 0;
      for (int64_t i = x.size; i-- > 0;) {
        sum = static_cast<double>(g[at(i)]) + (i + 1 < x.size ? static_cast<double>(x[at(i + 1)]) * sum : 0);
        y[at(i)] = static_cast<T>(static_cast<Compute<T>>(sum * before[static_cast<size_t>(i)]));
      }
    });
  });
  return nullptr;
}
void cumprod_backward_meta(const Call& c, Types& out) {
  require_equal_types(c, 0, 1);
  c.axis(2, c.type(0).rank());
  out.push(c.type(1));
}
void cumsum_vjp(Grad& g) { g.add(0, g.builder.call(Prim::cumsum, {g.cotangent(), g.args[1], !g.args[2].i})); }
void cumprod_vjp(Grad& g) {
  g.add(0, g.builder.call(Prim::cumprod_backward, {g.cotangent(), g.var(0), g.args[1], g.args[2]}));
}

// ---- cummax, cummin ----

void extremum_meta(const Call& c, Types& out) {
  scan_meta(c, out);
  TensorType t = c.type(0);
  t.dtype = DType::i64;
  out.push(t);
}
// The last of equal elements; NaN propagates.
template <bool maximum>
Status* running_extremum_kernel(const KernelArgs& k) {
  const Buffer &in = k.in[0], &values = k.out[0], &indices = k.out[1];
  const size_t axis = normalize_axis(k.args[1].i, static_cast<size_t>(in.rank));
  by_dtype(in.dtype, [&](auto t) {
    using T = decltype(t);
    using C = Compute<T>;
    each_line(k, in, values, indices, axis, 0, [&](int64_t from, int64_t v, int64_t i, int) {
      const auto x = line_at<const T>(in, axis, from);
      const auto y = line_at<T>(values, axis, v);
      const auto at = line_at<int64_t>(indices, axis, i);
      int64_t best = 0;
      for (int64_t j = 0; j < x.size; j++) {
        const C top = static_cast<C>(x[best]), next = static_cast<C>(x[j]);
        if (next != next || (top == top && (maximum ? next >= top : next <= top))) best = j;
        y[j] = x[best], at[j] = best;
      }
    });
  });
  return nullptr;
}

// ---- logcumsumexp ----

void real_scan_meta(const Call& c, Types& out) {
  c.require(is_real(c.type(0).dtype), "input must be real, got ", name(c.type(0)));
  scan_meta(c, out);
}
struct RunningLog {
  double top = -kInfinity, sum = 0;  // the sum so far is sum * exp(top)
  double add(double v) {
    if (v > top) sum = sum * std::exp(top - v) + 1, top = v;
    else if (v != top || !std::isinf(v)) sum += std::exp(v - top);
    else if (v > 0) sum += 1;
    return top == -kInfinity && sum == 0 ? top : top + std::log(sum);
  }
};
Status* logcumsumexp_kernel(const KernelArgs& k) {
  each_scanned(k, k.args[2].i, [](auto x, auto y) {
    using T = std::remove_reference_t<decltype(*y.data)>;
    if constexpr (!std::is_integral_v<T>) {
      RunningLog log;
      for (int64_t i = 0; i < x.size; i++)
        y[i] = static_cast<T>(static_cast<Compute<T>>(log.add(static_cast<double>(x[i]))));
    }
  });
  return nullptr;
}
// d(x i) is the sum of d(y j) exp(x i - y j) over the j behind it. y never falls, so that no factor exceeds 1.
Status* logcumsumexp_backward_kernel(const KernelArgs& k) {
  const Buffer &grad = k.in[0], &in = k.in[1], &out = k.out[0];
  const size_t axis = normalize_axis(k.args[2].i, static_cast<size_t>(in.rank));
  const bool reverse = k.args[3].i;
  by_real(in.dtype, [&](auto t) {
    using T = decltype(t);
    each_line(k, grad, in, out, axis, std::vector<double>(), [&](int64_t g0, int64_t x0, int64_t y0, auto& y) {
      auto g = line_at<const T>(grad, axis, g0), x = line_at<const T>(in, axis, x0);
      auto to = line_at<T>(out, axis, y0);
      const auto at = [&](int64_t i) { return reverse ? x.size - 1 - i : i; };
      const auto ratio = [](double a, double b) { return a == b ? 1 : std::exp(a - b); };
      RunningLog log;
      y.clear();
      for (int64_t i = 0; i < x.size; i++) y.push_back(log.add(static_cast<double>(x[at(i)])));
      double sum = 0;
      for (int64_t i = x.size; i-- > 0;) {
        const auto n = static_cast<size_t>(i);
        const auto v = static_cast<double>(x[at(i)]);
        sum = static_cast<double>(g[at(i)]) + (i + 1 < x.size ? sum * ratio(y[n], y[n + 1]) : 0);
        to[at(i)] = static_cast<T>(static_cast<Compute<T>>(v == -kInfinity ? 0 : sum * ratio(v, y[n])));
      }
    });
  });
  return nullptr;
}
void logcumsumexp_vjp(Grad& g) {
  g.add(0, g.builder.call(Prim::logcumsumexp_backward, {g.cotangent(), g.var(0), g.args[1], g.args[2]}));
}

// ---- second derivatives, over a matrix of pairs in two dims where there was one ----

struct Pairs {
  explicit Pairs(const Grad& g)
      : dim(g.axis(2, g.type(1).rank())), along(static_cast<int64_t>(dim)), shape(g.type(1).shape) {
    const bool reverse = g.flag(3);
    shape.insert(dim, shape[dim]);
    Var j = counted_along(g.builder, shape[dim], dim, shape.size(), g.type(1).device);
    Var i = counted_along(g.builder, shape[dim], dim + 1, shape.size(), g.type(1).device);
    same = eq(i, j), reached = reverse ? le(i, j) : ge(i, j);
  }
  // The line as the columns of the matrix, or as its rows; and sums over rows.
  Var expand_as_columns(Var v) const { return expand_along(v, along); }
  Var expand_as_rows(Var v) const { return expand_along(v, along + 1); }
  Var sum_rows(Var m) const { return index_sum(m, Shape{along}); }

  size_t dim;
  int64_t along;
  Shape shape;
  Var same, reached;

 private:
  Var expand_along(Var v, int64_t at) const { return expand_to(v.builder->call("unsqueeze", {v, at}), shape); }
};

// Of the products of exp(x j - y i), where y is the running logarithm.
void logcumsumexp_backward_vjp(Grad& g) {
  const Var grad = computed(g.var(0)), x = computed(g.var(1)), ct = computed(g.cotangent());
  if (x.rank() == 0) return g.add(0, ct);
  const Pairs p(g);
  Var y = computed(g.builder.call(Prim::logcumsumexp, {g.var(1), g.args[2], g.args[3]}));
  Var ratio = where(p.reached, exp(where(p.reached, p.expand_as_rows(x) - p.expand_as_columns(y), 0.0)), 0.0);
  Var pushed = p.sum_rows(p.expand_as_rows(ct) * ratio);
  g.add(0, pushed);
  if (!g.wants(1)) return;
  Var back = g.builder.call(Prim::logcumsumexp_backward,
                            {convert(grad * pushed, g.type(0).dtype), g.var(1), g.args[2], g.args[3]});
  g.add(1, ct * computed(g.result()) - computed(back));
}

// d(product i)/d(x j) is the running product of x without x j.
void cumprod_backward_vjp(Grad& g) {
  const Var grad = g.var(0), x = g.var(1), ct = g.cotangent();
  if (x.rank() == 0) return g.add(0, ct);
  const Pairs p(g);
  Var others = where(p.same, 1.0, p.expand_as_columns(x));
  if (g.wants(0)) {
    Var products = g.builder.call(Prim::cumprod, {others, p.along + 1, g.flag(3)});
    g.add(0, p.sum_rows(where(p.reached, p.expand_as_rows(ct) * products, 0.0)));
  }
  if (!g.wants(1)) return;
  Var back = g.builder.call(Prim::cumprod_backward,
                            {where(p.reached, p.expand_as_columns(grad), 0.0), others, p.along + 1, g.flag(3)});
  g.add(1, p.sum_rows(where(p.same, 0.0, p.expand_as_rows(ct) * back)));
}

constexpr OpRow kRows[] = {
    primitive("prims.cumsum(tensor input, int dim, bool reverse) -> tensor",
              "Each element's sum with those before it along dim, or with those after it; bf16 and f32 are added "
              "up in a wider type.",
              scan_meta, scan_kernel<SumFold>, cumsum_vjp, kLinear),
    primitive("prims.cumprod(tensor input, int dim, bool reverse) -> tensor",
              "Each element's product with those before it along dim, or with those after it.", scan_meta,
              scan_kernel<ProductFold>, cumprod_vjp),
    primitive("prims.cumprod_backward(tensor grad, tensor input, int dim, bool reverse) -> tensor",
              "The gradient of prims.cumprod's input.", cumprod_backward_meta, cumprod_backward_kernel,
              cumprod_backward_vjp),
    primitive("prims.cummax(tensor input, int dim) -> (tensor, tensor)",
              "The greatest so far along dim, and the last place where it was.", extremum_meta,
              running_extremum_kernel<true>, picked_vjp),
    primitive("prims.cummin(tensor input, int dim) -> (tensor, tensor)",
              "The least so far along dim, and the last place where it was.", extremum_meta,
              running_extremum_kernel<false>, picked_vjp),
    primitive("prims.logcumsumexp(tensor input, int dim, bool reverse) -> tensor",
              "The logarithm of the sum of the exponentials so far along dim, or from the end.", real_scan_meta,
              logcumsumexp_kernel, logcumsumexp_vjp),
    primitive("prims.logcumsumexp_backward(tensor grad, tensor input, int dim, bool reverse) -> tensor",
              "The gradient of prims.logcumsumexp's input.", cumprod_backward_meta, logcumsumexp_backward_kernel,
              logcumsumexp_backward_vjp),
};

}  // namespace

extern const OpRows scan_prims_ops = kRows;

}  // namespace thunder
