// A loop nest, which is what one kernel computes: iteration axes, index maps, expressions and stores. It knows neither
// tensors nor op names. How it is run is said by a schedule (for CPUs cpu/nest.h).
//
// Sizes, strides and offsets are numbers where code is made of a nest. Before that they may be formulas: NestOf<Size>
// is the nest of all sizes for which every comparison of two of them has the same result (ir/symbolic/size.h).
//
//     for each position along the outer axes (split among threads)
//       pass 0: for each position along the inner axes: the reductions that need nothing reduced
//       pass 1: ... those that need results of pass 0, and so on
//       the stores, each in the pass after which its value is known
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "loops/functions.h"

namespace thunder::loops {

using ExprId = uint32_t;
using AxisSet = uint64_t;  // bit k: axis k
constexpr uint32_t kMaxAxes = 64;
constexpr AxisSet axis_bit(uint32_t axis) { return AxisSet{1} << axis; }

// The stride of each axis of the nest, in elements; 0: the value does not vary along the axis.
template <class S>
using MapOf = std::vector<S>;
using Map = MapOf<int64_t>;

// The result of a function of at most three other expressions.
template <class S>
struct ExprOf {
  Fn fn = Fn::load;
  DType dtype = DType::none;
  std::array<ExprId, 3> in{};
  uint32_t count = 0;  // how many operands
  uint32_t buffer = 0;  // load: which argument
  uint32_t map = 0;  // load, iota: the map of its index
  S offset{};  // load, iota: added to the index; uniform: which of the program's draws
  // gather: the axis whose index is in[1] rather than the loop's; select: the axis that it tests; cumsum: its own.
  uint32_t axis = 0;
  S bound{};  // select: the index from which on it is in[1]
  double number = 0;  // number: the constant
  AxisSet axes = 0;  // it varies along these
  uint32_t level = 0;  // the number of the first pass in which it can be computed
};
using Expr = ExprOf<int64_t>;

// Whether its `axis` is used.
template <class S>
bool has_axis(const ExprOf<S>& e) { return e.fn == Fn::gather || e.fn == Fn::select || e.fn == Fn::cumsum; }

// Whether a kernel may have to report that it has no value: an index out of range, an integer divided by zero.
template <class S>
bool may_fail(const ExprOf<S>& e) {
  return e.fn == Fn::gather || ((e.fn == Fn::div || e.fn == Fn::fmod) && is_integer(e.dtype));
}

// Whether the kernel has a parameter for its offset.
template <class S>
bool has_parameter(const ExprOf<S>& e) { return e.fn == Fn::uniform || e.offset != 0; }

enum class OutputKind : uint8_t {
  each,  // one element for each iteration
  column,  // summed over the outer axes; each chunk of the outer range has partial sums of its own
};
// Indices of an axis.
template <class S>
struct IntervalOf {
  uint32_t axis;
  S begin, end;
};
using Interval = IntervalOf<int64_t>;
template <class S>
struct OutputOf {
  ExprId value;
  OutputKind kind = OutputKind::each;
  uint32_t buffer;
  uint32_t map;
  S offset{};  // in elements
  std::vector<IntervalOf<S>> only = {};  // it is stored where all of these hold; none: everywhere
};
using Output = OutputOf<int64_t>;

template <class S>
struct NestOf {
  std::vector<S> extents;  // of the axes: outer ones, inner ones, then those that only gathers index
  uint32_t outer = 0, inner = 0; // how many of each
  bool backwards = false;  // the loop over the one inner axis runs from its end
  bool partial = false;  // some loads are valid in intervals of an axis only
  std::vector<DType> buffers;    // element types of the arguments
  std::vector<MapOf<S>> maps;
  std::vector<ExprOf<S>> exprs;  // each after its operands
  std::vector<OutputOf<S>> stores;
  uint32_t passes = 1;

  uint32_t axes() const { return static_cast<uint32_t>(extents.size()); }
  AxisSet outer_set() const { return axis_bit(outer) - 1; }
  AxisSet inner_set() const { return (axis_bit(outer + inner) - 1) & ~outer_set(); }
  AxisSet only_gathered_set() const { return ~(axis_bit(outer + inner) - 1); }  // no loop has them
  S row_elements() const {
    S n = 1;
    for (uint32_t a = outer; a < outer + inner; a++) n *= extents[a];
    return n;
  }
  // Constant along the inner axes.
  bool is_row(ExprId e) const { return !(exprs[e].axes & inner_set()); }
  // The same, and stored once for each row.
  bool is_row(const OutputOf<S>& o) const {
    for (uint32_t a = outer; a < outer + inner; a++)
      if (maps[o.map][a] != 0) return false;
    return is_row(o.value);
  }
  // Where index-set splitting divides an axis: the indices at which a select or a store changes, ascending.
  std::vector<S> cuts(uint32_t axis) const {
    std::vector<S> out;
    for (const ExprOf<S>& e : exprs)
      if (e.fn == Fn::select && e.axis == axis) out.push_back(e.bound);
    for (const OutputOf<S>& s : stores)
      for (const IntervalOf<S>& only : s.only)
        if (only.axis == axis) out.insert(out.end(), {only.begin, only.end});
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    // The beginning and the end of the axis are no cuts.
    std::erase_if(out, [&](const S& cut) { return cut <= 0 || cut >= extents[axis]; });
    return out;
  }
};
using Nest = NestOf<int64_t>;

// Sets axes and level of each expression, given the axes that reductions reduce.
template <class S>
void find_levels(NestOf<S>& nest, AxisSet inner);

// How code depends on a stride. Strides that are `any` are run-time parameters.
enum class StrideKind : char { none = '0', unit = '1', any = 's' };
template <class S>
StrideKind stride_kind(const S& stride) {
  return stride == 0 ? StrideKind::none : stride == 1 ? StrideKind::unit : StrideKind::any;
}

// The run-time parameters of a kernel: the extents, the strides that are `any` map by map, the offsets of expressions
// and of outputs, the cuts axis by axis.
template <class S>
std::vector<S> parameters(const NestOf<S>& nest);

// An index out of range, or a divisor of zero, as a kernel reports it.
struct IndexError {
  int64_t expr = -1;  // of the gather or division; -1: none
  int64_t index = 0;
};

// The nest as text, which shows strides and extents only as far as code depends on them.
template <class S>
std::string print(const NestOf<S>& nest);

// Gives a copy other sizes. `f`: the new one of a size.
template <class To, class S, class F>
void set_sizes(const NestOf<S>& from, NestOf<To>& to, const F& f) {
  const auto set = [&](const std::vector<S>& all, std::vector<To>& out) {
    for (size_t i = 0; i < all.size(); i++) out[i] = f(all[i]);
  };
  set(from.extents, to.extents);
  for (size_t i = 0; i < from.maps.size(); i++) set(from.maps[i], to.maps[i]);
  for (size_t i = 0; i < from.exprs.size(); i++)
    to.exprs[i].offset = f(from.exprs[i].offset), to.exprs[i].bound = f(from.exprs[i].bound);
  for (size_t i = 0; i < from.stores.size(); i++) {
    const OutputOf<S>& s = from.stores[i];
    to.stores[i].offset = f(s.offset);
    for (size_t k = 0; k < s.only.size(); k++)
      to.stores[i].only[k].begin = f(s.only[k].begin), to.stores[i].only[k].end = f(s.only[k].end);
  }
}

// A copy with sizes of another type: numbers in the place of formulas, or formulas compiled.
template <class To, class S, class F>
void copy_with_sizes(const NestOf<S>& from, NestOf<To>& to, const F& f) {
  to.outer = from.outer, to.inner = from.inner, to.backwards = from.backwards, to.partial = from.partial;
  to.buffers = from.buffers, to.passes = from.passes;
  to.extents.resize(from.extents.size());
  to.maps.reserve(from.maps.size()), to.exprs.reserve(from.exprs.size()), to.stores.reserve(from.stores.size());
  for (const MapOf<S>& m : from.maps) to.maps.emplace_back().resize(m.size());
  for (const ExprOf<S>& e : from.exprs)
    to.exprs.push_back({e.fn, e.dtype, e.in, e.count, e.buffer, e.map, {}, e.axis, {}, e.number, e.axes, e.level});
  for (const OutputOf<S>& s : from.stores) {
    OutputOf<To>& out = to.stores.emplace_back(OutputOf<To>{s.value, s.kind, s.buffer, s.map, {}, {}});
    for (const IntervalOf<S>& only : s.only) out.only.push_back({only.axis, {}, {}});
  }
  set_sizes(from, to, f);
}

}  // namespace thunder::loops
