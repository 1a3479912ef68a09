#include "executors/onnxrt/onnxrt.h"

#include <algorithm>
#include <array>

#include "base/machine.h"
#include "base/text.h"
#include "executors/engines.h"
#include "executors/onnxrt/session.h"
#include "onnx/export/export.h"
#include "onnx/export/model.h"

namespace thunder {
namespace {

using onnx_export::ExportRequest;
using onnxrt::Runtime;
using onnxrt::Session;

constexpr int64_t kOpset = 21;

// What ONNX Runtime has no kernel for on the CPU though ONNX does, and what it computes in doubles: powers of integers.
bool stays_ours(const Node& n, const Store& store) {
  constexpr std::array<std::string_view, 14> kNoF64 = {"gelu",
                                                       "prims.acos",
                                                       "prims.asin",
                                                       "prims.atan",
                                                       "prims.atan2",
                                                       "prims.conv2d",
                                                       "prims.conv2d_input_grad",
                                                       "prims.conv2d_weight_grad",
                                                       "prims.det",
                                                       "prims.erf",
                                                       "prims.erfc",
                                                       "prims.erfcx",
                                                       "prims.nonzero",
                                                       "prims.slogdet"};
  const std::string_view op = n.op->name();
  DType first = DType::none;
  for_each_value(n.args, [&](ValueId v) { first = first == DType::none ? store.type(v).dtype : first; });
  if (op == "prims.pow" && is_integer(first)) return true;
  return first == DType::f64 && std::find(kNoF64.begin(), kNoF64.end(), op) != kNoF64.end();
}

// A trace of the compile's own store, which only grows.
std::shared_ptr<Store> borrowed(const Store& store) {
  return {std::shared_ptr<Store>(), const_cast<Store*>(&store)};
}

bool claims(const NodeView& view, void*) {
  return suits_engine(view) && !stays_ours(view.node, view.store) &&
         onnx_export::has_row(view.node, borrowed(view.store), kOpset);
}

// All that it claimed. Views alone are free as they are.
bool claims_region(std::span<const Node* const> nodes, const Store&, uint8_t* taken, RegionState&, void*) {
  std::fill_n(taken, nodes.size(), uint8_t{1});
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* n) { return !def(*n).view; });
}

// A region as a trace of its own.
struct Model {
  explicit Model(const NodeView& view) {
    trace.store = borrowed(view.store);
    for_each_value(view.node.args, [&](ValueId v) { trace.inputs.push_back({v, Source::argument, 0, "", false}); });
    for (const Node* n : nodes_of(view.node)) trace.nodes.push_back(n);
    trace.outputs.assign(view.node.results.begin(), view.node.results.end());
  }
  // Inputs that are `constant` are none of the graph's: their data is given beside it.
  onnx_export::Graph graph(const std::vector<bool>& constant) const {
    ExportRequest request{trace, {}, {}, {}, kOpset};
    for (size_t i = 0; i < trace.inputs.size(); i++)
      request.inputs.push_back({input_name(i), nullptr, false, constant[i]});
    for (size_t i = 0; i < trace.outputs.size(); i++) request.outputs.push_back({output_name(i), trace.outputs[i]});
    return onnx_export::export_graph(request);
  }
  static std::string input_name(size_t i) { return cat("in", i); }
  static std::string output_name(size_t i) { return cat("out", i); }
  Trace trace;
};

class OnnxRegion final : public Kernel {
 public:
  OnnxRegion(const Runtime& runtime, const Machine& machine, const NodeView& view)
      : Kernel(this), runtime_(runtime), machine_(machine), model_(view) {
    open(std::vector<bool>(model_.trace.inputs.size(), false), {});
  }
  // Frozen weights are constants of the model, which ONNX Runtime packs and folds as it likes.
  size_t prepack(const Launch* l) override {
    std::vector<bool> constant;
    for (size_t i = 0; i < l->n_inputs; i++) constant.push_back(l->inputs[i].data != nullptr);
    if (std::find(constant.begin(), constant.end(), true) != constant.end()) open(constant, {l->inputs, l->n_inputs});
    return 0;
  }
  Status* run(const Launch* l) const {
    if (given_.size() == l->n_inputs) return session_->run({l->inputs, l->n_inputs}, {l->outputs, l->n_outputs});
    SmallVector<Buffer, 8> in;
    for (const size_t i : given_) in.push_back(l->inputs[i]);
    return session_->run({in.data(), in.size()}, {l->outputs, l->n_outputs});
  }

 private:
  void open(const std::vector<bool>& constant, std::span<const Buffer> data) {
    const onnx_export::Graph graph = model_.graph(constant);
    std::vector<onnxrt::SharedConstant> shared;
    for (const onnx_export::Initializer& c : graph.initializers())
      for (size_t i = 0; c.outside && i < constant.size(); i++)
        if (graph.name(c.value) == Model::input_name(i)) shared.push_back({Model::input_name(i), data[i]});
    std::vector<std::string> inputs, outputs;
    given_.clear();
    for (size_t i = 0; i < constant.size(); i++)
      if (!constant[i]) given_.push_back(i), inputs.push_back(Model::input_name(i));
    for (size_t i = 0; i < model_.trace.outputs.size(); i++) outputs.push_back(Model::output_name(i));
    session_ = std::make_unique<Session>(runtime_, onnx_export::model_bytes(graph, "region"), std::move(inputs),
                                         std::move(outputs), shared, machine_.threads);
  }

  const Runtime& runtime_;
  const Machine& machine_;
  const Model model_;
  std::vector<size_t> given_;  // the inputs that a call gives
  std::unique_ptr<Session> session_;
};

}  // namespace

ExecutorDesc onnxrt_executor(const Machine& machine) {
  ExecutorDesc d;
  d.name = "onnxrt";
  d.user = const_cast<Machine*>(&machine);
  d.flags = kMayFail;
  d.claim = claims;
  d.claim_region = claims_region;
  d.prepare = [](const NodeView& view, void* user) -> KernelPtr {
    std::string found;
    const Runtime* runtime = Runtime::open(found);
    if (!runtime) fail(Code::not_found, "executors: onnxrt is not available here: ", found);
    return std::make_unique<OnnxRegion>(*runtime, *static_cast<const Machine*>(user), view);
  };
  return d;
}

bool onnxrt_opens(std::string_view file, std::string& found) {
  return Runtime::open(found, file) != nullptr;
}

}  // namespace thunder
