#include <algorithm>

#include "base/text.h"
#include "onnx/host/host.h"
#include "onnx/operands.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

size_t axis_of(Node& n, int64_t otherwise = 0) {
  return dim_at(n.integer("axis", otherwise), n.rank(0));
}

void gather(Node& n) {
  Tensor* x = n[0];
  const size_t axis = axis_of(n);
  const auto at = static_cast<int64_t>(axis);
  // A single known index gives a view.
  if (const Host* h = n.known(1); h && h->shape.empty() && h->constant())
    return n.give(n.op("select", {x, at, h->ints[0]}));
  if (axis == 0) return n.give(n.op("index", {x, std::vector<Tensor*>{n.cast(n[1], DType::i64)}}));
  const Shape shape = n.shape(0), places = n.shape(1);
  Tensor* index = normalize_indices(n, 1, shape[axis]);
  Tensor* flat = n.op("reshape", {index, std::vector<int64_t>{-1}});
  Tensor* rows = n.op("index_select", {x, at, places.size() == 1 ? index : flat});
  if (places.size() == 1) return n.give(rows);
  Shape out(shape.begin(), shape.begin() + axis);
  for (Dim d : places) out.push_back(d);
  for (size_t d = axis + 1; d < shape.size(); d++) out.push_back(shape[d]);
  n.give(n.op("reshape", {rows, out}));
}

void gather_elements(Node& n) {
  const size_t axis = axis_of(n);
  n.give(n.op("gather", {n[0], static_cast<int64_t>(axis), normalize_indices(n, 1, n.shape(0)[axis])}));
}

// The last dim of the indices holds a place in the dims behind the batch.
std::vector<Tensor*> places_of(Node& n, size_t batch) {
  const Shape& shape = n.shape(1);
  n.require(!shape.empty(), "its indices are of rank 0");
  const int64_t depth = hint(shape[shape.size() - 1]);
  n.require(static_cast<size_t>(depth) + batch <= n.rank(0), "its indices have ", depth,
            " places for an input of rank ", n.rank(0));
  Tensor* index = n.cast(n[1], DType::i64);
  std::vector<Tensor*> places;
  for (size_t b = 0; b < batch; b++) places.push_back(arange_along(n, shape[b], b, shape.size() - 1));
  for (int64_t k = 0; k < depth; k++) places.push_back(n.op("select", {index, -1, k}));
  return places;
}

void gather_nd(Node& n) {
  const std::vector<Tensor*> places = places_of(n, static_cast<size_t>(n.count_or("batch_dims", 0, 0)));
  n.give(n.op("index", {n[0], places}));
}

std::string_view reduction_of(Node& n) {
  const std::string_view r = n.text("reduction", "none");
  n.require(r == "none" || r == "add" || r == "mul" || r == "max" || r == "min", "its attribute 'reduction' is '",
            r.substr(0, 40), "'");
  return r == "add" ? "sum" : r == "mul" ? "prod" : r == "max" ? "amax" : r == "min" ? "amin" : r;
}

void scatter_elements(Node& n) {
  const size_t axis = axis_of(n);
  const auto at = static_cast<int64_t>(axis);
  Tensor* index = normalize_indices(n, 1, n.shape(0)[axis]);
  const std::string_view how = reduction_of(n);
  if (how == "none") return n.give(n.op("scatter", {n[0], at, index, n[2]}));
  if (how == "sum") return n.give(n.op("scatter_add", {n[0], at, index, n[2]}));
  n.give(n.op("scatter_reduce", {n[0], at, index, n[2], how, true}));
}

// For reductions other than the sum, indices are flattened over the indexed dims.
void scatter_nd(Node& n) {
  Tensor *x = n[0], *updates = n[2];
  const std::string_view how = reduction_of(n);
  const std::vector<Tensor*> places = places_of(n, 0);
  if (how == "none" || how == "sum") return n.give(n.op("index_put", {x, places, updates, how == "sum"}));
  const Shape shape = n.shape(0), of = n.shape(1);
  Tensor* flat = nullptr;
  Dim rows = 1, rest = 1;
  for (size_t k = 0; k < places.size(); k++) {
    const Dim size = shape[k];
    Tensor* front = n.op("where", {n.op("lt", {places[k], 0}), n.op("add", {places[k], size}), places[k]});
    flat = flat ? n.op("add", {n.op("mul", {flat, size}), front}) : front;
    rows = rows * size;
  }
  for (size_t d = places.size(); d < shape.size(); d++) rest = rest * shape[d];
  Dim count = 1;
  for (size_t d = 0; d + 1 < of.size(); d++) count = count * of[d];
  Tensor* index = n.op("expand", {n.op("reshape", {flat, Shape{count, 1}}), Shape{count, rest}});
  Tensor* table = n.op("reshape", {x, Shape{rows, rest}});
  Tensor* y = n.op("scatter_reduce", {table, 0, index, n.op("reshape", {updates, Shape{count, rest}}), how, true});
  n.give(n.op("reshape", {y, shape}));
}

void one_hot(Node& n) {
  const Host& depth_of = n.require_known(1, "depth");
  n.require(depth_of.size() == 1, "its depth has ", depth_of.size(), " elements");
  const Dim depth = depth_of.holds_reals() ? Dim(static_cast<int64_t>(depth_of.reals[0])) : depth_of.ints[0];
  const size_t rank = n.rank(0) + 1, axis = dim_at(n.integer("axis", -1), rank);
  Tensor* index = normalize_indices(n, 0, depth);
  Tensor* hot =
      n.op("eq", {n.op("unsqueeze", {index, static_cast<int64_t>(axis)}), arange_along(n, depth, axis, rank)});
  Tensor* values = n[2];
  n.give(n.op("where", {hot, n.op("select", {values, 0, 1}), n.op("select", {values, 0, 0})}));
}

DType dtype_attribute(Node& n, DType otherwise) {
  if (!n.has_attribute("dtype")) return otherwise;
  return n.element("dtype").dtype;
}

void eye_like(Node& n) {
  const Shape shape = n.shape(0);
  n.require(shape.size() == 2, "its input is of rank ", shape.size());
  Tensor* difference = n.op("sub", {arange_along(n, shape[1], 1, 2), arange_along(n, shape[0], 0, 2)});
  n.give(n.cast(n.op("eq", {difference, n.integer("k", 0)}), dtype_attribute(n, n.dtype(0))));
}

void triangle(Node& n) {
  const int64_t k = n.has(1) ? n.whole(1, "k") : 0;
  n.give(n.op(n.flag("upper", true) ? "triu" : "tril", {n[0], k}));
}

void top_k(Node& n) {
  const size_t axis = axis_of(n, -1);
  int64_t k = n.opset < 10 ? n.integer("k") : n.whole(1, "k");
  const std::vector<Tensor*> both = n.ops("topk", {n[0], k, static_cast<int64_t>(axis), n.flag("largest", true), true});
  n.give(both[0]);
  n.give(both[1]);
}

void non_zero(Node& n) {
  n.give(n.op("transpose", {n.op("nonzero", {n[0]}), 0, 1}));
}

void compress(Node& n) {
  Tensor *x = n[0], *condition = n[1];
  const bool flat = !n.has_attribute("axis");
  if (flat) x = n.op("reshape", {x, std::vector<int64_t>{-1}});
  const auto axis = static_cast<int64_t>(flat ? 0 : axis_of(n));
  Tensor* places = n.op("reshape", {n.op("nonzero", {condition}), std::vector<int64_t>{-1}});
  n.give(n.op("index_select", {x, axis, places}));
}

void unique(Node& n) {
  const bool flat = !n.has_attribute("axis");
  const auto axis = flat ? int64_t{0} : static_cast<int64_t>(axis_of(n));
  Tensor* x = flat ? n.op("reshape", {n[0], std::vector<int64_t>{-1}}) : n[0];
  std::vector<Tensor*> all = n.ops("unique", {x, true, true, true, flat ? Operand(nullptr) : Operand(axis)});
  // The first place of each value: the least of those that have it.
  const Dim count = x->type().shape[static_cast<size_t>(axis)];
  Tensor* start = n.op("full", {Shape{dim_of(all[2], 0)}, count, DType::i64});
  Tensor* first = n.op("scatter_reduce", {start, 0, all[1], arange_along(n, count, 0, 1), "amin", true});
  if (!n.flag("sorted", true)) {
    // Sorts by these positions.
    Tensor* order = n.op("argsort", {first});
    all[0] = n.op("index_select", {all[0], axis, order});
    all[1] = n.op("index_select", {n.op("argsort", {order}), 0, all[1]});
    all[2] = n.op("index_select", {all[2], 0, order});
    first = n.op("index_select", {first, 0, order});
  }
  for (Tensor* t : {all[0], first, all[1], all[2]}) n.give(t);
}

// ReverseSequence: reverses each sequence of a batch up to its length.
void reverse_sequence(Node& n) {
  const int64_t batch = n.integer("batch_axis", 1), time = n.integer("time_axis", 0);
  const size_t rank = n.rank(0);
  const Shape shape = n.shape(0);
  Shape by_batch(rank, Dim(1));
  by_batch[dim_at(batch, rank)] = shape[dim_at(batch, rank)];
  Tensor* lengths = n.op("reshape", {n.cast(n[1], DType::i64), by_batch});
  Tensor* step = arange_along(n, shape[dim_at(time, rank)], dim_at(time, rank), rank);
  Tensor* turned = n.op("sub", {n.op("sub", {lengths, 1}), step});
  Tensor* index = n.op("where", {n.op("lt", {step, lengths}), turned, step});
  n.give(n.op("gather", {n[0], time, n.op("expand", {index, shape})}));
}

template <OpName name>
void cumulative(Node& n) {
  Tensor* x = n[0];
  const auto axis = static_cast<int64_t>(dim_at(n.whole(1, "axis"), n.rank(0)));
  const std::vector<int64_t> dims = {axis};
  const bool reverse = n.flag("reverse");
  if (reverse) x = n.op("flip", {x, dims});
  const Dim length = x->type().shape[static_cast<size_t>(axis)];
  if (n.flag("exclusive") && !(length.constant() && length.value() == 0)) {
    // The sum before each element: that of one place earlier.
    std::vector<int64_t> pads(2 * (n.rank(0) - static_cast<size_t>(axis)), 0);
    pads[pads.size() - 2] = 1, pads[pads.size() - 1] = -1;
    x = n.op("pad", {x, pads, "constant", std::string_view(name.text) == "cumsum" ? 0.0 : 1.0});
  }
  x = n.op(name.text, {x, axis, n.dtype(0)});
  n.give(reverse ? n.op("flip", {x, dims}) : x);
}

// A cache of keys or values with an update written at each batch's own place.
void tensor_scatter(Node& n) {
  const size_t rank = n.rank(0), axis = dim_at(n.integer("axis", -2), rank);
  const Shape shape = n.shape(0), update = n.shape(1);
  Tensor* places = arange_along(n, update[axis], axis, rank);
  if (n.has(2)) {
    Shape by_batch(rank, Dim(1));
    by_batch[0] = shape[0];
    places = n.op("add", {places, n.op("reshape", {n.cast(n[2], DType::i64), by_batch})});
  }
  if (n.text("mode", "linear") == "circular") places = n.op("remainder", {places, shape[axis]});
  n.give(n.op("scatter", {n[0], static_cast<int64_t>(axis), n.op("expand", {places, update}), n[1]}));
}

constexpr ImportRow kRows[] = {
    {"Gather", 1, kNow, gather, host_gather},
    {"GatherElements", 11, kNow, gather_elements},
    {"GatherND", 11, kNow, gather_nd},
    {"Scatter", 9, 10, scatter_elements},
    {"ScatterElements", 11, kNow, scatter_elements},
    {"ScatterND", 11, kNow, scatter_nd},
    {"OneHot", 9, kNow, one_hot},
    {"EyeLike", 9, kNow, eye_like},
    {"Trilu", 14, kNow, triangle},
    {"TopK", 1, kNow, top_k},
    {"NonZero", 9, kNow, non_zero},
    {"Compress", 9, kNow, compress},
    {"Unique", 11, kNow, unique},
    {"ReverseSequence", 10, kNow, reverse_sequence},
    {"CumSum", 11, kNow, cumulative<"cumsum">},
    {"CumProd", 26, kNow, cumulative<"cumprod">},
    {"TensorScatter", 24, kNow, tensor_scatter},
};

}  // namespace

constinit const ImportTable indexing_rows = {"", kRows};

}  // namespace thunder::onnx
