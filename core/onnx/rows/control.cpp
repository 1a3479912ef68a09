// Branches and loops whose conditions are known while tracing.
#include <algorithm>

#include "base/text.h"
#include "onnx/importer.h"
#include "onnx/rows.h"

namespace thunder::onnx {
namespace {

constexpr int64_t kMostTrips = 1024;

void branch(Node& n) {
  const bool taken = n.number(0, "condition") != 0;
  for (Value& v : n.run(n.graph(taken ? "then_branch" : "else_branch"), {})) n.give(std::move(v));
}

// Whether the loop goes on, by the condition that its body returned.
bool read_loop_condition(Node& n, Value& v) {
  const Host* h = n.known_value(v, "condition of the next trip");
  n.require(h->size() == 1, "the condition of the next trip has ", h->size(), " elements");
  return hint(h->ints[0]) != 0;
}

Value stack_iterations(Node& n, std::vector<Value>& parts, const ValueInfo& info, int64_t axis) {
  if (parts.empty()) {
    // Without an iteration the shape is unknown, unless the graph declares it.
    const ElementType* type = find_element_type(info.type);
    Sizes shape = {0};
    if (info.dims)
      for (const DimProto& d : *info.dims) shape.push_back(std::max<int64_t>(0, d.value));
    if (!type || type->dtype == DType::none)
      n.refuse("it makes no trip, and the body does not say what '", info.name, "' is");
    return {n.op("full", {shape, 0, type->dtype, n.importer().device}), nullptr, nullptr};
  }
  std::vector<Tensor*> tensors;
  for (Value& v : parts) tensors.push_back(n.importer().materialize(v));
  return {n.op("stack", {tensors, axis}), nullptr, nullptr};
}

void loop(Node& n) {
  const Graph& body = n.graph("body");
  int64_t trips = INT64_MAX;
  if (n.has(0)) {
    const Host& h = n.require_known(0, "trip count");
    n.require(h.size() == 1 && !h.holds_reals(), "its trip count is no single integer");
    trips = hint(h.ints[0]);
  }
  bool more = !n.has(1) || n.number(1, "condition") != 0;
  if (more && trips > kMostTrips && n.has(0) && trips != INT64_MAX)
    n.refuse("it makes ", trips, " trips; at most ", kMostTrips, " are unrolled");
  std::vector<Value> carried;
  for (size_t i = 2; i < n.inputs(); i++) carried.push_back(n.has(i) ? n.value(i) : Value());
  n.require(body.outputs.size() > carried.size() && body.inputs.size() == carried.size() + 2, "its body has ",
            body.inputs.size(), " inputs and ", body.outputs.size(), " outputs, it carries ", carried.size(),
            " values");
  std::vector<std::vector<Value>> scans(body.outputs.size() - 1 - carried.size());
  for (int64_t trip = 0; more && trip < trips; trip++) {
    if (trip == kMostTrips) n.refuse("it makes more than ", kMostTrips, " trips, which are not unrolled");
    std::vector<Value> in = {{nullptr, host_of(Dim(trip)), nullptr},
                             {nullptr, host_of(Dim(1), DType::boolean), nullptr}};
    in.insert(in.end(), carried.begin(), carried.end());
    std::vector<Value> out = n.run(body, in);
    // Asked for only where something depends on it.
    if (trip + 1 < trips) more = read_loop_condition(n, out[0]);
    for (size_t i = 0; i < carried.size(); i++) carried[i] = std::move(out[i + 1]);
    for (size_t i = 0; i < scans.size(); i++) scans[i].push_back(std::move(out[i + 1 + carried.size()]));
  }
  for (Value& v : carried) n.give(std::move(v));
  for (size_t i = 0; i < scans.size(); i++)
    n.give(n.has_output(carried.size() + i) ? stack_iterations(n, scans[i], body.outputs[carried.size() + 1 + i], 0)
                                            : Value());
}

void scan(Node& n) {
  const Graph& body = n.graph("body");
  const auto scanned = static_cast<size_t>(n.count("num_scan_inputs"));
  n.require(scanned > 0 && scanned <= n.inputs(), "its attribute 'num_scan_inputs' is ", scanned);
  const size_t states = n.inputs() - scanned;
  n.require(body.inputs.size() == n.inputs() && body.outputs.size() >= states, "its body has ", body.inputs.size(),
            " inputs and ", body.outputs.size(), " outputs");
  const auto per = [&](const char* name, size_t count) {
    std::vector<int64_t> list = n.integers(name);
    if (list.empty()) list.assign(count, 0);
    n.require(list.size() == count, "its attribute '", name, "' has ", list.size(), " numbers");
    return list;
  };
  const size_t outs = body.outputs.size() - states;
  const auto in_axes = per("scan_input_axes", scanned), in_ways = per("scan_input_directions", scanned);
  const auto out_axes = per("scan_output_axes", outs), out_ways = per("scan_output_directions", outs);
  std::vector<Value> carried;
  for (size_t i = 0; i < states; i++) carried.push_back(n.value(i));
  const int64_t trips = hint(n.shape(states)[dim_at(in_axes[0], n.rank(states))]);
  if (trips > kMostTrips) n.refuse("it makes ", trips, " trips; at most ", kMostTrips, " are unrolled");
  std::vector<std::vector<Value>> scans(outs);
  for (int64_t trip = 0; trip < trips; trip++) {
    std::vector<Value> in = carried;
    for (size_t k = 0; k < scanned; k++) {
      const int64_t at = in_ways[k] ? trips - 1 - trip : trip;
      in.push_back({n.op("select", {n[states + k], in_axes[k], at}), nullptr, nullptr});
    }
    std::vector<Value> out = n.run(body, in);
    for (size_t i = 0; i < states; i++) carried[i] = std::move(out[i]);
    for (size_t i = 0; i < outs; i++) scans[i].push_back(std::move(out[states + i]));
  }
  for (Value& v : carried) n.give(std::move(v));
  for (size_t i = 0; i < outs; i++) {
    if (out_ways[i]) std::reverse(scans[i].begin(), scans[i].end());
    n.give(stack_iterations(n, scans[i], body.outputs[states + i], out_axes[i]));
  }
}

constexpr ImportRow kRows[] = {
    {"If", 1, kLatestOpset, branch, nullptr, "where the condition is known while tracing"},
    {"Loop", 1, kLatestOpset, loop, nullptr, "unrolled, where the trips are known while tracing and no more than 1024"},
    {"Scan", 9, kLatestOpset, scan, nullptr, "unrolled, up to 1024 trips"},
};

}  // namespace

constinit const ImportTable control_rows = {"", kRows};

}  // namespace thunder::onnx
