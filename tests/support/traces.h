// Traces made by hand for tests.
#pragma once

#include "tracer/recorder.h"

namespace thunder::tests {

inline TensorType tensor_type(std::initializer_list<Dim> shape, DType dtype = DType::f32) {
  return {dtype, Device::cpu, false, Shape(shape)};
}

// The ops of the lines, without "prims."; of a region those that it holds, with spaces between.
inline std::vector<std::string> ops_of_lines(const Trace& trace) {
  std::vector<std::string> out;
  for (const Node* n : trace.nodes) {
    std::string ops(n->body.empty() ? n->op->name().substr(6) : "");
    for (const Node* line : n->body) ops += (ops.empty() ? "" : " ") + std::string(line->op->name().substr(6));
    out.push_back(ops);
  }
  return out;
}

// Records lines through the real ops; `trace` is complete at every moment but for its lines, which `finish` adds.
class TraceMaker {
 public:
  TraceMaker() : recorder(registry, std::make_shared<Store>()) {
    trace.store = recorder.shared_store();
    trace.function = "f";
    trace.pass = "trace";
  }

  Var input(std::string name, const TensorType& type, Source source = Source::argument) {
    const ValueId v = recorder.store().add(type);
    trace.inputs.push_back({v, source, counts_[static_cast<size_t>(source)]++, std::move(name)});
    return recorder.var(v);
  }
  Var input(std::string name, std::initializer_list<Dim> shape, DType dtype = DType::f32) {
    return input(std::move(name), tensor_type(shape, dtype));
  }
  Var call(std::string_view op, std::initializer_list<In> args) { return recorder.call(op, args); }

  Trace finish(std::initializer_list<Var> outputs) {
    trace.nodes = recorder.nodes();
    trace.outputs.clear();
    for (const Var& v : outputs) trace.outputs.push_back(v.id);
    return trace;
  }

  Registry registry;
  Recorder recorder;
  Trace trace;

 private:
  uint32_t counts_[3] = {0, 0, 0};
};

}  // namespace thunder::tests
