// ONNX Runtime as an executor: it claims regions of what ONNX has ops for, and runs each as a model.
#include <algorithm>
#include <array>

#include "base/machine.h"
#include "base/text.h"
#include "executors/onnxrt/session.h"
#include "executors/region_model.h"
#include "ir/prim.h"
#include "onnx/export/model.h"

namespace thunder {
namespace {

using onnxrt::Runtime;
using onnxrt::Session;

// Powers of integers, which it computes in doubles, and signs of NaN, which ONNX's ops do not tell.
bool is_unsupported(const Node& n, const Store& store) {
  return n.op->id == Prim::signbit || (n.op->id == Prim::pow && is_integer(store.type(n.results[0]).dtype));
}

// Where ONNX Runtime has no CPU kernel for doubles, or its results differ from ONNX's: it orders NaN by where it stands
// in a row, makes other integers of reals that are none, and adds and multiplies integers of 64 bits as doubles.
bool differs_from_ours(const onnx_export::Graph& graph, const onnx_export::GraphNode& n) {
  constexpr std::array<std::string_view, 9> kNoF64 = {"Acos", "Asin", "Atan", "Conv",   "ConvTranspose",
                                                      "Det",  "Erf",  "Gelu", "NonZero"};
  constexpr std::array<std::string_view, 6> kOrders = {"ArgMax", "ArgMin", "MaxPool", "ReduceMax", "ReduceMin", "TopK"};
  if (n.inputs.empty()) return false;
  const DType dtype = graph.dtype(n.inputs[0]);
  if (dtype == DType::i64) return n.op == "ReduceSum" || n.op == "ReduceProd";
  if (!is_real(dtype)) return false;
  if (dtype == DType::f64 && std::find(kNoF64.begin(), kNoF64.end(), n.op) != kNoF64.end()) return true;
  if (n.op == "Cast") return is_integer(graph.dtype(n.outputs[0]));
  return std::find(kOrders.begin(), kOrders.end(), n.op) != kOrders.end();
}
bool is_computed_otherwise(const NodeView& view) {
  const onnx_export::Graph graph = RegionModel(view).graph();
  const auto& nodes = graph.all_nodes();
  return std::any_of(nodes.begin(), nodes.end(), [&](auto& n) { return differs_from_ours(graph, n); });
}

class OnnxRegion final : public Kernel {
 public:
  using Engine = Runtime;
  static constexpr std::string_view kName = "onnxrt";
  static bool claims(const NodeView& view) {
    return !is_unsupported(view.node, view.store) && has_onnx_row(view) && !is_computed_otherwise(view);
  }

  OnnxRegion(const Runtime& runtime, const Machine& machine, const NodeView& view)
      : Kernel(this), runtime_(runtime), machine_(machine), model_(view) {
    add_flags(kPacks);
    open_session(std::vector<bool>(model_.inputs(), false), {});
  }
  // Frozen weights are constants of the model, which ONNX Runtime packs and folds as it likes.
  size_t prepack(const Launch* l) override {
    const SmallVector<Buffer, 8> in = present_inputs(*l);
    std::vector<bool> constant;
    for (const Buffer& b : in) constant.push_back(b.data != nullptr);
    if (std::find(constant.begin(), constant.end(), true) != constant.end())
      open_session(constant, {in.data(), in.size()});
    return 0;
  }
  Status* run(const Launch* l) const {
    if (given_.size() == l->n_inputs) return session_->run({l->inputs, l->n_inputs}, {l->outputs, l->n_outputs});
    const SmallVector<Buffer, 8> all = present_inputs(*l);
    SmallVector<Buffer, 8> in;
    for (const size_t i : given_) in.push_back(all[i]);
    return session_->run({in.data(), in.size()}, {l->outputs, l->n_outputs});
  }

 private:
  void open_session(const std::vector<bool>& constant, std::span<const Buffer> data) {
    const onnx_export::Graph graph = model_.graph(constant);
    std::vector<onnxrt::SharedConstant> shared;
    for (const onnx_export::Initializer& c : graph.initializers())
      for (size_t i = 0; c.outside && i < constant.size(); i++)
        if (graph.name(c.value) == RegionModel::input_name(i)) shared.push_back({RegionModel::input_name(i), data[i]});
    std::vector<std::string> inputs, outputs;
    given_.clear();
    for (size_t i = 0; i < constant.size(); i++)
      if (!constant[i]) given_.push_back(i), inputs.push_back(RegionModel::input_name(i));
    for (size_t i = 0; i < model_.outputs(); i++) outputs.push_back(RegionModel::output_name(i));
    session_ = std::make_unique<Session>(runtime_, onnx_export::model_bytes(graph, "region"), std::move(inputs),
                                         std::move(outputs), shared, machine_.threads);
  }

  const Runtime& runtime_;
  const Machine& machine_;
  const RegionModel model_;
  std::vector<size_t> given_;  // the inputs that a call gives
  std::unique_ptr<Session> session_;
};

}  // namespace

EngineRow onnxrt_engine() {
  return engine_row<OnnxRegion>();
}

}  // namespace thunder
