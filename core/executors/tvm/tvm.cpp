// TVM as an executor: it claims regions of what its frontend for ONNX has ops for, and compiles each.
#include <algorithm>
#include <array>

#include "executors/region_model.h"
#include "executors/tvm/library.h"
#include "onnx/export/model.h"

namespace thunder {
namespace {

using tvm::Runtime;
using tvm::Library;

// Where TVM's results differ from ONNX's: the maximum and minimum of reals lose NaN, and the argmax is -1 where no
// element is greater than the least number of its dtype.
bool differs_from_onnx(const onnx_export::Graph& graph, const onnx_export::GraphNode& n) {
  constexpr std::array<std::string_view, 8> kOrders = {"Clip",      "Max",       "MaxPool", "Min",
                                                       "ReduceMax", "ReduceMin", "Relu",    "TopK"};
  if (n.op == "ArgMax" || n.op == "ArgMin") return true;
  return !n.inputs.empty() && is_real(graph.dtype(n.inputs[0])) &&
         std::find(kOrders.begin(), kOrders.end(), n.op) != kOrders.end();
}

// Nodes that TVM's frontend accepts but its compiler fails on: one of them would make the whole region fail.
bool fails_to_compile(const onnx_export::Graph& graph, const onnx_export::GraphNode& n) {
  if (n.inputs.empty()) return false;
  const DType dtype = graph.dtype(n.inputs[0]);
  if (n.op == "Equal") return dtype == DType::boolean;
  if (n.op == "Pow") return !is_real(dtype);
  if (n.op == "Sign") return !is_signed(dtype);
  return dtype == DType::f16 && (n.op == "Asin" || n.op == "Acos" || n.op == "Atan");
}

class TvmRegion final : public Kernel {
 public:
  using Engine = Runtime;
  static constexpr std::string_view kName = "tvm";
  static bool claims(const NodeView& view) {
    if (!has_onnx_row(view)) return false;
    const Runtime& tvm = opened_engine<TvmRegion>();
    const onnx_export::Graph graph = RegionModel(view).graph();
    const auto& nodes = graph.all_nodes();
    return std::all_of(nodes.begin(), nodes.end(), [&](const onnx_export::GraphNode& n) {
      return tvm.supports_op(n.op) && !differs_from_onnx(graph, n) && !fails_to_compile(graph, n);
    });
  }

  TvmRegion(const Runtime& tvm, const Machine& machine, const NodeView& view)
      : Kernel(this),
        library_(tvm, tvm.python().compile(model_of(view), kind_of(machine))) {}

  Status* run(const Launch* l) const {
    const SmallVector<Buffer, 8> in = present_inputs(*l);
    return library_.run({in.data(), in.size()}, {l->outputs, l->n_outputs});
  }

 private:
  static std::string model_of(const NodeView& view) {
    return onnx_export::model_bytes(RegionModel(view).graph(), "region");
  }
  const Library library_;
};

}  // namespace

EngineRow tvm_engine() { return engine_row<TvmRegion>(); }

}  // namespace thunder
