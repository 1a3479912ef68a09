// thunder_options_*: setters that stick. Whoever takes the options judges the names.
#include "capi/options.h"

#include <cstring>

#include "capi/function.h"
#include "capi/leaf.h"

using namespace thunder;
using namespace thunder::capi;

namespace thunder::capi {

const CompileOptions* usable_options(const thunder_options* options) {
  if (!options) return nullptr;
  need(options, "options");
  if (core(options)->status()) throw Error(core(options)->status());
  return &core(options)->options;
}

}  // namespace thunder::capi

namespace {

void set_option(thunder_options* options, const char* function, const char* name, const Any& value) noexcept {
  run_unless_failed(core(options), function, [&] {
    need(name, "name");
    core(options)->options.set(name, value);
  });
}

}  // namespace

extern "C" {

thunder_status* thunder_options_create(thunder_context* context, thunder_options** out) noexcept {
  return given(guarded(__func__, [&] {
    need(context, "context"), need(out, "out");
    *out = given(make<OptionsHandle>());
  }));
}

void thunder_options_release(thunder_options* options) noexcept {
  released(options);
}

void thunder_options_set(thunder_options* options, const char* name, const thunder_any* value) noexcept {
  run_unless_failed(core(options), __func__, [&] {
    need(value, "value");
    const CoreLeaves given("the value", value, 1);
    const Any& a = given[0];
    const bool scalar = a.kind == ArgKind::boolean || a.kind == ArgKind::integer || a.kind == ArgKind::real;
    const bool reals = a.kind == ArgKind::reals && (a.fs || !a.count);
    check(scalar || reals || (a.kind == ArgKind::string && a.s),
          "an option is a boolean, an integer, a float, a string or a list of floats");
    need(name, "name");
    core(options)->options.set(name, a);
  });
}

void thunder_options_set_bool(thunder_options* options, const char* name, int32_t value) noexcept {
  set_option(options, __func__, name, Any::boolean(value != 0));
}

void thunder_options_set_i64(thunder_options* options, const char* name, int64_t value) noexcept {
  set_option(options, __func__, name, Any::integer(value));
}

void thunder_options_set_f64(thunder_options* options, const char* name, double value) noexcept {
  set_option(options, __func__, name, Any::real(value));
}

void thunder_options_set_str(thunder_options* options, const char* name, const char* value) noexcept {
  run_unless_failed(core(options), __func__, [&] {
    need(name, "name"), need(value, "value");
    core(options)->options.set(name, Any::string(value));
  });
}

void thunder_options_set_function(thunder_options* options, const char* name, thunder_function* function) noexcept {
  run_unless_failed(core(options), __func__, [&] {
    need(name, "name"), need(function, "function");
    core(options)->options.set_function(name, core(function)->function);
  });
}

void thunder_options_add_executor(thunder_options* options, thunder_executor* executor) noexcept {
  run_unless_failed(core(options), __func__, [&] {
    need(executor, "executor");
    core(options)->options.add_executor(Ref<Executor>(core(executor)));
  });
}

void thunder_options_add_pass(thunder_options* options, thunder_pass* pass) noexcept {
  run_unless_failed(core(options), __func__, [&] {
    need(pass, "pass");
    core(options)->options.add_pass(Ref<CustomPass>(core(pass)));
  });
}

}  // extern "C"
