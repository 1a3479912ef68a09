// The loops of reduction kernels: any set of axes of a strided view, without allocation and without changing what is
// computed on with the layout: dense rows and dense columns take fast paths.
#pragma once

#include "ops/elementwise.h"

namespace thunder {

// Some axes of a view, walked as one index: row-major, axes that lie as one run merged.
class Walk {
 public:
  struct Axis {
    int64_t size, stride, out, at;
  };
  // From the innermost axis outwards; `out` is the stride in a second view.
  void add(int64_t size, int64_t stride, int64_t out) {
    count *= size;
    if (size == 1) return;
    if (!axes.empty()) {
      Axis& last = axes.back();
      if (stride == last.stride * last.size && out == last.out * last.size) {
        last.size *= size;
        return;
      }
    }
    axes.push_back({size, stride, out, 0});
  }
  // Steps over axes[from...]; the offsets follow.
  void next(size_t from) {
    for (size_t i = from; i < axes.size(); i++) {
      Axis& axis = axes[i];
      offset += axis.stride, out_offset += axis.out;
      if (++axis.at < axis.size) return;
      offset -= axis.stride * axis.size, out_offset -= axis.out * axis.size;
      axis.at = 0;
    }
  }
  int64_t inner_size() const { return axes.empty() ? 1 : axes[0].size; }
  int64_t inner_stride() const { return axes.empty() ? 0 : axes[0].stride; }
  int64_t inner_out() const { return axes.empty() ? 0 : axes[0].out; }

  SmallVector<Axis, 6> axes;
  int64_t count = 1;
  int64_t offset = 0, out_offset = 0;
};

// A reduction's axes, divided into kept and reduced ones.
struct FoldAxes {
  Walk kept, gone;
  FoldAxes(const Buffer& in, const Buffer& out, std::span<const Dim> dims) {
    const auto rank = static_cast<size_t>(in.rank);
    SmallVector<bool, 8> reduced(std::max<size_t>(rank, 1), dims.empty());
    for (Dim d : dims) reduced[normalize_axis(d.value(), rank)] = true;
    auto o = static_cast<size_t>(out.rank);
    for (size_t i = rank; i-- > 0;) {
      if (reduced[i])
        gone.add(in.shape[i], in.strides[i], 0);
      else
        kept.add(in.shape[i], in.strides[i], out.strides[--o]);
    }
  }
};

// The type in which sums and products of T are computed: bf16 and f32 in wider types, to be rounded once; integers wrap
// around.
template <class T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, float>, double, std::conditional_t<kWraps<T>, uint64_t, Compute<T>>>;

// A Fold gives: Sum (the accumulator's type), start(), and step(Sum, Sum). Elements In are loaded as Sum.
template <class T>
struct SumFold {
  using Sum = Accumulator<T>;
  static Sum start() { return Sum(0); }
  static Sum step(Sum a, Sum b) { return static_cast<Sum>(a + b); }
};
template <class T>
struct ProductFold {
  using Sum = Accumulator<T>;
  static Sum start() { return Sum(1); }
  static Sum step(Sum a, Sum b) { return static_cast<Sum>(a * b); }
};

constexpr int64_t kLanes = 16;

// A run of elements. The lanes let the compiler use vectors, and keep rounding errors of long sums small.
template <class Fold, class In>
typename Fold::Sum fold_run(const In* in, int64_t n, int64_t stride) {
  using Sum = typename Fold::Sum;
  Sum lanes[kLanes];
  if (n >= kLanes) std::fill(lanes, lanes + kLanes, Fold::start());
  int64_t i = 0;
  if (stride == 1)
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t j = 0; j < kLanes; j++) lanes[j] = Fold::step(lanes[j], static_cast<Sum>(in[i + j]));
  else
    for (; i + kLanes <= n; i += kLanes)
      for (int64_t j = 0; j < kLanes; j++) lanes[j] = Fold::step(lanes[j], static_cast<Sum>(in[(i + j) * stride]));
  Sum sum = Fold::start();
  if (i > 0) {
    for (int64_t width = kLanes / 2; width > 0; width /= 2)
      for (int64_t j = 0; j < width; j++) lanes[j] = Fold::step(lanes[j], lanes[j + width]);
    sum = lanes[0];
  }
  for (; i < n; i++) sum = Fold::step(sum, static_cast<Sum>(in[i * stride]));
  return sum;
}

// Computes one result after the other, along runs of the innermost reduced axis.
template <class Fold, class In, class Out>
void fold_rows(FoldAxes& axes, const In* in, Out* out) {
  const int64_t n = axes.gone.inner_size(), stride = axes.gone.inner_stride();
  const int64_t runs = n ? axes.gone.count / n : 0;
  for (int64_t r = 0; r < axes.kept.count; r++, axes.kept.next(0)) {
    auto sum = Fold::start();
    for (int64_t run = 0; run < runs; run++, axes.gone.next(1))
      sum = Fold::step(sum, fold_run<Fold>(in + axes.kept.offset + axes.gone.offset, n, stride));
    out[axes.kept.out_offset] = static_cast<Out>(sum);
  }
}

// Computes blocks of neighbouring results at once, if kept axes are denser in memory than reduced ones.
template <class Fold, class In, class Out>
void fold_columns(FoldAxes& axes, const In* in, Out* out) {
  using Sum = typename Fold::Sum;
  constexpr int64_t kBlock = 256;
  Sum sums[kBlock];
  const int64_t n = axes.kept.inner_size(), stride = axes.kept.inner_stride(), out_stride = axes.kept.inner_out();
  const int64_t rows = n ? axes.kept.count / n : 0;
  for (int64_t r = 0; r < rows; r++, axes.kept.next(1)) {
    for (int64_t first = 0; first < n; first += kBlock) {
      const int64_t width = std::min(kBlock, n - first);
      for (int64_t j = 0; j < width; j++) sums[j] = Fold::start();
      for (int64_t g = 0; g < axes.gone.count; g++, axes.gone.next(0)) {
        const In* row = in + axes.kept.offset + axes.gone.offset + first * stride;
        if (stride == 1)
          for (int64_t j = 0; j < width; j++) sums[j] = Fold::step(sums[j], static_cast<Sum>(row[j]));
        else
          for (int64_t j = 0; j < width; j++) sums[j] = Fold::step(sums[j], static_cast<Sum>(row[j * stride]));
      }
      Out* to = out + axes.kept.out_offset + first * out_stride;
      for (int64_t j = 0; j < width; j++) to[j * out_stride] = static_cast<Out>(sums[j]);
    }
  }
}

template <class Fold, class In, class Out>
void fold(const Buffer& in, const Buffer& out, std::span<const Dim> dims) {
  FoldAxes axes(in, out, dims);
  const auto far = [](const Walk& w) { return w.axes.empty() ? INT64_MAX : std::abs(w.inner_stride()); };
  if (far(axes.kept) < far(axes.gone))
    fold_columns<Fold>(axes, in.as<In>(), out.as<Out>());
  else
    fold_rows<Fold>(axes, in.as<In>(), out.as<Out>());
}

}  // namespace thunder
