#include <algorithm>

#include "base/text.h"
#include "onnx/host/host.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

void constant(Node& n) {
  if (const Attribute* a = n.attribute("value"); a && a->tensors.size() == 1)
    return n.give(n.import_constant(a->tensors[0]));
  if (const Attribute* a = n.attribute("sparse_value"); a && a->sparse.size() == 1)
    return n.give(n.import_constant(a->sparse[0]));
  if (n.has_attribute("value_int")) return n.give(host_of(Dim(n.integer("value_int"))));
  if (n.has_attribute("value_ints")) {
    std::vector<Dim> list;
    for (int64_t i : n.integers("value_ints")) list.push_back(i);
    n.require(list.size() <= static_cast<size_t>(kMostHostElements), "its list has ", list.size(), " numbers");
    return n.give(host_of(std::move(list)));
  }
  auto h = std::make_shared<Host>();
  h->dtype = DType::f32;
  if (n.has_attribute("value_float")) {
    h->reals = {n.real("value_float", 0)};
  } else if (n.has_attribute("value_floats")) {
    h->reals = n.reals("value_floats");
    h->shape = {static_cast<int64_t>(h->reals.size())};
  } else {
    n.refuse("it has none of the values value, sparse_value, value_int, value_ints, value_float and value_floats");
  }
  n.give(HostRef(std::move(h)));
}

void identity(Node& n) {
  n.give(n.value(0));
}

// Sizes given as a tensor, whose values must be known while tracing.
std::vector<Dim> sizes_of(Node& n) {
  std::vector<Dim> sizes;
  if (const Host* h = n.known(0)) {
    for (int64_t d : h->shape) sizes.push_back(d);
  } else {
    for (Dim d : n.shape(0)) sizes.push_back(d);
  }
  return sizes;
}

void shape(Node& n) {
  std::vector<Dim> sizes = sizes_of(n);
  const auto rank = static_cast<int64_t>(sizes.size());
  const auto place = [&](const char* name, int64_t otherwise) {
    int64_t at = n.integer(name, otherwise);
    if (at < 0) at += rank;
    return std::clamp<int64_t>(at, 0, rank);
  };
  const int64_t start = place("start", 0), end = std::max(start, place("end", rank));
  n.give(host_of(std::vector<Dim>(sizes.begin() + start, sizes.begin() + end)));
}

void size(Node& n) {
  Dim all = 1;
  for (Dim d : sizes_of(n)) all = all * d;
  n.give(host_of(all));
}

// More than any machine has room for.
constexpr int64_t kMostElements = int64_t{1} << 38;

void constant_of_shape(Node& n) {
  const std::vector<Dim> shape = n.dims(0, "shape");
  // Sizes of tensors that are there are no false ones, and stay formulas.
  if (const Dim count = elements(shape); count.constant() && count.value() > kMostElements)
    n.refuse("it makes ", count.value(), " elements, at most ", kMostElements, " are made");
  const Attribute* a = n.attribute("value");
  if (!a) return n.give(n.op("full", {shape, 0.0, DType::f32}));
  n.require(a->tensors.size() == 1, "its attribute 'value' is no tensor");
  const Value v = n.import_constant(a->tensors[0]);
  n.require(v.host && v.host->size() == 1, "its attribute 'value' is no single number");
  const Host& one = *v.host;
  const Operand number = one.holds_reals()             ? Operand(one.reals[0])
                         : one.dtype == DType::boolean ? Operand(hint(one.ints[0]) != 0)
                                                       : Operand(one.ints[0]);
  n.give(n.op("full", {shape, number, one.dtype}));
}

void range(Node& n) {
  const DType dtype = n.dtype(0);
  // If the steps lead away from the limit, the range is empty.
  if (is_real(dtype)) {
    const double start = n.number(0, "start"), limit = n.number(1, "limit"), step = n.number(2, "delta");
    return n.give(n.op("arange", {start, step > 0 ? std::max(start, limit) : std::min(start, limit), step, dtype}));
  }
  const auto one = [&](size_t i, const char* what) {
    const Host& h = n.require_known(i, what);
    n.require(h.size() == 1 && !h.holds_reals(), "its input ", i + 1, ", the ", what, ", is no single integer");
    return h.ints[0];
  };
  const Dim start = one(0, "start"), limit = one(1, "limit"), step = one(2, "delta");
  const bool away = hint(step) > 0 ? decide_less(n, limit, start) : decide_less(n, start, limit);
  n.give(n.op("arange", {start, away ? start : limit, step, dtype}));
}

constexpr ImportRow kRows[] = {
    {"Constant", 1, kNow, constant},
    {"Identity", 1, kNow, identity},
    {"Shape", 1, kNow, shape},
    {"Size", 1, kNow, size},
    {"ConstantOfShape", 9, kNow, constant_of_shape, host_constant_of_shape},
    {"Range", 11, kNow, range, host_range},
};

}  // namespace

constinit const ImportTable constants_rows = {"", kRows};

}  // namespace thunder::onnx
