// thunder_op_invoke: every op, built-in or custom, is called through this function and the one that lists results.
#include "capi/leaf.h"

using namespace thunder;
using namespace thunder::capi;

extern "C" thunder_tensor* thunder_op_invoke(thunder_scope* scope, const char* name, const thunder_any* args,
                                             size_t n_args, const char* const* names, thunder_tensor** results,
                                             size_t n_out, const char* where) noexcept {
  Scope* s = core(scope);
  Tensor* first = make_tensor_in(s, __func__, [&] {
    need(name, "name");
    if (n_out) need(results, "results");
    const std::string_view called(name);
    const CoreArgs given(called, *s, core(args), n_args);
    check_args(called, s->environment().devices, given.span().data(), n_args, where);
    return s->invoke(called, given.span(), names, reinterpret_cast<Tensor**>(results), n_out, where);
  });
  // Whatever went wrong, every result is a real handle.
  if (first->kind() == Tensor::Kind::failed && results)
    for (size_t i = 0; i < n_out; i++) results[i] = handle(first);
  return handle(first);
}

extern "C" thunder_values* thunder_op_invoke_all(thunder_scope* scope, const char* name, const thunder_any* args,
                                                 size_t n_args, const char* const* names, const char* where) noexcept {
  Scope* s = core(scope);
  return handle(make_values_in(s, __func__, [&] {
    need(name, "name");
    const CoreArgs given(name, *s, core(args), n_args);
    check_args(name, s->environment().devices, given.span().data(), n_args, where);
    return s->invoke_all(name, given.span(), names, where);
  }));
}
