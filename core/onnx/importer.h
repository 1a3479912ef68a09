// Records the nodes of a model in a scope.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "onnx/node.h"
#include "onnx/program.h"

namespace thunder::onnx {

// The names defined in a graph and in those around it; a function has names of its own.
struct Frame {
  Frame* outer = nullptr;
  bool main = false;  // the model's graph, whose weights are found by name
  std::span<const OpsetImport> opsets;
  // In a function: the node that calls it, whose attributes its nodes may refer to.
  const FunctionProto* function = nullptr;
  const Node* call = nullptr;
  std::unordered_map<std::string_view, Value> values;
};

class Importer {
 public:
  Importer(Scope& scope, Program& program) : scope_(scope), program_(program) {}

  Scope& scope() { return scope_; }
  Program& program() { return program_; }
  // The device of the first tensor among the inputs, where constants are needed.
  Device device = Device::cpu;

  // The main graph's outputs, or the values of these names, wherever they are computed in it.
  std::vector<Value> run(std::span<const Value> inputs, std::span<const std::string> wanted);
  // Runs a subgraph inside of a frame.
  std::vector<Value> run(const Graph& graph, Frame& outer, std::span<const Value> inputs);

  // Throws where no value has the name yet.
  Value& find(Frame& frame, std::string_view name);
  // The weight of this name, where it is one of the module's.
  const Program::Weight* weight(const Frame& frame, std::string_view name) const;
  // Keeps the value as a tensor of the scope from then on.
  Tensor* materialize(Value& v);
  // The place of the current node, for the lines that are being recorded.
  const char* node_location();
  // A size as an argument of an op.
  int64_t word(Dim size);
  void check() const {
    if (scope_.status()) throw Error(scope_.status());
  }

 private:
  void set_current_node(const NodeProto& proto);
  void nodes(Frame& frame, std::span<const NodeProto> nodes);
  void node(Frame& frame, const NodeProto& proto);
  void dispatch(Node& n);
  bool call_function(Node& n);

  Scope& scope_;
  Program& program_;
  std::string place_text_;                   // of the node at work
  const char* place_ = nullptr;              // the same as the scope's store keeps it; null: not yet
  std::shared_ptr<Store> place_store_;       // which may become another one at any op
  std::unordered_set<std::string_view> given_;  // inputs of the main graph, in place of a weight or not
  std::vector<const FunctionProto*> calls_;  // that are at work, so that a cycle is refused
  size_t graphs_ = 0, nodes_ = 0;
};

}  // namespace thunder::onnx
