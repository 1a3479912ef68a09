// Resize and Upsample: along each axis a product with weights that are made here.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

struct Resizing {
  std::string_view mode, transform, nearest;
  double cubic = -0.75, outside_value = 0;
  bool exclude_outside = false, antialias = false;
};

// One axis: `scale` is what the op was given or what the sizes say; `from` and `to` of roi where it crops.
struct Axis {
  int64_t in, out;
  double scale, from = 0, to = 1;
};

// Where element i of the result lies in the input.
double source_coordinate(const Resizing& r, const Axis& a, int64_t i) {
  const double x = static_cast<double>(i), in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  const double exact = a.scale * in;  // what `out` is the whole number of
  if (r.transform == "asymmetric") return x / a.scale;
  if (r.transform == "align_corners") return exact == 1 ? 0 : x * (in - 1) / (exact - 1);
  if (r.transform == "pytorch_half_pixel") return a.out > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
  if (r.transform == "tf_half_pixel_for_nn") return (x + 0.5) / a.scale;
  if (r.transform == "tf_crop_and_resize")
    return a.out > 1 ? a.from * (in - 1) + x * (a.to - a.from) * (in - 1) / (out - 1)
                     : 0.5 * (a.from + a.to) * (in - 1);
  if (r.transform == "half_pixel_symmetric") {
    const double adjusted = out / exact;
    return in / 2 * (1 - adjusted) + (x + 0.5) / a.scale - 0.5;
  }
  return (x + 0.5) / a.scale - 0.5;
}

int64_t nearest(const Resizing& r, double x, const Axis& a) {
  double at = 0;
  if (r.nearest == "round_prefer_ceil")
    at = std::floor(x + 0.5);
  else if (r.nearest == "floor")
    at = std::floor(x);
  else if (r.nearest == "ceil")
    at = std::ceil(x);
  else
    at = std::ceil(x - 0.5);
  return static_cast<int64_t>(std::clamp(at, 0.0, static_cast<double>(a.in - 1)));
}

double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}
double triangle(double x) {
  return std::max(0.0, 1 - std::fabs(x));
}

// Row i: how much of each element of the input is in element i of the result.
std::vector<double> weights(const Resizing& r, const Axis& a) {
  std::vector<double> w(static_cast<size_t>(a.in * a.out), 0);
  const bool is_cubic = r.mode == "cubic";
  const double stretch = r.antialias ? std::min(1.0, a.scale) : 1;
  const double reach = (is_cubic ? 2 : 1) / stretch;
  for (int64_t i = 0; i < a.out; i++) {
    const double x = source_coordinate(r, a, i);
    double* row = w.data() + i * a.in;
    double sum = 0;
    const auto first = static_cast<int64_t>(std::floor(x - reach)), last = static_cast<int64_t>(std::ceil(x + reach));
    for (int64_t at = first; at <= last; at++) {
      const double distance = (static_cast<double>(at) - x) * stretch;
      const double part = is_cubic ? cubic(distance, r.cubic) : triangle(distance);
      if (r.exclude_outside && (at < 0 || at >= a.in)) continue;
      row[std::clamp<int64_t>(at, 0, a.in - 1)] += part;
      sum += part;
    }
    if (sum != 0 && (r.antialias || r.exclude_outside))
      for (int64_t at = 0; at < a.in; at++) row[at] /= sum;
  }
  return w;
}

// The greatest number of weights computed on the host for one dim.
constexpr int64_t kMostWeights = 1 << 22;

Tensor* resize_dim(Node& n, Tensor* x, size_t d, const Resizing& r, const Axis& a) {
  const size_t rank = x->type().rank();
  if (r.mode == "nearest") {
    std::vector<Dim> at;
    for (int64_t i = 0; i < a.out; i++) at.push_back(nearest(r, source_coordinate(r, a, i), a));
    return n.op("index_select", {x, static_cast<int64_t>(d), n.constant(host_of(std::move(at)))});
  }
  n.require(a.in <= kMostWeights / std::max<int64_t>(a.out, 1), "it resizes a dim of ", a.in, " to ", a.out, " by ",
            r.mode, ", which takes more than ", kMostWeights, " weights");
  auto h = std::make_shared<Host>();
  h->dtype = is_half(x->type().dtype) ? DType::f32 : x->type().dtype;
  h->shape = {a.out, a.in};
  h->reals = weights(r, a);
  const DType dtype = x->type().dtype;
  Tensor* w = n.op("transpose", {n.constant(HostRef(std::move(h))), 0, 1});
  std::vector<int64_t> order = all_axes(rank);
  std::swap(order[d], order[rank - 1]);
  x = n.op("matmul", {permuted(n, n.cast(x, w->type().dtype), order), w});
  return n.cast(permuted(n, x, order), dtype);
}

// Positions of a crop outside of the input get one value.
Tensor* fill_outside(Node& n, Tensor* x, size_t d, const Resizing& r, const Axis& a) {
  std::vector<Dim> outside;
  bool some = false;
  for (int64_t i = 0; i < a.out; i++) {
    const double at = source_coordinate(r, a, i);
    outside.push_back(at < 0 || at > static_cast<double>(a.in - 1));
    some |= hint(outside.back()) != 0;
  }
  if (!some) return x;
  Sizes along(x->type().rank(), 1);
  along[d] = a.out;
  Tensor* mask = n.op("reshape", {n.constant(host_of(std::move(outside), DType::boolean)), along});
  return n.op("where", {mask, n.constant(r.outside_value, x->type().dtype), x});
}

constexpr const char* kPolicy = "keep_aspect_ratio_policy";
bool is_stretch_policy(Node& n) {
  return n.text(kPolicy, "stretch") == "stretch";
}

// Computes one scale for all of these axes from the sizes.
void keep_ratio(Node& n, std::vector<Axis>& axes) {
  if (is_stretch_policy(n)) return;
  const std::string_view policy = n.text(kPolicy, "");
  double scale = axes[0].scale;
  for (const Axis& a : axes) scale = policy == "not_larger" ? std::min(scale, a.scale) : std::max(scale, a.scale);
  for (Axis& a : axes)
    a.scale = scale, a.out = static_cast<int64_t>(std::floor(scale * static_cast<double>(a.in) + 0.5));
}

std::vector<double> reals_of(Node& n, size_t i, const char* what) {
  if (!n.has(i)) return {};
  const Host& h = n.require_known(i, what);
  n.require(h.holds_reals(), "its ", what, " are ", name(h.dtype));
  return h.reals;
}

void resize(Node& n) {
  Resizing r;
  r.mode = n.text("mode", "nearest");
  r.transform = n.text("coordinate_transformation_mode", n.opset < 11 ? "asymmetric" : "half_pixel");
  r.nearest = n.text("nearest_mode", n.opset < 11 ? "floor" : "round_prefer_floor");
  r.cubic = n.real("cubic_coeff_a", -0.75), r.exclude_outside = n.flag("exclude_outside");
  r.antialias = n.flag("antialias"), r.outside_value = n.real("extrapolation_value", 0);
  n.require(r.mode == "nearest" || r.mode == "linear" || r.mode == "cubic", "its attribute 'mode' is '",
            r.mode.substr(0, 40), "'");
  const size_t rank = n.rank(0);
  std::vector<int64_t> dims = n.integers("axes");
  if (dims.empty()) dims = all_axes(rank);
  std::vector<double> scales = n.opset < 9 ? n.reals("scales") : reals_of(n, n.opset < 11 ? 1 : 2, "scales");
  std::vector<Dim> sizes;
  if (n.opset >= 11 && n.has(3)) sizes = n.dims(3, "sizes");
  const std::vector<double> roi =
      n.opset >= 11 && r.transform == "tf_crop_and_resize" ? reals_of(n, 1, "roi") : std::vector<double>();
  n.require(scales.size() == dims.size() || sizes.size() == dims.size(), "it has ", scales.size(), " scales and ",
            sizes.size(), " sizes for ", dims.size(), " axes");
  for (double edge : roi) n.require(std::fabs(edge) <= kMostPlaces, "its roi has ", edge);
  std::vector<Axis> axes;
  std::vector<size_t> at;
  for (size_t i = 0; i < dims.size(); i++) {
    const size_t d = dim_at(dims[i], rank);
    // A dim that is not resized may be symbolic.
    const bool stays = sizes.empty() ? scales[i] == 1 : sizes[i] == n.shape(0)[d] && is_stretch_policy(n);
    if (stays && roi.empty()) continue;
    const int64_t in = hint(n.shape(0)[d]);
    n.require(sizes.size() == dims.size() || (scales[i] > 0 && std::isfinite(scales[i])), "it resizes dim ", d, " by ",
              scales[i]);
    Axis a{in, 0, 1};
    if (sizes.empty()) {
      const double out = std::floor(scales[i] * static_cast<double>(in));
      n.require(out >= 0 && out <= kMostPlaces, "it resizes a dim of ", in, " by ", scales[i]);
      a.scale = scales[i], a.out = static_cast<int64_t>(out);
    } else {
      a.out = hint(sizes[i]), a.scale = static_cast<double>(a.out) / static_cast<double>(std::max<int64_t>(in, 1));
    }
    if (roi.size() == 2 * dims.size()) a.from = roi[i], a.to = roi[i + dims.size()];
    n.require(a.out >= 0 && a.out <= kMostPlaces && in > 0, "it resizes a dim of ", in, " to ", a.out);
    axes.push_back(a), at.push_back(d);
  }
  if (!sizes.empty() && !axes.empty()) keep_ratio(n, axes);
  Tensor* x = n[0];
  for (size_t i = 0; i < axes.size(); i++)
    if (axes[i].in != axes[i].out || axes[i].scale != 1 || !roi.empty()) x = resize_dim(n, x, at[i], r, axes[i]);
  for (size_t i = 0; i < axes.size() && !roi.empty(); i++) x = fill_outside(n, x, at[i], r, axes[i]);
  n.give(x);
}

constexpr ImportRow kRows[] = {
    {"Resize", 10, kLatestOpset, resize},
    {"Upsample", 7, 9, resize},
};

}  // namespace

constinit const ImportTable resize_rows = {"", kRows};

}  // namespace thunder::onnx
