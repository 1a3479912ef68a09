// thunder_program_*: compiled functions in files.
#include "capi/compiled.h"
#include "capi/options.h"
#include "jit/program_file.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

thunder_status* thunder_program_save(thunder_compiled* compiled, const char* path) noexcept {
  return handle(guarded(__func__, [&] {
    need(compiled, "compiled"), need(path, "path");
    save_program(*core(compiled), path);
  }));
}

thunder_status* thunder_program_load(thunder_context* context, const char* path, const thunder_options* options,
                                     thunder_compiled** out) noexcept {
  return handle(guarded(__func__, [&] {
    need(context, "context"), need(path, "path"), need(out, "out");
    const Ref<Context> owner(core(context));
    LoadedProgram program = load_program(owner, path, usable_options(options));
    *out = given(make<CompiledHandle>(owner, std::move(program.function), program.options.get()));
  }));
}

}  // extern "C"
