#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

// a0 - a1 cos(2 pi i / n) + a2 cos(4 pi i / n); where it is not periodic n is one less.
void window(Node& n, double a0, double a1, double a2) {
  const Host& h = n.require_known(0, "size");
  n.require(h.size() == 1 && !h.holds_reals(), "its size is no single integer");
  const DType dtype = n.element_or("output_datatype", 1).dtype;
  const int64_t size = hint(h.ints[0]);
  const double steps = static_cast<double>(n.flag("periodic", true) ? size : size - 1);
  Tensor* angle = n.op("mul", {n.op("arange", {0, h.ints[0], 1, DType::f64}), kTurn / steps});
  Tensor* y = n.op("rsub", {n.op("mul", {n.op("cos", {angle}), a1}), a0});
  if (a2 != 0) y = n.op("add", {y, n.op("mul", {n.op("cos", {n.op("mul", {angle, 2.0})}), a2})});
  n.give(n.cast(y, dtype));
}
void hann(Node& n) {
  window(n, 0.5, 0.5, 0);
}
void hamming(Node& n) {
  window(n, 25.0 / 46, 1 - 25.0 / 46, 0);
}
void blackman(Node& n) {
  window(n, 0.42, 0.5, 0.08);
}

// [frequencies, length] of the cosine and of the sine.
struct Waves {
  Tensor *cosine, *sine;
};
constexpr int64_t kMostWaves = 1 << 24;

Waves make_dft_waves(Node& n, int64_t length, int64_t frequencies, DType dtype) {
  n.require(length > 0 && frequencies <= kMostWaves / length, "a transform of length ", length);
  Tensor* f = n.op("reshape", {n.op("arange", {frequencies}), std::vector<int64_t>{frequencies, 1}});
  // The product in whole turns, exactly.
  Tensor* turns = n.op("remainder", {n.op("mul", {f, n.op("arange", {length})}), length});
  Tensor* angle = n.op("mul", {n.cast(turns, DType::f64), kTurn / static_cast<double>(length)});
  return {n.cast(n.op("cos", {angle}), dtype), n.cast(n.op("sin", {angle}), dtype)};
}

// x of [..., length], or [..., length, 2], where the last dim is the real and the imaginary part.
Tensor* apply_dft(Node& n, Tensor* re, Tensor* im, int64_t length, int64_t frequencies, bool inverse) {
  const Waves w = make_dft_waves(n, length, frequencies, re->type().dtype);
  const auto by = [&](Tensor* x, Tensor* matrix) { return n.op("matmul", {x, n.op("transpose", {matrix, 0, 1})}); };
  Tensor *real = by(re, w.cosine), *imaginary = by(re, w.sine);
  if (!inverse) imaginary = n.op("neg", {imaginary});
  if (im) {
    Tensor* cross = by(im, w.sine);
    real = n.op(inverse ? "sub" : "add", {real, cross});
    imaginary = n.op("add", {imaginary, by(im, w.cosine)});
  }
  Tensor* y = n.op("stack", {std::vector<Tensor*>{real, imaginary}, -1});
  return inverse ? n.op("div", {y, static_cast<double>(length)}) : y;
}

// Cut off or filled up with zeros at the end.
Tensor* trim_or_pad(Node& n, Tensor* x, int64_t length) {
  const int64_t size = hint(dim_of(x, -1));
  if (size == length) return x;
  if (size > length) return n.op("slice", {x, -1, 0, length});
  return n.op("pad", {x, std::vector<int64_t>{0, length - size}, "constant", 0.0});
}

// The whole of a spectrum whose first half this is: the other one is its mirror image, with the sign of imaginary parts
// turned.
Tensor* complete_spectrum(Node& n, Tensor* x, int64_t length, bool imaginary) {
  const int64_t has = hint(dim_of(x, -1)), needs = length / 2 + 1;
  x = has < needs ? trim_or_pad(n, x, needs) : x;
  std::vector<Dim> at;
  auto signs = std::make_shared<Host>();
  signs->dtype = x->type().dtype, signs->shape = {length};
  for (int64_t i = 0; i < length; i++) {
    at.push_back(std::min(i, length - i));
    signs->reals.push_back(imaginary && i >= needs ? -1 : 1);
  }
  x = n.op("index_select", {x, -1, n.constant(host_of(std::move(at)))});
  return imaginary ? n.op("mul", {x, n.constant(HostRef(std::move(signs)))}) : x;
}

void dft(Node& n) {
  const size_t rank = n.rank(0);
  const int64_t given = n.opset < 20 ? n.integer("axis", 1) : n.has(2) ? n.whole(2, "axis") : -2;
  const size_t axis = dim_at(given, rank);
  n.require(rank >= 2 && axis != rank - 1, "its axis is ", given, " of an input of rank ", rank);
  const int64_t parts = hint(n.shape(0)[rank - 1]), size = hint(n.shape(0)[axis]);
  const bool inverse = n.flag("inverse"), onesided = n.flag("onesided");
  const bool half = inverse && onesided;  // of a spectrum that is its own mirror image
  const int64_t length = n.has(1) ? n.whole(1, "dft_length") : half ? 2 * (size - 1) : size;
  // The axis goes last, the parts away.
  const auto part = [&](int64_t which) {
    Tensor* x = n.op("select", {n[0], -1, which});
    x = n.op("movedim", {x, std::vector<int64_t>{static_cast<int64_t>(axis)}, std::vector<int64_t>{-1}});
    return half ? complete_spectrum(n, x, length, which == 1) : trim_or_pad(n, x, length);
  };
  if (half) {
    n.require(parts == 2, "its spectrum has no imaginary part");
    Tensor* y = n.op("slice", {apply_dft(n, part(0), part(1), length, length, true), -1, 0, 1});
    return n.give(n.op("movedim", {y, std::vector<int64_t>{-2}, std::vector<int64_t>{static_cast<int64_t>(axis)}}));
  }
  Tensor* y =
      apply_dft(n, part(0), parts == 2 ? part(1) : nullptr, length, onesided ? length / 2 + 1 : length, inverse);
  n.give(n.op("movedim", {y, std::vector<int64_t>{-2}, std::vector<int64_t>{static_cast<int64_t>(axis)}}));
}

void stft(Node& n) {
  const auto step = n.whole(1, "frame_step");
  n.require(step > 0, "its frame step is ", step);
  const size_t rank = n.rank(0);
  const int64_t parts = rank == 3 ? hint(n.dim(0, 2)) : 1;
  int64_t length = n.has(3) ? n.whole(3, "frame_length") : 0;
  if (!length) {
    n.require(n.has(2), "it has neither a window nor a frame length");
    length = hint(n.dim(2, 0));
  }
  const auto frames = [&](int64_t which) {
    Tensor* x = rank == 3 ? n.op("select", {n[0], -1, which}) : n[0];
    x = n.op("unfold", {x, -1, length, step});
    return n.has(2) ? n.op("mul", {x, n[2]}) : x;
  };
  n.give(apply_dft(n, frames(0), parts == 2 ? frames(1) : nullptr, length,
                   n.flag("onesided", true) ? length / 2 + 1 : length, false));
}

void mel_weights(Node& n) {
  const int64_t bins = n.whole(0, "num_mel_bins"), length = n.whole(1, "dft_length");
  const double rate = n.number(2, "sample_rate"), low = n.number(3, "lower_edge_hertz"),
               high = n.number(4, "upper_edge_hertz");
  n.require(bins > 0 && length > 0 && bins <= kMostWaves / length, "it has ", bins, " bins of ", length);
  n.require(rate > 0 && std::isfinite(rate) && std::isfinite(low) && std::isfinite(high), "its sample rate is ", rate,
            ", its edges are ", low, " and ", high);
  const int64_t spectrum = length / 2 + 1;
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low_mel = mel(low), step = (mel(high) - low_mel) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; i++) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low_mel) / 2595) - 1);
    const double place = std::floor(static_cast<double>(length + 1) * hertz / rate);
    // NaN, of an edge below -700 Hz, is none.
    edges.push_back(static_cast<int64_t>(place > 0 ? std::min(place, static_cast<double>(spectrum)) : 0));
  }
  auto h = std::make_shared<Host>();
  h->dtype = n.element_or("output_datatype", 1).dtype;
  h->shape = {spectrum, bins};
  std::vector<double> w(static_cast<size_t>(spectrum * bins), 0);
  for (int64_t b = 0; b < bins; b++) {
    const int64_t lower = edges[static_cast<size_t>(b)], middle = edges[static_cast<size_t>(b + 1)],
                  upper = edges[static_cast<size_t>(b + 2)];
    const auto put = [&](int64_t at, double value) {
      if (at < spectrum) w[static_cast<size_t>(at * bins + b)] = value;
    };
    if (lower == middle) put(middle, 1);
    for (int64_t i = lower; lower != middle && i <= middle; i++)
      put(i, static_cast<double>(i - lower) / static_cast<double>(middle - lower));
    for (int64_t i = middle; upper != middle && i < upper; i++)
      put(i, static_cast<double>(upper - i) / static_cast<double>(upper - middle));
  }
  if (h->holds_reals())
    h->reals = std::move(w);
  else
    for (double v : w) h->ints.push_back(static_cast<int64_t>(v));
  n.give(n.constant(HostRef(std::move(h))));
}

constexpr ImportRow kRows[] = {
    {"HannWindow", 17, kNow, hann},
    {"HammingWindow", 17, kNow, hamming},
    {"BlackmanWindow", 17, kNow, blackman},
    {"DFT", 17, kNow, dft},
    {"STFT", 17, kNow, stft},
    {"MelWeightMatrix", 17, kNow, mel_weights},
};

}  // namespace

constinit const ImportTable signal_rows = {"", kRows};

}  // namespace thunder::onnx
