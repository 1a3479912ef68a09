// thunder_op_invoke: every op, built-in or custom, is called through this one function.
#include <cstring>

#include "capi/boundary.h"
#include "capi/handle.h"

using namespace thunder;
using namespace thunder::capi;

namespace {

void check_args(const char* op, const Any* args, size_t n) {
  if (n) need(args, "args");
  for (size_t i = 0; i < n; i++) {
    const Any& a = args[i];
    const bool list = a.kind == ArgKind::dims || a.kind == ArgKind::reals || a.kind == ArgKind::values;
    check(static_cast<uint32_t>(a.kind) <= static_cast<uint32_t>(ArgKind::device), op, ": argument ", i,
          " has the unknown kind ", static_cast<int32_t>(a.kind));
    check(a.kind != ArgKind::value || a.t, op, ": argument ", i, " is a tensor that is NULL");
    check(!list || a.count == 0 || a.d, op, ": argument ", i, " is a list of ", a.count, " that points to NULL");
    check(a.kind != ArgKind::string || a.s, op, ": argument ", i, " is a string that is NULL");
  }
}

}  // namespace

extern "C" thunder_tensor* thunder_op_invoke(thunder_scope* scope, const char* name, const thunder_any* args,
                                             size_t n_args, const char* const* names, thunder_tensor** results,
                                             size_t n_out, const char* where) noexcept {
  Scope* s = core(scope);
  Tensor* first = tensor_in(s, __func__, [&] {
    need(name, "name");
    if (n_out) need(results, "results");
    check_args(name, core(args), n_args);
    return s->invoke(name, {core(args), n_args}, names, reinterpret_cast<Tensor**>(results), n_out, where);
  });
  // Whatever went wrong, every result is a real handle.
  if (first->kind() == Tensor::Kind::failed && results)
    for (size_t i = 0; i < n_out; i++) results[i] = handle(first);
  return handle(first);
}
