// Pools of one, two and three dims: windows are slices with a stride, folded one dim after the other.
#include "ops/extremes.h"
#include "ops/pool_windows.h"

namespace thunder {
namespace {

using namespace pools;

// Folds the elements of each window along its dim.
template <class Fold>
Var fold_windows(Var x, const Window& w, double outside, Fold fold) {
  x = padded(x, w.axis, w.padding, w.behind, outside);
  Var y;
  for (int64_t k = 0; k < w.kernel; k++) {
    Var part = at_place(x, w, k);
    y = y ? fold(y, part) : part;
  }
  return y;
}
Var sum_windows(Var x, const Window& w) {
  return fold_windows(x, w, 0, [](Var a, Var b) { return a + b; });
}
// How many elements each window counts: those of the input, or of its padding too.
Var count_window_elements(Var like, const Window& w, bool with_padding) {
  const int64_t inside = with_padding ? w.size + 2 * w.padding : w.size;
  Window own = w;
  own.axis = 0;
  if (with_padding) own.padding = 0, own.behind = w.behind - w.padding;
  Var ones = full(*like.builder, Shape{inside}, 1, like.dtype(), like.type().device);
  return along_axis(sum_windows(ones, own), w.axis, like.rank());
}

template <size_t dims>
Results avg_pool(Call& c) {
  Var x = c.var(0);
  c.require(x.dtype() != DType::boolean, "input must not be boolean, got ", name(c.type(0)));
  // Means of integers are cut off, as in PyTorch.
  const bool real = is_real(x.dtype());
  const auto divided = [&](Var a, In b) { return real ? a / b : c.builder.call("div", {a, b, "trunc"}); };
  x = real ? computed(x) : convert(x, DType::i64);
  const auto all = windows(c, x, dims, 0, c.flag(4));
  Var y = x;
  for (const Window& w : all) y = sum_windows(y, w);
  y = of_any_size(y, all);
  if (dims > 1 && c.has(6)) {
    c.require(c.integer(6) != 0, "divisor_override must not be 0");
    return convert(divided(y, real ? In(static_cast<double>(c.integer(6))) : In(c.integer(6))), c.type(0).dtype);
  }
  for (const Window& w : all) y = divided(y, count_window_elements(x, w, c.flag(5)));
  return convert(y, c.type(0).dtype);
}
template <size_t dims>
Results lp_pool(Call& c) {
  // input, norm_type, kernel_size, stride, ceil_mode
  const double p = c.real(1);
  const DType dtype = to_real(c.type(0).dtype);
  Var x = computed(convert(c.var(0), dtype));
  c.require(p != 0, "norm_type must not be 0; ", c.types());
  const Shape none{0};
  Var sum = c.builder.call(dims == 1 ? "avg_pool1d" : dims == 2 ? "avg_pool2d" : "avg_pool3d",
                           {c.builder.call("pow", {x, p}), c.dims(2), c.args[3], none, c.flag(4)});
  double kernel = 1;
  for (size_t i = 0; i < dims; i++) kernel *= static_cast<double>(value_at(c, 2, i, dims, 1));
  Var total = sign(sum) * relu(abs(sum)) * kernel;
  return convert(c.builder.call("pow", {total, 1 / p}), dtype);
}
// The gradient goes to the first of equal maxima, which the variant with indices gives, as in PyTorch.
template <size_t dims>
void max_pool_vjp(Grad& g) {
  const CompleteArgs given(g.builder.registry().get(g.op.variant.op), g.args);
  Var at = g.builder.var(g.builder.invoke(g.builder.registry().get(g.op.variant.op), given.span())[1]);
  Var dy = g.cotangent();
  const auto flat = [](const Shape& s) {
    Shape out(s.begin(), s.end() - dims);
    out.push_back(elements(Shape(s.end() - dims, s.end())));
    return out;
  };
  const TensorType& t = g.type(0);
  const Shape whole = flat(t.shape), parts = flat(dy.shape());
  Var none = full(g.builder, whole, 0, dy.dtype(), t.device);
  Var sums = g.builder.call("scatter_add", {none, -1, reshape_to(at, parts), reshape_to(dy, parts)});
  g.add(0, reshape_to(sums, t.shape));
}
// Without indices, pools one dim after the other.
Results max_pool3d(Call& c) {
  Var x = c.var(0);
  const auto all = windows(c, x, 3, 4, c.flag(5));
  for (const Window& w : all)
    x = fold_windows(x, w, least_of(x.dtype()), [](Var a, Var b) { return maximum(a, b); });
  return of_any_size(x, all);
}

// ---- adaptive: as many results as asked for, each of its share of the dim ----

template <size_t dims, bool mean>
Results pool_adaptively(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == dims + 1 || x.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims, got ",
            name(x.type()));
  c.require(!mean || is_real(x.dtype()), "input must be real, got ", name(x.type()));
  const DType dtype = x.dtype();
  if (mean) x = computed(x);
  for (size_t i = 0; i < dims; i++) {
    const size_t axis = x.rank() - dims + i;
    const int64_t results = share_count(c, x, axis, i, dims);
    const Shape over{static_cast<int64_t>(axis)};
    const auto fold = [&](Var part, int64_t) { return mean ? mean_kept(part, over) : max_kept(part, over); };
    x = shares(x, axis, results, fold);
  }
  return convert(x, dtype);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

template <size_t dims>
void sample_averages(Samples& s) {
  s.add({image<dims>(5), 2});
  s.add({image<dims>(5, false), 3, 2, 1});
  s.add({image<dims>(4), 3, 2, 1, true, false});
  s.add({image<dims>(6, true, DType::bf16), 2, 2, 1, true});
  s.add({image<dims>(2), 5, 4, 1, true});
  s.add({image<dims>(2, false), 4, SampleArg(), 0, true, false});
  if (dims > 1) s.add({image<dims>(4), 2, 1, 0, false, true, 3});
  s.refuse({image<dims>(2), 3}, "reaches over 3");
  s.refuse({image<dims>(5), 3, 1, 2}, "at most half");
}
template <size_t dims>
void sample_norms(Samples& s) {
  Ints shape(dims + 2, 5);
  shape[0] = shape[1] = 1;
  s.add({TensorSpec{shape, DType::f32, 0.5, 2}, 2.0, 2});
  s.add({TensorSpec{shape, DType::f32, 0.5, 2}, 3.0, 3, 2, true});
}
consteval OpRow pool_row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples) {
  return composite(schema, CastPolicy::none, doc, decompose, samples);
}
consteval OpRow max_pool_row(SchemaText schema, std::string_view doc, DecomposeFn decompose, VjpFn vjp,
                             SamplesFn samples, std::string_view with_indices) {
  return composite(schema, CastPolicy::none, doc, decompose, samples, 0,
                   {.vjp = vjp, .variant = {"return_indices", with_indices}});
}
constexpr std::string_view kMean =
    "The mean of each window, over its padding as well unless count_include_pad is false; stride is kernel_size unless "
    "given.";
constexpr std::string_view kAdaptiveMean = "The means of output_size nearly equal shares of each dim; -1 keeps a size.";
constexpr std::string_view kAdaptiveMax = "The maxima of output_size nearly equal shares of each dim; -1 keeps a size.";
constexpr std::string_view kPower = "The p-norm of each window, p being norm_type.";

constexpr OpRow kRows[] = {
    pool_row(
        "avg_pool1d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool "
        "count_include_pad=True) -> tensor",
        kMean, avg_pool<1>, sample_averages<1>),
    pool_row(
        "avg_pool2d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool "
        "count_include_pad=True, int? divisor_override=None) -> tensor",
        kMean, avg_pool<2>, sample_averages<2>),
    pool_row(
        "avg_pool3d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool "
        "count_include_pad=True, int? divisor_override=None) -> tensor",
        kMean, avg_pool<3>, sample_averages<3>),
    pool_row("lp_pool1d(tensor input, float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> "
             "tensor",
             kPower, lp_pool<1>, sample_norms<1>),
    pool_row("lp_pool2d(tensor input, float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> "
             "tensor",
             kPower, lp_pool<2>, sample_norms<2>),
    pool_row("lp_pool3d(tensor input, float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> "
             "tensor",
             kPower, lp_pool<3>, sample_norms<3>),
    max_pool_row("max_pool3d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] "
                 "dilation=[1], bool ceil_mode=False) -> tensor",
                 "The largest element of each window; stride is kernel_size unless given. NaN wins.", max_pool3d,
                 max_pool_vjp<3>, sample_max_pools<3>, "max_pool3d_with_indices"),
    pool_row("adaptive_avg_pool1d(tensor input, int[] output_size) -> tensor", kAdaptiveMean, pool_adaptively<1, true>,
             sample_adaptive_pools<1>),
    pool_row("adaptive_avg_pool2d(tensor input, int[] output_size) -> tensor", kAdaptiveMean, pool_adaptively<2, true>,
             sample_adaptive_pools<2>),
    pool_row("adaptive_avg_pool3d(tensor input, int[] output_size) -> tensor", kAdaptiveMean, pool_adaptively<3, true>,
             sample_adaptive_pools<3>),
    max_pool_row("adaptive_max_pool1d(tensor input, int[] output_size) -> tensor", kAdaptiveMax,
                 pool_adaptively<1, false>, max_pool_vjp<1>, sample_adaptive_pools<1>,
                 "adaptive_max_pool1d_with_indices"),
    max_pool_row("adaptive_max_pool2d(tensor input, int[] output_size) -> tensor", kAdaptiveMax,
                 pool_adaptively<2, false>, max_pool_vjp<2>, sample_adaptive_pools<2>,
                 "adaptive_max_pool2d_with_indices"),
    max_pool_row("adaptive_max_pool3d(tensor input, int[] output_size) -> tensor", kAdaptiveMax,
                 pool_adaptively<3, false>, max_pool_vjp<3>, sample_adaptive_pools<3>,
                 "adaptive_max_pool3d_with_indices"),
};

}  // namespace

extern const OpRows pools_ops = kRows;

}  // namespace thunder
