#include "jit/programs/trace_check.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/text.h"
#include "ir/draws.h"
#include "ir/elements.h"
#include "ir/print.h"
#include "tensor/transfer.h"

namespace thunder {
namespace {

constexpr size_t kMostLines = 20;

std::string format_line(const Trace& trace, const Node& n) {
  return cat("    ", print_line(trace, n), n.where ? cat("   [at ", n.where, "]") : "");
}

bool same_line(const Trace& x, const Node& a, const Trace& y, const Node& b) {
  return a.op->name() == b.op->name() && std::equal(a.args.begin(), a.args.end(), b.args.begin(), b.args.end(), same) &&
         std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(),
                    [&](ValueId v, ValueId w) { return v == w && x.type(v) == y.type(w); });
}

std::string line_difference(const Trace& x, const Trace& y) {
  const size_t both = std::min(x.nodes.size(), y.nodes.size());
  for (size_t i = 0; i < both; i++)
    if (!same_line(x, *x.nodes[i], y, *y.nodes[i]))
      return cat("the first op that differs, number ", i + 1, ":\n  in the trace\n", format_line(x, *x.nodes[i]),
                 "\n  traced again\n", format_line(y, *y.nodes[i]));
  if (x.nodes.size() == y.nodes.size()) return "";
  const bool longer = y.nodes.size() > both;
  const Trace& more = longer ? y : x;
  return cat(longer ? "traced again it has ops more, the first of them\n"
                    : "traced again it has fewer ops, the first that is missing\n",
             format_line(more, *more.nodes[both]));
}

bool same_leaf(const Leaf& a, const Leaf& b) {
  return a.kind == b.kind && a.i == b.i && std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f) &&
         a.text == b.text && a.ints == b.ints && a.reals == b.reals;
}

bool same_results(const Entry& a, const Entry& b) {
  return std::equal(a.results.begin(), a.results.end(), b.results.begin(), b.results.end(),
                    [](const ResultLeaf& x, const ResultLeaf& y) {
                      return x.output == y.output && same_leaf(x.constant, y.constant);
                    });
}

double element(const Tensor& t, int64_t i) {
  return as_double(t.type().dtype, t.data() + static_cast<size_t>(i) * size_of(t.type().dtype));
}

// Absolute and relative tolerances by dtype, as in torch.testing.
double absolute_tolerance(DType d) { return d == DType::f64 ? 1e-7 : is_real(d) ? 1e-5 : 0; }
double relative_tolerance(DType d, double tolerance) {
  const double least = d == DType::bf16 ? 1.6e-2 : d == DType::f16 ? 1e-3 : 0;
  return is_real(d) ? std::max(tolerance, least) : 0;
}

std::string format_index(const Tensor& t, int64_t i) {
  std::vector<int64_t> at(t.type().rank());
  for (size_t d = at.size(); d-- > 0; i /= t.sizes()[d]) at[d] = i % t.sizes()[d];
  return cat("[", join(at, ", ", [](int64_t x) { return x; }), "]");
}

// Requires: dense, in the host's memory.
std::string element_difference(const Tensor& a, const Tensor& b, double tolerance) {
  if (!(a.type() == b.type())) return cat("is ", name(a.type()), " in the trace, ", name(b.type()), " otherwise");
  const DType dtype = a.type().dtype;
  int64_t worst = -1, many = 0;
  double largest = -1;
  for (int64_t i = 0; i < a.elements(); i++) {
    const double x = element(a, i), y = element(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::isfinite(x) && std::isfinite(y) ? std::abs(x - y) : HUGE_VAL;
    if (error <= absolute_tolerance(dtype) + relative_tolerance(dtype, tolerance) * std::abs(y)) continue;
    many++;
    if (error > largest) largest = error, worst = i;
  }
  if (worst < 0) return "";
  return cat("differs in ", many, " of ", a.elements(), " elements; the largest error is ", largest, ", at ",
             format_index(a, worst), ": ", element(a, worst), " in the trace, ", element(b, worst), " otherwise");
}

std::string element_difference(const Ref<Tensor>& a, const Ref<Tensor>& b, double tolerance) {
  const Allocator host = default_allocator();
  const auto here = [&](const Ref<Tensor>& t) { return dense_copy(host, *on_host(t, host)); };
  return element_difference(*here(a), *here(b), tolerance);
}

const Node* first_reader(const Trace& trace, ValueId value) {
  for (const Node* n : trace.nodes) {
    bool reads = false;
    for_each_value(n->args, [&](ValueId v) { reads |= v == value; });
    if (reads) return n;
  }
  return nullptr;
}

}  // namespace

std::string graph_difference(const Entry& traced, const Entry& again) {
  const Trace &x = traced.traces.front(), &y = again.traces.front();
  if (std::string lines = line_difference(x, y); !lines.empty()) return lines;
  if (traced.result_structure != again.result_structure)
    return cat("the structure of its results is ", traced.result_structure, " in the trace, ", again.result_structure,
               " traced again");
  if (x.outputs != y.outputs || !same_results(traced, again)) return "traced again it returns other values";
  const auto same_write = [](const Write& a, const Write& b) { return a.input == b.input && a.value == b.value; };
  const bool writes = std::equal(x.writes.begin(), x.writes.end(), y.writes.begin(), y.writes.end(), same_write);
  return writes ? "" : "traced again it writes other tensors";
}

std::string constant_difference(const Entry& traced, const Entry& again) {
  std::string out;
  for (size_t i = traced.leaves; i < traced.bindings.size() && i < again.bindings.size(); i++) {
    const Ref<Tensor>&a = traced.bindings[i].captured, &b = again.bindings[i].captured;
    if (!a || !b || a == b) continue;
    const std::string differs = element_difference(a, b, 0);
    if (differs.empty()) continue;
    const Input& in = traced.traces.front().inputs[i];
    const Node* reader = first_reader(traced.traces.front(), in.value);
    out += cat("the constant ", "ipc"[static_cast<size_t>(in.source)], "[", in.index + 1, "]",
               in.name.empty() ? "" : cat(" '", in.name, "'"), " ", differs,
               reader ? cat("; it is first read in\n", format_line(traced.traces.front(), *reader)) : "", "\n");
  }
  return out;
}

std::string value_difference(const Values& traced, const Values& function, double tolerance, std::string_view what) {
  if (traced.structure() != function.structure())
    return cat("the structure of the ", what, "s is ", traced.structure(), " in the trace, ", function.structure(),
               " of the function\n");
  std::string out;
  const std::vector<std::string> paths = function.paths();
  for (size_t i = 0; i < traced.size(); i++) {
    const Leaf &a = traced[i], &b = function[i];
    const bool tensors = a.tensor && b.tensor;
    const std::string differs = tensors           ? element_difference(a.tensor, b.tensor, tolerance)
                                : same_leaf(a, b) ? ""
                                                  : "is another value than in the trace";
    if (!differs.empty()) out += cat(what, " ", paths[i], " ", differs, "\n");
  }
  return out;
}

std::string drawing_lines(const Trace& trace) {
  std::string out;
  size_t lines = 0;
  for (const Node* n : trace.nodes)
    if (first_draw(*n) && lines++ < kMostLines) out += cat("\n", format_line(trace, *n));
  return out;
}

}  // namespace thunder
