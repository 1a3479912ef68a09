// thunder_context_add_backend: executors and left-out passes under one name.
#include "capi/boundary.h"
#include "capi/options.h"
#include "compile/run_stages.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

std::vector<std::string> split_words(const char* text) {
  return text ? split_list(text) : std::vector<std::string>();
}

}  // namespace

extern "C" thunder_status* thunder_context_add_backend(thunder_context* context,
                                                       const thunder_backend_desc* desc) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(desc, "desc");
    const thunder_backend_desc d = copy_descriptor(desc);
    need(d.name, "name");
    check(d.executors || !d.n_executors, "executors is NULL");
    Backend backend;
    backend.name = d.name, backend.doc = d.doc ? d.doc : "";
    for (size_t i = 0; i < d.n_executors; i++) {
      need(d.executors[i], "an element of executors");
      backend.own.emplace_back(core(d.executors[i]));
    }
    backend.executors = split_words(d.executor_names), backend.disabled_passes = split_words(d.disable_passes);
    backend.tags = split_words(d.tags), backend.fuses = !d.no_fusion;
    check_optional(backend.disabled_passes, cat("backend '", backend.name, "'"));
    core(context)->backends().add(std::move(backend));
  }));
}
