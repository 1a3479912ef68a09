// thunder_op_invoke: every op, built-in or custom, is called through this function and the one that lists results.
#include "capi/leaf.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" thunder_tensor* thunder_op_invoke(thunder_scope* scope, const char* name, const thunder_any* args,
                                             size_t n_args, const char* const* names, thunder_tensor** results,
                                             size_t n_out, const char* where) noexcept {
  Scope* s = core(scope);
  SmallVector<Tensor*, 4> made(results ? n_out : 0, nullptr);
  Tensor* first = make_tensor_in(scope, __func__, [&] {
    need(name, "name");
    if (n_out) need(results, "results");
    const std::string_view called(name);
    const CoreArgs given(called, *s, args, n_args);
    check_args(called, s->environment().devices, given.span(), where);
    return s->invoke(called, given.span(), names, made.data(), n_out, where);
  });
  // Whatever went wrong, every result is a real handle.
  const bool failed = first->kind() == Tensor::Kind::failed;
  for (size_t i = 0; i < made.size(); i++) results[i] = handle(failed || !made[i] ? first : made[i]);
  return handle(first);
}

extern "C" thunder_values* thunder_op_invoke_all(thunder_scope* scope, const char* name, const thunder_any* args,
                                                 size_t n_args, const char* const* names, const char* where) noexcept {
  Scope* s = core(scope);
  return handle(make_values_in(s, __func__, [&] {
    need(name, "name");
    const CoreArgs given(name, *s, args, n_args);
    check_args(name, s->environment().devices, given.span(), where);
    return s->invoke_all(name, given.span(), names, where);
  }));
}
