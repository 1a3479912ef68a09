// thunder/reports.h: what a compile and a call did.
#include "base/files.h"
#include "capi/compiled.h"
#include "jit/reports/examine.h"
#include "jit/reports/html.h"
#include "jit/reports/profile.h"
#include "jit/reports/repro.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" {

thunder_status* thunder_context_set_logs(thunder_context* context, const char* logs) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(logs, "logs");
    core(context)->set_logs(logs);
  }));
}

thunder_status* thunder_compiled_profile(thunder_compiled* compiled, const thunder_values* in, size_t runs) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(in, "in");
    Compiled& c = *core(compiled);
    c.reports().set_last_profile(std::make_shared<const Profile>(profile(c, *core(in), runs)));
  }));
}

thunder_status* thunder_compiled_examine(thunder_compiled* compiled, const thunder_values* in) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(in, "in");
    Compiled& c = *core(compiled);
    c.reports().set_last_examination(std::make_shared<const Examination>(examine(c, *core(in))));
  }));
}

thunder_status* thunder_compiled_write_report(thunder_compiled* compiled, const char* path) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(path, "path");
    write_file(path, html_report(*core(compiled)));
  }));
}

thunder_status* thunder_compiled_repro(thunder_compiled* compiled, size_t step, const char** out) noexcept {
  return given(guarded(__func__, [&] {
    need(compiled, "compiled"), need(out, "out");
    CompiledHandle& h = *core(compiled);
    const auto entry = h.reports().latest();
    check(entry != nullptr, "nothing is compiled before the first call");
    *out = (h.repro_text = repro_script(*entry->program, step)).c_str();
  }));
}

}  // extern "C"
