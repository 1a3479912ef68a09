// thunder_function_vmap, _jvp, _vjp, _jacrev, _jacfwd, _hessian, _checkpoint: functions made of functions.
#include "transforms/transforms.h"

#include "base/text.h"
#include "capi/boundary.h"
#include "capi/function.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

std::vector<BatchDim> dims_of(const int64_t* dims, size_t count) {
  std::vector<BatchDim> out;
  for (size_t i = 0; dims && i < count; i++) out.push_back(dims[i] == THUNDER_NO_DIM ? BatchDim() : BatchDim(dims[i]));
  return out;
}

Randomness randomness_of(const char* name) {
  const std::string_view given = name ? name : "error";
  if (given == "error") return Randomness::error;
  if (given == "different") return Randomness::different;
  require(given == "same", "thunder_function_vmap: randomness is \"", given,
          "\"; it must be \"error\", \"different\" or \"same\"");
  return Randomness::same;
}

Derivative derivative_of(const char* wrt, uint32_t flags, const char* who) {
  require(flags <= THUNDER_DIFFERENTIATE_FIRST, who, ": unknown flags ", flags);
  return {wrt ? wrt : "", flags == THUNDER_DIFFERENTIATE_FIRST};
}

template <class F>
thunder_status* make_function_handle(const char* who, thunder_function* function, thunder_function** out,
                                     F&& make_function) {
  return given(guarded(who, [&] {
    need(function, "function"), need(out, "out");
    const FunctionHandle& f = *core(function);
    *out = given(make<FunctionHandle>(f.context, make_function(f.function)));
  }));
}

}  // namespace

extern "C" {

thunder_status* thunder_function_vmap(thunder_function* function, const int64_t* in_dims, size_t n_in,
                                      const int64_t* out_dims, size_t n_out, const char* randomness,
                                      thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out, [&](auto& f) {
    return vmap(f, dims_of(in_dims, n_in), dims_of(out_dims, n_out), randomness_of(randomness));
  });
}

thunder_status* thunder_function_jvp(thunder_function* function, const char* wrt, uint32_t flags,
                                     thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out,
                              [&, who = __func__](auto& f) { return jvp(f, derivative_of(wrt, flags, who)); });
}

thunder_status* thunder_function_vjp(thunder_function* function, const char* wrt, uint32_t flags,
                                     thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out,
                              [&, who = __func__](auto& f) { return vjp(f, derivative_of(wrt, flags, who)); });
}

thunder_status* thunder_function_jacrev(thunder_function* function, const char* wrt, uint32_t flags,
                                        thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out, [&, who = __func__](auto& f) {
    return jacobian(f, derivative_of(wrt, flags, who), false);
  });
}

thunder_status* thunder_function_jacfwd(thunder_function* function, const char* wrt, uint32_t flags,
                                        thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out, [&, who = __func__](auto& f) {
    return jacobian(f, derivative_of(wrt, flags, who), true);
  });
}

thunder_status* thunder_function_hessian(thunder_function* function, const char* wrt, thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out, [&](auto& f) { return hessian(f, {wrt ? wrt : "", false}); });
}

thunder_status* thunder_function_checkpoint(thunder_function* function, thunder_function** out) noexcept {
  return make_function_handle(__func__, function, out, [](auto& f) { return checkpoint(f); });
}

}  // extern "C"
