// A model of bytes that is loaded, described and traced for arguments of the types that it declares.
#pragma once

#include "onnx/importer.h"
#include "onnx/program.h"
#include "support/context.h"
#include "tracer/tracing.h"

namespace thunder::onnx::test {

// Sizes that vary, and those of 8 and more, are 2.
inline void load_and_trace(Context& context, const std::string& bytes) {
  const Ref<Program> p = load(std::as_bytes(std::span(bytes)), context.module_environment());
  p->signature();
  TracingScope scope(context.scope_environment(), "traced");
  Values in;
  for (const ValueInfo& port : p->inputs()) {
    TensorType type;
    const ElementType* element = find_element_type(port.type);
    type.dtype = element && element->dtype != DType::none ? element->dtype : DType::f32;
    for (const DimProto& d : port.dims.value_or(std::vector<DimProto>(2)))
      if (type.rank() < 6) type.shape.push_back(d.value >= 0 && d.value < 8 ? d.value : 2);
    in.push(Ref<Tensor>(scope.argument_proxy(type, std::string(port.name), nullptr)));
  }
  apply(scope, *p, in);
  if (scope.status()) throw Error(scope.status());
}

}  // namespace thunder::onnx::test
