// An ONNX model as a function like any other: its nodes are recorded anew in each scope, and its weights are a module.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include "modules/kind.h"
#include "modules/module.h"
#include "onnx/model.h"
#include "onnx/tensors.h"
#include "onnx/value.h"
#include "tracer/function.h"

namespace thunder::onnx {

class Importer;

class Program : public Function {
 public:
  // `name` is the file's, for places. `outputs`: the values that it gives; empty: those of the model.
  Program(std::string name, Model model, TensorReader reader, const ModuleEnvironment& environment,
          std::vector<std::string> outputs);

  // One leaf for each input, in their order, or a map of their names. Its results are the outputs in their order.
  Ref<Status> call(Scope& scope, const Values& in, Values& out) override;

  const Model& model() const { return model_; }
  // The weights, which are read when they are first asked for.
  const Ref<Module>& module();
  // Inputs of the graph without an initializer, which a call must give.
  std::span<const ValueInfo> inputs() const { return {inputs_.data(), required_}; }
  // Those, and behind them inputs whose initializer stands in where a call gives nothing.
  std::span<const ValueInfo> all_inputs() const { return inputs_; }
  // The input of a leaf of a call. Throws if there is none.
  const ValueInfo& input(const std::string& path) const { return inputs_[input_at(path)]; }
  std::span<const std::string> outputs() const { return outputs_; }
  // Names, dtypes and dims of what goes in and out, what it is made of, and which of that is not imported, as JSON.
  std::string signature() const;
  const std::string& file() const { return name(); }

  // A weight of the main graph, if it has one of this name.
  struct Weight {
    std::string path;  // in the module; "": it is a constant
    Ref<Tensor> constant;
    HostRef host;
  };
  const Weight* weight(std::string_view name) const;
  // Constants of nodes and subgraphs, each made once.
  const Weight& constant(const TensorProto& t);
  const Weight& constant(const SparseProto& t);
  const FunctionProto* find_function(std::string_view domain, std::string_view name, std::string_view overload) const;

 private:
  void add_initializers(const ModuleEnvironment& environment);
  void add_weight(std::string_view name, Ref<Tensor> t, const ModuleEnvironment& environment);
  void set_module_tensor(std::string_view path, Ref<Tensor> t, Role role, const ModuleEnvironment& environment);
  std::string path_for(std::string_view name);
  void set_input(Importer& importer, const std::string& path, Tensor* t, std::vector<Value>& inputs) const;
  size_t input_at(const std::string& path) const;

  const Model model_;
  TensorReader reader_;
  std::once_flag read_;
  Ref<Module> module_;
  std::vector<ValueInfo> inputs_;
  size_t required_ = 0;
  std::vector<std::string> outputs_;
  std::unordered_map<std::string_view, Weight> weights_;
  std::mutex mutex_;  // of the constants
  std::unordered_map<const void*, Weight> constants_;
};

// Loads a model from a file, or from bytes, which are copied. `outputs`: as above.
Ref<Program> load(const std::string& path, const ModuleEnvironment& environment, std::vector<std::string> outputs = {});
Ref<Program> load(std::span<const std::byte> bytes, const ModuleEnvironment& environment,
                  std::vector<std::string> outputs = {});

}  // namespace thunder::onnx
