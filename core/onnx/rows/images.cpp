#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

void depth_to_space(Node& n) {
  const int64_t b = n.count("blocksize");
  const Shape s = n.shape(0);
  n.require(s.size() == 4 && b > 0, "its input is of rank ", s.size(), ", its attribute 'blocksize' is ", b);
  const Dim c = s[1] / (b * b);
  const bool by_depth = n.text("mode", "DCR") == "DCR";
  Tensor* x = by_depth ? n.op("reshape", {n[0], Shape{s[0], b, b, c, s[2], s[3]}})
                       : n.op("reshape", {n[0], Shape{s[0], c, b, b, s[2], s[3]}});
  x = permuted(n, x, by_depth ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3});
  n.give(n.op("reshape", {x, Shape{s[0], c, s[2] * b, s[3] * b}}));
}

void space_to_depth(Node& n) {
  const int64_t b = n.count("blocksize");
  const Shape s = n.shape(0);
  n.require(s.size() == 4 && b > 0, "its input is of rank ", s.size(), ", its attribute 'blocksize' is ", b);
  Tensor* x = n.op("reshape", {n[0], Shape{s[0], s[1], s[2] / b, b, s[3] / b, b}});
  const bool by_depth = n.text("mode", "DCR") == "DCR";
  x = permuted(n, x, by_depth ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 5, 2, 4});
  n.give(n.op("reshape", {x, Shape{s[0], s[1] * (b * b), s[2] / b, s[3] / b}}));
}

// The index in the input of each element of a padded dim.
std::vector<Dim> padded_source_indices(Node& n, std::string_view mode, int64_t size, int64_t low, int64_t high) {
  std::vector<Dim> at;
  n.require(size > 0, "it pads an empty dim");
  n.require(std::max({low, size, high}) <= kMostPlaces, "it pads a dim of ", size, " by ", low, " and ", high);
  for (int64_t i = -low; i < size + high; i++) {
    int64_t from = i;
    if (mode == "edge") {
      from = std::clamp<int64_t>(i, 0, size - 1);
    } else if (mode == "wrap") {
      from = ((i % size) + size) % size;
    } else if (size > 1) {  // reflect: back and forth, without the ends twice
      const int64_t period = 2 * (size - 1);
      from = ((i % period) + period) % period;
      if (from >= size) from = period - from;
    } else {
      from = 0;
    }
    at.push_back(from);
  }
  return at;
}

void pad(Node& n) {
  const size_t rank = n.rank(0);
  std::vector<int64_t> pads = n.opset < 11 ? n.integers("pads") : n.numbers(1, "pads");
  std::vector<int64_t> axes = n.has(3) ? n.numbers(3, "axes") : all_axes(rank);
  n.require(pads.size() == 2 * axes.size(), "it has ", pads.size(), " pads for ", axes.size(), " axes");
  for (int64_t p : pads) n.require(p < (int64_t{1} << 31) && p > -(int64_t{1} << 31), "it pads by ", p);
  std::vector<int64_t> low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); i++) {
    const size_t d = dim_at(axes[i], rank);
    low[d] = pads[i], high[d] = pads[i + axes.size()];
  }
  const std::string_view mode = n.text("mode", "constant");
  Tensor* x = n[0];
  if (mode == "constant") {
    const double value = n.opset < 11 ? n.real("value", 0) : n.has(2) ? n.number(2, "constant_value") : 0;
    std::vector<int64_t> list;
    for (size_t d = rank; d-- > 0;) list.push_back(low[d]), list.push_back(high[d]);
    const bool truth = n.dtype(0) == DType::boolean;
    if (truth) x = n.cast(x, DType::u8);
    x = rank ? n.op("pad", {x, list, "constant", value}) : x;
    return n.give(truth ? n.cast(x, DType::boolean) : x);
  }
  n.require(mode == "reflect" || mode == "edge" || mode == "wrap", "its attribute 'mode' is '", mode.substr(0, 40),
            "'");
  for (size_t d = 0; d < rank; d++) {
    if (low[d] == 0 && high[d] == 0) continue;
    const int64_t size = hint(n.shape(0)[d]);
    // Negative pads cut off.
    const int64_t cut_low = std::max<int64_t>(0, -low[d]), cut_high = std::max<int64_t>(0, -high[d]);
    const int64_t kept = size - cut_low - cut_high;
    if (cut_low || cut_high) x = n.op("slice", {x, static_cast<int64_t>(d), cut_low, size - cut_high});
    if (low[d] <= 0 && high[d] <= 0) continue;
    Tensor* index = n.constant(
        host_of(padded_source_indices(n, mode, kept, std::max<int64_t>(0, low[d]), std::max<int64_t>(0, high[d]))));
    x = n.op("index_select", {x, static_cast<int64_t>(d), index});
  }
  n.give(x);
}

void center_crop_pad(Node& n) {
  const size_t rank = n.rank(0);
  std::vector<int64_t> axes = n.integers("axes");
  if (axes.empty()) axes = all_axes(rank);
  const std::vector<int64_t> wanted = n.numbers(1, "shape");
  n.require(wanted.size() == axes.size(), "it has ", wanted.size(), " sizes for ", axes.size(), " axes");
  Tensor* x = n[0];
  std::vector<int64_t> pads(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); i++) {
    const size_t d = dim_at(axes[i], rank);
    const int64_t size = hint(n.shape(0)[d]), extra = wanted[i] - size;
    if (extra < 0) {
      const int64_t start = -extra / 2;
      x = n.op("slice", {x, static_cast<int64_t>(d), start, start + wanted[i]});
    } else {
      pads[2 * (rank - 1 - d)] = extra / 2, pads[2 * (rank - 1 - d) + 1] = extra - extra / 2;
    }
  }
  n.give(n.op("pad", {x, pads, "constant", 0.0}));
}

void grid_sample(Node& n) {
  std::string_view mode = n.text("mode", n.opset < 20 ? "bilinear" : "linear");
  if (mode == "linear") mode = "bilinear";
  if (mode == "cubic") mode = "bicubic";
  n.give(n.op("grid_sample", {n[0], n[1], mode, n.text("padding_mode", "zeros"), n.flag("align_corners")}));
}

void affine_grid(Node& n) {
  n.give(n.op("affine_grid", {n[0], n.dims(1, "size"), n.flag("align_corners")}));
}

void col2im(Node& n) {
  const std::vector<int64_t> image = n.numbers(1, "image_shape"), block = n.numbers(2, "block_shape");
  if (image.size() != 2 || block.size() != 2) n.refuse("its image has ", image.size(), " dims; 2 are imported");
  std::vector<int64_t> pads = n.counts("pads", 0), strides = n.counts("strides"), dilations = n.counts("dilations");
  if (pads.empty()) pads = {0, 0, 0, 0};
  if (strides.empty()) strides = {1, 1};
  if (dilations.empty()) dilations = {1, 1};
  n.require(pads.size() == 4 && strides.size() == 2 && dilations.size() == 2,
            "its pads, strides or dilations are not of 2 dims");
  // Computed on the padded image; the pads are then cut off.
  for (int64_t size : {image[0], image[1], block[0], block[1]})
    n.require(size > 0 && size < (int64_t{1} << 31), "it has a size of ", size);
  const std::vector<int64_t> whole = {image[0] + pads[0] + pads[2], image[1] + pads[1] + pads[3]};
  Tensor* y = n.op("fold", {n[0], whole, block, dilations, std::vector<int64_t>{0, 0}, strides});
  for (size_t d = 0; d < 2; d++)
    if (whole[d] != image[d]) y = n.op("slice", {y, static_cast<int64_t>(d) + 2, pads[d], pads[d] + image[d]});
  n.give(y);
}

void max_unpool(Node& n) {
  const std::vector<int64_t> kernel = n.counts("kernel_shape");
  const size_t dims = kernel.size();
  std::vector<int64_t> strides = n.counts("strides"), pads = n.counts("pads", 0);
  if (strides.empty()) strides.assign(dims, 1);
  if (pads.empty()) pads.assign(2 * dims, 0);
  n.require(n.rank(0) == dims + 2 && strides.size() == dims && pads.size() == 2 * dims, "its kernel has ", dims,
            " dims for an input of rank ", n.rank(0));
  const Shape shape = n.shape(0);
  Shape natural = {shape[0], shape[1]}, out;
  for (size_t d = 0; d < dims; d++)
    natural.push_back((shape[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[d + dims]);
  out = natural;
  if (n.has(2)) {
    const std::vector<Dim> given = n.dims(2, "output_shape");
    out = Shape(given.begin(), given.end());
  }
  // Indices count through the whole result without what output_shape adds.
  Dim all = 1, plane = 1;
  for (Dim d : natural) all = all * d;
  for (size_t d = 2; d < natural.size(); d++) plane = plane * natural[d];
  Tensor* flat = n.op("full", {Shape{all}, 0.0, n.dtype(0), n[0]->type().device});
  const std::vector<int64_t> list = {-1};
  Tensor* y = n.op("scatter", {flat, 0, n.op("reshape", {n[1], list}), n.op("reshape", {n[0], list})});
  y = n.op("reshape", {y, natural});
  if (!(out == natural)) {
    std::vector<int64_t> extra;
    for (size_t d = out.size(); d-- > 0;) extra.push_back(0), extra.push_back(hint(out[d]) - hint(natural[d]));
    y = n.op("pad", {y, extra, "constant", 0.0});
  }
  n.give(y);
}

constexpr ImportRow kRows[] = {
    {"DepthToSpace", 1, kNow, depth_to_space},
    {"SpaceToDepth", 1, kNow, space_to_depth},
    {"Pad", 2, kNow, pad},
    {"CenterCropPad", 18, kNow, center_crop_pad},
    {"GridSample", 16, kNow, grid_sample},
    {"AffineGrid", 20, kNow, affine_grid},
    {"Col2Im", 18, kNow, col2im},
    {"MaxUnpool", 9, kNow, max_unpool},
    {"ImageDecoder", 20, kNow, nullptr, nullptr, "images are decoded outside of the model"},
    {"RoiAlign", 10, kNow, nullptr, nullptr, "regions of interest are not imported yet"},
    {"MaxRoiPool", 1, kNow, nullptr, nullptr, "regions of interest are not imported yet"},
    {"NonMaxSuppression", 10, kNow, nullptr, nullptr, "the number of boxes depends on values; it is not imported yet"},
    {"DeformConv", 19, kNow, nullptr, nullptr, "there is no deformable convolution"},
};

}  // namespace

constinit const ImportTable images_rows = {"", kRows};

}  // namespace thunder::onnx
