// thunder_context_load_script*: opens the Lua layer, which is a library of its own, only when it is asked for.
#include <dlfcn.h>

#include "capi/context.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

using RunFile = thunder_status* (*)(thunder_context*, const char* path, const thunder_script_limits* limits);

// The layer takes Lua from the process, so Lua comes first and for everybody. Neither is ever closed: what a script
// registered runs as long as the process does.
RunFile open_layer() {
  constexpr int flags = RTLD_NOW | RTLD_GLOBAL;
  if (!dlsym(RTLD_DEFAULT, "lua_newstate") && !dlopen("liblua5.4.so.0", flags))
    throw Refusal{Code::not_found, cat("scripts need Lua 5.4: ", dlerror())};
  const std::string name = cat("libthunder_lua.so.", THUNDER_VERSION_MAJOR);
  // First beside this library, wherever it is installed, then where the system finds libraries.
  Dl_info here{};
  void* layer = nullptr;
  if (dladdr(reinterpret_cast<const void*>(&thunder_context_load_script), &here) && here.dli_fname) {
    const std::string_view path = here.dli_fname;
    layer = dlopen(cat(path.substr(0, path.rfind('/') + 1), name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (!layer) layer = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!layer) throw Refusal{Code::not_found, cat("scripts need the Lua layer: ", dlerror())};
  void* found = dlsym(layer, "thunder_lua_run_file");
  if (!found) throw Refusal{Code::not_found, cat("the Lua layer is of another version: ", dlerror())};
  return reinterpret_cast<RunFile>(found);
}

}  // namespace

namespace {

void load(thunder_context* context, const char* path, const thunder_script_limits* given) {
  need(context, "context"), need(path, "path");
  const thunder_script_limits limits = copy_descriptor(given);
  if (thunder_status* failed = open_layer()(context, path, &limits)) throw Error(Ref<Status>::adopt(core(failed)));
}

}  // namespace

extern "C" {

thunder_status* thunder_context_load_script(thunder_context* context, const char* path) noexcept {
  return given(guarded(__func__, [&] { load(context, path, nullptr); }));
}

thunder_status* thunder_context_load_script_limited(thunder_context* context, const char* path,
                                                    const thunder_script_limits* limits) noexcept {
  return given(guarded(__func__, [&] { load(context, path, limits); }));
}

}  // extern "C"
