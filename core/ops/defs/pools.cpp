// Pools of one, two and three dims: windows are slices with a stride, folded one dim after the other.
#include <algorithm>

#include "ops/tables.h"

namespace thunder {
namespace {

// One dim of a window: where results lie, and how far the input is padded for them.
struct Window {
  size_t axis;
  int64_t size, kernel, stride, padding, dilation, results, behind;
};

int64_t value_at(const Call& c, size_t param, size_t i, size_t dims, int64_t least) {
  auto given = c.dims(param);
  c.require(given.size() == 1 || given.size() == dims, c.op.schema.params[param].name, " must have one value or ", dims, ", got ", name(given));
  const int64_t v = hint(given[given.size() == 1 ? 0 : i]);
  c.require(v >= least && v <= INT32_MAX, c.op.schema.params[param].name, " must be between ", least, " and 2147483647, got ", name(given));
  return v;
}
// The windows of the last `dims` dims; parameters: kernel_size, stride, padding, then dilation where there is one.
std::vector<Window> windows(const Call& c, Var x, size_t dims, size_t dilation, bool ceil) {
  c.require(x.rank() == dims + 1 || x.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims, got ", name(x.type()));
  std::vector<Window> out;
  for (size_t i = 0; i < dims; i++) {
    Window w{};
    w.axis = x.rank() - dims + i;
    c.require(x.shape()[w.axis].constant(), "the sizes must be known while tracing, got ", name(x.type()));
    w.size = x.shape()[w.axis].value();
    w.kernel = value_at(c, 1, i, dims, 1);
    w.stride = c.has(2) && !c.dims(2).empty() ? value_at(c, 2, i, dims, 1) : w.kernel;
    w.padding = value_at(c, 3, i, dims, 0);
    w.dilation = dilation ? value_at(c, dilation, i, dims, 1) : 1;
    c.require(w.padding <= w.kernel / 2, "padding must be at most half of kernel_size, got ", w.padding, " and ", w.kernel);
    const int64_t reach = (w.kernel - 1) * w.dilation + 1, left = w.size + 2 * w.padding - reach;
    c.require(left >= 0, "the kernel reaches over ", reach, " elements, the padded input has ", w.size + 2 * w.padding, "; ", c.types());
    w.results = left / w.stride + 1 + (ceil && left % w.stride ? 1 : 0);
    // The last window begins inside of the input or its padding in front.
    if (ceil && (w.results - 1) * w.stride >= w.size + w.padding) w.results--;
    w.behind = std::max<int64_t>(w.padding, (w.results - 1) * w.stride + reach - w.size - w.padding);
    out.push_back(w);
  }
  return out;
}

Var padded(Var x, size_t axis, int64_t low, int64_t high, double value) {
  if (low == 0 && high == 0) return x;
  Shape before(x.rank(), 0), behind(x.rank(), 0);
  before[axis] = low, behind[axis] = high;
  return x.builder->call("prims.pad", {x, before, behind, value});
}
// Folds the elements of each window along its dim.
template <class Fold>
Var folded(Var x, const Window& w, double outside, Fold fold) {
  x = padded(x, w.axis, w.padding, w.behind, outside);
  Var y;
  for (int64_t k = 0; k < w.kernel; k++) {
    Shape starts(x.rank(), 0), ends = x.shape(), steps(x.rank(), 1);
    const int64_t start = k * w.dilation;
    starts[w.axis] = start, ends[w.axis] = start + (w.results - 1) * w.stride + 1, steps[w.axis] = w.stride;
    Var part = x.builder->call("prims.slice", {x, starts, ends, steps});
    y = y ? fold(y, part) : part;
  }
  return y;
}
Var sums(Var x, const Window& w) {
  return folded(x, w, 0, [](Var a, Var b) { return a + b; });
}
// How many elements each window counts: those of the input, or of its padding too.
Var counts(Var like, const Window& w, bool with_padding) {
  const int64_t inside = with_padding ? w.size + 2 * w.padding : w.size;
  Window own = w;
  own.axis = 0;
  if (with_padding) own.padding = 0, own.behind = w.behind - w.padding;
  Var ones = full(*like.builder, Shape{inside}, 1, like.dtype(), like.type().device);
  return along_axis(sums(ones, own), w.axis, like.rank());
}

template <size_t dims>
Results avg_pool(Call& c) {
  Var x = computed(c.var(0));
  c.require(is_real(x.dtype()), "input must be real, got ", name(c.type(0)));
  const auto all = windows(c, x, dims, 0, c.flag(4));
  Var y = x;
  for (const Window& w : all) y = sums(y, w);
  if (dims > 1 && c.has(6)) {
    c.require(c.integer(6) != 0, "divisor_override must not be 0");
    return convert(y / static_cast<double>(c.integer(6)), c.type(0).dtype);
  }
  for (const Window& w : all) y = y / counts(x, w, c.flag(5));
  return convert(y, c.type(0).dtype);
}
template <size_t dims>
Results lp_pool(Call& c) {
  // input, norm_type, kernel_size, stride, ceil_mode
  const double p = c.real(1);
  Var x = computed(c.var(0));
  c.require(is_real(x.dtype()) && p != 0, "input must be real and norm_type not 0; ", c.types());
  const Shape none{0};
  Var sum = c.builder.call(dims == 1 ? "avg_pool1d" : dims == 2 ? "avg_pool2d" : "avg_pool3d",
                           {c.builder.call("pow", {x, p}), c.dims(2), c.args[3], none, c.flag(4)});
  double kernel = 1;
  for (size_t i = 0; i < dims; i++) kernel *= static_cast<double>(value_at(c, 2, i, dims, 1));
  Var total = sign(sum) * relu(abs(sum)) * kernel;
  return convert(c.builder.call("pow", {total, 1 / p}), c.type(0).dtype);
}
double least(DType d) { return is_real(d) ? -kInfinity : d == DType::u8 || d == DType::boolean ? 0 : d == DType::i32 ? -0x1p31 : -0x1p63; }
// Without indices, one dim after the other.
Results max_pool3d(Call& c) {
  Var x = c.var(0);
  for (const Window& w : windows(c, x, 3, 4, c.flag(5))) x = folded(x, w, least(x.dtype()), [](Var a, Var b) { return maximum(a, b); });
  return x;
}
// As max_pool2d over rows of height 1.
Results max_pool1d(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == 2 || x.rank() == 3, "input must be [batch, channels, length] or [channels, length], got ", name(x.type()));
  const auto row = [&](size_t param, int64_t other) { return Shape{other, value_at(c, param, 0, 1, 0)}; };
  Shape tall = x.shape();
  tall.insert(x.rank() - 1, 1);
  const Shape kernel = row(1, 1), stride = c.has(2) && !c.dims(2).empty() ? row(2, 1) : kernel, padding = row(3, 0), dilation = row(4, 1);
  Var y = c.builder.call("max_pool2d", {reshape_to(x, tall), kernel, stride, padding, dilation, c.flag(5)});
  Shape flat = y.shape();
  flat.erase(y.rank() - 2);
  return reshape_to(y, flat);
}

// ---- adaptive: as many results as asked for, each of its share of the dim ----

constexpr int64_t kMostShares = 4096;  // each is a slice of its own

template <class Fold>
Var shares(Var x, size_t axis, int64_t results, Fold fold) {
  const int64_t n = x.shape()[axis].value();
  if (results == n) return x;
  if (results == 1) return fold(x);
  ValueList parts;
  for (int64_t i = 0; i < results; i++) {
    const int64_t start = i * n / results, end = ((i + 1) * n + results - 1) / results;
    parts.push_back(fold(x.builder->call("slice", {x, static_cast<int64_t>(axis), start, end, 1})).id);
  }
  return x.builder->call("prims.cat", {parts, static_cast<int64_t>(axis)});
}
template <size_t dims, bool mean>
Results adaptive(Call& c) {
  Var x = c.var(0);
  c.require(x.rank() == dims + 1 || x.rank() == dims + 2, "input must have ", dims + 1, " or ", dims + 2, " dims, got ", name(x.type()));
  c.require(!mean || is_real(x.dtype()), "input must be real, got ", name(x.type()));
  const DType dtype = x.dtype();
  if (mean) x = computed(x);
  for (size_t i = 0; i < dims; i++) {
    const size_t axis = x.rank() - dims + i;
    const int64_t results = value_at(c, 1, i, dims, -1), n = x.shape()[axis].constant() ? x.shape()[axis].value() : -1;
    c.require(n > 0, "the sizes must be known while tracing and not 0, got ", name(x.type()));
    c.require((results > 0 && results <= kMostShares) || results == -1, "output_size must be positive and at most ", kMostShares, ", got ", name(c.dims(1)));
    const Shape over{static_cast<int64_t>(axis)};
    x = shares(x, axis, results == -1 ? n : results, [&](Var part) { return mean ? mean_kept(part, over) : max_kept(part, over); });
  }
  return convert(x, dtype);
}

// ---- samples ----

using Ints = std::vector<int64_t>;

template <size_t dims>
TensorSpec image(int64_t n, bool batched = true, DType d = DType::f32) {
  Ints shape(dims + (batched ? 2 : 1), n);
  shape[0] = 2;
  if (batched) shape[1] = 1;
  return {shape, d};
}
template <size_t dims>
void averages(Samples& s) {
  s.add({image<dims>(5), 2});
  s.add({image<dims>(5, false), 3, 2, 1});
  s.add({image<dims>(4), 3, 2, 1, true, false});
  s.add({image<dims>(6, true, DType::bf16), 2, 2, 1, true});
  if (dims > 1) s.add({image<dims>(4), 2, 1, 0, false, true, 3});
  s.refuse({image<dims>(2), 3}, "reaches over 3");
  s.refuse({image<dims>(5), 3, 1, 2}, "at most half");
}
template <size_t dims>
void norms(Samples& s) {
  Ints shape(dims + 2, 5);
  shape[0] = shape[1] = 1;
  s.add({TensorSpec{shape, DType::f32, 0.5, 2}, 2.0, 2});
  s.add({TensorSpec{shape, DType::f32, 0.5, 2}, 3.0, 3, 2, true});
}
template <size_t dims>
void maxima(Samples& s) {
  s.add({image<dims>(5), 2});
  s.add({image<dims>(7, false), 3, 2, 1, 2, true});
  s.refuse({image<dims>(2), 3}, "reaches over 3");
}
template <size_t dims>
void adapted(Samples& s) {
  s.add({image<dims>(5), 1});
  s.add({image<dims>(5, false), 3});
  s.add({image<dims>(4), -1});
  s.refuse({image<dims>(5), 0}, "positive");
}

consteval OpRow row(SchemaText schema, std::string_view doc, DecomposeFn decompose, SamplesFn samples) {
  return checked({.schema = schema, .doc = doc, .decompose = decompose, .samples = samples});
}
constexpr std::string_view kMean = "The mean of each window, over its padding as well unless count_include_pad is false; stride is kernel_size unless given.";
constexpr std::string_view kAdaptiveMean = "The means of output_size nearly equal shares of each dim; -1 keeps a size.";
constexpr std::string_view kAdaptiveMax = "The maxima of output_size nearly equal shares of each dim; -1 keeps a size.";
constexpr std::string_view kPower = "The p-norm of each window, p being norm_type.";

constexpr OpRow kRows[] = {
    row("avg_pool1d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> tensor", kMean, avg_pool<1>,
        averages<1>),
    row("avg_pool2d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> tensor",
        kMean, avg_pool<2>, averages<2>),
    row("avg_pool3d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> tensor",
        kMean, avg_pool<3>, averages<3>),
    row("lp_pool1d(tensor input, float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> tensor", kPower, lp_pool<1>, norms<1>),
    row("lp_pool2d(tensor input, float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> tensor", kPower, lp_pool<2>, norms<2>),
    row("lp_pool3d(tensor input, float norm_type, int[] kernel_size, int[]? stride=None, bool ceil_mode=False) -> tensor", kPower, lp_pool<3>, norms<3>),
    row("max_pool1d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] dilation=[1], bool ceil_mode=False) -> tensor",
        "The largest element of each window; stride is kernel_size unless given. NaN wins.", max_pool1d, maxima<1>),
    row("max_pool3d(tensor input, int[] kernel_size, int[]? stride=None, int[] padding=[0], int[] dilation=[1], bool ceil_mode=False) -> tensor",
        "The largest element of each window; stride is kernel_size unless given. NaN wins.", max_pool3d, maxima<3>),
    row("adaptive_avg_pool1d(tensor input, int[] output_size) -> tensor", kAdaptiveMean, adaptive<1, true>, adapted<1>),
    row("adaptive_avg_pool2d(tensor input, int[] output_size) -> tensor", kAdaptiveMean, adaptive<2, true>, adapted<2>),
    row("adaptive_avg_pool3d(tensor input, int[] output_size) -> tensor", kAdaptiveMean, adaptive<3, true>, adapted<3>),
    row("adaptive_max_pool1d(tensor input, int[] output_size) -> tensor", kAdaptiveMax, adaptive<1, false>, adapted<1>),
    row("adaptive_max_pool2d(tensor input, int[] output_size) -> tensor", kAdaptiveMax, adaptive<2, false>, adapted<2>),
    row("adaptive_max_pool3d(tensor input, int[] output_size) -> tensor", kAdaptiveMax, adaptive<3, false>, adapted<3>),
};

}  // namespace

void register_pools(Registry& r) {
  for (auto& row : kRows) r.add(row);
}

}  // namespace thunder
