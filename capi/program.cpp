// thunder_program_*: compiled functions in files.
#include "onnx/program.h"

#include "capi/compiled.h"
#include "capi/module.h"
#include "capi/options.h"
#include "jit/programs/export_c.h"
#include "jit/programs/export_onnx.h"
#include "jit/programs/jit_trace.h"
#include "jit/programs/load_program.h"
#include "jit/programs/signature.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

// A copy of values that a call would accept.
Ref<Values> copy_usable(const Values& in) {
  if (in.status()) throw Error(in.status());
  require(in.complete(), "a group of the inputs was not closed");
  for (size_t i = 0; i < in.size(); i++)
    if (const Tensor* t = in[i].tensor.get(); t && t->kind() == Tensor::Kind::failed) throw Error(t->failure());
  return make<Values>(in);
}

}  // namespace

extern "C" {

thunder_status* thunder_program_save(thunder_compiled* compiled, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(path, "path");
    save_program(*core(compiled), path);
  }));
}

thunder_status* thunder_program_compile_ahead(thunder_compiled* compiled, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(path, "path");
    save_program(*core(compiled), path, SaveKernels::yes);
  }));
}

thunder_status* thunder_program_load(thunder_context* context, const char* path, const thunder_options* options,
                                     thunder_compiled** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(path, "path"), need(out, "out");
    const Ref<Context> owner(core(context));
    LoadedProgram program = load_program(owner, path, usable_options(options));
    *out = given(make<CompiledHandle>(owner, std::move(program.function), program.options.get()));
  }));
}

thunder_status* thunder_program_load_bytes(thunder_context* context, const void* data, size_t bytes,
                                           const thunder_options* options, thunder_compiled** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    if (bytes) need(data, "data");
    const Ref<Context> owner(core(context));
    LoadedProgram program =
        load_program(owner, std::span(static_cast<const std::byte*>(data), bytes), usable_options(options));
    *out = given(make<CompiledHandle>(owner, std::move(program.function), program.options.get()));
  }));
}

thunder_status* thunder_compiled_module(const thunder_compiled* compiled, thunder_module** out) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    auto* program = dynamic_cast<onnx::Program*>(core(compiled)->shared_function().get());
    if (!program)
      throw Refusal{Code::not_found, "the function was not loaded from an ONNX model: it has no module of weights"};
    *out = given(make<ModuleHandle>(core(compiled)->context(), program->module()));
  }));
}

const char* thunder_compiled_signature(thunder_compiled* compiled) noexcept {
  return text_of(compiled, &CompiledHandle::signature_text, [](const Compiled& f) { return signature_json(f); });
}

thunder_status* thunder_program_export_c(thunder_context* context, const char* path, const char* folder,
                                         const thunder_options* options) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(path, "path"), need(folder, "folder");
    export_c(Ref<Context>(core(context)), path, folder, usable_options(options));
  }));
}

thunder_status* thunder_program_export_onnx(thunder_compiled* compiled, const char* path,
                                            const thunder_options* options) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(path, "path");
    export_onnx(*core(compiled), path, usable_options(options));
  }));
}

thunder_status* thunder_function_trace(thunder_function* function, const thunder_values* example_inputs,
                                       const thunder_options* options, const thunder_values* const* check_inputs,
                                       size_t check_count, thunder_compiled** out) noexcept {
  return given(guarded(__func__, [&] {
    need(function, "function"), need(example_inputs, "example_inputs"), need(out, "out");
    if (check_count) need(check_inputs, "check_inputs");
    TraceRequest request{core(function)->context, core(function)->function, copy_usable(*core(example_inputs)), {}};
    for (size_t i = 0; i < check_count; i++) {
      need(check_inputs[i], "an element of check_inputs");
      request.check.push_back(copy_usable(*core(check_inputs[i])));
    }
    CompileOptions compile;
    if (const CompileOptions* given = usable_options(options)) read_trace_options(*given, request, compile);
    *out = given(make<CompiledHandle>(request.context, trace_function(request), &compile));
  }));
}

}  // extern "C"
